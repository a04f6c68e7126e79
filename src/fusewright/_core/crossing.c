/* Functions of installed packages that a user's program names: what is ours among the arguments crosses the
   border as NumPy's own array, and what comes back may cross it again (frontends.arrays.border).

   Without anything of ours a call costs one look at each argument, and no frame of Python's: functions that
   look at their caller find the user. */

#include "front.h"

static PyObject *lent_for;       /* (argument) -> what the package gets for it */
static PyObject *hand_back;  /* (cell, lent, ours) -> what the program gets */
static PyObject *meet;       /* (result) -> the same, its class known from now on */
static PyObject *translated; /* types that have another object of NumPy's behind them */
static PyObject *known;      /* types of results that nothing is done about */
static PyTypeObject *loader_class; /* of a user's module */

#define LOOKED_AT 32 /* of a long list, its beginning */
#define DEPTH 3

static int crosses(PyObject *object, int depth)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyUnicode_Type || object == Py_None)
        return 0;
    if (PyType_IsSubtype(type, &HandleType))
        return 1;
    if (type == &PyList_Type || PyTuple_Check(object)) {
        Py_ssize_t size = depth > 0 ? Py_SIZE(object) : 0;
        for (Py_ssize_t i = 0; i < size && i < LOOKED_AT; i++)
            if (crosses(PySequence_Fast_GET_ITEM(object, i), depth - 1))
                return 1;
        return 0;
    }
    if (type == &PyDict_Type) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        for (int i = 0; depth > 0 && i < LOOKED_AT && PyDict_Next(object, &at, &key, &value); i++)
            if (crosses(value, depth - 1))
                return 1;
        return 0;
    }
    if (type == &PyFunction_Type) {
        PyObject *home = ((PyFunctionObject *)object)->func_module;
        return home != NULL && PyUnicode_Check(home)
               && PyUnicode_Tailmatch(home, PyTuple_GET_ITEM(translated, 0), 0, PY_SSIZE_T_MAX, -1) == 1;
    }
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(translated); i++)
        if (type == (PyTypeObject *)PyTuple_GET_ITEM(translated, i)
            || PyType_IsSubtype(type, (PyTypeObject *)PyTuple_GET_ITEM(translated, i)))
            return 1;
    return 0;
}

/* Whether the call stands in a module of the user's. */
static int from_user(void)
{
    PyObject *globals = PyEval_GetGlobals();
    PyObject *loader = globals == NULL ? NULL : PyDict_GetItemString(globals, "__loader__");
    return loader != NULL && loader_class != NULL && PyObject_TypeCheck(loader, loader_class);
}

/* Steals the result. */
static PyObject *returned(PyObject *result, PyObject *lent, PyObject *ours)
{
    if (result == NULL || result == Py_None || PyFloat_CheckExact(result) || PyLong_CheckExact(result)
        || PyBool_Check(result) || PyUnicode_CheckExact(result))
        return result;
    if (is_numpy_array(result) || PyTuple_CheckExact(result) || PyList_CheckExact(result)) {
        if (!from_user())
            return result;
        PyObject *cell = PyList_New(1);
        if (cell == NULL) {
            Py_DECREF(result);
            return NULL;
        }
        PyList_SET_ITEM(cell, 0, result);
        PyObject *given[] = {cell, lent ? lent : Py_None, ours ? ours : Py_None};
        PyObject *found = PyObject_Vectorcall(hand_back, given, 3, NULL);
        Py_DECREF(cell);
        return found;
    }
    int seen = PySet_Contains(known, (PyObject *)Py_TYPE(result));
    if (seen != 0) {
        if (seen < 0)
            Py_CLEAR(result);
        return result;
    }
    if (!from_user())
        return result;
    PyObject *found = PyObject_CallOneArg(meet, result);
    Py_DECREF(result);
    return found;
}

static PyObject *border_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names)
{
    PyObject *general = ((Front *)self)->general;
    Py_ssize_t count = PyVectorcall_NARGS(flags) + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    Py_ssize_t first = 0;
    while (first < count && !crosses(given[first], DEPTH))
        first++;
    if (first == count)
        return returned(PyObject_Vectorcall(general, given, flags, names), NULL, NULL);
    PyObject *ours = PyTuple_New(count), *lent = PyTuple_New(count);
    int failed = ours == NULL || lent == NULL;
    for (Py_ssize_t i = 0; !failed && i < count; i++) {
        PyObject *item = i >= first && crosses(given[i], DEPTH) ? PyObject_CallOneArg(lent_for, given[i]) : Py_NewRef(given[i]);
        failed = item == NULL;
        if (!failed) {
            PyTuple_SET_ITEM(lent, i, item);
            PyTuple_SET_ITEM(ours, i, Py_NewRef(given[i]));
        }
    }
    PyObject *result = NULL;
    if (!failed) {
        result = PyObject_Vectorcall(general, &PyTuple_GET_ITEM(lent, 0), (size_t)PyVectorcall_NARGS(flags), names);
        result = returned(result, lent, ours);
    }
    Py_XDECREF(ours);
    Py_XDECREF(lent);
    return result;
}

static PyObject *border_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"function", NULL};
    PyObject *function;
    if (!PyArg_ParseTupleAndKeywords(given, names, "O", keywords, &function))
        return NULL;
    return front_new(type, border_call, function);
}

/* What the function has, its border has. */
static PyObject *border_attribute(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    forgive();
    return PyObject_GetAttr(((Front *)self)->general, name);
}

/* Found in a class, it is a method where the function would be one: functions of C are none. */
static PyObject *border_bind(PyObject *self, PyObject *instance, PyObject *owner)
{
    (void)owner;
    PyObject *general = ((Front *)self)->general;
    if (instance == NULL || PyCFunction_Check(general))
        return Py_NewRef(self);
    return PyMethod_New(self, instance);
}

static PyObject *border_repr(PyObject *self) { return PyObject_Repr(((Front *)self)->general); }

PyTypeObject BorderType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Border",
    .tp_basicsize = sizeof(Front),
    .tp_base = &FrontType,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
    .tp_descr_get = border_bind,
    .tp_new = border_make,
    .tp_traverse = front_traverse,
    .tp_clear = front_clear,
    .tp_getattro = border_attribute,
    .tp_repr = border_repr,
    .tp_doc = "A function of an installed package as a user's program calls it; Border(function).",
};

/* set_border(lend, hand_back, meet, translated, known) */
static PyObject *set_border(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *parts[5];
    if (!PyArg_ParseTuple(given, "OOOO!O!", &parts[0], &parts[1], &parts[2], &PyTuple_Type, &parts[3],
                          &PySet_Type, &parts[4]))
        return NULL;
    PyObject **places[] = {&lent_for, &hand_back, &meet, &translated, &known};
    if (PyTuple_GET_SIZE(parts[3]) < 1 || !PyUnicode_Check(PyTuple_GET_ITEM(parts[3], 0))) {
        PyErr_SetString(PyExc_TypeError, "a prefix of modules comes first");
        return NULL;
    }
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(parts[3]); i++)
        if (!PyType_Check(PyTuple_GET_ITEM(parts[3], i))) {
            PyErr_SetString(PyExc_TypeError, "types come after the prefix");
            return NULL;
        }
    for (int i = 0; i < 5; i++)
        Py_XSETREF(*places[i], Py_NewRef(parts[i]));
    Py_RETURN_NONE;
}

/* set_user(class): the loader of a user's modules */
static PyObject *set_user(PyObject *module, PyObject *type)
{
    (void)module;
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "a loader's class");
        return NULL;
    }
    Py_XSETREF(loader_class, (PyTypeObject *)Py_NewRef(type));
    Py_RETURN_NONE;
}

static PyTypeObject *numpys_class; /* NumPy's own array */

static PyObject *allocate_numpys(PyTypeObject *type, Py_ssize_t items)
{
    (void)type;
    return numpys_class->tp_alloc(numpys_class, items);
}

/* make_instances_of(derived, class): where C code makes an object of `derived`, it is one of its base, `class`. */
static PyObject *make_instances_of(PyObject *module, PyObject *given)
{
    (void)module;
    PyTypeObject *derived, *base;
    if (!PyArg_ParseTuple(given, "O!O!", &PyType_Type, &derived, &PyType_Type, &base))
        return NULL;
    if (derived->tp_base != base || derived->tp_basicsize != base->tp_basicsize
        || !PyType_HasFeature(derived, Py_TPFLAGS_HEAPTYPE) || PyType_IS_GC(base)) {
        PyErr_SetString(PyExc_TypeError, "a class derived from the other, with nothing added");
        return NULL;
    }
    Py_XSETREF(numpys_class, (PyTypeObject *)Py_NewRef(base));
    derived->tp_alloc = allocate_numpys;
    Py_RETURN_NONE;
}

int crossing_ready(PyObject *unset)
{
    lent_for = Py_NewRef(unset);
    hand_back = Py_NewRef(unset);
    meet = Py_NewRef(unset);
    translated = Py_BuildValue("(s)", "\x01");
    known = PySet_New(NULL);
    return translated == NULL || known == NULL ? -1 : 0;
}

PyMethodDef crossing_methods[] = {
    {"set_border", set_border, METH_VARARGS, "What is done about what crosses: (lend, hand_back, meet, translated, known)."},
    {"set_user", set_user, METH_O, "The class of the loaders of a user's modules."},
    {"make_instances_of", make_instances_of, METH_VARARGS,
     "What C code makes as a derived class is of its base: (derived, base)."},
    {NULL},
};
