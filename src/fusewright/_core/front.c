/* Functions of the core that stand in front of Python's: what they leave untouched, the general one does. */

#include "dispatch.h"
#include "front.h"
#include <stddef.h>

PyObject *front_new(PyTypeObject *type, vectorcallfunc call, PyObject *general)
{
    Front *front = (Front *)type->tp_alloc(type, 0);
    if (front != NULL) {
        front->call = call;
        front->general = Py_NewRef(general);
        if (PyObject_TypeCheck(general, &FrontType))
            ((Front *)general)->before = (PyObject *)front;
    }
    return (PyObject *)front;
}

PyObject *front_first(PyObject *self)
{
    while (((Front *)self)->before != NULL)
        self = ((Front *)self)->before;
    return self;
}

PyObject *front_general(PyObject *self, PyObject *const *given, size_t flags, PyObject *names)
{
    TIMED(PyObject *, PyObject_Vectorcall(((Front *)self)->general, given, flags, names));
}

PyObject *front_told(PyObject *listener, PyObject *first, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    PyObject *arguments = PyTuple_New(many), *named = PyDict_New(), *told = NULL;
    for (Py_ssize_t i = 0; arguments != NULL && i < many; i++)
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(given[i]));
    for (Py_ssize_t i = 0; named != NULL && names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), given[many + i]) < 0)
            Py_CLEAR(named);
    if (arguments != NULL && named != NULL)
        told = first ? PyObject_CallFunctionObjArgs(listener, first, arguments, named, NULL)
                     : PyObject_CallFunctionObjArgs(listener, arguments, named, NULL);
    Py_XDECREF(arguments);
    Py_XDECREF(named);
    return told;
}

int front_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Front *)self)->general);
    Py_VISIT(((Front *)self)->dict);
    return 0;
}

int front_clear(PyObject *self)
{
    PyObject *general = ((Front *)self)->general;
    if (general != NULL && PyObject_TypeCheck(general, &FrontType) && ((Front *)general)->before == self)
        ((Front *)general)->before = NULL;
    Py_CLEAR(((Front *)self)->general);
    Py_CLEAR(((Front *)self)->dict);
    return 0;
}

static void front_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_TYPE(self)->tp_clear(self);
    Py_TYPE(self)->tp_free(self);
}

/* A method where it stands in a class. */
static PyObject *front_bind(PyObject *self, PyObject *instance, PyObject *owner)
{
    (void)owner;
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

/* Pickled and copied by name, as functions are. */
static PyObject *front_reduce(PyObject *self, PyObject *none)
{
    (void)none;
    return PyObject_GetAttrString(self, "__qualname__");
}

/* NumPy's own, but where the function takes more (`descending=` of `sort`). */
static PyObject *front_signature(PyObject *self, void *unset)
{
    (void)unset;
    PyObject *fields = ((Front *)self)->dict, *own = fields ? PyDict_GetItemString(fields, "__signature__") : NULL;
    if (own != NULL)
        return Py_NewRef(own);
    if (!Py_IS_TYPE(self, &DispatchType))
        return PyErr_SetString(PyExc_AttributeError, "__signature__"), NULL;
    PyObject *inspect = PyImport_ImportModule("inspect");
    PyObject *found = inspect ? PyObject_CallMethod(inspect, "signature", "O", numpys_own(self)) : NULL;
    Py_XDECREF(inspect);
    if (found == NULL && (PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError)))
        PyErr_SetString(PyExc_AttributeError, "__signature__"); /* a ufunc: the general function has one */
    return found;
}

static PyGetSetDef front_fields[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"__signature__", front_signature, NULL, NULL, NULL},
    {NULL},
};

static PyMethodDef front_methods[] = {
    {"__reduce__", front_reduce, METH_NOARGS, "Its name."},
    {NULL},
};

PyTypeObject FrontType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Front",
    .tp_basicsize = sizeof(Front),
    .tp_flags = FRONT_FLAGS | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = front_dealloc,
    .tp_traverse = front_traverse,
    .tp_clear = front_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Front, call),
    .tp_dictoffset = offsetof(Front, dict),
    .tp_descr_get = front_bind,
    .tp_getset = front_fields,
    .tp_methods = front_methods,
    .tp_doc = "A function of the core in front of a general one.",
};

static PyObject *small_method(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLongLong(small_elements());
}

static PyObject *called_with(PyObject *given, int depth)
{
    PyObject *function, *arguments, *names;
    if (!PyArg_ParseTuple(given, "OO!O!", &function, &PyTuple_Type, &arguments, &PyDict_Type, &names))
        return NULL;
    int outer = recording;
    recording = depth;
    PyObject *result = PyObject_Call(function, arguments, names);
    recording = outer;
    return result;
}

/* as_user(function, arguments, names): called as the program's own code, small arrays and all */
static PyObject *as_user(PyObject *module, PyObject *given)
{
    (void)module;
    return called_with(given, 0);
}

/* as_recorded(function, arguments, names): called with arrays of ours of any size */
static PyObject *as_recorded(PyObject *module, PyObject *given)
{
    (void)module;
    return called_with(given, 1);
}

PyMethodDef dispatch_methods[] = {
    {"small", small_method, METH_NOARGS, "Elements of an array that is NumPy's own here and now; 0: none is."},
    {"as_user", as_user, METH_VARARGS, "Call a function as the program's own code."},
    {"as_recorded", as_recorded, METH_VARARGS, "Call a function whose arrays are all ours."},
    {NULL},
};
