/* Subscripts that are arrays of integers, at once: small gathers in memory, by NumPy. */

#include "dispatch.h"

/* Whether an array of a type may be a subscript: integers, and masks of at most so many elements. */
static int may_index(int dtype, const Py_ssize_t *extent, int dims, int64_t masked)
{
    int64_t size = 1;
    for (int d = 0; d < dims; d++)
        size *= extent[d];
    char kind = dtypes[dtype].kind;
    return kind == 'i' || kind == 'u' || (kind == 'b' && size <= masked);
}

/* Whether a list is one of Python's integers. */
static int are_integers(PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (!PyLong_CheckExact(PyList_GET_ITEM(list, i)))
            return 0;
    return PyList_GET_SIZE(list) > 0;
}

/* One entry of a subscript as NumPy takes it: NULL where it is none that is known. */
static PyObject *index_entry(PyObject *entry, int *arrays, int64_t masked)
{
    Spot spot;
    if (is_plain(entry)) {
        ++*arrays;
        if (handle_dtype(entry) == dtype_bool && elements_of(handle_shape(entry)) > masked)
            return NULL;
        int known = known_spot(entry, &spot) > 0 && spot.dims > 0 && may_index(spot.dtype, spot.extent, spot.dims, masked);
        return known ? array_on(&spot, 0) : NULL;
    }
    if (Py_IS_TYPE(entry, numpy_array)) {
        int dtype = dtype_of_array(entry);
        ++*arrays;
        NumpyArray *array = (NumpyArray *)entry;
        return dtype < NO_DTYPE && may_index(dtype, array->extent, array->dims, masked) ? Py_NewRef(entry) : NULL;
    }
    if (PyList_CheckExact(entry)) {
        ++*arrays;
        return are_integers(entry) ? Py_NewRef(entry) : NULL;
    }
    int plain = PySlice_Check(entry) || PyLong_CheckExact(entry) || entry == Py_None || entry == Py_Ellipsis
                || is_numpy_integer(entry);
    return plain ? Py_NewRef(entry) : NULL;
}

/* A subscript as NumPy takes it, and how many arrays are among its entries; NULL for what is no plain one.  A mask beside
   other entries is never recorded at full size, so any that is known is taken. */
PyObject *index_of(PyObject *key, int *arrays, int64_t masked)
{
    *arrays = 0;
    if (!PyTuple_CheckExact(key))
        return index_entry(key, arrays, masked);
    Py_ssize_t many = PyTuple_GET_SIZE(key);
    masked = many > 1 ? USED_ELEMENTS : masked;
    PyObject *index = PyTuple_New(many);
    for (Py_ssize_t i = 0; index != NULL && i < many; i++) {
        PyObject *entry = index_entry(PyTuple_GET_ITEM(key, i), arrays, masked);
        if (entry == NULL)
            Py_CLEAR(index);
        else
            PyTuple_SET_ITEM(index, i, entry);
    }
    return index;
}

static Py_ssize_t slice_length(PyObject *slice, Py_ssize_t extent)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) == 0)
        return PySlice_AdjustIndices(extent, &start, &stop, step);
    forgive();
    return extent;
}

/* At most so many elements a subscript names. */
int64_t reach(PyObject *index, const Spot *spot)
{
    PyObject *const *entries = PyTuple_CheckExact(index) ? &PyTuple_GET_ITEM(index, 0) : &index;
    Py_ssize_t many = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 1;
    int64_t size = 1, longest = 1;
    int dim = 0;
    for (Py_ssize_t i = 0; i < many; i++) {
        NumpyArray *array = Py_IS_TYPE(entries[i], numpy_array) ? (NumpyArray *)entries[i] : NULL;
        int64_t count = PyList_CheckExact(entries[i]) ? PyList_GET_SIZE(entries[i]) : 1;
        for (int d = 0; array != NULL && d < array->dims; d++)
            count *= array->extent[d];
        longest = count > longest ? count : longest;
        if (PySlice_Check(entries[i]) && dim < spot->dims)
            size *= slice_length(entries[i], spot->extent[dim]);
        int is_mask = array != NULL && dtype_of_array(entries[i]) == dtype_bool; /* of as many dims */
        dim += is_mask ? array->dims : entries[i] != Py_None && entries[i] != Py_Ellipsis;
    }
    for (; dim < spot->dims; dim++)
        size *= spot->extent[dim];
    return size * longest;
}

/* A mask beside numbers, one for each other dim, selects of the part that they name: NumPy walks the part then, and else
   lists the places first, in eight times the time where few are selected. */
int narrow(PyObject **array, PyObject **index, const Spot *spot)
{
    PyObject *mask = NULL;
    Spot part = {.at = spot->at, .dtype = spot->dtype};
    int dim = 0;
    for (Py_ssize_t i = 0; PyTuple_CheckExact(*index) && i < PyTuple_GET_SIZE(*index); i++) {
        PyObject *entry = PyTuple_GET_ITEM(*index, i);
        if (mask == NULL && Py_IS_TYPE(entry, numpy_array) && dtype_of_array(entry) == dtype_bool) {
            NumpyArray *found = (NumpyArray *)(mask = entry);
            for (int d = 0; d < found->dims; d++, dim++, part.dims++) {
                if (dim >= spot->dims || found->extent[d] != spot->extent[dim])
                    return 1; /* NumPy says so */
                part.extent[d] = spot->extent[dim];
                part.stride[d] = spot->stride[dim];
            }
        } else if ((PyLong_CheckExact(entry) || is_numpy_integer(entry)) && dim < spot->dims) {
            Py_ssize_t at = PyNumber_AsSsize_t(entry, NULL);
            at += at < 0 ? spot->extent[dim] : 0;
            if (at < 0 || at >= spot->extent[dim])
                return 1;
            part.at += at * spot->stride[dim++];
        } else
            return 1;
    }
    PyObject *view = mask != NULL && dim == spot->dims && part.dims > 0 ? array_view(&part, *array) : NULL;
    if (view == NULL)
        return !PyErr_Occurred();
    Py_SETREF(*array, view);
    Py_SETREF(*index, Py_NewRef(mask));
    return 1;
}

/* handle[key] of a value in memory, at once; NULL where it is recorded. */
PyObject *gather_now(PyObject *handle, PyObject *key)
{
    Spot spot;
    PyObject *result;
    if (numpy_array == NULL || !is_plain(handle) || !steps_at_once())
        return NULL;
    if ((result = picked(handle, key)) != NULL || PyErr_Occurred())
        return result;
    int arrays;
    PyObject *index = index_of(key, &arrays, KERNEL_ELEMENTS); /* first: it may compute something */
    int known = index != NULL && arrays > 0 && known_spot(handle, &spot) > 0 && reach(index, &spot) <= USED_ELEMENTS;
    PyObject *array = known ? array_on(&spot, 0) : NULL;
    if (array != NULL && narrow(&array, &index, &spot) && (result = PyObject_GetItem(array, index)) != NULL)
        Py_SETREF(result, adopted(result));
    Py_XDECREF(array);
    Py_XDECREF(index);
    drop_refusal();
    return result;
}

