/* Values: the nodes of the recorded program. */

#include "core.h"
#include <structmember.h>

DType dtypes[DTYPES];
int dtype_float64, dtype_float32, dtype_int64, dtype_bool, dtype_bfloat16;

#define SPARE 512 /* nodes kept for reuse */
static Node *spare[SPARE];
static int spares;
PyObject *no_name; /* "" */
PyObject *no_args; /* () */
static PyObject *zero;

int dtype_index(PyObject *object)
{
    for (int i = 0; i < NO_DTYPE; i++)
        if (dtypes[i].object == object)
            return i;
    return NO_DTYPE;
}

PyObject *known_dtype(int dtype)
{
    PyObject *object = dtypes[dtype].object;
    return Py_NewRef(object ? object : Py_None);
}

/* register_dtypes(rows): in an order of their own; `args` are (object, itemsize, kind, name,
   NumPy's class of one). */
static PyObject *register_dtypes(PyObject *module, PyObject *rows)
{
    (void)module;
    if (!PyTuple_CheckExact(rows) || PyTuple_GET_SIZE(rows) > NO_DTYPE) {
        PyErr_SetString(PyExc_TypeError, "the rows of element types are a tuple of 15 at most");
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(rows);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *object, *scalar;
        Py_ssize_t itemsize;
        const char *kind, *name;
        if (!PyTuple_CheckExact(PyTuple_GET_ITEM(rows, i))) {
            PyErr_SetString(PyExc_TypeError, "a row of element types is a tuple");
            return NULL;
        }
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(rows, i), "OnssO!", &object, &itemsize, &kind, &name,
                              &PyType_Type, &scalar))
            return NULL;
        dtypes[i].object = Py_NewRef(object);
        dtypes[i].scalar = Py_NewRef(scalar);
        dtypes[i].itemsize = itemsize;
        dtypes[i].kind = kind[0];
        dtypes[i].straight = Py_BuildValue("(n)", itemsize);
        if (dtypes[i].straight == NULL)
            return NULL;
        if (strcmp(name, "float64") == 0) dtype_float64 = (int)i;
        if (strcmp(name, "float32") == 0) dtype_float32 = (int)i;
        if (strcmp(name, "int64") == 0) dtype_int64 = (int)i;
        if (strcmp(name, "bool") == 0) dtype_bool = (int)i;
        if (strcmp(name, "bfloat16") == 0) dtype_bfloat16 = (int)i;
    }
    Py_RETURN_NONE;
}

int same_shape(PyObject *a, PyObject *b)
{
    if (a == b)
        return 1;
    Py_ssize_t rank = PyTuple_GET_SIZE(a);
    if (rank != PyTuple_GET_SIZE(b))
        return 0;
    for (Py_ssize_t i = 0; i < rank; i++) {
        PyObject *x = PyTuple_GET_ITEM(a, i), *y = PyTuple_GET_ITEM(b, i);
        if (x != y && as_size(x) != as_size(y))
            return 0;
    }
    return 1;
}

PyObject *contiguous_strides(PyObject *shape, Py_ssize_t itemsize)
{
    Py_ssize_t rank = PyTuple_GET_SIZE(shape), step = itemsize;
    PyObject *strides = PyTuple_New(rank);
    for (Py_ssize_t i = rank - 1; strides != NULL && i >= 0; i--) {
        PyObject *stride = PyLong_FromSsize_t(step);
        if (stride == NULL)
            Py_CLEAR(strides);
        else
            PyTuple_SET_ITEM(strides, i, stride);
        Py_ssize_t extent = as_size(PyTuple_GET_ITEM(shape, i));
        step *= extent > 1 ? extent : 1;
    }
    return strides;
}

/* A node whose fields have no values yet. */
static Node *node_bare(void)
{
    Node *node = spares > 0 ? spare[--spares] : PyObject_Malloc(sizeof(Node));
    if (node == NULL)
        return (Node *)PyErr_NoMemory();
    PyObject_Init((PyObject *)node, &NodeType);
    node->layout = node->ahead = NULL;
    node->mark = 0;
    node->slot = 0;
    node->demands = 0;
    return node;
}

/* Takes over the reference to `args`. */
#define MOST_DIMS 64 /* as in ir.graph: NumPy's own bound */

Node *node_new(int kind, PyObject *op, PyObject *args, int dtype, PyObject *shape)
{
    Py_ssize_t rank = PyTuple_GET_SIZE(shape);
    if (args != NULL && rank > MOST_DIMS)
        PyErr_Format(PyExc_ValueError,
                     "maximum supported dimension for an ndarray is currently %d, found %zd",
                     MOST_DIMS, rank);
    Node *node = args == NULL || rank > MOST_DIMS ? NULL : node_bare();
    if (node == NULL) {
        Py_XDECREF(args);
        return NULL;
    }
    node->kind = (uint8_t)kind;
    node->dtype = (uint8_t)dtype;
    node->op = Py_NewRef(op);
    node->args = args;
    node->shape = Py_NewRef(shape);
    node->attr = Py_NewRef(no_args);
    node->value = Py_NewRef(Py_None);
    node->line = Py_NewRef(Py_None);
    return node;
}

int all_nodes(PyObject *sequence)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); i++)
        if (!Py_IS_TYPE(PySequence_Fast_GET_ITEM(sequence, i), &NodeType)) {
            PyErr_SetString(PyExc_TypeError, "operands are Nodes");
            return 0;
        }
    return 1;
}

static int all_integers(PyObject *tuple)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if (!PyLong_Check(PyTuple_GET_ITEM(tuple, i))) {
            PyErr_SetString(PyExc_TypeError, "extents are integers");
            return 0;
        }
    return 1;
}

Memory *leaf_memory(Node *node)
{
    PyObject *value = node->value;
    if (node->kind != LEAF || !PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) != 3)
        return NULL;
    PyObject *memory = PyTuple_GET_ITEM(value, 0), *strides = PyTuple_GET_ITEM(value, 2);
    int sound = Py_IS_TYPE(memory, &MemoryType) && PyLong_Check(PyTuple_GET_ITEM(value, 1))
                && PyTuple_CheckExact(strides)
                && PyTuple_GET_SIZE(strides) == PyTuple_GET_SIZE(node->shape);
    return sound ? (Memory *)memory : NULL;
}

/* ---- layout: how NumPy would arrange the elements ------------------------------------------------- */

static PyObject *derive, *lay_out; /* (node) -> strides or None; (node) -> array */

/* Whether an inner dim takes larger steps than an outer one; dims of one element, or repeated ones, do not count. */
static int inverts(PyObject *shape, PyObject *strides)
{
    Py_ssize_t least = PY_SSIZE_T_MAX;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
        Py_ssize_t stride = as_size(PyTuple_GET_ITEM(strides, i));
        stride = stride < 0 ? -stride : stride;
        if (stride == 0 || as_size(PyTuple_GET_ITEM(shape, i)) == 1)
            continue;
        if (stride > least)
            return 1;
        least = stride;
    }
    return 0;
}

void leaf_layout(Node *leaf)
{
    if (leaf_memory(leaf) != NULL && inverts(leaf->shape, PyTuple_GET_ITEM(leaf->value, 2)))
        Py_XSETREF(leaf->layout, Py_NewRef(PyTuple_GET_ITEM(leaf->value, 2)));
}

/* Whether a view of a C-ordered value has its dims in another order. */
int view_turns(PyObject *places)
{
    Py_ssize_t last = -1;
    if (!PyTuple_CheckExact(places))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places); i++) {
        PyObject *place = PyTuple_GET_ITEM(places, i);
        Py_ssize_t dim = PyTuple_CheckExact(place) ? as_size(PyTuple_GET_ITEM(place, 0)) : -1;
        if (dim >= 0 && dim < last)
            return 1;
        last = dim >= 0 ? dim : last;
    }
    return 0;
}

/* Whether an operand lies in C order, nothing of it repeated: C order wins then. */
static int has_straight_operand(Node *node)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++) {
        Node *each = (Node *)PyTuple_GET_ITEM(node->args, i);
        int repeated = each->kind == VIEW || each->layout != NULL || !same_shape(each->shape, node->shape);
        PyObject *strides = leaf_memory(each) ? PyTuple_GET_ITEM(each->value, 2) : NULL;
        for (Py_ssize_t d = 0; strides != NULL && !repeated && d < PyTuple_GET_SIZE(strides); d++)
            repeated = as_size(PyTuple_GET_ITEM(strides, d)) == 0;
        if (!repeated)
            return 1;
    }
    return 0;
}

/* The strides NumPy would give a value (frontends.arrays.layouts.strides_of_node): a new reference. */
static PyObject *strides_of(Node *node)
{
    if (node->layout != NULL)
        return Py_NewRef(node->layout);
    if (leaf_memory(node) != NULL)
        return Py_NewRef(PyTuple_GET_ITEM(node->value, 2));
    int is_part = node->kind == VIEW && PyTuple_CheckExact(node->attr) && PyTuple_GET_SIZE(node->attr) > 0;
    if (!is_part)
        return contiguous_strides(node->shape, dtypes[node->dtype].itemsize);
    Py_ssize_t steps[64] = {0}, rank = PyTuple_GET_SIZE(node->shape);
    PyObject *base = rank <= 64 ? strides_of((Node *)PyTuple_GET_ITEM(node->args, 0)) : NULL;
    PyObject *made = base && PyTuple_GET_SIZE(base) == PyTuple_GET_SIZE(node->attr) ? PyTuple_New(rank) : NULL;
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(base); i++) {
        PyObject *place = PyTuple_GET_ITEM(node->attr, i);
        Py_ssize_t dim = as_size(PyTuple_GET_ITEM(place, 0));
        if (dim >= 0 && dim < rank)
            steps[dim] += as_size(PyTuple_GET_ITEM(place, 2)) * as_size(PyTuple_GET_ITEM(base, i));
    }
    for (Py_ssize_t d = 0; made != NULL && d < rank; d++) {
        PyObject *step = PyLong_FromSsize_t(steps[d]);
        if (step == NULL)
            Py_CLEAR(made);
        else
            PyTuple_SET_ITEM(made, d, step);
    }
    Py_XDECREF(base);
    return made;
}

int derive_layout(Node *node)
{
    if (node->kind == MAP && has_straight_operand(node))
        return 0;
    if (derive == NULL || PyTuple_GET_SIZE(node->shape) < 2)
        return 0;
    PyObject *strides = node->kind == VIEW ? strides_of(node) : NULL;
    if (strides != NULL) {
        if (inverts(node->shape, strides))
            Py_XSETREF(node->layout, Py_NewRef(strides));
        Py_DECREF(strides);
        return 0;
    }
    forgive(); /* Python says what is wrong with it */
    PyObject *layout = PyObject_CallOneArg(derive, (PyObject *)node);
    if (layout == NULL)
        return -1;
    if (PyTuple_CheckExact(layout))
        Py_XSETREF(node->layout, Py_NewRef(layout));
    Py_DECREF(layout);
    return 0;
}

PyObject *laid_out(Node *node)
{
    PyObject *made = PyObject_CallOneArg(lay_out, (PyObject *)node);
    Py_DECREF(node);
    return made;
}

/* set_layouts(derive, lay_out) */
static PyObject *set_layouts(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *rule, *make;
    if (!PyArg_ParseTuple(given, "OO", &rule, &make))
        return NULL;
    Py_XSETREF(derive, Py_NewRef(rule));
    Py_XSETREF(lay_out, Py_NewRef(make));
    Py_RETURN_NONE;
}

static PyObject *get_layout(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *layout = ((Node *)self)->layout;
    return Py_NewRef(layout ? layout : Py_None);
}

static int set_layout(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    int none = value == NULL || value == Py_None;
    if (!none && (!PyTuple_CheckExact(value) || !all_integers(value))) {
        PyErr_SetString(PyExc_TypeError, "a layout is a tuple of strides");
        return -1;
    }
    Py_XSETREF(((Node *)self)->layout, none ? NULL : Py_NewRef(value));
    return 0;
}

/* Node(kind, op, args, dtype, shape, attr=(), value=None) */
static PyObject *node_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"kind", "op", "args", "dtype", "shape", "attr", "value", NULL};
    (void)type;
    int kind;
    PyObject *op, *args, *dtype, *shape, *attr = no_args, *value = Py_None;
    if (!PyArg_ParseTupleAndKeywords(given, names, "iUO!OO!|OO", keywords, &kind, &op,
                                     &PyTuple_Type, &args, &dtype, &PyTuple_Type, &shape, &attr,
                                     &value))
        return NULL;
    if (!all_nodes(args) || !all_integers(shape))
        return NULL;
    Py_INCREF(op);
    PyUnicode_InternInPlace(&op); /* ops are compared by address */
    Node *node = node_new(kind, op, Py_NewRef(args), dtype_index(dtype), shape);
    Py_DECREF(op);
    if (node != NULL) {
        Py_SETREF(node->attr, Py_NewRef(attr));
        Py_SETREF(node->value, Py_NewRef(value));
        if (kind == LEAF)
            leaf_layout(node);
    }
    return (PyObject *)node;
}

/* Operands die with their users, and a chain of a million must not take a million stack frames:
   what is too deep waits in a list (linked through `mark`) until the outermost is done. */
static void node_dealloc(Node *node)
{
    static int depth;
    static Node *waiting;
    if (depth > 64) {
        node->mark = (uint64_t)(uintptr_t)waiting;
        waiting = node;
        return;
    }
    depth++;
    Py_DECREF(node->args);
    Py_DECREF(node->value);
    Py_DECREF(node->op);
    Py_DECREF(node->shape);
    Py_DECREF(node->attr);
    Py_DECREF(node->line);
    Py_XDECREF(node->layout);
    Py_XDECREF(node->ahead);
    if (spares < SPARE)
        spare[spares++] = node;
    else
        PyObject_Free(node);
    depth--;
    while (depth == 0 && waiting != NULL) {
        Node *next = waiting;
        waiting = (Node *)(uintptr_t)next->mark;
        node_dealloc(next);
    }
}

/* The value is in memory now: forget how it was computed. */
int node_become_leaf(Node *node, PyObject *memory, PyObject *offset, PyObject *strides)
{
    PyObject *value = PyTuple_New(3);
    if (value == NULL)
        return -1;
    PyTuple_SET_ITEM(value, 0, Py_NewRef(memory));
    PyTuple_SET_ITEM(value, 1, Py_NewRef(offset ? offset : zero));
    PyTuple_SET_ITEM(value, 2, Py_NewRef(strides));
    node->kind = LEAF;
    Py_SETREF(node->value, value);
    Py_SETREF(node->attr, Py_NewRef(no_args));
    Py_SETREF(node->op, Py_NewRef(no_name));
    Py_SETREF(node->args, Py_NewRef(no_args));
    Py_CLEAR(node->ahead);
    return 0;
}

/* A value in memory from an offset on, in C order. */
Node *node_in_memory(PyObject *memory, PyObject *offset, int dtype, PyObject *shape)
{
    PyObject *strides = contiguous_strides(shape, dtypes[dtype].itemsize);
    Node *made = strides ? node_new(LEAF, no_name, Py_NewRef(no_args), dtype, shape) : NULL;
    if (made != NULL && node_become_leaf(made, memory, offset, strides) < 0)
        Py_CLEAR(made);
    Py_XDECREF(strides);
    return made;
}

/* A leaf's memory with other extents, in C order. */
Node *leaf_as(Node *leaf, PyObject *shape)
{
    PyObject *value = leaf->value;
    return node_in_memory(PyTuple_GET_ITEM(value, 0), PyTuple_GET_ITEM(value, 1), leaf->dtype, shape);
}

/* The same with steps of its own. */
Node *leaf_with(Node *leaf, PyObject *shape, PyObject *strides)
{
    PyObject *value = leaf->value;
    Node *made = node_new(LEAF, no_name, Py_NewRef(no_args), leaf->dtype, shape);
    if (made != NULL && node_become_leaf(made, PyTuple_GET_ITEM(value, 0), PyTuple_GET_ITEM(value, 1), strides) < 0)
        Py_CLEAR(made);
    if (made != NULL)
        leaf_layout(made);
    return made;
}

static PyObject *become_leaf(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "become_leaf takes a memory, an offset and strides");
        return NULL;
    }
    int failed = node_become_leaf((Node *)self, given[0], given[1], given[2]) < 0;
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return known_dtype(((Node *)self)->dtype);
}

static int set_dtype(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    ((Node *)self)->dtype = (uint8_t)dtype_index(value);
    return 0;
}

static PyObject *get_op(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((Node *)self)->op);
}

static int set_op(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    if (value == NULL || !PyUnicode_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "an op is a name");
        return -1;
    }
    Py_INCREF(value);
    PyUnicode_InternInPlace(&value);
    Py_SETREF(((Node *)self)->op, value);
    return 0;
}

/* `closure` is the offset of the field, which always holds a tuple. */
static int set_tuple(PyObject *self, PyObject *value, void *closure)
{
    if (value == NULL || !PyTuple_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "operands and shapes are tuples");
        return -1;
    }
    if (!((size_t)closure == offsetof(Node, args) ? all_nodes(value) : all_integers(value)))
        return -1;
    PyObject **field = (PyObject **)((char *)self + (size_t)closure);
    Py_SETREF(*field, Py_NewRef(value));
    return 0;
}

static PyObject *get_object(PyObject *self, void *closure)
{
    return Py_NewRef(*(PyObject **)((char *)self + (size_t)closure));
}

static int set_object(PyObject *self, PyObject *value, void *closure)
{
    PyObject **field = (PyObject **)((char *)self + (size_t)closure);
    Py_SETREF(*field, Py_NewRef(value ? value : Py_None));
    return 0;
}

#define FIELD(name) (void *)offsetof(Node, name)
static PyGetSetDef node_fields[] = {
    {"dtype", get_dtype, set_dtype, NULL, NULL},
    {"op", get_op, set_op, NULL, NULL},
    {"args", get_object, set_tuple, NULL, FIELD(args)},
    {"shape", get_object, set_tuple, NULL, FIELD(shape)},
    {"attr", get_object, set_object, NULL, FIELD(attr)},
    {"value", get_object, set_object, NULL, FIELD(value)},
    {"line", get_object, set_object, NULL, FIELD(line)},
    {"layout", get_layout, set_layout, NULL, NULL},
    {NULL},
};

static PyMemberDef node_members[] = {
    {"kind", T_UBYTE, offsetof(Node, kind), 0, NULL},
    {"demands", T_INT, offsetof(Node, demands), 0, NULL},
    {NULL},
};

static PyMethodDef node_type_methods[] = {
    {"become_leaf", (PyCFunction)(void (*)(void))become_leaf, METH_FASTCALL,
     "The value is in memory now: forget how it was computed."},
    {NULL},
};

static PyObject *describe; /* the Python function behind repr */

static PyObject *node_repr(PyObject *self)
{
    return describe ? PyObject_CallOneArg(describe, self) : PyUnicode_FromString("<node>");
}

static PyObject *set_describe(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(describe, Py_NewRef(function));
    Py_RETURN_NONE;
}

PyTypeObject NodeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Node",
    .tp_basicsize = sizeof(Node),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = node_make,
    .tp_dealloc = (destructor)node_dealloc,
    .tp_getset = node_fields,
    .tp_members = node_members,
    .tp_methods = node_type_methods,
    .tp_repr = node_repr,
    .tp_doc = "One array-level value: the native form of fusewright.ir.graph.Node.",
};

static PyObject *dtype_number(PyObject *module, PyObject *object)
{
    (void)module;
    return PyLong_FromLong(dtype_index(object));
}

PyMethodDef node_methods[] = {
    {"dtype_number", dtype_number, METH_O, "The number of an element type in tables."},
    {"register_dtypes", register_dtypes, METH_O, "The element types: (row, bytes, kind, name, class)."},
    {"set_layouts", set_layouts, METH_VARARGS, "What finds a value's layout, and what makes an array of it."},
    {"set_describe", set_describe, METH_O, "What repr of a node says."},
    {NULL},
};

int node_ready(void)
{
    no_name = PyUnicode_InternFromString("");
    no_args = PyTuple_New(0);
    zero = PyLong_FromLong(0);
    return no_name == NULL || no_args == NULL || zero == NULL ? -1 : PyType_Ready(&NodeType);
}
