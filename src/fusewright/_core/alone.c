/* An operation that NumPy does not compute to the bits of compiled code runs as compiled code for it alone: on operands
   in C order, and for a function of each element of the result's type and extents, in one dim.  So there are few such
   structures, and all of them are compiled when the package is installed (operations.py). */

#include "alone.h"

/* Whether an operand is converted to the result's type first, as in compiled code (`plan.values.operand_dtypes`): to
   floats; to integers only where every value stays what it is, since `bitwise_count` has a type of its own for results
   and NumPy's conversions of floats mean something else. */
static int is_converted(Node *node, Node *arg)
{
    char kind = kind_of(node), from = kind_of(arg);
    int size = dtypes[node->dtype].itemsize, before = dtypes[arg->dtype].itemsize;
    if (arg->dtype == dtype_bfloat16 || strchr("biuf", from) == NULL || (kind == 'f' && size == 2))
        return 0;
    return kind == 'f' || (strchr("iu", kind) != NULL && (from == 'b' || (from == kind ? before <= size : from == 'u' && before < size)));
}

/* Whether all operands are. */
static int takes_own_type(Node *node)
{
    int does = node->kind == MAP;
    for (Py_ssize_t i = 0; does && i < PyTuple_GET_SIZE(node->args); i++)
        does = is_converted(node, (Node *)PyTuple_GET_ITEM(node->args, i));
    return does;
}

/* An operand of compiled code; `shape` is the one dim of a function of each element. */
static Node *plain_operand_of(Cell *operand, Node *node, int converts, PyObject *shape)
{
    if (operand->node->kind == SCALAR)
        return (Node *)Py_NewRef(operand->node);
    int dtype = converts ? node->dtype : operand->node->dtype;
    PyObject *whole = shape ? node->shape : operand->node->shape;
    return leaf_of(operand, dtype, whole, shape ? shape : whole);
}

int run_alone(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many)
{
    Node *node = cell->node;
    int converts = takes_own_type(node);
    PyObject *shape = node->kind == MAP ? Py_BuildValue("(n)", (Py_ssize_t)elements_of(node->shape)) : NULL;
    PyObject *args = PyErr_Occurred() ? NULL : PyTuple_New(many);
    for (Py_ssize_t i = 0; args != NULL && i < many; i++) {
        Node *operand = plain_operand_of(&cells[slots[i]], node, converts, shape);
        if (operand == NULL)
            Py_CLEAR(args);
        else
            PyTuple_SET_ITEM(args, i, (PyObject *)operand);
    }
    if (args != NULL)
        PyObject_GC_UnTrack(args);
    int failed = 1;
    Node *twin = args ? node_new(node->kind, node->op, args, node->dtype, shape ? shape : node->shape) : NULL;
    if (twin != NULL) {
        Py_SETREF(twin->attr, Py_NewRef(node->attr));
        Node *leaf = be_quiet() < 0 || evaluate(&twin, 1) < 0 || twin->kind != LEAF ? NULL
                     : shape ? leaf_as(twin, node->shape) : (Node *)Py_NewRef(twin);
        failed = leaf == NULL || hold_leaf(cell, leaf) < 0;
        Py_XDECREF(leaf);
        Py_DECREF(twin);
    }
    Py_XDECREF(shape);
    return failed ? -1 : 0;
}

int is_plain_operation(Node *node)
{
    int is_map = node->kind == MAP, converts = takes_own_type(node);
    if (is_map && PyTuple_GET_SIZE(node->shape) != 1)
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        Spot spot;
        if (is_map && arg->kind != SCALAR && (!same_shape(arg->shape, node->shape) || (converts && arg->dtype != node->dtype)))
            return 0;
        if (spot_of_leaf(arg, &spot) && elements_of(arg->shape) > 0 && !is_dense(&spot))
            return 0;
    }
    return 1;
}
