/* Rows of positions in arrays, and whether two have an element in common. */

#ifndef FUSEWRIGHT_OVERLAP_H
#define FUSEWRIGHT_OVERLAP_H

#include "core.h"
#include "region.h"

typedef struct {
    Py_ssize_t start, step, count; /* positions in a dim */
} Row;

static inline Py_ssize_t number(PyObject *entry, Py_ssize_t at)
{
    return as_size(PyTuple_GET_ITEM(entry, at));
}

static inline Py_ssize_t extent(Node *node, Py_ssize_t dim) { return number(node->shape, dim); }

static inline Py_ssize_t rank_of(Node *node) { return PyTuple_GET_SIZE(node->shape); }

int any_apart(const Row *a, const Row *b, Py_ssize_t rank);
int all_same(const Row *a, const Row *b, Py_ssize_t rank);
int leaf_is_safe(Node *base, Node *read, int straight, const Row *writes);

#endif
