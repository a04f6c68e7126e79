/* Where arrays of ours and of NumPy's meet: what NumPy can do on our memory it does there, at once (decision 0016).

   The rule of kinds is `is_numpys`: small arrays of both kinds together give NumPy's, numbers of ours count as numbers,
   everything else is recorded, with a copy of NumPy's operand. */

#include "dispatch.h"

/* A copy of elements as a new array in C order, and counted; its handle. */
PyObject *copy_of(const char *at, int dtype, const Py_ssize_t *extent, const Py_ssize_t *stride, int dims)
{
    Py_ssize_t pace[MOST_DIMS], size = dtypes[dtype].itemsize;
    int straight = 1;
    for (int d = dims - 1; d >= 0; size *= extent[d--]) {
        pace[d] = size;
        straight = straight && (extent[d] == 1 || stride[d] == size);
    }
    PyObject *memory = size > 0 ? allocate(size) : NULL;
    PyObject *handle = memory ? handle_on(memory, dtype, extent, dims) : NULL;
    if (handle != NULL && straight)
        memcpy(((Memory *)memory)->at, at, (size_t)size);
    else if (handle != NULL)
        copy_elements(((Memory *)memory)->at, pace, at, stride, extent, dims, (size_t)dtypes[dtype].itemsize);
    Py_XDECREF(memory);
    if (handle != NULL && count_bytes(size) < 0)
        Py_CLEAR(handle);
    return handle;
}

/* A copy of NumPy's array in memory of our own; NULL, without an error, where Python has to look. */
Node *plain_leaf(PyObject *object)
{
    NumpyArray *array = (NumpyArray *)object;
    int dtype = dtype_of_array(object);
    if (dtype == NO_DTYPE || array->dims == 0 || array->dims > MOST_DIMS / 2)
        return NULL;
    if (!(array->flags & CONTIGUOUS) && array->dims > 1)
        return NULL; /* a copy in an order of its own */
    PyObject *handle = copy_of(array->at, dtype, array->extent, array->stride, array->dims);
    Node *leaf = handle ? (Node *)Py_NewRef(handle_node(handle)) : NULL;
    Py_XDECREF(handle);
    return leaf;
}

int writable_spot(PyObject *handle, int is_step, Spot *spot)
{
    PyObject *link = is_plain(handle) ? view_link_of(handle) : NULL;
    PyObject *root = link ? view_base_of(handle) : handle;
    if (numpy_array == NULL || !Py_IS_TYPE(root, array_class) || (((Handle *)handle)->flags & READ_ONLY)
        || (((Handle *)root)->flags & READ_ONLY) || ((Handle *)root)->node == NULL || (link != NULL && !is_slice(link)))
        return 0;
    if (link != NULL)
        view_forget(handle); /* it holds the old version */
    int is_written = own_memory((Handle *)root, is_step) != NULL || (!PyErr_Occurred() && shared_memory((Handle *)root) != NULL);
    return is_written && spot_of(handle, spot);
}

PyObject *writable_array(PyObject *handle, int is_step)
{
    Spot spot;
    return writable_spot(handle, is_step, &spot) ? array_on(&spot, WRITABLE) : NULL;
}

/* self += other, of small arrays of both kinds, or with a large one of NumPy's: done, or NULL likewise. */
PyObject *border_in_place(PyObject *function, PyObject *self, PyObject *other)
{
    int64_t small = small_elements();
    if (small == 0 || (!Py_IS_TYPE(other, numpy_array) && !is_sequence(other))
        || !is_numpys(kind_of_operand(self, small, 0) | kind_of_array(other, small), 1))
        return NULL;
    PyObject *target = writable_array(self, 0);
    PyObject *given[3] = {target, other, target};
    PyObject *done = target ? PyObject_Vectorcall(function, given, 3, NULL) : NULL;
    Py_XDECREF(target);
    if (done == NULL)
        return NULL;
    Py_DECREF(done);
    return Py_NewRef(self);
}
