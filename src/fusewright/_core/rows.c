/* Iterating over an array: what `handle[0]`, `handle[1]`, ... give, one after the other.  Numbers of a row in memory are
   read there. */

#include "library.h"

typedef struct {
    PyObject_HEAD
    PyObject *handle;
    Py_ssize_t next, count;
} Rows;

static PyObject *rows_next(Rows *rows)
{
    Spot spot;
    if (rows->next >= rows->count)
        return NULL;
    Py_ssize_t at = rows->next++;
    PyObject *shape = handle_shape(rows->handle);
    if (shape != NULL && PyTuple_GET_SIZE(shape) == 1 && !is_holding() && spot_of(rows->handle, &spot)) {
        PyObject *number = at < spot.extent[0] ? numpy_number(spot.at + at * spot.stride[0], spot.dtype) : NULL;
        if (number != NULL || PyErr_Occurred())
            return number;
    }
    PyObject *key = PyLong_FromSsize_t(at), *row = key ? PyObject_GetItem(rows->handle, key) : NULL;
    Py_XDECREF(key);
    return row;
}

static void rows_dealloc(Rows *rows)
{
    PyObject_GC_UnTrack(rows);
    Py_XDECREF(rows->handle);
    PyObject_GC_Del(rows);
}

static int rows_traverse(Rows *rows, visitproc visit, void *arg)
{
    Py_VISIT(rows->handle);
    return 0;
}

static PyObject *rows_length(PyObject *self, PyObject *none)
{
    (void)none;
    return PyLong_FromSsize_t(((Rows *)self)->count - ((Rows *)self)->next);
}

static PyMethodDef rows_methods[] = {
    {"__length_hint__", rows_length, METH_NOARGS, "How many are left."},
    {NULL},
};

PyTypeObject RowsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Rows",
    .tp_basicsize = sizeof(Rows),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)rows_dealloc,
    .tp_traverse = (traverseproc)rows_traverse,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)rows_next,
    .tp_methods = rows_methods,
    .tp_doc = "The rows of an array, one after the other.",
};

PyObject *rows_new(PyObject *handle, Py_ssize_t count)
{
    Rows *rows = PyObject_GC_New(Rows, &RowsType);
    if (rows == NULL)
        return NULL;
    rows->handle = Py_NewRef(handle);
    rows->next = 0;
    rows->count = count;
    PyObject_GC_Track(rows);
    return (PyObject *)rows;
}

/* rows(handle, count): an iterator over the first `count` rows */
static PyObject *rows_of(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *handle;
    Py_ssize_t count;
    return PyArg_ParseTuple(given, "O!n", &HandleType, &handle, &count) ? rows_new(handle, count) : NULL;
}

PyMethodDef row_methods[] = {
    {"rows", rows_of, METH_VARARGS, "An iterator over an array: (handle, how many)."},
    {NULL},
};
