/* Buffers of arrays (frontends.arrays.exports).

   Who asks for memory to write gets it, who asks for memory to read gets some that cannot be written.
   Most who read are functions of C that convert what they are given, and are done when they return
   (`plain[:] = x[5]`, `plain.dot(x)`): they get the array's own memory, which counts as shared with
   others until they let go of it.  Everything else is Python's. */

#include "dispatch.h"

static PyObject *export; /* (handle, writes) -> what has the buffer */

typedef struct {
    Memory *memory;
    Py_ssize_t extent[MOST_DIMS], stride[MOST_DIMS];
} Reading;

/* As Python's `struct` and PEP 3118 name it; NULL where they do not. */
static char *format_of(int dtype)
{
    static const struct {
        char kind;
        int itemsize;
        char *format;
    } formats[] = {{'b', 1, "?"}, {'i', 1, "b"}, {'i', 2, "h"}, {'i', 4, "i"}, {'i', 8, "l"}, {'u', 1, "B"},
                   {'u', 2, "H"}, {'u', 4, "I"}, {'u', 8, "L"}, {'f', 2, "e"}, {'f', 4, "f"}, {'f', 8, "d"},
                   {'c', 8, "Zf"}, {'c', 16, "Zd"}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].kind == dtypes[dtype].kind && formats[i].itemsize == dtypes[dtype].itemsize)
            return formats[i].format;
    return NULL;
}

static void change_readers(Memory *memory, int change)
{
    change_readings(change);
    memory->readers += change;
    memory->external = memory->is_shared || memory->readers > 0;
}

/* Where the handle's elements lie, in memory that is its array's alone or is being read; 0 where Python has to look. */
static int readable_spot(PyObject *handle, Spot *spot)
{
    PyObject *root = handle;
    if (!steps_at_once())
        return 0;
    for (; is_plain(root) && view_link_of(root) != NULL; root = view_base_of(root))
        view_forget(root); /* it holds the memory, too */
    if (!Py_IS_TYPE(root, array_class) || ((Handle *)root)->node == NULL)
        return 0;
    Node *node = ((Handle *)root)->node;
    Memory *memory = leaf_memory(node);
    int is_read = memory != NULL && memory->readers > 0 && !memory->is_shared;
    return (is_read || own_memory((Handle *)root, 0) != NULL) && spot_of(handle, spot);
}

/* 1 done, 0 not, -1 an error */
static int quick_buffer(PyObject *self, Py_buffer *view, int flags)
{
    Spot spot;
    if ((flags & PyBUF_WRITABLE) || (flags & PyBUF_FULL_RO) != PyBUF_FULL_RO || !readable_spot(self, &spot))
        return PyErr_Occurred() ? -1 : 0;
    char *format = format_of(spot.dtype);
    Py_ssize_t count = 1;
    for (int d = 0; d < spot.dims; d++)
        count *= spot.extent[d];
    Reading *reading = format == NULL || spot.dims == 0 || count == 0 ? NULL : PyMem_Malloc(sizeof *reading);
    if (reading == NULL)
        return 0;
    reading->memory = (Memory *)Py_NewRef(spot.memory);
    memcpy(reading->extent, spot.extent, sizeof spot.extent);
    memcpy(reading->stride, spot.stride, sizeof spot.stride);
    change_readers(spot.memory, 1);
    Py_ssize_t size = dtypes[spot.dtype].itemsize;
    *view = (Py_buffer){.buf = spot.at, .obj = Py_NewRef(self), .len = count * size, .itemsize = size, .readonly = 1,
                        .ndim = spot.dims, .format = format, .shape = reading->extent, .strides = reading->stride,
                        .internal = reading};
    return 1;
}

static int handle_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    view->obj = NULL;
    int done = quick_buffer(self, view, flags);
    if (done != 0)
        return done < 0 ? -1 : 0;
    PyObject *given[] = {self, flags & PyBUF_WRITABLE ? Py_True : Py_False};
    PyObject *array = PyObject_Vectorcall(export, given, 2, NULL);
    if (array == NULL)
        return -1;
    int failed = PyObject_GetBuffer(array, view, flags);
    Py_DECREF(array);
    return failed;
}

static void handle_releasebuffer(PyObject *self, Py_buffer *view)
{
    Reading *reading = view->internal;
    (void)self;
    change_readers(reading->memory, -1);
    Py_DECREF(reading->memory);
    PyMem_Free(reading);
}

PyBufferProcs handle_buffer = {handle_getbuffer, handle_releasebuffer};

/* set_export(export): what answers other requests for buffers */
static PyObject *set_export(PyObject *module, PyObject *function)
{
    (void)module;
    Py_SETREF(export, Py_NewRef(function));
    Py_RETURN_NONE;
}

int buffers_ready(PyObject *unset)
{
    export = Py_NewRef(unset);
    return 0;
}

PyMethodDef buffer_methods[] = {
    {"set_export", set_export, METH_O, "What answers requests for buffers."},
    {NULL},
};
