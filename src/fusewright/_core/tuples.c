/* Places and extents as tuples of integers: what a VIEW and a link hold. */

#include "library.h"

PyObject *integer_tuple(const Py_ssize_t *numbers, Py_ssize_t many)
{
    PyObject *found = PyTuple_New(many);
    for (Py_ssize_t i = 0; found != NULL && i < many; i++) {
        PyObject *number = PyLong_FromSsize_t(numbers[i]);
        if (number == NULL)
            Py_CLEAR(found);
        else
            PyTuple_SET_ITEM(found, i, number);
    }
    if (found != NULL)
        PyObject_GC_UnTrack(found); /* integers form no cycles */
    return found;
}

uint64_t hash_of(const Py_ssize_t *numbers, Py_ssize_t many)
{
    uint64_t hash = (uint64_t)many;
    for (Py_ssize_t i = 0; i < many; i++)
        hash = (hash ^ (uint64_t)numbers[i]) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* The same, kept: what the rows of an array have in common (their extents, the dims they take whole). */
#define COMMON 64 /* a power of two */
#define MOST_COMMON 4
static PyObject *common_tuple(const Py_ssize_t *numbers, Py_ssize_t many)
{
    static struct {
        Py_ssize_t numbers[MOST_COMMON];
        PyObject *tuple;
    } known[COMMON];
    if (many == 0 || many > MOST_COMMON)
        return integer_tuple(numbers, many);
    int slot = (int)(hash_of(numbers, many) & (COMMON - 1));
    size_t bytes = (size_t)many * sizeof *numbers;
    if (known[slot].tuple == NULL || PyTuple_GET_SIZE(known[slot].tuple) != many
        || memcmp(known[slot].numbers, numbers, bytes) != 0) {
        PyObject *tuple = integer_tuple(numbers, many);
        if (tuple == NULL)
            return NULL;
        memcpy(known[slot].numbers, numbers, bytes);
        Py_XSETREF(known[slot].tuple, tuple);
    }
    return Py_NewRef(known[slot].tuple);
}

PyObject *region_places(Region *region)
{
    PyObject *places = PyTuple_New(region->places);
    for (int i = 0; places != NULL && i < region->places; i++) {
        Place *place = &region->place[i];
        int is_whole = place->start == 0 && place->step == 1;
        PyObject *entry = (is_whole ? common_tuple : integer_tuple)(&place->out, 3); /* out, start, step */
        if (entry == NULL)
            Py_CLEAR(places);
        else
            PyTuple_SET_ITEM(places, i, entry);
    }
    return places;
}

PyObject *region_extents(Region *region) { return common_tuple(region->extent, region->dims); }
