/* Writes to a part of an array, recorded: `a[1:-1] = b`, `a[0] += b`.

   What NumPy could do at once (frontends.arrays.immediate), shared memory, conversions and errors are
   the Python functions'. */

#include "library.h"

#define FILLING 4 /* as in frontends.arrays.immediate */

/* Whether a write of this value to what has this version is recorded: known values are written at
   once where the array is in memory. */
static int is_recorded(Node *version, Node *value)
{
    if (version->kind == LEAF || version->kind == VIEW) {
        return !is_seen_by_others(version) && value != NULL && value->kind != LEAF && value->kind != SCALAR
               && PyTuple_GET_SIZE(value->shape) > 0;
    }
    return !were_small_writes(version, FILLING, 1); /* Python gives such an array memory */
}

/* How a value's dims lie in the base, which places it goes to, and the extents there. */
typedef struct {
    Place order[MOST_DIMS];
    Py_ssize_t start[MOST_DIMS], step[MOST_DIMS], extent[MOST_DIMS];
    int straight, whole; /* no dim moves; the region is everything */
} Target;

/* As frontends.arrays.views.assemble; 0 where Python has to look. */
static int find_target(Region *region, PyObject *shape, Target *target)
{
    target->straight = region->dims == region->places;
    target->whole = 1;
    for (int d = 0; d < region->dims; d++) {
        target->order[d] = (Place){-1, 0, 0};
        if (region->extent[d] == 0)
            return 0;
    }
    for (int p = 0; p < region->places; p++) {
        Place *place = &region->place[p];
        if (place->step < 0)
            return 0; /* the value turns round */
        target->extent[p] = place->out < 0 ? 1 : region->extent[place->out];
        target->start[p] = place->start;
        target->step[p] = target->extent[p] > 1 ? place->step : 1;
        target->whole &= target->extent[p] == as_size(PyTuple_GET_ITEM(shape, p))
                         && target->start[p] == 0 && target->step[p] == 1;
        target->straight &= place->out == p;
        if (place->out >= 0) {
            if (target->order[place->out].out >= 0)
                return 0; /* a diagonal */
            target->order[place->out] = (Place){p, 0, 1};
        }
    }
    for (int d = 0; d < region->dims; d++)
        if (target->order[d].out < 0 && region->extent[d] > 1)
            return 0;
    return 1;
}

/* The value with its dims in the base's order, extents of 1 for fixed indices. */
static Node *arranged(Node *value, Region *region, Target *target)
{
    if (target->straight)
        return (Node *)Py_NewRef(value);
    Region moved = {.places = region->dims, .dims = region->places};
    memcpy(moved.place, target->order, (size_t)region->dims * sizeof *moved.place);
    memcpy(moved.extent, target->extent, (size_t)region->places * sizeof *moved.extent);
    PyObject *places = region_places(&moved), *extents = region_extents(&moved);
    PyObject *link = places && extents ? PyTuple_Pack(2, places, extents) : NULL;
    Node *node = link ? slice_node(link, value) : NULL;
    Py_XDECREF(link);
    Py_XDECREF(places);
    Py_XDECREF(extents);
    return node;
}

static PyObject *pairs(const Py_ssize_t *start, const Py_ssize_t *step, int many)
{
    PyObject *found = PyTuple_New(many);
    for (int i = 0; found != NULL && i < many; i++) {
        PyObject *entry = integer_tuple((Py_ssize_t[]){start[i], step[i]}, 2);
        if (entry == NULL)
            Py_CLEAR(found);
        else
            PyTuple_SET_ITEM(found, i, entry);
    }
    return found;
}

/* The first piece's places: the whole old version.  One tuple for each rank. */
static PyObject *everything(int rank)
{
    static PyObject *known[MOST_DIMS + 1];
    if (known[rank] == NULL) {
        Py_ssize_t zeros[MOST_DIMS] = {0}, ones[MOST_DIMS];
        for (int i = 0; i < rank; i++)
            ones[i] = 1;
        known[rank] = pairs(zeros, ones, rank);
    }
    return Py_XNewRef(known[rank]);
}

static Node *assembled(Node *base, Node *piece, Target *target, int rank)
{
    PyObject *args = PyTuple_Pack(2, base, piece);
    PyObject *whole = everything(rank), *where = pairs(target->start, target->step, rank);
    PyObject *attr = whole && where ? PyTuple_Pack(2, whole, where) : NULL;
    Py_XDECREF(whole);
    Py_XDECREF(where);
    if (args == NULL || attr == NULL) {
        Py_XDECREF(args);
        Py_XDECREF(attr);
        return NULL;
    }
    PyObject_GC_UnTrack(args);
    Node *node = node_new(ASSEMBLE, no_name, args, base->dtype, base->shape);
    if (node == NULL)
        Py_DECREF(attr);
    else
        Py_SETREF(node->attr, attr);
    return node;
}

/* A new version of `root` with the region replaced: 1 done, 0 left to Python, -1 an error. */
static int write_region(Handle *root, Region *region, Node *value)
{
    Target target;
    Node *base = root->node;
    if (region->places != PyTuple_GET_SIZE(base->shape) || value->dtype != base->dtype
        || region->dims != PyTuple_GET_SIZE(value->shape)
        || !find_target(region, base->shape, &target))
        return 0;
    for (int d = 0; d < region->dims; d++)
        if (as_size(PyTuple_GET_ITEM(value->shape, d)) != region->extent[d])
            return 0;
    if (target.whole && is_seen_by_others(value))
        return 0; /* a copy of what others can change */
    Py_INCREF(base); /* recording may run Python, and that write here too */
    Node *piece = arranged(value, region, &target), *now = piece;
    if (piece != NULL && target.whole && piece->layout != NULL) { /* the array keeps its own layout */
        Py_DECREF(piece);
        Py_DECREF(base);
        return 0;
    }
    if (piece != NULL && !target.whole) {
        now = assembled(base, piece, &target, region->places);
        Py_DECREF(piece);
        if (now != NULL && record(now) < 0)
            Py_CLEAR(now);
    }
    Py_DECREF(base);
    if (now == NULL)
        return -1;
    Py_SETREF(root->node, now);
    return 1;
}

/* A number as it is stored in elements of the type; NULL without an error: Python's. */
static Node *stored_number(PyObject *number, int dtype)
{
    PyObject *value = NULL;
    int overflow = 0;
    if (dtype == dtype_float64 && PyFloat_CheckExact(number))
        value = Py_NewRef(number);
    else if (PyLong_CheckExact(number)) {
        long long whole = PyLong_AsLongLongAndOverflow(number, &overflow);
        if (dtype == dtype_float64 && !overflow && whole > -(1LL << 53) && whole < 1LL << 53)
            value = PyFloat_FromDouble((double)whole);
        else if (dtype == dtype_int64 && !overflow)
            value = Py_NewRef(number);
    }
    if (value == NULL)
        return NULL;
    Node *node = node_new(SCALAR, no_name, Py_NewRef(no_args), dtype, no_args);
    if (node != NULL)
        Py_SETREF(node->value, Py_NewRef(value));
    Py_DECREF(value);
    return node;
}

/* A value without dims, repeated to a region. */
static Node *spread(Node *scalar, Region *region)
{
    PyObject *shape = region_extents(region);
    PyObject *args = shape ? PyTuple_Pack(1, scalar) : NULL;
    Node *node = args ? node_new(VIEW, no_name, args, scalar->dtype, shape) : NULL;
    Py_XDECREF(shape);
    if (node != NULL && record(node) < 0)
        Py_CLEAR(node);
    return node;
}

/* Whether a view is of the very region: the last act of `a[1:] += b`. */
static int is_of(PyObject *view, PyObject *root, Region *region)
{
    Region other;
    if (Py_TYPE(view) != view_class || view_base_of(view) != root
        || !region_of_link(view_link_of(view), &other) || other.places != region->places
        || other.dims != region->dims)
        return 0;
    for (int p = 0; p < region->places; p++)
        if (other.place[p].out != region->place[p].out
            || other.place[p].start != region->place[p].start
            || other.place[p].step != region->place[p].step)
            return 0;
    return memcmp(other.extent, region->extent, (size_t)region->dims * sizeof(Py_ssize_t)) == 0;
}

static int is_writable_root(PyObject *handle)
{
    Handle *root = (Handle *)handle;
    return Py_IS_TYPE(handle, array_class) && !(root->flags & READ_ONLY) && root->node != NULL
           && !is_seen_by_others(root->node);
}

/* An array of NumPy's or a value of ours, whose node stays with the caller, moved: 1; 0: not at once; -1: an error. */
static int move_known(Handle *root, Region *region, PyObject *value, Node **node)
{
    *node = is_plain(value) ? (Node *)Py_XNewRef(handle_node(value)) : NULL;
    if (PyErr_Occurred())
        return -1;
    if (*node != NULL)
        return move_value(root, region, *node, NULL);
    return numpy_array != NULL && Py_IS_TYPE(value, numpy_array) ? move_array(root, region, value) : 0;
}

/* The same through a view, as far as it is a move. */
static int view_setitem(PyObject *view, PyObject *key, PyObject *value)
{
    Region region;
    PyObject *base = view_base_of(view), *link = view_link_of(view);
    if ((((Handle *)view)->flags & READ_ONLY) || base == NULL || link == NULL || !is_writable_root(base) || is_holding())
        return 0;
    view_forget(view); /* it holds the old version */
    if (is_slice(link) && move_item((Handle *)base, link, key, value))
        return 1;
    if (is_slice(link)
            ? !region_parse(key, PyTuple_GET_ITEM(link, 1), &region) || !region_within(link, &region)
            : !is_reshape(link) || !region_parse(key, PyTuple_GET_ITEM(link, 0), &region))
        return 0;
    region.seen_as = is_reshape(link) ? link : NULL;
    int moved = move_number((Handle *)base, &region, value);
    if (moved != 0 || is_of(value, region.seen_as ? view : base, &region))
        return moved ? moved : 1;
    Node *node;
    moved = move_known((Handle *)base, &region, value, &node);
    Py_XDECREF(node);
    return moved;
}

/* handle[key] = value: 1 done, 0 left to Python, -1 an error */
int quick_setitem(PyObject *handle, PyObject *key, PyObject *value)
{
    Region region;
    Handle *root = (Handle *)handle;
    if (Py_TYPE(handle) == view_class)
        return view_setitem(handle, key, value);
    if (!is_writable_root(handle))
        return 0;
    if (!is_holding() && move_item(root, NULL, key, value))
        return 1;
    if (!region_parse(key, root->node->shape, &region))
        return 0;
    int filled = is_holding() ? 0 : move_number(root, &region, value);
    if (filled != 0)
        return filled;
    if (is_of(value, handle, &region))
        return 1;
    int within = move_within(root, &region, value);
    if (within != 0)
        return within;
    Node *node;
    int moved = move_known(root, &region, value, &node);
    if (moved != 0 || !is_recorded(root->node, node)) {
        Py_XDECREF(node);
        return moved;
    }
    if (node == NULL && (node = stored_number(value, root->node->dtype)) == NULL)
        return PyErr_Occurred() ? -1 : 0;
    if (PyTuple_GET_SIZE(node->shape) == 0 && region.dims > 0 && node->dtype == root->node->dtype)
        Py_SETREF(node, spread(node, &region));
    int done = node == NULL ? -1 : write_region(root, &region, node);
    Py_XDECREF(node);
    return done;
}

/* What a mask selects of a value, beside what is there: it stays as it lies. */
Node *chosen(Node *mask, Node *value, Node *old)
{
    static PyObject *where;
    if (where == NULL && (where = PyUnicode_InternFromString("where")) == NULL)
        return NULL;
    PyObject *args = PyTuple_Pack(3, mask, value, old);
    Node *made = args ? node_new(MAP, where, args, old->dtype, old->shape) : NULL;
    if (made != NULL && record_straight(made) < 0)
        Py_CLEAR(made);
    return made;
}

/* `array[mask] = number` where the mask is recorded: the number or the element, likewise recorded.  1 done, 0 left to
   Python, -1 an error. */
int quick_choice(PyObject *handle, PyObject *key, PyObject *value)
{
    Handle *root = (Handle *)handle;
    if (!is_plain(key) || Py_TYPE(key) == scalar_class || handle_dtype(key) != dtype_bool || !is_writable_root(handle)
        || root->node->layout != NULL || root->node->kind == ASSEMBLE)
        return 0;
    Node *mask = handle_node(key), *number = NULL;
    if (mask == NULL)
        return -1;
    if (!same_shape(mask->shape, root->node->shape)
        || (number = stored_number(value, root->node->dtype)) == NULL)
        return PyErr_Occurred() ? -1 : 0;
    Node *made = chosen(mask, number, root->node);
    Py_DECREF(number);
    int failed = made == NULL || handle_write(root, made) < 0;
    Py_XDECREF(made);
    return failed ? -1 : 1;
}

/* A value becomes the content of a view, in an operator with `other`: 1 done, 0 left to Python, -1 an error. */
int quick_view_write(PyObject *view, Node *value, PyObject *other)
{
    Region region;
    PyObject *base = view_base_of(view), *link = view_link_of(view);
    if ((((Handle *)view)->flags & READ_ONLY) || base == NULL || link == NULL || !is_writable_root(base)
        || !region_of_link(link, &region))
        return 0;
    view_forget(view); /* it holds the old version */
    if (Py_TYPE(other) == view_class)
        view_forget(other);
    Node *source = is_plain(other) && Py_TYPE(other) != view_class ? ((Handle *)other)->node : NULL;
    int moved = move_value((Handle *)base, &region, value, source);
    return moved != 0 ? moved : write_region((Handle *)base, &region, value);
}
