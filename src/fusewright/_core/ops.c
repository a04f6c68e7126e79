/* The class of operations: the tables of types that Python fills in, and calls. */

#include "ops.h"
#include <structmember.h>

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

/* general(handle, other, reflected) */
PyObject *general_two(Op *op, PyObject *left, PyObject *right)
{
    int reflected = !PyObject_TypeCheck(left, &HandleType);
    PyObject *given[3] = {reflected ? right : left, reflected ? left : right,
                          reflected ? Py_True : Py_False};
    return PyObject_Vectorcall(op->general, given, 3, NULL);
}

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
