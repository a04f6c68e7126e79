/* Reductions recorded: `x.sum()`, `np.max(x, axis=0)`, `x.mean(keepdims=True)`.

   Of an array, over all dims or one of them, its elements in the type they are combined in; everything
   else is the general function's (frontends.arrays.reductions). */

#include "front.h"
#include "library.h"

#define MOST_RANK 8

typedef struct {
    Front front;
    int sums;
    PyObject *op;
    PyObject *divide; /* of a mean: the Op that divides the sum by the count; else None */
    uint8_t combines[DTYPES]; /* the type that elements of each type are combined in; NO_DTYPE: Python has to look */
} Reduction;

typedef struct {
    int axis, keepdims; /* axis: ALL for every dim */
} Over;
#define ALL MOST_RANK

static PyObject *axis_name, *keepdims_name, *cast_name;

/* What the arguments after the first ask for; 0 where Python has to look. */
static int read_over(PyObject *const *given, Py_ssize_t count, PyObject *names, Py_ssize_t rank,
                     Over *over)
{
    PyObject *axis = count > 1 ? given[1] : Py_None, *keepdims = Py_False;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (name == axis_name && count == 1)
            axis = given[count + i];
        else if (name == keepdims_name)
            keepdims = given[count + i];
        else
            return 0;
    }
    if (count > 2 || !PyBool_Check(keepdims) || rank < 1 || rank > MOST_RANK)
        return 0;
    over->keepdims = keepdims == Py_True;
    over->axis = ALL;
    if (axis == Py_None)
        return 1;
    if (!PyLong_CheckExact(axis))
        return 0;
    int overflow;
    long number = PyLong_AsLongAndOverflow(axis, &overflow);
    if (overflow || number < -rank || number >= rank)
        return 0;
    over->axis = (int)(number < 0 ? number + rank : number);
    return 1;
}

/* The attribute of a REDUCE, one object for each. */
static PyObject *attribute(Py_ssize_t rank, Over *over)
{
    static PyObject *known[MOST_RANK + 1][MOST_RANK + 1][2];
    PyObject **found = &known[rank][over->axis][over->keepdims];
    if (*found == NULL) {
        Py_ssize_t first = over->axis == ALL ? 0 : over->axis;
        Py_ssize_t many = over->axis == ALL ? rank : 1;
        PyObject *axes = PyTuple_New(many);
        for (Py_ssize_t i = 0; axes != NULL && i < many; i++)
            PyTuple_SET_ITEM(axes, i, PyLong_FromSsize_t(first + i)); /* small ones never fail */
        *found = axes ? PyTuple_Pack(2, axes, over->keepdims ? Py_True : Py_False) : NULL;
        Py_XDECREF(axes);
    }
    return Py_XNewRef(*found);
}

/* The result's shape, and how many elements one of the result is made of; NULL without an error for a
   shape without elements. */
static PyObject *reduced(PyObject *shape, Over *over, Py_ssize_t *count)
{
    static PyObject *one;
    Py_ssize_t rank = PyTuple_GET_SIZE(shape), at = 0;
    *count = 1;
    if (one == NULL && (one = PyLong_FromLong(1)) == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < rank; i++)
        if (as_size(PyTuple_GET_ITEM(shape, i)) <= 0)
            return NULL;
    Py_ssize_t gone = over->axis == ALL ? rank : 1;
    PyObject *result = PyTuple_New(over->keepdims ? rank : rank - gone);
    for (Py_ssize_t i = 0; result != NULL && i < rank; i++) {
        int over_this = over->axis == ALL || over->axis == i;
        if (over_this)
            *count *= as_size(PyTuple_GET_ITEM(shape, i));
        if (over_this && !over->keepdims)
            continue;
        PyTuple_SET_ITEM(result, at++, Py_NewRef(over_this ? one : PyTuple_GET_ITEM(shape, i)));
    }
    return result;
}

/* The elements in another type. */
static Node *converted(Node *node, int dtype)
{
    PyObject *args = node->dtype == dtype ? NULL : PyTuple_Pack(1, node);
    if (args == NULL)
        return PyErr_Occurred() ? NULL : (Node *)Py_NewRef(node);
    Node *made = node_new(MAP, cast_name, args, dtype, node->shape);
    if (made != NULL && record(made) < 0)
        Py_CLEAR(made);
    return made;
}

static PyObject *quick(Reduction *self, Node *node, Over *over)
{
    Py_ssize_t count;
    int dtype = self->combines[node->dtype];
    PyObject *shape = reduced(node->shape, over, &count);
    PyObject *attr = shape ? attribute(PyTuple_GET_SIZE(node->shape), over) : NULL;
    Node *elements = attr ? converted(node, dtype) : NULL;
    PyObject *args = elements ? PyTuple_Pack(1, elements) : NULL;
    Node *made = args ? node_new(REDUCE, self->op, args, dtype, shape) : NULL;
    Py_XDECREF(elements);
    Py_XDECREF(shape);
    if (made == NULL) {
        Py_XDECREF(attr);
        return NULL;
    }
    Py_SETREF(made->attr, attr);
    if (record(made) < 0)
        Py_CLEAR(made);
    PyObject *result = handle_new(made);
    if (result == NULL || self->divide == Py_None)
        return result;
    PyObject *number = PyLong_FromSsize_t(count);
    Py_SETREF(result, number ? PyObject_CallFunctionObjArgs(self->divide, result, number, NULL) : NULL);
    Py_XDECREF(number);
    return result;
}

static PyObject *reduction_call(PyObject *callable, PyObject *const *given, size_t flags,
                                PyObject *names)
{
    Reduction *self = (Reduction *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    Over over;
    if (count == 1 && names == NULL && self->sums) {
        PyObject *number = sum_now(given[0], NULL, self->divide != Py_None);
        if (number != NULL || PyErr_Occurred())
            return number;
    }
    if (count > 0 && is_plain(given[0])) {
        Node *node = handle_node(given[0]);
        if (node == NULL)
            return NULL;
        if (self->combines[node->dtype] != NO_DTYPE
            && read_over(given, count, names, PyTuple_GET_SIZE(node->shape), &over)) {
            Py_INCREF(node); /* recording may run Python */
            PyObject *result;
            TIME(result = quick(self, node, &over));
            Py_DECREF(node);
            if (result != NULL || PyErr_Occurred())
                return result;
        }
    }
    return front_general((PyObject *)self, given, flags, names);
}

/* Reduction(op, general, divide=None) */
static PyObject *reduction_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    PyObject *op, *general, *divide = Py_None;
    (void)names;
    if (!PyArg_ParseTuple(given, "UO|O", &op, &general, &divide))
        return NULL;
    if (divide != Py_None && !Py_IS_TYPE(divide, &OpType)) {
        PyErr_SetString(PyExc_TypeError, "a mean divides by an Op");
        return NULL;
    }
    Reduction *self = (Reduction *)front_new(type, reduction_call, general);
    if (self != NULL) {
        Py_INCREF(op);
        PyUnicode_InternInPlace(&op);
        self->op = op;
        self->divide = Py_NewRef(divide);
        self->sums = PyUnicode_CompareWithASCIIString(op, "sum") == 0;
        memset(self->combines, NO_DTYPE, sizeof self->combines);
    }
    return (PyObject *)self;
}

/* learn(dtype, combined): elements of a type are combined in this one */
static PyObject *reduction_learn(PyObject *self, PyObject *given)
{
    PyObject *dtype, *combined;
    if (!PyArg_ParseTuple(given, "OO", &dtype, &combined))
        return NULL;
    int number = dtype_index(dtype), into = dtype_index(combined);
    if (number == NO_DTYPE || into == NO_DTYPE) {
        PyErr_SetString(PyExc_ValueError, "not an element type");
        return NULL;
    }
    ((Reduction *)self)->combines[number] = (uint8_t)into;
    Py_RETURN_NONE;
}

static int reduction_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Reduction *)self)->divide);
    return front_traverse(self, visit, arg);
}

static int reduction_clear(PyObject *self)
{
    Py_CLEAR(((Reduction *)self)->op);
    Py_CLEAR(((Reduction *)self)->divide);
    return front_clear(self);
}

static PyMethodDef reduction_type_methods[] = {
    {"learn", reduction_learn, METH_VARARGS, "Record this element type here: (type, what it is combined in)."},
    {NULL},
};

PyTypeObject ReductionType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Reduction",
    .tp_basicsize = sizeof(Reduction),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_new = reduction_make,
    .tp_traverse = reduction_traverse,
    .tp_clear = reduction_clear,
    .tp_methods = reduction_type_methods,
    .tp_doc = "A reduction that records arrays of plain types at once.",
};

int reductions_ready(void)
{
    axis_name = PyUnicode_InternFromString("axis");
    keepdims_name = PyUnicode_InternFromString("keepdims");
    cast_name = PyUnicode_InternFromString("cast");
    return axis_name == NULL || keepdims_name == NULL || cast_name == NULL ? -1 : 0;
}
