/* A walk through the arguments of a kernel's call: in order (keywords, defaults), through tuples and the attributes that
   the kernel uses; the types of what it meets, of arrays the layout too, are the key of the call. */

#include "bound.h"

#define ALIGNED 0x0100

/* ---- the key ---------------------------------------------------------------------------------- */

static int push(Walk *walk, uint64_t word)
{
    if (walk->length == MOST_KEY)
        return 0;
    walk->key[walk->length++] = word;
    return 1;
}

static int push_object(Walk *walk, void *object)
{
    if (walk->keep != NULL && PyList_Append(walk->keep, object) < 0)
        return 0;
    return push(walk, (uint64_t)(uintptr_t)object);
}

int walk_leaf(Walk *walk, PyObject *object)
{
    if (walk->leaves == MOST_LEAVES)
        return 0;
    walk->leaf[walk->leaves++] = object;
    return 1;
}

/* Kept until the call has ended; steals. */
int walk_hold(Walk *walk, PyObject *object)
{
    if (walk->helds == MOST_HELD) {
        Py_DECREF(object);
        return 0;
    }
    walk->held[walk->helds++] = object;
    return 1;
}

static int is_contiguous(NumpyArray *array) { return array->flags & CONTIGUOUS; }

Py_ssize_t array_itemsize(NumpyArray *array)
{
    int dtype = dtype_of_array((PyObject *)array);
    return dtype == NO_DTYPE ? 0 : dtypes[dtype].itemsize;
}

/* As `kernels.arguments._layout`: of each dim whether it is broadcast, of the last whether it is dense. */
static uint64_t layout_of(NumpyArray *array, Py_ssize_t itemsize)
{
    uint64_t layout = 1;
    if (is_contiguous(array))
        return 0;
    for (int dim = 0; dim < array->dims; dim++) {
        Py_ssize_t stride = array->stride[dim];
        int unit = dim == array->dims - 1 && stride == itemsize;
        layout = layout * 3 + (unit ? 2 : stride == 0 ? 1 : 0);
    }
    return layout;
}

static int walk_array(Walk *walk, NumpyArray *array)
{
    Py_ssize_t itemsize = array_itemsize(array), nbytes = itemsize;
    if (itemsize == 0 || array->dims > 32)
        return 0;
    for (int dim = 0; dim < array->dims; dim++)
        nbytes *= array->extent[dim];
    walk->nbytes += nbytes;
    uint64_t flags = (uint64_t)(array->flags & (ALIGNED | WRITABLE));
    uint64_t head = flags << 32 | (uint64_t)(nbytes >= machine.past_in_loops) << 16 | (uint64_t)array->dims << 1 | 1;
    if (!push(walk, head) || !push_object(walk, array->dtype) || !push(walk, layout_of(array, itemsize)))
        return 0;
    for (int dim = 0; dim < array->dims && walk->cache->exact; dim++)
        if (!push(walk, (uint64_t)array->extent[dim]) || !push(walk, (uint64_t)array->stride[dim]))
            return 0;
    return walk_leaf(walk, (PyObject *)array);
}

static int walk_value(Walk *walk, PyObject *value, int is_fixed);

static int walk_tuple(Walk *walk, PyObject *value, int is_fixed)
{
    if (!push_object(walk, Py_TYPE(value)) || !push(walk, (uint64_t)PyTuple_GET_SIZE(value)))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++)
        if (!walk_value(walk, PyTuple_GET_ITEM(value, i), is_fixed))
            return 0;
    return 1;
}

/* The attributes that the kernel uses of objects of this type. */
static int walk_attributes(Walk *walk, PyObject *object, PyObject *names)
{
    if (!push_object(walk, Py_TYPE(object)))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *found = PyObject_GetAttr(object, PyTuple_GET_ITEM(names, i));
        if (found == NULL)
            return forgive(), 0; /* Python asks again, and says it */
        if (!walk_hold(walk, found) || !walk_value(walk, found, 0))
            return 0;
    }
    return 1;
}

static int is_static(PyObject *value)
{
    return value == Py_None || PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)
           || PyFunction_Check(value) || PyType_CheckExact(value) || PyModule_CheckExact(value)
           || PyCFunction_CheckExact(value);
}

/* A number that code is compiled for. */
static int walk_fixed(Walk *walk, PyObject *value)
{
    int overflow = 0;
    uint64_t bits = 0;
    if (PyFloat_CheckExact(value))
        memcpy(&bits, &((PyFloatObject *)value)->ob_fval, sizeof bits);
    else if (PyLong_CheckExact(value))
        bits = (uint64_t)PyLong_AsLongLongAndOverflow(value, &overflow);
    else if (PyBool_Check(value))
        bits = value == Py_True;
    else
        return 0;
    return !overflow && push_object(walk, Py_TYPE(value)) && push(walk, bits);
}

/* What is made of other values; 0 for what is not, or what only Python knows. */
static int walk_inside(Walk *walk, PyObject *value, int is_fixed)
{
    PyObject *names = PyTuple_CheckExact(value)
                          ? NULL
                          : PyDict_GetItemWithError(walk->cache->names_of, (PyObject *)Py_TYPE(value));
    if (PyErr_Occurred() || Py_EnterRecursiveCall(" in the arguments of a kernel"))
        return forgive(), 0;
    int known = PyTuple_CheckExact(value) ? walk_tuple(walk, value, is_fixed)
                : names != NULL           ? walk_attributes(walk, value, names)
                                          : 0;
    Py_LeaveRecursiveCall();
    return known;
}

/* 1, or 0 for what only Python knows. */
static int walk_value(Walk *walk, PyObject *value, int is_fixed)
{
    if (Py_IS_TYPE(value, numpy_array))
        return !is_fixed && walk_array(walk, (NumpyArray *)value);
    if (is_static(value))
        return push(walk, 3) && push_object(walk, value);
    if (is_known_number(value))
        return is_fixed ? walk_fixed(walk, value) : push_object(walk, Py_TYPE(value)) && walk_leaf(walk, value);
    if ((PyLong_Check(value) || PyFloat_Check(value)) && !is_fixed) /* an `IntEnum`'s, say */
        return push_object(walk, Py_TYPE(value)) && walk_leaf(walk, value);
    return walk_inside(walk, value, is_fixed);
}

/* ---- the arguments in order ------------------------------------------------------------------- */

/* 1, or 0 where something is wrong with them; borrowed.  Without `named` every parameter has its place. */
static int in_order(CallCache *cache, PyObject *args, PyObject *named, PyObject **value)
{
    Py_ssize_t given = PyTuple_GET_SIZE(args), count = PyTuple_GET_SIZE(cache->names), taken = 0;
    if (given > (named != NULL ? cache->positional : count))
        return 0;
    for (Py_ssize_t i = 0; i < given; i++)
        value[i] = PyTuple_GET_ITEM(args, i);
    for (Py_ssize_t i = given; i < count; i++) {
        PyObject *found = NULL;
        if (named != NULL && PyDict_GET_SIZE(named) > 0 && i >= cache->only)
            found = PyDict_GetItemWithError(named, PyTuple_GET_ITEM(cache->names, i));
        taken += found != NULL;
        if (found == NULL && PyErr_Occurred())
            return forgive(), 0;
        value[i] = found != NULL ? found : PyTuple_GET_ITEM(cache->defaults, i);
        if (value[i] == cache->missing)
            return 0;
    }
    return named == NULL || taken == PyDict_GET_SIZE(named);
}

/* What a name from outside, (globals, name) or (cell,), means now; borrowed. */
static PyObject *outer_value(PyObject *where)
{
    PyObject *first = PyTuple_GET_ITEM(where, 0);
    if (PyCell_Check(first))
        return PyCell_GET(first);
    return PyDict_GetItemWithError(first, PyTuple_GET_ITEM(where, 1));
}

int walk_all(CallCache *cache, PyObject *args, PyObject *named, Walk *walk)
{
    PyObject *value[MOST_LEAVES];
    Py_ssize_t count = PyTuple_GET_SIZE(cache->names);
    PyObject *options = options_in_force();
    if (options == NULL)
        return forgive(), 0;
    if (numpy_array == NULL || count > MOST_LEAVES || !in_order(cache, args, named, value)
        || !push_object(walk, options))
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!walk_value(walk, value[i], PyTuple_GET_ITEM(cache->fixed, i) == Py_True))
            return 0;
    PyObject *outer = cache->outer; /* attributes run Python, which may replace it */
    if (!walk_hold(walk, Py_NewRef(outer)))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outer); i++) {
        PyObject *found = outer_value(PyTuple_GET_ITEM(outer, i));
        if (found == NULL)
            return forgive(), 0;
        if (!walk_hold(walk, Py_NewRef(found)) || !walk_value(walk, found, 0))
            return 0;
    }
    return 1;
}

void walk_ends(Walk *walk)
{
    while (walk->helds > 0)
        Py_DECREF(walk->held[--walk->helds]);
}

uint64_t walk_hash(const Walk *walk)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (Py_ssize_t i = 0; i < walk->length; i++) {
        hash = (hash ^ walk->key[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}
