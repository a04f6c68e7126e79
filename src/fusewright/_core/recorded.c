/* Operations on arrays, recorded: one table look-up, one node, one handle. */

#include "ops.h"

PyTypeObject *weak_types[WEAK_KINDS];

static PyObject *pair(Node *first, Node *second)
{
    PyObject *args = PyTuple_New(2);
    if (args != NULL) {
        PyTuple_SET_ITEM(args, 0, Py_NewRef(first));
        PyTuple_SET_ITEM(args, 1, Py_NewRef(second));
        PyObject_GC_UnTrack(args); /* nodes form no cycles */
    }
    return args;
}

static PyObject *recorded(PyObject *name, PyObject *args, int dtype, PyObject *shape)
{
    Node *node = node_new(MAP, name, args, dtype, shape);
    if (node != NULL && record(node) < 0)
        Py_CLEAR(node);
    return handle_new(node);
}

/* The shape of two that meet, aligned at the right, extents equal or 1: a new reference; NULL without
   an error where they do not. */
static PyObject *common_shape(PyObject *a, PyObject *b)
{
    if (same_shape(a, b))
        return Py_NewRef(a);
    Py_ssize_t lead = PyTuple_GET_SIZE(a) - PyTuple_GET_SIZE(b);
    if (lead < 0)
        return common_shape(b, a);
    PyObject *shape = PyTuple_New(PyTuple_GET_SIZE(a));
    for (Py_ssize_t i = 0; shape != NULL && i < PyTuple_GET_SIZE(a); i++) {
        PyObject *mine = PyTuple_GET_ITEM(a, i), *theirs = i < lead ? mine
                                                                    : PyTuple_GET_ITEM(b, i - lead);
        Py_ssize_t m = as_size(mine), n = as_size(theirs);
        if (m != n && m != 1 && n != 1)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, i, Py_NewRef(m == 1 ? theirs : mine));
    }
    return shape;
}

int weak_kind(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    for (int kind = 0; kind < WEAK_KINDS; kind++)
        if (type == weak_types[kind])
            return kind;
    return -1;
}

/* A Python number as a run-time parameter of an operation; NULL without an error: not quickly. */
static Node *weak_node(Weak *weak, PyObject *number, int kind)
{
    PyObject *value = NULL;
    if (weak->convert == NULL)
        value = Py_NewRef(number);
    else if (dtypes[weak->scalar].kind == 'f') {
        double real = PyFloat_AsDouble(number);
        if (real == -1.0 && PyErr_Occurred()) {
            forgive(); /* too large an integer: the general way says so */
            return NULL;
        }
        value = PyFloat_FromDouble(real);
    }
    else if (kind == WEAK_INT && weak->scalar == dtype_int64) {
        int overflow;
        PyLong_AsLongLongAndOverflow(number, &overflow);
        if (overflow)
            return NULL;
        value = Py_NewRef(number);
    }
    else if ((value = PyObject_CallOneArg(weak->convert, number)) == NULL) {
        forgive();
        return NULL;
    }
    Node *node = value == NULL ? NULL
                               : node_new(SCALAR, no_name, Py_NewRef(no_args), weak->scalar, no_args);
    if (node != NULL)
        Py_SETREF(node->value, Py_NewRef(value));
    Py_XDECREF(value);
    return node;
}

/* The type of a number of NumPy's; NO_DTYPE for any other object. */
int scalar_dtype(PyObject *object)
{
    int dtype = 0;
    while (dtype < NO_DTYPE && (PyObject *)Py_TYPE(object) != dtypes[dtype].scalar)
        dtype++;
    return dtype;
}

int is_numpy_number(PyObject *object) { return scalar_dtype(object) != NO_DTYPE; }

int is_numpy_integer(PyObject *object)
{
    char kind = dtypes[scalar_dtype(object)].kind;
    return kind == 'i' || kind == 'u';
}

/* A number of NumPy's, or a float of Python's, as an operand of its own type; NULL likewise. */
static Node *strong_node(PyObject *number)
{
    int dtype = PyFloat_CheckExact(number) ? dtype_float64 : scalar_dtype(number);
    if (dtype == NO_DTYPE)
        return NULL;
    char kind = dtypes[dtype].kind;
    PyObject *value = kind == 'f'   ? PyNumber_Float(number)
                      : kind == 'c' ? PyObject_CallOneArg((PyObject *)&PyComplex_Type, number)
                      : kind == 'b' ? PyBool_FromLong(PyObject_IsTrue(number))
                                    : PyNumber_Index(number);
    Node *node = value ? node_new(SCALAR, no_name, Py_NewRef(no_args), dtype, no_args) : NULL;
    if (node != NULL)
        Py_SETREF(node->value, Py_NewRef(value));
    Py_XDECREF(value);
    return node;
}

/* An array of NumPy's without dims counts as a number of its type. */
static int is_single(PyObject *object)
{
    return numpy_array != NULL && Py_IS_TYPE(object, numpy_array) && ((NumpyArray *)object)->dims == 0;
}

static PyObject *single_number(PyObject *array)
{
    int dtype = dtype_of_array(array);
    return dtype == NO_DTYPE ? NULL : numpy_number(((NumpyArray *)array)->at, dtype);
}

/* The same with a number; NULL likewise.  Takes over the reference to the node: what a record may flush is found
   by counting references. */
PyObject *with_number(Op *op, Node *node, PyObject *number, int left_is)
{
    Op *square = left_is ? square_instead(op, node, number) : NULL;
    if (square != NULL) {
        PyObject *made = of_one(square, node);
        Py_DECREF(node);
        return made;
    }
    int kind = weak_kind(number), result = UNKNOWN;
    Weak *weak = kind < 0 ? NULL : &op->weak[!left_is][node->dtype][kind];
    Node *other = NULL;
    if (weak == NULL || weak->result != UNKNOWN)
        other = weak ? weak_node(weak, number, kind) : strong_node(number);
    if (other != NULL)
        result = weak      ? weak->result
                 : left_is ? op->two[node->dtype][other->dtype]
                           : op->two[other->dtype][node->dtype];
    PyObject *args = result == UNKNOWN ? NULL : left_is ? pair(node, other) : pair(other, node);
    PyObject *shape = Py_NewRef(node->shape);
    Py_XDECREF(other);
    Py_DECREF(node);
    PyObject *made = args ? recorded(op->name, args, result, shape) : NULL;
    Py_DECREF(shape);
    return made;
}

PyObject *of_one(Op *op, Node *node)
{
    if (op->one[node->dtype] == UNKNOWN)
        return NULL;
    PyObject *args = PyTuple_New(1);
    if (args != NULL) {
        PyTuple_SET_ITEM(args, 0, Py_NewRef(node));
        PyObject_GC_UnTrack(args);
    }
    return recorded(op->name, args, op->one[node->dtype], node->shape);
}

/* An operation on two values, whose references it takes over: what a record may flush is found by counting them. */
PyObject *of_nodes(Op *op, Node *a, Node *b)
{
    int dtype = a && b ? op->two[a->dtype][b->dtype] : UNKNOWN;
    PyObject *shape = dtype == UNKNOWN ? NULL : common_shape(a->shape, b->shape);
    PyObject *args = shape ? pair(a, b) : NULL;
    Py_XDECREF(b);
    Py_XDECREF(a);
    PyObject *result = args ? recorded(op->name, args, dtype, shape) : NULL;
    Py_XDECREF(shape);
    return result;
}

/* Whether the shapes of a value and of NumPy's array fit each other. */
static int meets(Node *node, PyObject *object)
{
    NumpyArray *array = (NumpyArray *)object;
    Py_ssize_t rank = PyTuple_GET_SIZE(node->shape);
    for (Py_ssize_t i = 1; i <= rank && i <= array->dims; i++) {
        Py_ssize_t mine = as_size(PyTuple_GET_ITEM(node->shape, rank - i)), theirs = array->extent[array->dims - i];
        if (mine != theirs && mine != 1 && theirs != 1)
            return 0;
    }
    return 1;
}

/* An array of ours and one of NumPy's: NumPy's where that is the rule, else recorded with a copy of the other. */
static PyObject *with_plain(Op *op, PyObject *left, PyObject *right, int left_is)
{
    PyObject *given[2] = {left, right};
    PyObject *result = op->meaning ? plain_call(op->meaning, given, 2, NULL, 2, IS_OPERATOR) : NULL;
    if (result != NULL || PyErr_Occurred() || !Py_IS_TYPE(left_is ? right : left, numpy_array))
        return result;
    Node *node = (Node *)Py_XNewRef(handle_node(left_is ? left : right));
    Node *copy = node && meets(node, left_is ? right : left) ? plain_leaf(left_is ? right : left) : NULL;
    if (copy == NULL) {
        Py_XDECREF(node);
        return NULL;
    }
    return of_nodes(op, left_is ? node : copy, left_is ? copy : node);
}

/* The quick way of a binary operation; NULL without an error where there is none. */
PyObject *quick_two(Op *op, PyObject *left, PyObject *right)
{
    int left_is = is_plain(left), right_is = is_plain(right);
    if ((left_is && is_turned(left)) || (right_is && is_turned(right))) {
        PyObject *result = turned_two(op, left, right);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    PyObject *made = left_is || right_is ? two_eagerly(op, left, right) : NULL;
    if (made != NULL || PyErr_Occurred())
        return made;
    if (left_is && right_is) {
        /* Each is held: whatever may run Python lets other threads replace it. */
        Node *a = (Node *)Py_XNewRef(handle_node(left));
        return of_nodes(op, a, a ? (Node *)Py_XNewRef(handle_node(right)) : NULL);
    }
    if (!left_is && !right_is)
        return NULL;
    PyObject *other = left_is ? right : left;
    if (is_single(other)) { /* `np.float64(2) > x` gives one */
        PyObject *number = single_number(other);
        Node *node = number ? (Node *)Py_XNewRef(handle_node(left_is ? left : right)) : NULL;
        PyObject *result = node ? with_number(op, node, number, left_is) : NULL;
        Py_XDECREF(number);
        return result;
    }
    if (numpy_array != NULL && (Py_IS_TYPE(other, numpy_array) || PyList_CheckExact(other) || PyTuple_CheckExact(other)))
        return with_plain(op, left, right, left_is);
    Node *node = (Node *)Py_XNewRef(handle_node(left_is ? left : right));
    return node ? with_number(op, node, left_is ? right : left, left_is) : NULL;
}

PyObject *quick_product(PyObject *op, PyObject *left, PyObject *right)
{
    return quick_two((Op *)op, left, right);
}

PyObject *quick_one(Op *op, PyObject *operand)
{
    PyObject *under = is_plain(operand) && is_turned(operand) ? hidden(operand) : NULL;
    if (under != NULL) {
        Node *held = (Node *)Py_XNewRef(handle_node(under));
        PyObject *made = held ? turned(of_one(op, held), operand) : NULL;
        Py_XDECREF(held);
        return made;
    }
    PyObject *result = is_plain(operand) ? one_eagerly(op, operand) : NULL;
    if (result != NULL || PyErr_Occurred())
        return result;
    Node *node = is_plain(operand) ? (Node *)Py_XNewRef(handle_node(operand)) : NULL;
    result = node ? of_one(op, node) : NULL;
    Py_XDECREF(node);
    return result;
}

/* A value of any kind, a number's the one that it has alone: a new reference; NULL likewise. */
static Node *value_of(PyObject *operand)
{
    if (is_plain(operand))
        return (Node *)Py_XNewRef(handle_node(operand));
    if (!is_single(operand))
        return numpy_array != NULL && Py_IS_TYPE(operand, numpy_array) ? plain_leaf(operand) : strong_node(operand);
    PyObject *number = single_number(operand);
    Node *node = number ? strong_node(number) : NULL;
    Py_XDECREF(number);
    return node;
}

/* where(condition, x, y), both of x and y Python numbers of one class, one, or none; takes values in, or makes them */
static PyObject *where_of(Op *op, Node **nodes, PyObject *const *given)
{
    int dtype = UNKNOWN, weak_at = 0;
    if (nodes[0]->dtype != dtype_bool || PyTuple_GET_SIZE(nodes[0]->shape) == 0)
        return NULL;
    for (int i = 1; i < 3; i++) {
        int kind = Py_IS_TYPE(given[1], Py_TYPE(given[2])) ? -1 : weak_kind(given[i]);
        if (kind >= 0 && (kind != WEAK_FLOAT64 || weak_kind(given[3 - i]) < 0))
            weak_at += i;
        else if ((nodes[i] = value_of(given[i])) == NULL)
            return NULL;
    }
    if (weak_at == 0)
        dtype = nodes[1]->dtype == nodes[2]->dtype ? nodes[1]->dtype : UNKNOWN;
    else if (weak_at < 3) {
        int kind = weak_kind(given[weak_at]);
        Weak *weak = &op->weak[weak_at == 1][nodes[3 - weak_at]->dtype][kind];
        dtype = weak->result;
        if (dtype == UNKNOWN || (nodes[weak_at] = weak_node(weak, given[weak_at], kind)) == NULL)
            return NULL;
    }
    PyObject *two = dtype == UNKNOWN ? NULL : common_shape(nodes[0]->shape, nodes[1]->shape);
    PyObject *shape = two ? common_shape(two, nodes[2]->shape) : NULL;
    PyObject *args = shape ? PyTuple_Pack(3, nodes[0], nodes[1], nodes[2]) : NULL;
    if (args != NULL)
        PyObject_GC_UnTrack(args);
    PyObject *result = args ? recorded(op->name, args, dtype, shape) : NULL;
    Py_XDECREF(two);
    Py_XDECREF(shape);
    return result;
}

static PyObject *quick_where(Op *op, PyObject *const *given)
{
    Node *nodes[3] = {value_of(given[0]), NULL, NULL};
    PyObject *result = nodes[0] ? where_of(op, nodes, given) : NULL;
    for (int i = 0; i < 3; i++)
        Py_XDECREF(nodes[i]);
    return result;
}

PyObject *quick_of(PyObject *op, PyObject *const *given, Py_ssize_t count)
{
    return count == 1   ? quick_one((Op *)op, given[0])
           : count == 2 ? quick_two((Op *)op, given[0], given[1])
                        : quick_where((Op *)op, given);
}

int is_known_number(PyObject *object) { return weak_kind(object) >= 0 || is_numpy_number(object); }
