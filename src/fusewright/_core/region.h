/* What a basic subscript names. */

#ifndef FUSEWRIGHT_REGION_H
#define FUSEWRIGHT_REGION_H

#include "core.h"

#define MOST_DIMS 16

typedef struct {
    Py_ssize_t out, start, step; /* as in a VIEW's attribute: out is -1 for a fixed index */
} Place;

typedef struct {
    int places, dims, ellipses;
    PyObject *seen_as; /* the Reshape that a region is of, borrowed; NULL: of the array itself */
    Place place[MOST_DIMS];
    Py_ssize_t extent[MOST_DIMS];
} Region;

int region_parse(PyObject *key, PyObject *shape, Region *region); /* 0: Python has to look */
int region_of_link(PyObject *link, Region *region);
int region_through(PyObject *places, Region *region);
int region_within(PyObject *link, Region *region); /* of a view, as one of its base; 0: too many dims */
PyObject *region_places(Region *region);
PyObject *item_in_memory(PyObject *handle, PyObject *key); /* items.c; likewise */
PyObject *element_of(Node *node, const Region *region); /* items.c; NULL without an error: Python has to look */
PyObject *region_extents(Region *region);
int move_value(Handle *root, Region *region, Node *value, Node *other); /* moves.c: 0 where it is recorded */
int move_update(PyObject *view, PyObject *op, PyObject *other); /* likewise */
int move_within(Handle *root, Region *region, PyObject *view);
int move_number(Handle *root, Region *region, PyObject *number);
int move_array(Handle *root, Region *region, PyObject *array); /* of NumPy's */
int move_item(Handle *root, PyObject *link, PyObject *key, PyObject *number); /* moves.c; 0: not this way */
uint64_t hash_of(const Py_ssize_t *numbers, Py_ssize_t many);
PyObject *integer_tuple(const Py_ssize_t *numbers, Py_ssize_t many);

#endif
