/* Views and written regions as words of a structure.

   What runtime.trace says of a VIEW and an ASSEMBLE is one word for each dim: which positions are
   near an end, which extents keep a literal margin.  Whether a region may be written into the memory
   of the version before it is another word, from reuse.c. */

#include "core.h"

#define MARGIN 4 /* as in runtime.trace */
#define WIDE 16  /* as in ir.graph */
#define MOST_RANK 8

/* One of three integers of a region's entry; 0 where it is none of the right form. */
static int read_entry(PyObject *entry, Py_ssize_t many, Py_ssize_t *numbers)
{
    if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != many)
        return 0;
    for (Py_ssize_t i = 0; i < many; i++) {
        PyObject *number = PyTuple_GET_ITEM(entry, i);
        if (!PyLong_CheckExact(number))
            return 0;
        numbers[i] = as_size(number);
        if (numbers[i] == -1 && PyErr_Occurred()) {
            forgive();
            return 0;
        }
    }
    return 1;
}

/* A start and a step as structure, and the margin that a count keeps. */
static uint64_t place_word(Py_ssize_t start, Py_ssize_t step, Py_ssize_t count, Py_ssize_t extent)
{
    Py_ssize_t far = extent - start, tail = far - count;
    uint64_t anchor = 0 <= start && start <= MARGIN ? 1 + start
                      : 0 <= far && far <= MARGIN   ? MARGIN + 2 + far
                                                    : 0;
    uint64_t margin = 0 <= start && start <= MARGIN && 0 <= tail && tail <= MARGIN
                          ? 1 + extent - count
                          : 0;
    uint64_t pace = -2 <= step && step <= 2 ? step + 3 : 0;
    return anchor | margin << 8 | pace << 16 | (uint64_t)(count == extent) << 24
           | (uint64_t)(step == 1 && tail == 0) << 25 | (uint64_t)(count == 1) << 26;
}

int view_words(Node *node)
{
    if (PyTuple_GET_SIZE(node->args) != 1 || !PyTuple_CheckExact(node->attr))
        return 0;
    PyObject *source = ((Node *)PyTuple_GET_ITEM(node->args, 0))->shape;
    Py_ssize_t rank = PyTuple_GET_SIZE(source), entry[3];
    if (PyTuple_GET_SIZE(node->attr) != rank || rank > MOST_RANK)
        return 0;
    for (Py_ssize_t i = 0; i < rank; i++) {
        if (!read_entry(PyTuple_GET_ITEM(node->attr, i), 3, entry)
            || entry[0] >= PyTuple_GET_SIZE(node->shape))
            return 0;
        Py_ssize_t extent = as_size(PyTuple_GET_ITEM(source, i));
        uint64_t word = entry[0] < 0 ? place_word(entry[1], entry[2], 0, extent) & 0xFF00FF
                                     : place_word(entry[1], entry[2],
                                                  as_size(PyTuple_GET_ITEM(node->shape, entry[0])),
                                                  extent);
        structure_word(word | (uint64_t)(entry[0] < 0 ? 0 : entry[0] + 1) << 32);
    }
    return 1;
}

/* Whether it may be written in place at all: one region over the whole old version. */
int is_patch(Node *node)
{
    Node *base = (Node *)PyTuple_GET_ITEM(node->args, 0);
    if (PyTuple_GET_SIZE(node->args) != 2 || base->dtype != node->dtype
        || !same_shape(base->shape, node->shape))
        return 0;
    PyObject *region = PyTuple_GET_ITEM(node->attr, 0);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(region); i++) {
        PyObject *entry = PyTuple_GET_ITEM(region, i);
        if (as_size(PyTuple_GET_ITEM(entry, 0)) != 0 || as_size(PyTuple_GET_ITEM(entry, 1)) != 1)
            return 0;
    }
    return 1;
}

/* 0: Python has to look; 1: a region; 2: one that may be written in place */
int assemble_words(Node *node)
{
    Py_ssize_t pieces = PyTuple_GET_SIZE(node->args), rank = PyTuple_GET_SIZE(node->shape), entry[2];
    if (pieces == 0 || rank > MOST_RANK || !PyTuple_CheckExact(node->attr)
        || PyTuple_GET_SIZE(node->attr) != pieces)
        return 0;
    for (Py_ssize_t k = 0; k < pieces; k++) {
        PyObject *piece = ((Node *)PyTuple_GET_ITEM(node->args, k))->shape;
        PyObject *region = PyTuple_GET_ITEM(node->attr, k);
        if (!PyTuple_CheckExact(region) || PyTuple_GET_SIZE(region) != rank
            || PyTuple_GET_SIZE(piece) != rank)
            return 0;
        for (Py_ssize_t i = 0; i < rank; i++) {
            if (!read_entry(PyTuple_GET_ITEM(region, i), 2, entry))
                return 0;
            int64_t count = as_size(PyTuple_GET_ITEM(piece, i));
            int64_t extent = as_size(PyTuple_GET_ITEM(node->shape, i));
            uint64_t wide = (uint64_t)(extent >= WIDE) << 48;
            structure_word(place_word(entry[0], entry[1], count, extent) | wide);
        }
    }
    return 1 + is_patch(node);
}
