/* One element of a value: of one in memory, of constants and of ranges it is a number of NumPy's, read now; of any
   other pending value it is one more operation. */

#include "core.h"

#include "region.h"

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

/* NULL without an error where Python has to look.  While a function is recorded for replay, what it reads is no number
   of NumPy's: the next call may read another. */
PyObject *element_of(Node *node, const Region *region)
{
    if (node == NULL || (node->kind == LEAF && is_holding()))
        return NULL;
    if (node->kind == LEAF)
        return leaf_item(node, region);
    PyObject *shown = is_holding() ? NULL : shown_item(node, *region);
    if (shown != NULL || PyErr_Occurred())
        return shown;
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
