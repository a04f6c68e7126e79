/* `np.float64(2) * x`: what a number or an array of NumPy's to the left of an array leaves to us comes through
   `__array_ufunc__`; everything else of that protocol is Python's. */

#include "dispatch.h"
#include "front.h"

typedef struct {
    Front front;   /* its general form: (self, ufunc, method, *inputs, **kwargs) */
    PyObject *ops; /* by NumPy's ufunc: what takes its two operands, an Op or another callable */
} Override;

#define MOST_INPUTS 32 /* targets come by name */
static PyObject *call_name;

/* override(self, ufunc, method, left, right) */
static PyObject *override_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names)
{
    Override *override = (Override *)self;
    Py_ssize_t many = PyVectorcall_NARGS(flags);
    int plain = many == 5 && (names == NULL || PyTuple_GET_SIZE(names) == 0), holds = 0;
    int is_number = plain && is_numpy_number(given[3]); /* to which an array of ours never is NumPy's */
    for (Py_ssize_t i = 3; i < many; i++)
        holds |= is_plain(given[i]);
    if (holds && !is_number && PyUnicode_Check(given[2]) && PyUnicode_Compare(given[2], call_name) == 0) {
        PyObject *result = plain_call(given[1], given + 3, (size_t)(many - 3), names, MOST_INPUTS, IS_OPERATOR);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    if (plain && !is_plain(given[3]) && is_plain(given[4])
        && (is_number || Py_IS_TYPE(given[3], numpy_array))
        && PyUnicode_Check(given[2]) && PyUnicode_Compare(given[2], call_name) == 0) {
        PyObject *op = PyDict_GetItemWithError(override->ops, given[1]);
        if (op != NULL)
            return Py_IS_TYPE(op, &OpType) ? operator_result(op, given[3], given[4])
                                           : PyObject_Vectorcall(op, given + 3, 2, NULL);
        if (PyErr_Occurred())
            return NULL;
    }
    return front_general(self, given, flags, names);
}

static PyObject *override_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"ops", "general", NULL};
    PyObject *ops, *general;
    if (!PyArg_ParseTupleAndKeywords(given, names, "O!O", keywords, &PyDict_Type, &ops, &general))
        return NULL;
    if (call_name == NULL && (call_name = PyUnicode_InternFromString("__call__")) == NULL)
        return NULL;
    PyObject *override = front_new(type, override_call, general);
    if (override != NULL)
        ((Override *)override)->ops = Py_NewRef(ops);
    return override;
}

static int override_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Override *)self)->ops);
    return front_traverse(self, visit, arg);
}

static int override_clear(PyObject *self)
{
    Py_CLEAR(((Override *)self)->ops);
    return front_clear(self);
}

PyTypeObject OverrideType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Override",
    .tp_basicsize = sizeof(Override),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_new = override_make,
    .tp_traverse = override_traverse,
    .tp_clear = override_clear,
    .tp_doc = "`__array_ufunc__` with a quick way for numbers to the left of arrays; Override(ops, general).",
};
