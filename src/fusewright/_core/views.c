/* Basic subscripts: slices, integers, new axes and an ellipsis name a view (frontends.arrays.views).

   Everything else (index arrays, single elements, errors) is the Python function's. */

#include "library.h"

static int holding;               /* whether a function is being recorded for replay */
static PyTypeObject *slice_class; /* views.Slice, a tuple of (places, shape) */
static PyObject *slow_getitem, *slow_setitem, *slow_delitem; /* of frontends.arrays.items */

int is_holding(void) { return holding; }

static void keep_dim(Region *region, Py_ssize_t start, Py_ssize_t step, Py_ssize_t count)
{
    region->place[region->places++] = (Place){region->dims, start, step};
    region->extent[region->dims++] = count;
}

/* What a subscript names; 0 where Python has to look. */
int region_parse(PyObject *key, PyObject *shape, Region *region)
{
    PyObject *const *entries = PyTuple_CheckExact(key) ? &PyTuple_GET_ITEM(key, 0) : &key;
    Py_ssize_t many = PyTuple_CheckExact(key) ? PyTuple_GET_SIZE(key) : 1;
    Py_ssize_t rank = PyTuple_GET_SIZE(shape), consumed = 0, ellipses = 0;
    if (many > MOST_DIMS / 2 || rank > MOST_DIMS / 2)
        return 0;
    for (Py_ssize_t i = 0; i < many; i++) {
        ellipses += entries[i] == Py_Ellipsis;
        consumed += entries[i] != Py_Ellipsis && entries[i] != Py_None;
    }
    if (ellipses > 1 || consumed > rank)
        return 0;
    region->places = region->dims = 0;
    region->seen_as = NULL;
    region->ellipses = (int)ellipses;
    for (Py_ssize_t i = 0; i < many; i++) {
        PyObject *entry = entries[i];
        if (entry == Py_None) {
            region->extent[region->dims++] = 1;
            continue;
        }
        if (entry == Py_Ellipsis) {
            for (Py_ssize_t k = rank - consumed; k > 0; k--)
                keep_dim(region, 0, 1, as_size(PyTuple_GET_ITEM(shape, region->places)));
            continue;
        }
        Py_ssize_t extent = as_size(PyTuple_GET_ITEM(shape, region->places));
        if (PySlice_Check(entry)) {
            Py_ssize_t start, stop, step;
            if (PySlice_Unpack(entry, &start, &stop, &step) < 0) {
                forgive();
                return 0;
            }
            keep_dim(region, start, step, PySlice_AdjustIndices(extent, &start, &stop, step));
            region->place[region->places - 1].start = start;
        }
        else if (PyLong_CheckExact(entry) || is_numpy_integer(entry)) {
            Py_ssize_t index = PyNumber_AsSsize_t(entry, PyExc_IndexError);
            if (index == -1 && PyErr_Occurred()) {
                forgive();
                return 0;
            }
            index += index < 0 ? extent : 0;
            if (index < 0 || index >= extent)
                return 0;
            region->place[region->places++] = (Place){-1, index, 0};
        }
        else
            return 0;
    }
    while (region->places < rank)
        keep_dim(region, 0, 1, as_size(PyTuple_GET_ITEM(shape, region->places)));
    return 1;
}

/* What a basic view names in its base; 0 for any other. */
int region_of_link(PyObject *link, Region *region)
{
    if (!is_slice(link))
        return 0;
    PyObject *places = PyTuple_GET_ITEM(link, 0), *shape = PyTuple_GET_ITEM(link, 1);
    if (PyTuple_GET_SIZE(places) > MOST_DIMS || PyTuple_GET_SIZE(shape) > MOST_DIMS)
        return 0;
    region->places = (int)PyTuple_GET_SIZE(places);
    region->dims = (int)PyTuple_GET_SIZE(shape);
    region->ellipses = 0;
    region->seen_as = NULL;
    for (int i = 0; i < region->places; i++) {
        PyObject *entry = PyTuple_GET_ITEM(places, i);
        region->place[i] = (Place){as_size(PyTuple_GET_ITEM(entry, 0)),
                                   as_size(PyTuple_GET_ITEM(entry, 1)),
                                   as_size(PyTuple_GET_ITEM(entry, 2))};
    }
    for (int i = 0; i < region->dims; i++)
        region->extent[i] = as_size(PyTuple_GET_ITEM(shape, i));
    return 1;
}

/* A region of a view as one of what the view is part of, by the places of a VIEW; 0 where it has too many dims. */
int region_through(PyObject *outer, Region *inner)
{
    Place through[MOST_DIMS]; /* not a whole region, which is 600 bytes */
    Py_ssize_t places = PyTuple_GET_SIZE(outer);
    if (places > MOST_DIMS)
        return 0;
    for (Py_ssize_t i = 0; i < places; i++) {
        PyObject *entry = PyTuple_GET_ITEM(outer, i);
        Py_ssize_t dim = as_size(PyTuple_GET_ITEM(entry, 0));
        Py_ssize_t start = as_size(PyTuple_GET_ITEM(entry, 1)), step = as_size(PyTuple_GET_ITEM(entry, 2));
        if (dim < 0)
            through[i] = (Place){-1, start, step};
        else {
            Place *at = &inner->place[dim];
            through[i] = (Place){at->out, start + step * at->start, step * at->step};
        }
    }
    inner->places = (int)places;
    memcpy(inner->place, through, (size_t)places * sizeof *through);
    return 1;
}

int region_within(PyObject *link, Region *inner) { return region_through(PyTuple_GET_ITEM(link, 0), inner); }

/* The links of late, by what they say: loops name the same regions again and again. */
#define LINKS 1024
#define MOST_WORDS 12
static struct {
    int places, dims;
    Py_ssize_t words[MOST_WORDS];
    PyObject *link;
} known_links[LINKS];

static PyObject *new_link(Region *region)
{
    PyObject *made = slice_class->tp_alloc(slice_class, 2);
    if (made == NULL)
        return NULL;
    PyObject *places = region_places(region), *extents = region_extents(region);
    PyTuple_SET_ITEM(made, 0, places);
    PyTuple_SET_ITEM(made, 1, extents);
    if (places == NULL || extents == NULL)
        Py_CLEAR(made);
    return made;
}

/* Let a link name the row of a region alike but for its indices: 1 it does, 0 others hold it, -1 an error. */
static int name_row(PyObject *link, const Region *region)
{
    PyObject *places = PyTuple_GET_ITEM(link, 0);
    int alone = Py_REFCNT(link) == 1 && Py_REFCNT(places) == 1;
    for (int i = 0; i < region->places; i++) {
        PyObject *entry = PyTuple_GET_ITEM(places, i);
        if (region->place[i].out >= 0 || as_size(PyTuple_GET_ITEM(entry, 1)) == region->place[i].start)
            continue;
        PyObject *index = alone && Py_REFCNT(entry) == 1 ? PyLong_FromSsize_t(region->place[i].start) : NULL;
        if (index == NULL)
            return PyErr_Occurred() ? -1 : 0;
        Py_SETREF(((PyTupleObject *)entry)->ob_item[1], index);
    }
    return 1;
}

/* All rows of an array share two links, as one may still be held. */
static PyObject *link_of(Region *region)
{
    int many = 3 * region->places + region->dims, found = 0, held = 0;
    if (many > MOST_WORDS)
        return new_link(region);
    Py_ssize_t words[MOST_WORDS];
    memcpy(words, region->place, (size_t)region->places * sizeof *region->place);
    memcpy(words + 3 * region->places, region->extent, (size_t)region->dims * sizeof *region->extent);
    for (int i = 0; i < region->places; i++)
        words[3 * i + 1] = region->place[i].out < 0 ? 0 : region->place[i].start;
    int slot = (int)(hash_of(words, many) & (LINKS - 1));
    for (int way = 0; way < 2 && !found; way++, slot ^= 1)
        if (known_links[slot].link != NULL && known_links[slot].places == region->places
            && known_links[slot].dims == region->dims
            && memcmp(known_links[slot].words, words, (size_t)many * sizeof *words) == 0) {
            held++;
            if ((found = name_row(known_links[slot].link, region)) > 0)
                return Py_NewRef(known_links[slot].link);
        }
    PyObject *link = found < 0 ? NULL : new_link(region);
    if (link == NULL)
        return NULL;
    if (held == 2)
        return link;
    slot ^= held;
    known_links[slot].places = region->places;
    known_links[slot].dims = region->dims;
    memcpy(known_links[slot].words, words, (size_t)many * sizeof *words);
    Py_XSETREF(known_links[slot].link, Py_NewRef(link));
    return link;
}

/* A region of a handle's value as a view; of a slice one of its base. */
PyObject *view_of_region(PyObject *handle, Region *region)
{
    PyObject *base = handle, *link = view_link_of(handle);
    if (slice_class == NULL)
        return NULL;
    if (link != NULL && Py_IS_TYPE(link, slice_class)) {
        if (!region_within(link, region))
            return NULL;
        base = view_base_of(handle);
    }
    PyObject *made = link_of(region);
    PyObject *view = made ? view_new(base, made, ((Handle *)handle)->flags & READ_ONLY) : NULL;
    Py_XDECREF(made);
    return view;
}

/* handle[key] of a plain array; NULL without an error where Python has to look. */
static PyObject *quick_getitem(PyObject *handle, PyObject *key)
{
    Region region;
    if (slice_class == NULL || !is_plain(handle) || Py_TYPE(handle) == scalar_class)
        return NULL;
    PyObject *link = view_link_of(handle);
    if (link == NULL || is_reshape(link)) {
        Node *node = (Node *)Py_XNewRef(handle_node(handle)); /* reading the key may run Python */
        if (node == NULL)
            return NULL;
        int known = region_parse(key, node->shape, &region);
        int single = known && region.dims == 0; /* with an ellipsis a view without dims */
        PyObject *found = single && region.ellipses == 0 ? element_of(node, &region) : NULL;
        Py_DECREF(node);
        if (!known || single)
            return found;
    }
    else if (Py_IS_TYPE(link, slice_class)) {
        if (!region_parse(key, PyTuple_GET_ITEM(link, 1), &region))
            return NULL;
        if (region.dims == 0) {
            PyObject *base = view_base_of(handle);
            Node *node = is_plain(base) && region.ellipses == 0 ? (Node *)Py_XNewRef(handle_node(base)) : NULL;
            PyObject *found = node && region_within(link, &region) ? element_of(node, &region) : NULL;
            Py_XDECREF(node);
            return found;
        }
    }
    else { /* a view with other steps, or of other elements: of such a one, a view of a view */
        PyObject *shape = Py_XNewRef(handle_shape(handle));
        int known = shape != NULL && region_parse(key, shape, &region);
        Py_XDECREF(shape);
        if (!known)
            return NULL;
        if (region.dims == 0) {
            Node *node = region.ellipses == 0 ? (Node *)Py_XNewRef(handle_node(handle)) : NULL;
            PyObject *found = node ? element_of(node, &region) : NULL;
            Py_XDECREF(node);
            return found;
        }
    }
    return view_of_region(handle, &region);
}

/* The value a Slice names in its base: of a value in memory another one on the same memory. */
Node *slice_node(PyObject *link, Node *source)
{
    PyObject *places = PyTuple_GET_ITEM(link, 0), *shape = PyTuple_GET_ITEM(link, 1);
    if (source->kind != LEAF) {
        Node *node = node_new(VIEW, no_name, PyTuple_Pack(1, source), source->dtype, shape);
        if (node == NULL)
            return NULL;
        Py_SETREF(node->attr, Py_NewRef(places));
        if (record(node) < 0)
            Py_CLEAR(node);
        return node;
    }
    PyObject *memory = (PyObject *)leaf_memory(source);
    if (memory == NULL || PyTuple_GET_SIZE(places) != PyTuple_GET_SIZE(source->shape)) {
        PyErr_SetString(PyExc_TypeError, "a leaf has a memory, an offset and strides");
        return NULL;
    }
    Py_ssize_t offset = as_size(PyTuple_GET_ITEM(source->value, 1));
    Py_ssize_t rank = PyTuple_GET_SIZE(shape), steps[64] = {0};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places); i++) {
        PyObject *place = PyTuple_GET_ITEM(places, i);
        Py_ssize_t stride = PyLong_AsSsize_t(
            PyTuple_GET_ITEM(PyTuple_GET_ITEM(source->value, 2), i));
        Py_ssize_t dim = as_size(PyTuple_GET_ITEM(place, 0));
        offset += as_size(PyTuple_GET_ITEM(place, 1)) * stride;
        if (dim >= 0)
            steps[dim] += as_size(PyTuple_GET_ITEM(place, 2)) * stride;
    }
    PyObject *strides = PyTuple_New(rank);
    for (Py_ssize_t i = 0; strides != NULL && i < rank; i++) {
        PyObject *step = PyLong_FromSsize_t(steps[i]);
        if (step == NULL)
            Py_CLEAR(strides);
        else
            PyTuple_SET_ITEM(strides, i, step);
        if (as_size(PyTuple_GET_ITEM(shape, i)) == 0)
            offset = 0;
    }
    Node *node = strides == NULL ? NULL
                                 : node_new(LEAF, no_name, Py_NewRef(no_args), source->dtype, shape);
    PyObject *value = node == NULL ? NULL : Py_BuildValue("(OnO)", memory, offset, strides);
    Py_XDECREF(strides);
    if (value == NULL)
        Py_CLEAR(node);
    else {
        Py_SETREF(node->value, value);
        leaf_layout(node);
    }
    return node;
}

int is_slice(PyObject *link)
{
    return slice_class != NULL && Py_IS_TYPE(link, slice_class) && PyTuple_GET_SIZE(PyTuple_GET_ITEM(link, 1)) <= 64;
}

PyObject *handle_getitem(PyObject *handle, PyObject *key)
{
    PyObject *number = item_in_memory(handle, key);
    if (number != NULL || PyErr_Occurred())
        return number;
    PyObject *view = quick_getitem(handle, key);
    if (view == NULL && !PyErr_Occurred())
        view = gather_now(handle, key);
    if (view != NULL || PyErr_Occurred())
        return view;
    PyObject *given[2] = {handle, key};
    return PyObject_Vectorcall(slow_getitem, given, 2, NULL);
}

static int setitem(PyObject *handle, PyObject *key, PyObject *value)
{
    int quick = value == NULL ? 0 : quick_setitem(handle, key, value);
    if (quick == 0 && value != NULL)
        quick = scatter_now(handle, key, value);
    if (quick == 0 && value != NULL)
        quick = quick_choice(handle, key, value);
    if (quick != 0)
        return quick < 0 ? -1 : 0;
    PyObject *given[3] = {handle, key, value};
    PyObject *done = value == NULL ? PyObject_Vectorcall(slow_delitem, given, 2, NULL)
                                   : PyObject_Vectorcall(slow_setitem, given, 3, NULL);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* One write at a time: between looking at the old version and naming the new one no other thread's
   write may come, or it would be lost. */
int handle_setitem(PyObject *handle, PyObject *key, PyObject *value)
{
    Lock *lock = evaluation_begins();
    int done = setitem(handle, key, value);
    evaluation_ends(lock);
    return done;
}

int views_ready(PyObject *unset)
{
    slow_getitem = Py_NewRef(unset);
    slow_setitem = Py_NewRef(unset);
    slow_delitem = Py_NewRef(unset);
    return 0;
}

/* set_subscripts(Slice, getitem, setitem, delitem) */
static PyObject *set_subscripts(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *type, *get, *set, *delete;
    if (!PyArg_ParseTuple(given, "O!OOO", &PyType_Type, &type, &get, &set, &delete))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "a Slice is a tuple");
        return NULL;
    }
    Py_XSETREF(slice_class, (PyTypeObject *)Py_NewRef(type));
    for (int i = 0; i < LINKS; i++)
        Py_CLEAR(known_links[i].link);
    Py_XSETREF(slow_getitem, Py_NewRef(get));
    Py_XSETREF(slow_setitem, Py_NewRef(set));
    Py_XSETREF(slow_delitem, Py_NewRef(delete));
    Py_RETURN_NONE;
}

static PyObject *set_holding(PyObject *module, PyObject *value)
{
    (void)module;
    int truth = PyObject_IsTrue(value);
    if (truth < 0)
        return NULL;
    holding = truth;
    Py_RETURN_NONE;
}

PyMethodDef view_methods[] = {
    {"set_holding", set_holding, METH_O, "Whether a function is being recorded for replay."},
    {"set_subscripts", set_subscripts, METH_VARARGS, "The class of basic views; the rest."},
    {NULL},
};
