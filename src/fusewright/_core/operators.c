/* Python's operators on arrays: recorded at once, or by the general function; in place; numbers of arrays. */

#include "ops.h"

enum {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, REMAINDER, AND, OR, XOR, LEFT, RIGHT, POWER,
    LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, NEGATIVE, POSITIVE, ABSOLUTE,
    INVERT, SQUARE, OPERATORS
};
static Op *operators[OPERATORS];
static PyObject *check_writable, *store; /* of an in-place operator: before, and after */
static PyObject *refused_in_place;       /* (name, array, other, error): what NumPy says to it */

/* Of the power by 2 of single and double numbers, which NumPy's loop takes by a multiplication, too; else NULL. */
Op *square_instead(Op *op, Node *node, PyObject *exponent)
{
    int overflow;
    if (op->name != operators[POWER]->name || dtypes[node->dtype].kind != 'f' || dtypes[node->dtype].itemsize < 4)
        return NULL;
    int is_two = PyFloat_CheckExact(exponent)  ? PyFloat_AS_DOUBLE(exponent) == 2.0
                 : PyLong_CheckExact(exponent) ? PyLong_AsLongAndOverflow(exponent, &overflow) == 2
                                               : 0;
    return is_two ? operators[SQUARE] : NULL;
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
    return PyObject_TypeCheck(operand, &HandleType) || PyFloat_Check(operand) || PyLong_Check(operand) || PyComplex_Check(operand)
           || is_numpy_array(operand) || refused_in_place == NULL;
}

static PyObject *settle_in_place(int which, PyObject *self, PyObject *other, PyObject *error)
{
    return PyObject_CallFunctionObjArgs(refused_in_place, operators[which]->name, self, other, error, NULL);
}

/* Whether a value has been computed, in C order in memory that only its handle holds. */
static int is_own(PyObject *handle)
{
    Spot spot;
    Node *node = ((Handle *)handle)->node;
    return Py_REFCNT(handle) == 1 && Py_REFCNT(node) == 1 && writable_memory(node) != NULL && !is_seen_by_others(node)
           && spot_of_leaf(node, &spot) && is_dense(&spot);
}

/* An array's value replaced by a new one of the same shape and type; 0 where Python has to write it. */
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
    if (now->kind == LEAF && (old->layout != NULL || !is_own(result)))
        return 0;
    if (now->dtype != old->dtype || !same_shape(now->shape, old->shape))
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
