/* Library steps at once: products and whatever NumPy runs anyhow, of small values.

   Recording such a step pays where it waits for others; of a few elements in memory it costs several times the
   step.  NumPy gets arrays on our memory, made by its table of C functions, which is part of its binary interface
   and is looked up when fusewright is imported: building needs no headers of NumPy's.  Without that table, and for
   whatever is not in memory, not small or not plain, Python does the same (frontends.arrays.immediate). */

#include "library.h"

/* Places in NumPy's table (numpy/__multiarray_api.h). */
enum { ARRAY_TYPE = 2, NEW_ARRAY = 94, TO_SCALAR = 60, SET_BASE = 282, FUNCTIONS_OF = 365 };
#define DOT (21 + 6) /* in an element type's functions: after the casts, the seventh */
typedef PyObject *(*NewArray)(PyTypeObject *, PyObject *, int, const Py_ssize_t *, const Py_ssize_t *, void *,
                              int, PyObject *);
typedef int (*SetBase)(PyObject *, PyObject *);
typedef PyObject *(*ToScalar)(const void *, PyObject *, PyObject *);
typedef void (*Dot)(char *, Py_ssize_t, char *, Py_ssize_t, char *, Py_ssize_t, void *);

typedef void **(*FunctionsOf)(PyObject *);

#define DEEPEST_VIEW 8

PyTypeObject *numpy_array; /* NULL while there is no table */
static NewArray new_array;
static SetBase set_base;
static ToScalar to_scalar;
PyObject *numpy_dtypes[DTYPES];
static PyObject *byte_class; /* NumPy's type of bytes */
static Dot dots[DTYPES];
static PyObject *step_listeners; /* of those who want to hear of library steps */

/* ---- values in memory -------------------------------------------------------------------------- */

/* Where a region of what lies in memory is. */
int spot_in(const Spot *whole, const Region *region, Spot *spot)
{
    if (region->places != whole->dims)
        return 0;
    Py_ssize_t offset = 0;
    int empty = 0;
    memset(spot->stride, 0, (size_t)region->dims * sizeof *spot->stride);
    for (int i = 0; i < region->places; i++) {
        const Place *place = &region->place[i];
        offset += place->start * whole->stride[i];
        if (place->out >= 0)
            spot->stride[place->out] += place->step * whole->stride[i];
    }
    for (int d = 0; d < region->dims; d++)
        empty |= (spot->extent[d] = region->extent[d]) == 0;
    spot->memory = whole->memory;
    spot->at = whole->at + (empty ? 0 : offset);
    spot->dims = region->dims;
    spot->dtype = whole->dtype;
    return 1;
}

int spot_of_leaf(Node *node, Spot *spot)
{
    Memory *memory = leaf_memory(node);
    if (memory == NULL || PyTuple_GET_SIZE(node->shape) > MOST_DIMS)
        return 0;
    spot->dims = (int)PyTuple_GET_SIZE(node->shape);
    for (int d = 0; d < spot->dims; d++) {
        spot->extent[d] = as_size(PyTuple_GET_ITEM(node->shape, d));
        spot->stride[d] = as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(node->value, 2), d));
    }
    spot->memory = memory;
    spot->at = memory->at + as_size(PyTuple_GET_ITEM(node->value, 1));
    spot->dtype = node->dtype;
    return 1;
}

/* Where a view lies that looks into what is in memory, directly or through other views; 0 where that is not known. */
static int spot_of_view(PyObject *view, int depth, Spot *spot)
{
    Spot whole;
    Region region;
    PyObject *link = view_link_of(view), *base = link ? view_base_of(view) : NULL;
    if (base == NULL || !is_plain(base) || depth == 0)
        return 0;
    int known = Py_IS_TYPE(base, array_class) ? ((Handle *)base)->node != NULL && spot_of_leaf(((Handle *)base)->node, &whole)
                                              : spot_of_view(base, depth - 1, &whole);
    if (!known)
        return 0;
    return is_reshape(link) ? spot_reshaped(&whole, PyTuple_GET_ITEM(link, 0), spot)
                            : region_of_link(link, &region) && spot_in(&whole, &region, spot);
}

void pack(Py_ssize_t *packed, const Py_ssize_t *extent, int dims, Py_ssize_t size)
{
    for (int d = dims - 1; d >= 0; size *= extent[d--])
        packed[d] = size;
}

int64_t elements_at(const Spot *spot)
{
    int64_t count = 1;
    for (int d = 0; d < spot->dims; d++)
        count *= spot->extent[d];
    return count;
}

int spot_in_memory(PyObject *handle, Spot *spot)
{
    if (Py_IS_TYPE(handle, array_class))
        return ((Handle *)handle)->node != NULL && spot_of_leaf(((Handle *)handle)->node, spot);
    return is_plain(handle) && spot_of_view(handle, DEEPEST_VIEW, spot);
}

int spot_of(PyObject *handle, Spot *spot)
{
    if (spot_of_view(handle, DEEPEST_VIEW, spot))
        return 1;
    Node *node = handle_node(handle);
    if (node == NULL) {
        forgive();
        return 0;
    }
    return spot_of_leaf(node, spot);
}

int is_light(Node *node, const Light *limits, int *seen)
{
    int64_t most = node->kind == LEAF ? limits->in_memory : is_held(node) ? limits->held : limits->computed;
    if (++*seen > LIGHT || ((node->kind == OPAQUE || node->kind == PRODUCT) && !limits->steps) || elements_of(node->shape) > most)
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++)
        if (!is_light((Node *)PyTuple_GET_ITEM(node->args, i), limits, seen))
            return 0;
    return 1;
}

#define RECORDED_STEP 32 /* elements that are read in the time that a step takes which is recorded */
static const Light used_at_once = {.in_memory = INT64_MAX, .held = USED_ELEMENTS, .computed = USED_ELEMENTS, .steps = 1};

/* Where a handle's value is, if need be after computing it: 1 known, 0 recorded, -1 an error.  Of a view the array
   it looks into is computed: there will be other views of it. */
int known_spot(PyObject *handle, Spot *spot)
{
    int seen = 0;
    if (spot_of(handle, spot))
        return 1;
    PyObject *base = handle;
    while (is_plain(base) && view_link_of(base) != NULL)
        base = view_base_of(base);
    Node *node = is_plain(base) ? (Node *)Py_XNewRef(handle_node(base)) : NULL;
    if (node == NULL)
        return PyErr_Occurred() ? -1 : 0;
    int is_due = node->kind != LEAF && (is_light(node, &used_at_once, &seen) || is_read_often(node, RECORDED_STEP));
    int failed = is_due && evaluate(&node, 1) < 0;
    Py_DECREF(node);
    return failed ? -1 : spot_of(handle, spot);
}

int spot_of_part(PyObject *handle, Spot *spot)
{
    if (spot_of(handle, spot))
        return 1;
    int known = is_plain(handle) && view_link_of(handle) != NULL && runs_at_once() ? known_spot(handle, spot) : 0;
    if (known < 0)
        forgive(); /* the general way says it again */
    return known > 0;
}

/* NumPy's array on a value's memory, which lives as long. */
PyObject *array_on(Spot *spot, int flags)
{
    PyObject *dtype = numpy_dtypes[spot->dtype];
    if (dtype == NULL)
        return NULL;
    PyObject *array = new_array(numpy_array, Py_NewRef(dtype), spot->dims, spot->extent, spot->stride, spot->at,
                                flags, NULL);
    if (array != NULL && set_base(array, Py_NewRef(spot->memory)) < 0)
        Py_CLEAR(array);
    return array;
}

/* An array's memory as a row of bytes. */
PyObject *bytes_of_array(PyObject *object, Py_ssize_t nbytes)
{
    Py_ssize_t pace = 1;
    NumpyArray *array = (NumpyArray *)object;
    PyObject *made = new_array(numpy_array, Py_NewRef(byte_class), 1, &nbytes, &pace, array->at, array->flags & WRITABLE, NULL);
    if (made != NULL && set_base(made, Py_NewRef(object)) < 0)
        Py_CLEAR(made);
    return made;
}

PyObject *array_view(Spot *spot, PyObject *base)
{
    PyObject *dtype = numpy_dtypes[spot->dtype];
    PyObject *array = dtype ? new_array(numpy_array, Py_NewRef(dtype), spot->dims, spot->extent, spot->stride, spot->at,
                                        WRITABLE, NULL)
                            : NULL;
    if (array != NULL && set_base(array, Py_NewRef(base)) < 0)
        Py_CLEAR(array);
    return array;
}

/* An array of ours in memory of its own, elements side by side; NULL where there is none. */
PyObject *handle_on(PyObject *memory, int dtype, const Py_ssize_t *extent, int dims)
{
    PyObject *shape = memory ? integer_tuple(extent, dims) : NULL;
    Node *made = shape ? node_in_memory(memory, NULL, dtype, shape) : NULL;
    Py_XDECREF(shape);
    return array_new(made);
}

int is_listened_to(void) { return step_listeners == NULL || PyList_GET_SIZE(step_listeners) > 0; }

/* NumPy's number, as indexing an array of its own gives one. */
PyObject *numpy_number(const char *at, int dtype)
{
    return to_scalar && numpy_dtypes[dtype] ? to_scalar(at, numpy_dtypes[dtype], NULL) : NULL;
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* What the general way says better: errors of the operands, not of the machine. */
int is_refusal(void)
{
    return PyErr_ExceptionMatches(PyExc_ArithmeticError) || PyErr_ExceptionMatches(PyExc_IndexError)
           || PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
}

void drop_refusal(void)
{
    if (PyErr_Occurred() && is_refusal())
        forgive();
}

/* The product of two vectors in memory, by the function that NumPy's products end in; NULL where it is recorded.  Strides that
   BLAS does not take are left: `dot` copies such vectors first, `matmul` does not. */
PyObject *product_now(PyObject *left, PyObject *right)
{
    Spot x, y;
    char word[16];
    if (numpy_array == NULL || !is_plain(left) || !is_plain(right) || !spot_of(left, &x) || !spot_of(right, &y)
        || x.dims != 1 || y.dims != 1 || x.dtype != y.dtype || x.extent[0] != y.extent[0] || x.extent[0] < 1
        || x.stride[0] <= 0 || y.stride[0] <= 0 || x.extent[0] > USED_ELEMENTS || !strchr("fc", dtypes[x.dtype].kind)
        || dots[x.dtype] == NULL || dtypes[x.dtype].itemsize < 4 || dtypes[x.dtype].itemsize > 16
        || is_strict() || !steps_at_once())
        return NULL;
    dots[x.dtype](x.at, x.stride[0], y.at, y.stride[0], word, x.extent[0], NULL);
    return numpy_number(word, x.dtype);
}

/* set_numpy(table, classes of elements, adopt, listeners): NumPy's functions, its element types in the order of ours */
static PyObject *set_numpy(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *capsule, *rows, *adopt, *listeners;
    if (!PyArg_ParseTuple(given, "OO!OO!", &capsule, &PyTuple_Type, &rows, &adopt, &PyList_Type, &listeners))
        return NULL;
    void **table = PyCapsule_GetPointer(capsule, NULL);
    if (table == NULL)
        return NULL;
    if (PyTuple_GET_SIZE(rows) >= NO_DTYPE) {
        PyErr_SetString(PyExc_ValueError, "too many element types");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows); i++)
        Py_XSETREF(numpy_dtypes[i], Py_NewRef(PyTuple_GET_ITEM(rows, i)));
    set_adopt(adopt);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows); i++)
        if (dtypes[i].kind == 'u' && dtypes[i].itemsize == 1)
            Py_XSETREF(byte_class, Py_NewRef(numpy_dtypes[i]));
    Py_XSETREF(step_listeners, Py_NewRef(listeners));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows); i++)
        dots[i] = (Dot)((FunctionsOf)table[FUNCTIONS_OF])(numpy_dtypes[i])[DOT];
    new_array = (NewArray)table[NEW_ARRAY];
    set_base = (SetBase)table[SET_BASE];
    to_scalar = (ToScalar)table[TO_SCALAR];
    numpy_array = (PyTypeObject *)Py_NewRef((PyObject *)table[ARRAY_TYPE]);
    Py_RETURN_NONE;
}

/* settle(handle): compute what is light, so that a number made of it is known at once */
static PyObject *settle(PyObject *module, PyObject *handle)
{
    (void)module;
    Spot spot;
    if (is_plain(handle) && runs_at_once() && known_spot(handle, &spot) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef library_methods[] = {
    {"settle", settle, METH_O, "Compute what is light."},
    {"set_numpy", set_numpy, METH_VARARGS, "NumPy's table of functions, its element types, what adopts an array."},
    {NULL},
};
