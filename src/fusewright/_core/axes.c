/* Views of an array along other axes: transposed, with two swapped, in reverse. */

#include "library.h"

/* Dim `order[k]` of an array as dim `k` of a view. */
PyObject *turned_view(PyObject *handle, PyObject *shape, const int *order)
{
    Region region = {.places = (int)PyTuple_GET_SIZE(shape), .dims = (int)PyTuple_GET_SIZE(shape)};
    for (int k = 0; k < region.dims; k++) {
        region.place[order[k]] = (Place){k, 0, 1};
        region.extent[k] = as_size(PyTuple_GET_ITEM(shape, order[k]));
    }
    PyObject *view = view_of_region(handle, &region);
    if (view != NULL && (Py_TYPE(under_reshape(handle)) == array_class || (((Handle *)handle)->flags & TURNED)))
        ((Handle *)view)->flags |= TURNED;
    return view;
}

/* An axis of an array of so many; -1 for none. */
static int axis_of(PyObject *given, int rank)
{
    int beyond = 1;
    long axis = PyLong_CheckExact(given) ? PyLong_AsLongAndOverflow(given, &beyond) : 0;
    axis += axis < 0 ? rank : 0;
    return !beyond && axis >= 0 && axis < rank ? (int)axis : -1;
}

PyObject *transposed(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    int order[MOST_DIMS], met[MOST_DIMS] = {0}, is_said = many > 0;
    PyObject *shape = handle_shape(handle);
    int rank = shape && PyTuple_GET_SIZE(shape) <= MOST_DIMS / 2 ? (int)PyTuple_GET_SIZE(shape) : 0;
    if (rank == 0)
        return NULL;
    spread_out(&given, &many);
    if (many == 1 && given[0] == Py_None)
        many = is_said = 0;
    if (many != rank && (many != 0 || is_said))
        return NULL;
    for (int k = 0; k < rank; k++) {
        order[k] = many ? axis_of(given[k], rank) : rank - 1 - k;
        if (order[k] < 0 || met[order[k]]++)
            return NULL;
    }
    return turned_view(handle, shape, order);
}

PyObject *swapped(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    int order[MOST_DIMS];
    PyObject *shape = handle_shape(handle);
    int rank = shape && PyTuple_GET_SIZE(shape) <= MOST_DIMS / 2 ? (int)PyTuple_GET_SIZE(shape) : 0;
    int first = many == 2 ? axis_of(given[0], rank) : -1, second = many == 2 ? axis_of(given[1], rank) : -1;
    if (first < 0 || second < 0)
        return NULL;
    for (int k = 0; k < rank; k++)
        order[k] = k == first ? second : k == second ? first : k;
    return turned_view(handle, shape, order);
}

/* `np.flip(x)`, `np.flip(x, axis)`: a region with steps of -1. */
PyObject *flipped(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    PyObject *shape = handle_shape(handle), *link = view_link_of(handle);
    int rank = shape && PyTuple_GET_SIZE(shape) <= MOST_DIMS / 2 ? (int)PyTuple_GET_SIZE(shape) : 0;
    int all = many == 0 || (many == 1 && given[0] == Py_None), axis = all || many > 1 ? -1 : axis_of(given[0], rank);
    if (rank == 0 || (!all && axis < 0) || (link != NULL && !is_slice(link)))
        return NULL;
    Region region = {.places = rank, .dims = rank};
    for (int d = 0; d < rank; d++) {
        Py_ssize_t extent = as_size(PyTuple_GET_ITEM(shape, d));
        int turns = extent > 0 && (all || d == axis);
        region.extent[d] = extent;
        region.place[d] = turns ? (Place){d, extent - 1, -1} : (Place){d, 0, 1};
    }
    return view_of_region(handle, &region);
}
