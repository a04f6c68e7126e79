/* Writes that NumPy makes on our memory, at once: numbers, lists and arrays, with whatever conversion they need, into
   regions and through arrays of integers.

   What needs no conversion goes without NumPy (moves.c).  What is large and may fuse is recorded (writes.c). */

#include "dispatch.h"

#define DEEPEST 3 /* lists in lists of numbers */

/* Whether NumPy converts elements of one type to another without a warning, and as compiled code does: what uint32 makes of
   floats out of range depends on the place in NumPy's arrays. */
static int converts(int from, int to)
{
    if (from == NO_DTYPE || (dtypes[from].kind == 'c' && dtypes[to].kind != 'c'))
        return 0;
    return !strchr("fc", dtypes[from].kind) || dtypes[to].kind != 'u' || dtypes[to].itemsize != 4;
}

static int is_listed(PyObject *list, int dtype, int depth);

/* Whether an object is a number that NumPy writes into elements of a type. */
static int is_number_for(PyObject *object, int dtype)
{
    Spot spot;
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object))
        return 1;
    if (PyComplex_CheckExact(object))
        return dtypes[dtype].kind == 'c';
    if (is_plain(object))
        return known_spot(object, &spot) > 0 && converts(spot.dtype, dtype);
    return converts(scalar_dtype(object), dtype);
}

/* The same of an entry of a list: arrays and lists are written as well. */
static int is_entry_for(PyObject *object, int dtype, int depth)
{
    if (Py_IS_TYPE(object, numpy_array))
        return converts(dtype_of_array(object), dtype);
    return is_sequence(object) ? depth > 0 && is_listed(object, dtype, depth - 1) : is_number_for(object, dtype);
}

static int is_listed(PyObject *list, int dtype, int depth)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++)
        if (!is_entry_for(PySequence_Fast_GET_ITEM(list, i), dtype, depth))
            return 0;
    return 1;
}

/* Whether a subscript names a single element. */
static int is_element(PyObject *index, const Spot *spot)
{
    PyObject *const *entries = PyTuple_CheckExact(index) ? &PyTuple_GET_ITEM(index, 0) : &index;
    Py_ssize_t many = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 1;
    for (Py_ssize_t i = 0; i < many; i++)
        if (!PyLong_CheckExact(entries[i]) && !is_numpy_integer(entries[i]))
            return 0;
    return many == spot->dims;
}

/* Whether integers of one type are not all of another, signed one. */
static int overflows(int from, int to)
{
    Py_ssize_t room = dtypes[to].itemsize - (dtypes[from].kind == 'u');
    return dtypes[to].kind == 'i' && strchr("iu", dtypes[from].kind) != NULL && dtypes[from].itemsize > room;
}

/* As `inplace._may_be_refused`: whether NumPy looks at a number before it goes to elements of a type: NaN, infinities and
   what is out of range are no integers.  It does not where the same number is an array without dims. */
static int may_be_refused(PyObject *value, int dtype)
{
    int known = handle_dtype(value);
    if (Py_TYPE(value) != scalar_class || known == NO_DTYPE)
        return 0;
    return overflows(known, dtype) || (strchr("iu", dtypes[dtype].kind) != NULL && strchr("fc", dtypes[known].kind) != NULL);
}

/* What is to be written to elements of a type, as NumPy takes it; NULL, with or without an error, where it is recorded. */
static PyObject *written(PyObject *value, int dtype)
{
    Spot spot;
    if (Py_IS_TYPE(value, numpy_array)) {
        int from = dtype_of_array(value);
        return from == NO_DTYPE || dtypes[from].kind == 'c' || converts(from, dtype) ? Py_NewRef(value) : NULL;
    }
    if (is_plain(value)) {
        if (may_be_refused(value, dtype))
            return NULL;
        PyObject *shape = handle_shape(value);
        int small = shape != NULL && elements_of(shape) <= KERNEL_ELEMENTS;
        return small && known_spot(value, &spot) > 0 && converts(spot.dtype, dtype) ? array_on(&spot, 0) : NULL;
    }
    return is_entry_for(value, dtype, DEEPEST) ? plain_operand(value, DEEPEST + 1) : NULL;
}

/* Conversions of what is ours tell of no floating-point error: recorded ones do not, either. */
static int put(PyObject *array, PyObject *index, PyObject *content, int quietly)
{
    PyObject *before = quietly ? errors_ignored() : NULL;
    if (quietly && before == NULL)
        return 0;
    int done = PyObject_SetItem(array, index, content) == 0;
    errors_told(before);
    return done;
}

/* handle[key] = value at once: 1 done, 0 left to Python, -1 an error. */
int scatter_now(PyObject *handle, PyObject *key, PyObject *value)
{
    Spot spot;
    int arrays, is_numpys = numpy_array != NULL && Py_IS_TYPE(value, numpy_array);
    PyObject *link = is_plain(handle) ? view_link_of(handle) : NULL;
    PyObject *root = link ? view_base_of(handle) : handle;
    if (numpy_array == NULL || !Py_IS_TYPE(root, array_class) || ((Handle *)root)->node == NULL || !moves_at_once())
        return 0;
    int put_now = put_picked(handle, key, value);
    if (put_now != 0)
        return put_now;
    PyObject *index = index_of(key, &arrays, KERNEL_ELEMENTS);
    int dtype = ((Handle *)root)->node->dtype, refused = index == NULL || (arrays && is_strict() && !is_numpys);
    PyObject *content = refused ? NULL : written(value, dtype);
    PyObject *array = content ? writable_array(handle, arrays > 0) : NULL;
    int64_t most = arrays || is_numpys ? USED_ELEMENTS : KERNEL_ELEMENTS;
    int done = array != NULL && spot_of(handle, &spot) && reach(index, &spot) <= most
               && !(is_plain(value) && is_element(index, &spot) && PyTuple_GET_SIZE(handle_shape(value)) > 0)
               && narrow(&array, &index, &spot)
               && put(array, index, content, is_plain(value) && handle_dtype(value) != dtype);
    Py_XDECREF(array);
    Py_XDECREF(content);
    Py_XDECREF(index);
    drop_refusal();
    return PyErr_Occurred() ? -1 : done;
}
