/* Values of a request that runs operation by operation: where each lies, and who keeps its memory.

   NumPy's arrays of them are made only for NumPy's functions: making one takes longer than adding two rows of 100. */

#include "cells.h"

#include "dispatch.h"


static int (*copy_into)(PyObject *, PyObject *); /* NumPy's, which knows of types and of what overlaps */

void set_copy_into(int (*copy)(PyObject *, PyObject *)) { copy_into = copy; }

/* ---- NumPy's settings of floating-point errors --------------------------------------------------- */

static _Thread_local PyObject *told; /* what they were before NumPy was first called for this request */

int be_quiet(void) { return told != NULL || (told = errors_ignored()) != NULL ? 0 : -1; }

PyObject *begin_quiet(void)
{
    PyObject *outer = told;
    told = NULL;
    return outer;
}

void end_quiet(PyObject *outer)
{
    errors_told(told);
    told = outer;
}

/* NumPy copies, converts and broadcasts. */
static int copied(PyObject *target, PyObject *value)
{
    if (target == NULL || be_quiet() < 0)
        return -1;
    return Py_IS_TYPE(value, numpy_array) ? copy_into(target, value) : PyObject_SetItem(target, Py_Ellipsis, value);
}

/* ---- a value's memory ---------------------------------------------------------------------------- */

void let_go(Cell *cell)
{
    Py_CLEAR(cell->array);
    Py_CLEAR(cell->memory);
}

/* Whether elements lie in C order, side by side. */
int lies_packed(int dims, const Py_ssize_t *extent, const Py_ssize_t *stride, Py_ssize_t step)
{
    for (int d = dims - 1; d >= 0; step *= extent[d--])
        if (extent[d] != 1 && stride[d] != step)
            return 0;
    return 1;
}

int is_dense(const Spot *spot)
{
    return lies_packed(spot->dims, spot->extent, spot->stride, dtypes[spot->dtype].itemsize);
}

/* Elements of these extents in C order. */
static void lay_out(Spot *spot, char *at, PyObject *memory, int dtype, const Py_ssize_t *extent, int dims)
{
    Py_ssize_t step = dtypes[dtype].itemsize;
    spot->memory = (Memory *)memory;
    spot->at = at;
    spot->dtype = dtype;
    spot->dims = dims;
    for (int d = dims - 1; d >= 0; d--) {
        spot->extent[d] = extent[d];
        spot->stride[d] = step;
        step *= extent[d] > 1 ? extent[d] : 1;
    }
}

int give_room(Cell *cell)
{
    Node *node = cell->node;
    Py_ssize_t extent[MOST_DIMS];
    Py_ssize_t size = dtypes[node->dtype].itemsize * (Py_ssize_t)elements_of(node->shape);
    PyObject *memory = allocate(size ? size : 1);
    if (memory == NULL)
        return -1;
    Py_CLEAR(cell->array);
    Py_XSETREF(cell->memory, memory);
    lay_out(&cell->spot, ((Memory *)memory)->at, memory, node->dtype, extent, read_shape(node->shape, extent));
    cell->is_own = 1;
    return 0;
}

int hold_leaf(Cell *cell, Node *leaf)
{
    if (!spot_of_leaf(leaf, &cell->spot))
        return -1;
    cell->memory = Py_NewRef(cell->spot.memory);
    cell->is_own = 1;
    return 0;
}

static PyObject *number_of(Node *node)
{
    PyObject *maker = dtypes[node->dtype].scalar;
    return maker ? PyObject_CallOneArg(maker, node->value) : NULL;
}

int hold_number(Cell *cell)
{
    Node *node = cell->node;
    lay_out(&cell->spot, cell->word, NULL, node->dtype, NULL, 0);
    if (write_number(cell->word, node->dtype, node->value))
        return 0;
    PyObject *number = number_of(node);
    return number == NULL ? -1 : move_in(cell, number);
}

/* A view of an operand by its places: (dim of the result or -1, start, step) for each dim of the operand. */
int hold_view(Cell *cell, Cell *source)
{
    PyObject *places = cell->node->attr;
    Region region = {.places = source->spot.dims};
    region.dims = read_shape(cell->node->shape, region.extent);
    for (int i = 0; i < region.places; i++) {
        PyObject *place = PyTuple_GET_ITEM(places, i);
        region.place[i] = (Place){as_size(PyTuple_GET_ITEM(place, 0)), as_size(PyTuple_GET_ITEM(place, 1)),
                                  as_size(PyTuple_GET_ITEM(place, 2))};
    }
    spot_in(&source->spot, &region, &cell->spot);
    cell->spot.dtype = cell->node->dtype;
    cell->memory = Py_XNewRef(source->memory);
    return 0;
}

void hold_memory_of(Cell *cell, Cell *old)
{
    cell->memory = Py_NewRef(old->memory);
    cell->spot = old->spot;
    cell->is_own = 1;
}

int settle_value(Cell *cell)
{
    if (cell->is_own)
        return 0;
    Cell old = *cell;
    cell->memory = cell->array = NULL;
    int failed = give_room(cell) < 0 || copy_value(&cell->spot, cell->memory, &old) < 0;
    let_go(&old);
    return failed ? -1 : 0;
}

/* ---- as NumPy sees it ---------------------------------------------------------------------------- */

PyObject *array_of(Cell *cell)
{
    if (cell->array == NULL && cell->memory == NULL && cell->node->kind == SCALAR)
        cell->array = number_of(cell->node);
    else if (cell->array == NULL && (cell->memory != NULL || settle_value(cell) == 0))
        cell->array = array_on(&cell->spot, cell->node->kind == LEAF ? 0 : WRITABLE);
    return cell->array;
}

int move_in(Cell *cell, PyObject *value)
{
    int failed = cell->memory == NULL && give_room(cell) < 0;
    PyObject *target = failed ? NULL : array_on(&cell->spot, WRITABLE);
    failed = copied(target, value) < 0;
    Py_XDECREF(target);
    Py_DECREF(value);
    return failed ? -1 : 0;
}

/* A value as NumPy converts it: an array, also of a number, for numbers out of range are refused and not wrapped. */
static PyObject *converted_from(Cell *from)
{
    if (from->array != NULL || from->memory != NULL || from->node->kind != SCALAR)
        return Py_XNewRef(array_of(from));
    Cell held = {.node = from->node};
    PyObject *array = NULL;
    if (give_room(&held) == 0) {
        memcpy(held.spot.at, from->spot.at, (size_t)dtypes[from->spot.dtype].itemsize);
        array = array_on(&held.spot, 0);
    }
    let_go(&held);
    return array;
}

int copy_value(Spot *to, PyObject *memory, Cell *from)
{
    int64_t elements = 1;
    for (int d = 0; d < to->dims; d++)
        elements *= to->extent[d];
    if (elements == 0)
        return 0;
    int is_apart = from->memory == NULL || (from->memory != memory && elements <= KERNEL_ELEMENTS);
    if (to->dtype == from->spot.dtype && is_apart) {
        copy_elements(to->at, to->stride, from->spot.at, from->spot.stride, to->extent, to->dims,
                      (size_t)dtypes[to->dtype].itemsize);
        return 0;
    }
    PyObject *source = converted_from(from), *target = source ? array_on(to, WRITABLE) : NULL;
    int failed = copied(target, source) < 0;
    Py_XDECREF(source);
    Py_XDECREF(target);
    return failed ? -1 : 0;
}

/* ---- as the program sees it ---------------------------------------------------------------------- */

/* The node's place in memory, as a leaf says it. */
static int tell_place(Node *node, const Spot *spot, PyObject *memory)
{
    PyObject *offset = PyLong_FromSsize_t(spot->at - ((Memory *)memory)->at);
    PyObject *strides = integer_tuple(spot->stride, spot->dims);
    int failed = offset == NULL || strides == NULL || node_become_leaf(node, memory, offset, strides) < 0;
    Py_XDECREF(offset);
    Py_XDECREF(strides);
    return failed ? -1 : 0;
}

int become(Cell *cell)
{
    return settle_value(cell) < 0 ? -1 : tell_place(cell->node, &cell->spot, cell->memory);
}

static Node *leaf_in(Cell *cell, PyObject *shape)
{
    Spot spot;
    Py_ssize_t extent[MOST_DIMS];
    Node *made = node_new(LEAF, no_name, Py_NewRef(no_args), cell->node->dtype, shape);
    lay_out(&spot, cell->spot.at, cell->memory, cell->node->dtype, extent, read_shape(shape, extent));
    if (made != NULL && tell_place(made, &spot, cell->memory) < 0)
        Py_CLEAR(made);
    return made;
}

/* The elements in extents to which the value is broadcast. */
static int spread_value(Spot *to, PyObject *memory, Cell *from)
{
    if (from->spot.dims == to->dims && memcmp(from->spot.extent, to->extent, (size_t)to->dims * sizeof *to->extent) == 0)
        return copy_value(to, memory, from);
    PyObject *target = array_on(to, WRITABLE), *source = target ? array_of(from) : NULL;
    int failed = source == NULL || copied(target, source) < 0;
    Py_XDECREF(target);
    return failed ? -1 : 0;
}

Node *leaf_of(Cell *cell, int dtype, PyObject *whole, PyObject *shape)
{
    if (settle_value(cell) < 0)
        return NULL;
    if (dtype == cell->node->dtype && same_shape(whole, cell->node->shape) && is_dense(&cell->spot))
        return leaf_in(cell, shape);
    Cell copy = {.node = node_new(LEAF, no_name, Py_NewRef(no_args), dtype, whole)};
    int failed = copy.node == NULL || give_room(&copy) < 0 || spread_value(&copy.spot, copy.memory, cell) < 0;
    Node *made = failed ? NULL : leaf_in(&copy, shape);
    let_go(&copy);
    Py_XDECREF(copy.node);
    return made;
}

/* Somebody besides the request, which does not have to store the value, may want it: the next request that does finds
   it with the node.  It stays pending, so that structures do not depend on what ran how. */
int keep_ahead(Cell *cell)
{
    char kind = cell->node->kind;
    int is_cheap = kind == VIEW || kind == RESHAPE;
    if (is_cheap || Py_REFCNT(cell->node) <= cell->uses + 2) /* the list of what is pending, and the cell */
        return 0;
    Node *leaf = leaf_of(cell, cell->node->dtype, cell->node->shape, cell->node->shape);
    if (leaf == NULL)
        return -1;
    Py_XSETREF(cell->node->ahead, (PyObject *)leaf);
    return 0;
}
