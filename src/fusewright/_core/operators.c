/* Operators and functions of arrays, recorded: one table look-up, one node, one handle.

   The rules of types are Python's (frontends.arrays.dtypes): whatever an operation meets for the
   first time goes to its `general` function, which fills in the tables below. */

#include "dispatch.h"
#include <structmember.h>

#define UNKNOWN 0xFF
enum { WEAK_BOOL, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX, WEAK_FLOAT64, WEAK_KINDS };
static PyTypeObject *weak_types[WEAK_KINDS];

/* An array and a Python number: the result's type, the number's, how it is converted (or NULL). */
typedef struct {
    uint8_t result, scalar;
    PyObject *convert;
} Weak;

typedef struct {
    PyObject_HEAD
    PyObject *name;
    PyObject *general; /* (left, right, reflected), or (operand) */
    PyObject *meaning; /* NumPy's function, or NULL */
    uint8_t one[DTYPES], two[DTYPES][DTYPES];
    Weak weak[2][DTYPES][WEAK_KINDS]; /* [reflected] */
} Op;

/* ---- recording ------------------------------------------------------------------------------ */

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

static int weak_kind(PyObject *object)
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

static PyObject *of_one(Op *op, Node *node);
static Op *square_instead(Op *op, Node *node, PyObject *exponent);

/* The same with a number; NULL likewise.  Takes over the reference to the node: what a record may flush is found
   by counting references. */
static PyObject *with_number(Op *op, Node *node, PyObject *number, int left_is)
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

static PyObject *of_one(Op *op, Node *node)
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
static PyObject *of_nodes(Op *op, Node *a, Node *b)
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

/* ---- what does not lie in C order: views of arrays that do (frontends.arrays.layouts) ------------ */

static int is_turned(PyObject *plain)
{
    PyObject *link = ((Handle *)plain)->flags & TURNED ? view_link_of(plain) : NULL;
    return link != NULL && is_slice(link);
}

/* The array under a view of it whose dims are in another order, as it is or in another shape; NULL for any other plain
   handle. */
static PyObject *hidden(PyObject *handle)
{
    if (!is_turned(handle))
        return NULL;
    PyObject *base = view_base_of(handle), *root = is_plain(base) ? under_reshape(base) : base;
    Node *node = Py_IS_TYPE(root, array_class) ? ((Handle *)root)->node : NULL;
    return node != NULL && node->layout == NULL ? base : NULL;
}

/* Whether two such views show their arrays in the same way. */
static int are_turned_alike(PyObject *left, PyObject *right)
{
    PyObject *a = view_link_of(left), *b = view_link_of(right);
    if (a == b)
        return 1;
    if (!same_shape(PyTuple_GET_ITEM(a, 1), PyTuple_GET_ITEM(b, 1)))
        return 0;
    PyObject *ours = PyTuple_GET_ITEM(a, 0), *theirs = PyTuple_GET_ITEM(b, 0);
    int alike = PyTuple_GET_SIZE(ours) == PyTuple_GET_SIZE(theirs);
    for (Py_ssize_t i = 0; alike && i < PyTuple_GET_SIZE(ours); i++)
        alike = same_shape(PyTuple_GET_ITEM(ours, i), PyTuple_GET_ITEM(theirs, i));
    return alike;
}

/* A result of hidden arrays, shown as they are.  Takes over the reference. */
static PyObject *turned(PyObject *result, PyObject *like)
{
    if (result == NULL || Py_TYPE(result) != array_class)
        return result;
    PyObject *view = view_new(result, view_link_of(like), OWNS | TURNED);
    Py_DECREF(result);
    return view;
}

/* An operation on such arrays, of which at least one is given; NULL without an error where Python has to look. */
static PyObject *turned_two(Op *op, PyObject *left, PyObject *right)
{
    PyObject *a = is_plain(left) ? hidden(left) : NULL, *b = is_plain(right) ? hidden(right) : NULL;
    if (a == NULL && b == NULL)
        return NULL;
    PyObject *other = a ? right : left, *like = a ? left : right;
    if (a != NULL && b != NULL) {
        if (!are_turned_alike(left, right))
            return NULL;
        Node *first = (Node *)Py_XNewRef(handle_node(a));
        return turned(of_nodes(op, first, first ? (Node *)Py_XNewRef(handle_node(b)) : NULL), like);
    }
    if ((is_plain(other) && Py_TYPE(other) != scalar_class) || (numpy_array != NULL && Py_IS_TYPE(other, numpy_array)))
        return NULL;
    Node *node = (Node *)Py_XNewRef(handle_node(a ? a : b));
    if (Py_TYPE(other) == scalar_class) {
        Node *number = node ? (Node *)Py_XNewRef(handle_node(other)) : NULL;
        return turned(of_nodes(op, a ? node : number, a ? number : node), like);
    }
    return node ? turned(with_number(op, node, other, a != NULL), like) : NULL;
}

/* The quick way of a binary operation; NULL without an error where there is none. */
static PyObject *quick_two(Op *op, PyObject *left, PyObject *right)
{
    int left_is = is_plain(left), right_is = is_plain(right);
    if ((left_is && is_turned(left)) || (right_is && is_turned(right))) {
        PyObject *result = turned_two(op, left, right);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
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

static PyObject *quick_one(Op *op, PyObject *operand)
{
    PyObject *under = is_plain(operand) && is_turned(operand) ? hidden(operand) : NULL;
    if (under != NULL) {
        Node *held = (Node *)Py_XNewRef(handle_node(under));
        PyObject *made = held ? turned(of_one(op, held), operand) : NULL;
        Py_XDECREF(held);
        return made;
    }
    Node *node = is_plain(operand) ? (Node *)Py_XNewRef(handle_node(operand)) : NULL;
    PyObject *result = node ? of_one(op, node) : NULL;
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

/* ---- the ops -------------------------------------------------------------------------------- */

static PyObject *op_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"name", "general", "meaning", NULL};
    PyObject *name, *general, *meaning = NULL;
    if (!PyArg_ParseTupleAndKeywords(given, names, "UO|O", keywords, &name, &general, &meaning))
        return NULL;
    Op *op = PyObject_New(Op, type);
    if (op == NULL)
        return NULL;
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    op->name = name;
    op->general = Py_NewRef(general);
    op->meaning = Py_XNewRef(meaning);
    memset(op->one, UNKNOWN, sizeof op->one);
    memset(op->two, UNKNOWN, sizeof op->two);
    memset(op->weak, 0, sizeof op->weak);
    for (int i = 0; i < 2 * DTYPES * WEAK_KINDS; i++)
        (&op->weak[0][0][0])[i].result = UNKNOWN;
    return (PyObject *)op;
}

static void op_dealloc(Op *op)
{
    for (int i = 0; i < 2 * DTYPES * WEAK_KINDS; i++)
        Py_XDECREF((&op->weak[0][0][0])[i].convert);
    Py_XDECREF(op->name);
    Py_XDECREF(op->general);
    Py_XDECREF(op->meaning);
    PyObject_Free(op);
}

/* learn(dtype, result) or learn(left, right, result) */
static PyObject *op_learn(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Op *op = (Op *)self;
    int found[3];
    for (Py_ssize_t i = 0; i < count && i < 3; i++)
        if ((found[i] = dtype_index(given[i])) == NO_DTYPE) {
            PyErr_SetString(PyExc_ValueError, "not an element type");
            return NULL;
        }
    if (count == 2)
        op->one[found[0]] = (uint8_t)found[1];
    else if (count == 3)
        op->two[found[0]][found[1]] = (uint8_t)found[2];
    Py_RETURN_NONE;
}

/* learn_weak(dtype, class, reflected, result, scalar, convert or None) */
static PyObject *op_learn_weak(PyObject *self, PyObject *given)
{
    PyObject *dtype, *kind, *result, *scalar, *convert;
    int reflected;
    if (!PyArg_ParseTuple(given, "OOpOOO", &dtype, &kind, &reflected, &result, &scalar, &convert))
        return NULL;
    for (int i = 0; i < WEAK_KINDS; i++) {
        if ((PyObject *)weak_types[i] != kind)
            continue;
        Weak *weak = &((Op *)self)->weak[reflected][dtype_index(dtype)][i];
        weak->scalar = (uint8_t)dtype_index(scalar);
        weak->result = (uint8_t)dtype_index(result);
        Py_XSETREF(weak->convert, convert == Py_None ? NULL : Py_NewRef(convert));
    }
    Py_RETURN_NONE;
}

static PyObject *general_two(Op *op, PyObject *left, PyObject *right);

/* op(operand) or op(left, right): a new handle */
static PyObject *op_call(PyObject *self, PyObject *given, PyObject *names)
{
    Op *op = (Op *)self;
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    if (names != NULL || count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "an Op takes one or two operands");
        return NULL;
    }
    PyObject *left = PyTuple_GET_ITEM(given, 0);
    PyObject *right = count > 1 ? PyTuple_GET_ITEM(given, 1) : NULL;
    PyObject *result = right ? quick_two(op, left, right) : quick_one(op, left);
    if (result != NULL || PyErr_Occurred())
        return result;
    return right ? general_two(op, left, right) : PyObject_CallOneArg(op->general, left);
}

/* of_two(array, other, reflected) */
static PyObject *op_of_two(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Op *op = (Op *)self;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "of_two takes an array, an operand and a flag");
        return NULL;
    }
    int reflected = PyObject_IsTrue(given[2]);
    if (reflected < 0)
        return NULL;
    PyObject *result = quick_two(op, given[reflected], given[!reflected]);
    if (result != NULL || PyErr_Occurred())
        return result;
    return PyObject_Vectorcall(op->general, given, 3, NULL);
}

static PyMethodDef op_methods[] = {
    {"of_two", (PyCFunction)(void (*)(void))op_of_two, METH_FASTCALL,
     "An array and an operand of any kind; whether the operand comes first."},
    {"learn", (PyCFunction)(void (*)(void))op_learn, METH_FASTCALL, "Operands' types, result's."},
    {"learn_weak", op_learn_weak, METH_VARARGS, "What an array and a Python number give."},
    {NULL},
};

static PyMemberDef op_members[] = {
    {"name", T_OBJECT, offsetof(Op, name), READONLY, NULL},
    {"general", T_OBJECT, offsetof(Op, general), READONLY, NULL},
    {NULL},
};

PyTypeObject OpType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Op",
    .tp_basicsize = sizeof(Op),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = op_make,
    .tp_dealloc = (destructor)op_dealloc,
    .tp_call = op_call,
    .tp_methods = op_methods,
    .tp_members = op_members,
    .tp_doc = "What is known of one operation's types; Op(name, general).",
};

/* ---- Python's operators --------------------------------------------------------------------- */

enum {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, REMAINDER, AND, OR, XOR, LEFT, RIGHT, POWER,
    LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, NEGATIVE, POSITIVE, ABSOLUTE,
    INVERT, SQUARE, OPERATORS
};
static Op *operators[OPERATORS];
static PyObject *check_writable, *store; /* of an in-place operator: before, and after */
static PyObject *refused_in_place;       /* (name, array, other, error): what NumPy says to it */

/* Of the power by 2 of single and double numbers, which NumPy's loop takes by a multiplication, too; else NULL. */
static Op *square_instead(Op *op, Node *node, PyObject *exponent)
{
    int overflow;
    if (op->name != operators[POWER]->name || dtypes[node->dtype].kind != 'f' || dtypes[node->dtype].itemsize < 4)
        return NULL;
    int is_two = PyFloat_CheckExact(exponent)  ? PyFloat_AS_DOUBLE(exponent) == 2.0
                 : PyLong_CheckExact(exponent) ? PyLong_AsLongAndOverflow(exponent, &overflow) == 2
                                               : 0;
    return is_two ? operators[SQUARE] : NULL;
}

static int is_handle(PyObject *object) { return PyObject_TypeCheck(object, &HandleType); }

/* general(handle, other, reflected) */
static PyObject *general_two(Op *op, PyObject *left, PyObject *right)
{
    int reflected = !is_handle(left);
    PyObject *given[3] = {reflected ? right : left, reflected ? left : right,
                          reflected ? Py_True : Py_False};
    return PyObject_Vectorcall(op->general, given, 3, NULL);
}

/* What Python's operators make of numbers is a number, where little has to be computed for it. */
static PyObject *numbered(PyObject *result)
{
    if (Py_TYPE(result) != scalar_class)
        return result;
    PyObject *number = number_now(handle_node(result));
    if (number != NULL || PyErr_Occurred())
        Py_SETREF(result, number);
    return result;
}

/* As Python's operators do it, the general way included. */
PyObject *operator_result(PyObject *op, PyObject *left, PyObject *right)
{
    PyObject *result = quick_two((Op *)op, left, right);
    if (result != NULL)
        return numbered(result);
    return PyErr_Occurred() ? NULL : general_two((Op *)op, left, right);
}

static PyObject *two(int which, PyObject *left, PyObject *right)
{
    int left_to = which == MULTIPLY && is_repetition(left, right);
    return left_to ? Py_NewRef(Py_NotImplemented) : operator_result((PyObject *)operators[which], left, right);
}

static PyObject *one(int which, PyObject *operand)
{
    Op *op = operators[which];
    PyObject *result = quick_one(op, operand);
    if (result != NULL)
        return numbered(result);
    return PyErr_Occurred() ? NULL : PyObject_CallOneArg(op->general, operand);
}

/* An operand whose class surely leaves the operator to ours. */
static int is_common(PyObject *operand)
{
    return is_handle(operand) || PyFloat_Check(operand) || PyLong_Check(operand) || PyComplex_Check(operand)
           || is_numpy_array(operand) || refused_in_place == NULL;
}

static PyObject *settle_in_place(int which, PyObject *self, PyObject *other, PyObject *error)
{
    return PyObject_CallFunctionObjArgs(refused_in_place, operators[which]->name, self, other, error, NULL);
}

/* An array's value replaced by a recorded one of the same shape and type; 0 where Python has to write it. */
int replaced(PyObject *self, PyObject *result)
{
    PyObject *under = is_turned(self) ? hidden(self) : NULL;
    if (under != NULL && !Py_IS_TYPE(under, array_class))
        under = NULL;
    PyObject *value = under && is_plain(result) ? hidden(result) : NULL;
    if (value != NULL && are_turned_alike(self, result) && Py_REFCNT(value) == 1) {
        if (!replaced(under, value))
            return 0;
        view_forget(self);
        return 1;
    }
    Handle *target = (Handle *)self;
    Node *old = target->node;
    if (!Py_IS_TYPE(self, array_class) || (target->flags & READ_ONLY) || !is_plain(result)
        || Py_TYPE(result) == view_class || old == NULL)
        return 0;
    if (is_seen_by_others(old))
        return 0;
    Node *now = ((Handle *)result)->node;
    if (now->kind == LEAF || now->dtype != old->dtype || !same_shape(now->shape, old->shape))
        return 0;
    Py_INCREF(now);
    Py_SETREF(target->node, now);
    return 1;
}

/* The value is computed first, then written. */
static PyObject *in_place_locked(int which, PyObject *self, PyObject *other)
{
    Handle *target = (Handle *)self;
    if (target->flags & READ_ONLY) {
        PyObject *may = PyObject_CallOneArg(check_writable, self);
        if (may == NULL)
            return NULL;
        Py_DECREF(may);
    }
    PyObject *result = operators[which]->meaning ? border_in_place(operators[which]->meaning, self, other) : NULL;
    if (result != NULL || PyErr_Occurred())
        return result;
    result = is_common(other) ? Py_NotImplemented : settle_in_place(which, self, other, Py_None);
    if (result != Py_NotImplemented)
        return result;
    int updated = Py_TYPE(self) == view_class ? move_update(self, operators[which]->name, other) : 0;
    if (updated != 0)
        return updated < 0 ? NULL : Py_NewRef(self);
    result = two(which, self, other);
    if (result == NULL || result == Py_NotImplemented)
        return result;
    if (replaced(self, result)) {
        Py_DECREF(result);
        return Py_NewRef(self);
    }
    if (Py_TYPE(self) == view_class && is_plain(result) && Py_TYPE(result) != view_class) {
        int written = quick_view_write(self, ((Handle *)result)->node, other);
        if (written != 0) {
            Py_DECREF(result);
            return written < 0 ? NULL : Py_NewRef(self);
        }
    }
    PyObject *done = PyObject_CallFunctionObjArgs(store, self, result, NULL);
    Py_DECREF(result);
    if (done == NULL)
        return NULL;
    Py_DECREF(done);
    return Py_NewRef(self);
}

/* The result, or the error, of NumPy's operator where ours ended with one. */
static PyObject *in_place_settled(int which, PyObject *self, PyObject *other)
{
    PyObject *kind, *error, *trace;
    PyErr_Fetch(&kind, &error, &trace);
    PyErr_NormalizeException(&kind, &error, &trace);
    if (trace != NULL)
        PyException_SetTraceback(error, trace);
    PyObject *done = settle_in_place(which, self, other, error);
    Py_XDECREF(kind);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return done;
}

/* One write at a time: see `handle_setitem`. */
static PyObject *in_place(int which, PyObject *self, PyObject *other)
{
    Lock *lock = evaluation_begins();
    PyObject *done = in_place_locked(which, self, other);
    if (done == NULL && refused_in_place != NULL && is_refusal())
        done = in_place_settled(which, self, other);
    evaluation_ends(lock);
    return done;
}

#define TWO(name, which) \
    static PyObject *name(PyObject *a, PyObject *b) { TIMED(PyObject *, two(which, a, b)); } \
    static PyObject *i##name(PyObject *a, PyObject *b) { TIMED(PyObject *, in_place(which, a, b)); }
#define ONE(name, which) \
    static PyObject *name(PyObject *a) { TIMED(PyObject *, one(which, a)); }

TWO(add, ADD) TWO(subtract, SUBTRACT) TWO(multiply, MULTIPLY) TWO(divide, DIVIDE)
TWO(floor_divide, FLOOR_DIVIDE) TWO(modulo, REMAINDER) TWO(and, AND) TWO(or, OR) TWO(xor, XOR)
TWO(left, LEFT) TWO(right, RIGHT)
ONE(negative, NEGATIVE) ONE(positive, POSITIVE) ONE(absolute, ABSOLUTE) ONE(invert, INVERT)

static PyObject *compare(PyObject *left, PyObject *right, int which)
{
    static const int rows[] = {LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL}; /* from Py_LT on */
    TIMED(PyObject *, two(rows[which], left, right));
}

/* The square has an op of its own, as in NumPy; other exponents are the general function's. */
static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus)
{
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    int overflow;
    PyObject *result;
    if (is_plain(left) && PyLong_CheckExact(right) && PyLong_AsLongAndOverflow(right, &overflow) == 2) {
        TIME(result = quick_one(operators[SQUARE], left));
        if (result != NULL)
            return result;
    }
    if (PyErr_Occurred())
        return NULL;
    TIMED(PyObject *, general_two(operators[POWER], left, right));
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static PyObject *slow_float, *slow_int, *slow_bool; /* of frontends.arrays.protocols */

/* A reduction, or an operation on one: a mean, a test of a sum. */
static int takes_kernel(Node *node)
{
    return node->kind == REDUCE
           || (node->kind == MAP && PyTuple_GET_SIZE(node->args) > 0
               && ((Node *)PyTuple_GET_ITEM(node->args, 0))->kind == REDUCE);
}

/* The only element of a value in memory, or of one that takes a kernel anyhow; NULL without an error
   where Python has to look. */
static PyObject *single(PyObject *self)
{
    Node *node = is_plain(self) ? handle_node(self) : NULL;
    if (node == NULL || PyTuple_GET_SIZE(node->shape) != 0)
        return NULL;
    /* Who listens wants to know who asked: the Python functions stand on the stack. */
    if (takes_kernel(node) && structure_usable() > 0) {
        Py_INCREF(node); /* another thread may give the handle another value meanwhile */
        int failed = evaluate(&node, 1) < 0;
        int last = Py_REFCNT(node) == 1;
        Py_DECREF(node);
        if (failed || last)
            return NULL;
    }
    Memory *memory = leaf_memory(node);
    if (memory == NULL)
        return NULL;
    return read_number(memory->at + as_size(PyTuple_GET_ITEM(node->value, 1)), node->dtype);
}

static PyObject *to_float(PyObject *self)
{
    PyObject *number = single(self);
    if (number == NULL)
        TIMED(PyObject *, PyErr_Occurred() ? NULL : PyObject_CallOneArg(slow_float, self));
    Py_SETREF(number, PyNumber_Float(number));
    return number;
}

static PyObject *to_int(PyObject *self)
{
    PyObject *number = single(self);
    if (number == NULL)
        TIMED(PyObject *, PyErr_Occurred() ? NULL : PyObject_CallOneArg(slow_int, self));
    Py_SETREF(number, PyNumber_Long(number));
    return number;
}

static int to_bool(PyObject *self)
{
    PyObject *number = single(self);
    if (number == NULL && !PyErr_Occurred())
        TIME(number = PyObject_CallOneArg(slow_bool, self));
    int truth = number == NULL ? -1 : PyObject_IsTrue(number);
    Py_XDECREF(number);
    return truth;
}

/* set_conversions(float, int, bool): what numbers are made by where the core does not know */
static PyObject *set_conversions(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *real, *whole, *truth;
    if (!PyArg_ParseTuple(given, "OOO", &real, &whole, &truth))
        return NULL;
    Py_XSETREF(slow_float, Py_NewRef(real));
    Py_XSETREF(slow_int, Py_NewRef(whole));
    Py_XSETREF(slow_bool, Py_NewRef(truth));
    Py_RETURN_NONE;
}

static PyNumberMethods numbers = {
    .nb_float = to_float, .nb_int = to_int, .nb_bool = to_bool,
    .nb_add = add, .nb_inplace_add = iadd,
    .nb_subtract = subtract, .nb_inplace_subtract = isubtract,
    .nb_multiply = multiply, .nb_inplace_multiply = imultiply,
    .nb_true_divide = divide, .nb_inplace_true_divide = idivide,
    .nb_floor_divide = floor_divide, .nb_inplace_floor_divide = ifloor_divide,
    .nb_remainder = modulo, .nb_inplace_remainder = imodulo,
    .nb_and = and, .nb_inplace_and = iand,
    .nb_or = or, .nb_inplace_or = ior,
    .nb_xor = xor, .nb_inplace_xor = ixor,
    .nb_lshift = left, .nb_inplace_lshift = ileft,
    .nb_rshift = right, .nb_inplace_rshift = iright,
    .nb_power = power,
    .nb_negative = negative, .nb_positive = positive,
    .nb_absolute = absolute, .nb_invert = invert,
};

/* len(handle); a 0-d array's refusal, which names the user's line, is Python's. */
static Py_ssize_t handle_length(PyObject *handle)
{
    PyObject *shape = is_plain(handle) ? Py_XNewRef(handle_shape(handle)) : NULL;
    if (shape == NULL && !PyErr_Occurred())
        shape = PyObject_GetAttrString(handle, "_shape");
    if (shape == NULL)
        return -1;
    Py_ssize_t length = -1;
    if (PyTuple_GET_SIZE(shape) > 0)
        length = as_size(PyTuple_GET_ITEM(shape, 0));
    else
        Py_XDECREF(PyObject_CallMethod(handle, "_length", NULL));
    Py_DECREF(shape);
    return length;
}

static PyMappingMethods subscripts = {
    .mp_length = handle_length,
    .mp_subscript = timed_getitem,
    .mp_ass_subscript = timed_setitem,
};

PyTypeObject OperatorsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Operators",
    .tp_basicsize = sizeof(Handle),
    .tp_base = &HandleType,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_as_number = &numbers,
    .tp_as_mapping = &subscripts,
    .tp_richcompare = compare,
    .tp_hash = PyObject_HashNotImplemented,
    .tp_doc = "Python's operators on handles.",
};

/* set_operators(ops in the order of the enumeration, check_writable, store, number classes, refused) */
static PyObject *set_operators(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *ops, *before, *after, *classes, *refused;
    if (!PyArg_ParseTuple(given, "O!OOO!O", &PyTuple_Type, &ops, &before, &after, &PyTuple_Type,
                          &classes, &refused))
        return NULL;
    if (PyTuple_GET_SIZE(ops) != OPERATORS || PyTuple_GET_SIZE(classes) != WEAK_KINDS) {
        PyErr_SetString(PyExc_ValueError, "as many ops and classes as the core knows");
        return NULL;
    }
    for (int i = 0; i < OPERATORS; i++) {
        if (!Py_IS_TYPE(PyTuple_GET_ITEM(ops, i), &OpType)) {
            PyErr_SetString(PyExc_TypeError, "an operator is an Op");
            return NULL;
        }
        Py_XSETREF(operators[i], (Op *)Py_NewRef(PyTuple_GET_ITEM(ops, i)));
    }
    for (int i = 0; i < WEAK_KINDS; i++)
        Py_XSETREF(weak_types[i], (PyTypeObject *)Py_NewRef(PyTuple_GET_ITEM(classes, i)));
    Py_XSETREF(check_writable, Py_NewRef(before));
    Py_XSETREF(store, Py_NewRef(after));
    Py_XSETREF(refused_in_place, Py_NewRef(refused));
    Py_RETURN_NONE;
}

/* ---- for functions (functions.c) ------------------------------------------------------------- */

PyObject *quick_of(PyObject *op, PyObject *const *given, Py_ssize_t count)
{
    return count == 1   ? quick_one((Op *)op, given[0])
           : count == 2 ? quick_two((Op *)op, given[0], given[1])
                        : quick_where((Op *)op, given);
}

int is_known_number(PyObject *object) { return weak_kind(object) >= 0 || is_numpy_number(object); }

int operators_ready(PyObject *unset)
{
    check_writable = Py_NewRef(unset);
    store = Py_NewRef(unset);
    slow_float = Py_NewRef(unset);
    slow_int = Py_NewRef(unset);
    slow_bool = Py_NewRef(unset);
    for (int i = 0; i < OPERATORS; i++)
        if ((operators[i] = (Op *)PyObject_CallFunction((PyObject *)&OpType, "sO", "", unset)) == NULL)
            return -1;
    return 0;
}

PyMethodDef operator_methods[] = {
    {"set_conversions", set_conversions, METH_VARARGS, "float, int and bool of the rest."},
    {"set_operators", set_operators, METH_VARARGS, "The ops of Python's operators."},
    {NULL},
};
