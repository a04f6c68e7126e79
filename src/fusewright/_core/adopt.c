/* What NumPy has made becomes an array of ours: on NumPy's memory where nobody else holds the array, else as a copy.

   Arrays of other types than ours, and those that do not lie in C order, are Python's. */

#include "dispatch.h"

#define OWNS_DATA 0x0004
#define ALIGNED 0x0100

static PyObject *slow_adopt; /* (array) -> handle, with a copy of what others may hold */
static PyObject *slow_take;  /* (array) -> handle, or the array, which nobody else holds */

void set_adopt(PyObject *adopt) { Py_XSETREF(slow_adopt, Py_NewRef(adopt)); }

int dtype_of_array(PyObject *array)
{
    int dtype = 0;
    while (dtype < NO_DTYPE && numpy_dtypes[dtype] != ((NumpyArray *)array)->dtype)
        dtype++;
    return dtype;
}

/* Whether an array lies as a new one of ours would; how many bytes. */
static int is_straight(NumpyArray *array, int dtype, Py_ssize_t *nbytes)
{
    int wanted = CONTIGUOUS | ALIGNED;
    if (dtype == NO_DTYPE || (array->flags & wanted) != wanted || array->dims > MOST_DIMS || array->dims == 0)
        return 0;
    *nbytes = dtypes[dtype].itemsize;
    for (int d = 0; d < array->dims; d++)
        *nbytes *= array->extent[d];
    return 1;
}

/* An array of ours on the memory of NumPy's. */
static PyObject *kept(NumpyArray *array, int dtype, Py_ssize_t nbytes, const Py_ssize_t *extent)
{
    PyObject *owner = count_bytes(nbytes) < 0 ? NULL : bytes_of_array((PyObject *)array, nbytes);
    PyObject *memory = owner ? memory_on(array->at, nbytes, owner, (array->flags & WRITABLE) != 0) : NULL;
    PyObject *made = memory ? handle_on(memory, dtype, extent, array->dims) : NULL;
    Py_XDECREF(memory);
    Py_XDECREF(owner);
    return made;
}

static PyObject *copied(NumpyArray *array, int dtype, Py_ssize_t nbytes, const Py_ssize_t *extent)
{
    PyObject *memory = allocate(nbytes ? nbytes : 1);
    if (memory != NULL)
        memcpy(((Memory *)memory)->at, array->at, (size_t)nbytes);
    PyObject *made = memory ? handle_on(memory, dtype, extent, array->dims) : NULL;
    Py_XDECREF(memory);
    return made;
}

/* Whether nobody else can reach an array's elements: its own, or those of an array that only it shows. */
static int is_alone(NumpyArray *array)
{
    PyObject *base = array->base;
    if (Py_REFCNT(array) != 1 || !(array->flags & WRITABLE))
        return 0;
    if (base == NULL)
        return (array->flags & OWNS_DATA) != 0;
    return Py_IS_TYPE(base, numpy_array) && is_alone((NumpyArray *)base);
}

/* The same of an array whose elements lie side by side in another order of its dims (`x[:, [2, 0]]`): a turned view of a
   new one; NULL, without an error, where they lie apart. */
static PyObject *turned(NumpyArray *array, int dtype)
{
    int order[MOST_DIMS], place[MOST_DIMS], dims = array->dims;
    Py_ssize_t extent[MOST_DIMS], nbytes = dtypes[dtype].itemsize;
    for (int d = 0; d < dims; d++) {
        int at = d;
        for (; at > 0 && array->stride[order[at - 1]] < array->stride[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    for (int at = dims - 1; at >= 0; nbytes *= extent[at--]) {
        extent[at] = array->extent[order[at]];
        place[order[at]] = at;
        if (array->stride[order[at]] != nbytes || extent[at] < 2)
            return NULL;
    }
    PyObject *made = nbytes > COPIED_BYTES && is_alone(array) ? kept(array, dtype, nbytes, extent)
                                                             : copied(array, dtype, nbytes, extent);
    PyObject *shape = made ? handle_shape(made) : NULL, *view = shape ? turned_view(made, shape, place) : NULL;
    if (view != NULL)
        ((Handle *)view)->flags |= OWNS | TURNED;
    Py_XDECREF(made);
    return view;
}

/* What NumPy has just made; the caller has one reference to it. */
PyObject *adopted(PyObject *object)
{
    Py_ssize_t nbytes;
    if (!Py_IS_TYPE(object, numpy_array))
        return Py_NewRef(object);
    NumpyArray *array = (NumpyArray *)object;
    int dtype = dtype_of_array(object);
    if (!is_straight(array, dtype, &nbytes)) {
        int known = dtype != NO_DTYPE && array->dims > 1 && array->dims <= MOST_DIMS / 2 && (array->flags & ALIGNED);
        Node *row = array->dims == 1 ? plain_leaf(object) : NULL; /* one of `nonzero`: its elements lie apart */
        PyObject *made = row ? handle_new(row) : known && !PyErr_Occurred() ? turned(array, dtype) : NULL;
        return made || PyErr_Occurred() ? made : PyObject_CallOneArg(slow_adopt, object);
    }
    return nbytes > COPIED_BYTES && array->base == NULL && is_alone(array) ? kept(array, dtype, nbytes, array->extent)
                                                    : copied(array, dtype, nbytes, array->extent);
}

/* A large array that nobody else holds; one that nobody may write (the zeros of `imag`) stays NumPy's. */
PyObject *taken_over(PyObject *object)
{
    Py_ssize_t nbytes;
    if (!(((NumpyArray *)object)->flags & WRITABLE))
        return Py_NewRef(object);
    int dtype = dtype_of_array(object);
    return is_straight((NumpyArray *)object, dtype, &nbytes) ? kept((NumpyArray *)object, dtype, nbytes, ((NumpyArray *)object)->extent)
                                                              : PyObject_CallOneArg(slow_take, object);
}

/* leaf_on(array): a value on the memory of NumPy's array, which nobody else writes to; None where it does not lie in C
   order. */
static PyObject *leaf_on(PyObject *module, PyObject *object)
{
    (void)module;
    Py_ssize_t nbytes;
    if (numpy_array == NULL || !Py_IS_TYPE(object, numpy_array)
        || !is_straight((NumpyArray *)object, dtype_of_array(object), &nbytes))
        Py_RETURN_NONE;
    PyObject *made = kept((NumpyArray *)object, dtype_of_array(object), nbytes, ((NumpyArray *)object)->extent);
    PyObject *leaf = made ? Py_XNewRef(handle_node(made)) : NULL;
    Py_XDECREF(made);
    return leaf;
}

static PyObject *set_take_over(PyObject *module, PyObject *function)
{
    (void)module;
    if (!PyCallable_Check(function)) {
        PyErr_SetString(PyExc_TypeError, "a function is wanted");
        return NULL;
    }
    Py_XSETREF(slow_take, Py_NewRef(function));
    Py_RETURN_NONE;
}

int adopt_ready(PyObject *unset)
{
    slow_adopt = Py_NewRef(unset);
    slow_take = Py_NewRef(unset);
    return 0;
}

PyMethodDef adopt_methods[] = {
    {"leaf_on", leaf_on, METH_O, "A value on the memory of NumPy's array; None where it does not lie in C order."},
    {"set_take_over", set_take_over, METH_O, "What makes a large array of NumPy's ours where it does not lie in C order."},
    {NULL},
};
