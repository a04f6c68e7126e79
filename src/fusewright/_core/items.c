/* One element of a value: of one in memory, of constants and of ranges it is a number of NumPy's, read now; of any
   other pending value it is one more operation. */

#include "core.h"

#include "dispatch.h"
#include "region.h"

#define DEEPEST_AT_HAND 4 /* operations on top of each other */

/* Where integers, one for each dim of `shape`, lead to; the number of them, or 0 where the key is another or out of
   bounds. */
static Py_ssize_t read_item(PyObject *key, PyObject *shape, Py_ssize_t *place)
{
    Py_ssize_t rank = PyTuple_GET_SIZE(shape);
    int several = PyTuple_CheckExact(key);
    if (rank != (several ? PyTuple_GET_SIZE(key) : 1) || rank > MOST_DIMS)
        return 0;
    for (Py_ssize_t d = 0; d < rank; d++) {
        PyObject *index = several ? PyTuple_GET_ITEM(key, d) : key;
        if (!PyLong_CheckExact(index))
            return 0;
        int beyond;
        Py_ssize_t extent = as_size(PyTuple_GET_ITEM(shape, d)), at = PyLong_AsLongAndOverflow(index, &beyond);
        at += at < 0 ? extent : 0;
        if (beyond || at < 0 || at >= extent)
            return 0;
        place[d] = at;
    }
    return rank;
}

/* Where the element of a leaf is that integers name, one for each dim; NULL where the key is another or out of bounds. */
static char *place_in_leaf(Node *leaf, PyObject *key)
{
    Py_ssize_t place[MOST_DIMS];
    Memory *memory = leaf_memory(leaf);
    Py_ssize_t rank = memory == NULL ? 0 : read_item(key, leaf->shape, place);
    if (rank == 0)
        return NULL;
    char *at = memory->at + as_size(PyTuple_GET_ITEM(leaf->value, 1));
    PyObject *strides = PyTuple_GET_ITEM(leaf->value, 2);
    for (Py_ssize_t d = 0; d < rank; d++)
        at += place[d] * as_size(PyTuple_GET_ITEM(strides, d));
    return at;
}

/* Likewise of a basic view of it. */
static char *place_within(Node *leaf, PyObject *link, PyObject *key)
{
    Py_ssize_t place[MOST_DIMS];
    Memory *memory = leaf_memory(leaf);
    if (memory == NULL || read_item(key, PyTuple_GET_ITEM(link, 1), place) == 0)
        return NULL;
    char *at = memory->at + as_size(PyTuple_GET_ITEM(leaf->value, 1));
    PyObject *strides = PyTuple_GET_ITEM(leaf->value, 2), *places = PyTuple_GET_ITEM(link, 0);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places); i++) {
        PyObject *entry = PyTuple_GET_ITEM(places, i); /* dim of the view or -1, start, step */
        Py_ssize_t dim = as_size(PyTuple_GET_ITEM(entry, 0)), index = as_size(PyTuple_GET_ITEM(entry, 1));
        index += dim < 0 ? 0 : place[dim] * as_size(PyTuple_GET_ITEM(entry, 2));
        at += index * as_size(PyTuple_GET_ITEM(strides, i));
    }
    return at;
}

/* Either of them; without `link` of the leaf itself. */
char *place_of_item(Node *leaf, PyObject *link, PyObject *key)
{
    return link == NULL ? place_in_leaf(leaf, key) : place_within(leaf, link, key);
}

/* The element in memory that integers name, of an array or of a basic view; NULL without an error for any other. */
PyObject *item_in_memory(PyObject *handle, PyObject *key)
{
    PyObject *link = view_link_of(handle), *root = link == NULL ? handle : view_base_of(handle);
    if (is_holding() || !Py_IS_TYPE(root, array_class) || (link != NULL && !is_slice(link)))
        return NULL;
    Node *node = ((Handle *)root)->node;
    char *at = node == NULL ? NULL : place_of_item(node, link, key);
    if (at == NULL)
        return NULL;
    Py_INCREF(node);
    PyObject *number = read_scalar(at, node->dtype);
    Py_DECREF(node);
    return number;
}

/* The element of a range that stands at `at`: the reference's `_iota`.  A product is rounded before it is added, on
   machines that would contract both, too. */
static PyObject *range_item(Node *range, Py_ssize_t at)
{
    char word[2][sizeof(double)];
    int dtype = range->dtype;
    for (int i = 0; i < 2; i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(range->args, i);
        if (arg->kind != SCALAR || arg->dtype != dtype || dtypes[dtype].itemsize > (Py_ssize_t)sizeof(double)
            || !write_number(word[i], dtype, arg->value))
            return NULL;
    }
    if (dtype == dtype_float64) {
        double start, step;
        memcpy(&start, word[0], sizeof start);
        memcpy(&step, word[1], sizeof step);
        volatile double product = (double)at * step;
        start += product;
        memcpy(word[0], &start, sizeof start);
    }
    else if (dtype == dtype_float32) {
        float start, step;
        memcpy(&start, word[0], sizeof start);
        memcpy(&step, word[1], sizeof step);
        volatile float product = (float)at * step;
        start += product;
        memcpy(word[0], &start, sizeof start);
    }
    else { /* integers wrap, and the low bytes of a sum are those of narrower numbers: little-endian */
        uint64_t start = 0, step = 0;
        memcpy(&start, word[0], (size_t)dtypes[dtype].itemsize);
        memcpy(&step, word[1], (size_t)dtypes[dtype].itemsize);
        start += (uint64_t)at * step;
        memcpy(word[0], &start, sizeof start);
    }
    return read_scalar(word[0], dtype);
}

static PyObject *leaf_item(Node *leaf, const Region *region)
{
    Memory *memory = leaf_memory(leaf);
    if (memory == NULL)
        return NULL;
    Py_ssize_t offset = as_size(PyTuple_GET_ITEM(leaf->value, 1));
    for (int i = 0; i < region->places; i++)
        offset += region->place[i].start * as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(leaf->value, 2), i));
    return read_scalar(memory->at + offset, leaf->dtype);
}

static PyObject *constant_item(Node *number, int dtype)
{
    return dtypes[dtype].scalar == NULL ? NULL : PyObject_CallOneArg(dtypes[dtype].scalar, number->value);
}

/* What a pending value shows at one place without computing anything: views lead to memory, to a number or to a range. */
static PyObject *shown_item(Node *node, Region region)
{
    while (node->kind == VIEW) {
        if (!region_through(node->attr, &region))
            return NULL;
        node = (Node *)PyTuple_GET_ITEM(node->args, 0);
    }
    switch (node->kind) {
    case LEAF: return leaf_item(node, &region);
    case SCALAR: return PyTuple_GET_SIZE(node->shape) == 0 ? constant_item(node, node->dtype) : NULL;
    case IOTA: return range_item(node, region.place[0].start);
    }
    return NULL;
}

/* Whether few operations on memory and numbers make a value: computing all of a small one takes less than recording one
   operation for each element that is read of it. */
static int is_at_hand(Node *node, int depth)
{
    switch (node->kind) {
    case LEAF: return leaf_memory(node) != NULL;
    case SCALAR: return 1;
    case VIEW: return is_at_hand((Node *)PyTuple_GET_ITEM(node->args, 0), 0);
    case MAP:
        for (Py_ssize_t i = 0; depth > 0 && i < PyTuple_GET_SIZE(node->args); i++)
            if (!is_at_hand((Node *)PyTuple_GET_ITEM(node->args, i), depth - 1))
                return 0;
        return depth > 0;
    }
    return 0;
}

/* An element of a small value, all of which is computed now: 1; 0: it is recorded. */
static int is_computed_whole(Node *node)
{
    return node->kind == MAP && elements_of(node->shape) <= small_elements() && is_at_hand(node, DEEPEST_AT_HAND);
}

#define WATCHED 8 /* pending values whose reads are counted; a power of two */
#define OFTEN 256 /* reads of elements, and one more for each 4 KiB, from which a value is computed whole */

/* Whether a pending value has been read so often, each time at the cost of so many elements read one by one, that its
   memory would have cost less. */
int is_read_often(Node *node, int64_t cost)
{
    static struct {
        Node *node; /* borrowed, to be compared only */
        int64_t times;
    } watched[WATCHED];
    int at = (int)((uintptr_t)node / sizeof(Node)) & (WATCHED - 1);
    if (watched[at].node != node) {
        watched[at].node = node;
        watched[at].times = 0;
    }
    watched[at].times += cost;
    return node->kind != SCALAR
           && watched[at].times > OFTEN + (elements_of(node->shape) * dtypes[node->dtype].itemsize >> 12);
}

/* NULL without an error where Python has to look.  While a function is recorded for replay, what it reads is no number
   of NumPy's: the next call may read another. */
PyObject *element_of(Node *node, const Region *region)
{
    if (node == NULL || (node->kind == LEAF && is_holding()))
        return NULL;
    if (node->kind == LEAF)
        return leaf_item(node, region);
    PyObject *shown = is_holding() ? NULL : shown_item(node, *region);
    if (PyErr_Occurred() || (shown != NULL && !is_read_often(node, 1)))
        return shown;
    if (shown != NULL || (!is_holding() && is_computed_whole(node))) {
        Py_XDECREF(shown);
        if (evaluate(&node, 1) < 0)
            return NULL;
        if (node->kind == LEAF)
            return leaf_item(node, region);
    }
    Region places = *region;
    Node *made = node_new(VIEW, no_name, PyTuple_Pack(1, node), node->dtype, no_args);
    if (made != NULL) {
        PyObject *attr = region_places(&places);
        if (attr == NULL)
            Py_CLEAR(made);
        else {
            Py_SETREF(made->attr, attr);
            if (record(made) < 0)
                Py_CLEAR(made);
        }
    }
    return handle_new(made);
}
