/* Arrays' shapes, and views that arrange their elements in another one (along other axes: axes.c).

   Whatever is not plain (named arguments, parts of arrays reshaped, errors) is the general function's
   (frontends.arrays.shaping, methods). */

#include "dispatch.h"
#include "front.h"
#include "library.h"


static PyObject *cast_name;
static PyTypeObject *reshape_class; /* views.Reshape, a tuple of (shape, base shape) */

int is_reshape(PyObject *link) { return reshape_class != NULL && Py_IS_TYPE(link, reshape_class); }

/* Borrowed; NULL, without an error, of what is no plain array. */
PyObject *handle_shape(PyObject *handle)
{
    PyObject *link = is_plain(handle) ? view_link_of(handle) : NULL;
    if (link != NULL && is_reshape(link))
        return PyTuple_GET_ITEM(link, 0);
    if (link != NULL && PyTuple_Check(link) && PyTuple_GET_SIZE(link) > 1
        && PyTuple_CheckExact(PyTuple_GET_ITEM(link, 1)))
        return PyTuple_GET_ITEM(link, 1); /* of all other links the second item (views.Link) */
    Node *node = is_plain(handle) ? handle_node(handle) : NULL;
    forgive();
    return node ? node->shape : NULL;
}

int64_t elements_of(PyObject *shape)
{
    int64_t size = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++)
        size *= as_size(PyTuple_GET_ITEM(shape, i));
    return size;
}

/* `f(a, b)` or `f((a, b))` */
void spread_out(PyObject *const **given, Py_ssize_t *many)
{
    if (*many != 1 || !is_sequence((*given)[0]))
        return;
    *many = PySequence_Fast_GET_SIZE((*given)[0]);
    *given = PySequence_Fast_ITEMS((*given)[0]);
}

/* ---- reshaped ------------------------------------------------------------------------------------ */

static int lies_straight(Node *leaf)
{
    Spot spot;
    return spot_of_leaf(leaf, &spot) && is_dense(&spot) && elements_of(leaf->shape) > 0;
}

/* What a view in another shape is a view of; the handle itself where it is none. */
PyObject *under_reshape(PyObject *handle)
{
    while (view_link_of(handle) != NULL && is_reshape(view_link_of(handle)) && is_plain(view_base_of(handle)))
        handle = view_base_of(handle);
    return handle;
}

/* Whether a handle's elements lie in C order without gaps, as those of whatever owns them and is ours. */
static int is_straight(PyObject *handle)
{
    handle = under_reshape(handle);
    Node *node = Py_IS_TYPE(handle, array_class) ? ((Handle *)handle)->node : NULL;
    return node != NULL && (node->kind != LEAF || lies_straight(node));
}

/* The extents asked for, at most one of them to be computed; 0 where they are none. */
static int read_extents(PyObject *const *given, Py_ssize_t many, int64_t size, Region *region)
{
    int64_t rest = 1;
    int open = -1;
    spread_out(&given, &many);
    if (many > MOST_DIMS)
        return 0;
    for (Py_ssize_t d = 0; d < many; d++) {
        int whole = PyLong_CheckExact(given[d]) || is_numpy_integer(given[d]);
        Py_ssize_t extent = whole ? PyNumber_AsSsize_t(given[d], NULL) : -2;
        if (extent < -1 || (extent == -1 && open >= 0))
            return 0;
        if (extent == -1)
            open = (int)d;
        else if (extent != 0 && rest > PY_SSIZE_T_MAX / extent)
            return 0;
        else
            rest *= extent;
        region->extent[d] = extent;
    }
    region->dims = (int)many;
    if (open >= 0) {
        if (rest == 0 || size % rest != 0)
            return 0;
        region->extent[open] = size / rest;
    }
    return open >= 0 || rest == size;
}

/* The steps of an array that is given other extents without moving an element, as NumPy finds them: dims that are
   joined or cut lie side by side; 0 where elements have to move. */
static int steps_reshaped(int dims, const Py_ssize_t *extents, const Py_ssize_t *steps, int wanted,
                          const Py_ssize_t *now, Py_ssize_t *found, Py_ssize_t unit)
{
    Py_ssize_t extent[MOST_DIMS], step[MOST_DIMS];
    int from = 0, to = 0, olds = 0;
    for (int d = 0; d < dims; d++)
        if (extents[d] != 1) {
            extent[olds] = extents[d];
            step[olds++] = steps[d];
        }
    while (to < wanted && from < olds) {
        int first = from, start = to;
        Py_ssize_t old = extent[from++], new = now[to++];
        while (old != new) {
            if (new < old)
                new *= now[to++];
            else
                old *= extent[from++];
        }
        for (int d = first; d < from - 1; d++)
            if (step[d] != extent[d + 1] * step[d + 1])
                return 0;
        found[to - 1] = step[from - 1];
        for (int d = to - 1; d > start; d--)
            found[d - 1] = found[d] * now[d];
    }
    for (int d = to; d < wanted; d++) /* extents of one */
        found[d] = to > 0 ? found[to - 1] : unit;
    return 1;
}

int read_shape(PyObject *shape, Py_ssize_t *extents)
{
    int rank = PyTuple_GET_SIZE(shape) <= MOST_DIMS ? (int)PyTuple_GET_SIZE(shape) : -1;
    for (int d = 0; d < rank; d++)
        extents[d] = as_size(PyTuple_GET_ITEM(shape, d));
    return rank;
}

/* Steps between elements, in elements, as NumPy would report them; 0 where Python has to look. */
static int steps_of(PyObject *handle, PyObject *shape, Py_ssize_t *steps)
{
    Region region;
    Py_ssize_t extents[MOST_DIMS], outer[MOST_DIMS], under[MOST_DIMS], step = 1;
    int rank = read_shape(shape, extents);
    if (rank < 0)
        return 0;
    if (is_straight(handle)) {
        for (int d = rank - 1; d >= 0; step *= extents[d--])
            steps[d] = step;
        return 1;
    }
    PyObject *link = view_link_of(handle), *base = link ? view_base_of(handle) : NULL;
    PyObject *whole = base && is_plain(base) ? handle_shape(base) : NULL;
    if (whole == NULL || !steps_of(base, whole, under))
        return 0;
    if (is_reshape(link))
        return steps_reshaped(read_shape(whole, outer), outer, under, rank, extents, steps, 1);
    if (!region_of_link(link, &region))
        return 0;
    memset(steps, 0, (size_t)rank * sizeof *steps);
    for (int i = 0; i < region.places; i++)
        if (region.place[i].out >= 0)
            steps[region.place[i].out] += region.place[i].step * under[i];
    return 1;
}

int spot_reshaped(const Spot *whole, PyObject *shape, Spot *spot)
{
    if (elements_of(shape) == 0 || (spot->dims = read_shape(shape, spot->extent)) < 0)
        return 0;
    spot->memory = whole->memory;
    spot->at = whole->at;
    spot->dtype = whole->dtype;
    return steps_reshaped(whole->dims, whole->extent, whole->stride, spot->dims, spot->extent, spot->stride,
                          dtypes[whole->dtype].itemsize);
}

/* The same leaf in another shape; NULL without an error where Python has to look. */
Node *reshaped_leaf(PyObject *link, Node *source)
{
    PyObject *shape = PyTuple_GET_ITEM(link, 0);
    Py_ssize_t extents[MOST_DIMS], steps[MOST_DIMS], wanted[MOST_DIMS], found[MOST_DIMS];
    if (leaf_memory(source) == NULL || elements_of(shape) == 0)
        return NULL;
    if (same_shape(shape, source->shape))
        return (Node *)Py_NewRef(source);
    if (lies_straight(source))
        return leaf_as(source, shape);
    int rank = read_shape(source->shape, extents), now = read_shape(shape, wanted);
    if (rank < 0 || now < 0 || read_shape(PyTuple_GET_ITEM(source->value, 2), steps) < 0
        || !steps_reshaped(rank, extents, steps, now, wanted, found, dtypes[source->dtype].itemsize))
        return NULL;
    PyObject *strides = integer_tuple(found, now);
    Node *leaf = strides ? leaf_with(source, shape, strides) : NULL;
    Py_XDECREF(strides);
    return leaf;
}

/* What a Reshape makes of a value that is not in memory; NULL, with or without an error, where Python has to look: one
   element may be a number that no memory holds. */
Node *reshaped_value(PyObject *link, Node *source)
{
    PyObject *shape = PyTuple_GET_ITEM(link, 0);
    if (source->kind == LEAF)
        return reshaped_leaf(link, source);
    if (same_shape(shape, source->shape))
        return (Node *)Py_NewRef(source);
    PyObject *args = elements_of(shape) > 1 ? PyTuple_Pack(1, source) : NULL;
    Node *node = args ? node_new(RESHAPE, no_name, args, source->dtype, shape) : NULL;
    if (node != NULL && record(node) < 0)
        Py_CLEAR(node);
    return node;
}

/* What is recorded now, as an array in C order.  Takes over the reference. */
static PyObject *in_c_order(Node *node)
{
    if (node != NULL && record_straight(node) < 0)
        Py_CLEAR(node);
    return array_new(node);
}

/* The elements in other extents as a new array. */
static PyObject *moved(PyObject *handle, Region *wanted)
{
    Node *source = (Node *)Py_XNewRef(handle_node(handle));
    if (source == NULL || is_seen_by_others(source)) {
        Py_XDECREF(source);
        return NULL;
    }
    PyObject *extents = region_extents(wanted), *args = PyTuple_Pack(1, source);
    Node *node = extents && args ? node_new(RESHAPE, no_name, args, source->dtype, extents) : NULL;
    Py_XDECREF(extents);
    Py_DECREF(source);
    return in_c_order(node);
}

static PyObject *reshaped(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    Region region;
    Py_ssize_t extents[MOST_DIMS], steps[MOST_DIMS], found[MOST_DIMS];
    PyObject *shape = handle_shape(handle), *view = NULL;
    int64_t size = shape ? elements_of(shape) : 0;
    if (size == 0 || !read_extents(given, many, size, &region) || region.dims == 0)
        return NULL;
    if (!is_straight(handle)) {
        if (!steps_of(handle, shape, steps))
            return NULL;
        if (!steps_reshaped(read_shape(shape, extents), extents, steps, region.dims, region.extent, found, 1))
            return moved(handle, &region);
    }
    PyObject *link = reshape_class->tp_alloc(reshape_class, 2), *wanted = region_extents(&region);
    if (link != NULL && wanted != NULL) {
        PyObject *outer = view_link_of(handle); /* as views.make_view: reshaped views do not nest */
        int again = outer != NULL && is_reshape(outer);
        PyTuple_SET_ITEM(link, 0, Py_NewRef(wanted));
        PyTuple_SET_ITEM(link, 1, Py_NewRef(again ? PyTuple_GET_ITEM(outer, 1) : shape));
        view = view_new(again ? view_base_of(handle) : handle, link, ((Handle *)handle)->flags & READ_ONLY);
    }
    Py_XDECREF(wanted);
    Py_XDECREF(link);
    return view;
}

static PyObject *flattened(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    (void)given;
    Py_ssize_t steps[MOST_DIMS], extents[MOST_DIMS];
    PyObject *all = PyLong_FromLong(-1), *shape = handle_shape(handle), *made = NULL;
    Region region = {.dims = 1, .extent = {shape ? (Py_ssize_t)elements_of(shape) : 0}};
    if (all != NULL && many == 0 && region.extent[0] > 0 && steps_of(handle, shape, steps)) /* what has gaps is copied */
        made = lies_packed(read_shape(shape, extents), extents, steps, 1) ? reshaped(handle, &all, 1)
                                                                          : moved(handle, &region);
    Py_XDECREF(all);
    return made;
}

/* ---- the class of functions ---------------------------------------------------------------------- */

typedef PyObject *Arrange(PyObject *handle, PyObject *const *given, Py_ssize_t many);
/* ---- copied -------------------------------------------------------------------------------------- */

/* A part of what lies in memory: held together with the rest, a write to either would copy all of it. */
static int is_part(Node *node)
{
    int64_t bytes = elements_of(node->shape) * (int64_t)dtypes[node->dtype].itemsize;
    return is_seen_by_others(node) || (node->kind == LEAF && leaf_memory(node)->nbytes > bytes);
}

/* The same values as a new array in C order: shared until one side is written, unless they lie in another or are a
   part of what is in memory. */
static PyObject *copied(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    (void)given;
    Spot spot;
    Node *node = many == 0 && Py_TYPE(handle) != scalar_class ? (Node *)Py_XNewRef(handle_node(handle)) : NULL;
    if (node != NULL && is_part(node) && elements_of(node->shape) <= COPIED_ELEMENTS && steps_at_once() && spot_of(handle, &spot)
        && spot.dims > 0) {
        Py_DECREF(node);
        return copy_of(spot.at, spot.dtype, spot.extent, spot.stride, spot.dims);
    }
    if (node == NULL || is_part(node) || PyTuple_GET_SIZE(node->shape) == 0 || is_spread(node)) {
        Py_XDECREF(node);
        return NULL;
    }
    if (node->layout != NULL) {
        PyObject *args = PyTuple_Pack(1, node);
        Py_SETREF(node, args ? node_new(MAP, cast_name, args, node->dtype, node->shape) : NULL);
        return in_c_order(node);
    }
    return array_new(node);
}

/* ---- one after the other ------------------------------------------------------------------------- */

/* An iterator over what is in memory. */
static PyObject *iterated(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    (void)given;
    Spot spot;
    return many == 0 && spot_of(handle, &spot) && spot.dims > 0 ? rows_new(handle, spot.extent[0]) : NULL;
}

static Arrange *const arrangements[] = {flipped, reshaped, flattened, transposed, swapped, copied, iterated, conjugates};
enum { ARRANGEMENTS = sizeof arrangements / sizeof *arrangements };

/* Arrangement(which, general): a view of the first argument; NULL without an error leaves it to `general`. */
typedef struct {
    Front front;
    int which;
} Arrangement;

static PyObject *arrangement_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names)
{
    Arrangement *function = (Arrangement *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *view = NULL;
    if (names == NULL && count > 0 && is_plain(given[0]) && Py_TYPE(given[0]) != scalar_class && reshape_class != NULL)
        TIME(view = arrangements[function->which](given[0], given + 1, count - 1));
    if (view != NULL || PyErr_Occurred())
        return view;
    return front_general(self, given, flags, names);
}

static PyObject *arrangement_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    int which;
    PyObject *general;
    if (!PyArg_ParseTuple(given, "iO", &which, &general))
        return NULL;
    if (which < 0 || which >= ARRANGEMENTS) {
        PyErr_SetString(PyExc_ValueError, "an arrangement that the core knows");
        return NULL;
    }
    PyObject *function = front_new(type, arrangement_call, general);
    if (function != NULL)
        ((Arrangement *)function)->which = which;
    return function;
}

PyTypeObject ArrangementType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Arrangement",
    .tp_basicsize = sizeof(Arrangement),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_new = arrangement_make,
    .tp_traverse = front_traverse,
    .tp_clear = front_clear,
    .tp_doc = "A function or method that shows or copies its first argument; Arrangement(which, general).",
};

/* ---- attributes ---------------------------------------------------------------------------------- */

enum { SHAPE, RANK, SIZE, TYPE, TRANSPOSED, REAL, IMAGINARY, ATTRIBUTES };

/* Attribute(which, general): of plain arrays, in front of a property. */
typedef struct {
    PyObject_HEAD
    PyObject *general;
    int which;
} Attribute;

int handle_dtype(PyObject *handle)
{
    while (view_link_of(handle) != NULL && (is_slice(view_link_of(handle)) || is_reshape(view_link_of(handle)))
           && is_plain(view_base_of(handle)))
        handle = view_base_of(handle);
    Node *node = handle_node(handle);
    forgive();
    return node ? node->dtype : NO_DTYPE;
}

static PyObject *known_attribute(int which, PyObject *handle)
{
    if (which == TYPE)
        return Py_XNewRef(numpy_dtypes[handle_dtype(handle)]);
    if (which == TRANSPOSED)
        return Py_TYPE(handle) != scalar_class ? transposed(handle, NULL, 0) : NULL;
    if (which == REAL || which == IMAGINARY)
        return part_view(handle, which == IMAGINARY);
    PyObject *shape = handle_shape(handle);
    if (shape == NULL)
        return NULL;
    return which == SHAPE  ? Py_NewRef(shape)
           : which == RANK ? PyLong_FromSsize_t(PyTuple_GET_SIZE(shape))
                           : PyLong_FromLongLong(elements_of(shape));
}

static PyObject *attribute_get(PyObject *self, PyObject *handle, PyObject *owner)
{
    Attribute *attribute = (Attribute *)self;
    if (handle == NULL || handle == Py_None)
        return Py_NewRef(attribute->general);
    PyObject *found = is_plain(handle) ? known_attribute(attribute->which, handle) : NULL;
    if (found != NULL || PyErr_Occurred())
        return found;
    return Py_TYPE(attribute->general)->tp_descr_get(attribute->general, handle, owner);
}

static int attribute_set(PyObject *self, PyObject *handle, PyObject *value)
{
    PyObject *general = ((Attribute *)self)->general;
    return Py_TYPE(general)->tp_descr_set(general, handle, value);
}

static PyObject *attribute_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    int which;
    PyObject *general;
    if (!PyArg_ParseTuple(given, "iO!", &which, &PyProperty_Type, &general))
        return NULL;
    if (which < 0 || which >= ATTRIBUTES) {
        PyErr_SetString(PyExc_ValueError, "an attribute that the core knows");
        return NULL;
    }
    Attribute *attribute = (Attribute *)type->tp_alloc(type, 0);
    if (attribute != NULL) {
        attribute->which = which;
        attribute->general = Py_NewRef(general);
    }
    return (PyObject *)attribute;
}

static void attribute_dealloc(PyObject *self)
{
    Py_XDECREF(((Attribute *)self)->general);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject AttributeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Attribute",
    .tp_basicsize = sizeof(Attribute),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = attribute_make,
    .tp_dealloc = attribute_dealloc,
    .tp_descr_get = attribute_get,
    .tp_descr_set = attribute_set,
    .tp_doc = "An attribute of arrays in front of a property; Attribute(which, general).",
};

/* set_reshape(Reshape) */
static PyObject *set_reshape(PyObject *module, PyObject *type)
{
    (void)module;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "a Reshape is a tuple");
        return NULL;
    }
    Py_XSETREF(reshape_class, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(cast_name, PyUnicode_InternFromString("cast"));
    return cast_name ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef arrange_methods[] = {
    {"set_reshape", set_reshape, METH_O, "The class of views in another shape."},
    {NULL},
};
