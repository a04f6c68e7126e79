/* What is done at once through NumPy (library.c). */

#ifndef FUSEWRIGHT_LIBRARY_H
#define FUSEWRIGHT_LIBRARY_H

#include "region.h"

/* Where a value lies in memory. */
typedef struct {
    Memory *memory; /* borrowed */
    char *at;
    int dtype, dims;
    Py_ssize_t extent[MOST_DIMS], stride[MOST_DIMS];
} Spot;

int spot_of(PyObject *handle, Spot *spot); /* of a plain handle; 0 where it is not in memory */
int spot_of_part(PyObject *handle, Spot *spot); /* the same; what a view is part of is computed for it */
PyObject *library_now(PyObject *function, PyObject *const *given, Py_ssize_t count); /* NULL: recorded */
PyObject *gather_now(PyObject *handle, PyObject *key);
int scatter_now(PyObject *handle, PyObject *key, PyObject *value);
PyObject *sum_now(PyObject *left, PyObject *right, int is_mean); /* sums.c: of one or of products; NULL likewise */
PyObject *numpy_number(const char *at, int dtype); /* NULL without an error where NumPy's table is not known */
Memory *own_memory(Handle *root); /* moves.c: that it may be written in at once; NULL where it may not */

#endif
