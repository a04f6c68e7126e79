/* New work, operation by operation (decision 0020): a request whose structure has no compiled code yet runs here, at
   about NumPy's speed, until compiling it has paid.

   NumPy computes what it computes to the very bits of compiled code, into blocks of the pool; elementary functions and
   float sums are compiled code for that operation alone.  So the answer to "when?" is never visible in a value. */

#include "dispatch.h"

#define COPY_INTO 50 /* NumPy's table of functions */

/* Where a region is written: in new memory, in that of a value of this request, or in that of the program's array. */
enum { NOT, TEMPORARY, LASTING };

/* A node of the request: `leaf` is its value in memory, `array` NumPy's array (or number) of it; `first` is where the
   slots of its operands begin in the list of all. */
typedef struct {
    Node *node, *leaf;
    PyObject *array;
    int first, uses;
    int source; /* of a view: the slot whose memory it is on; else its own */
    int views;  /* on its memory that are still to be read */
    char in_place, kept, needed;
} Cell;

static PyObject *exact;  /* NumPy's function by operation, where it computes the bits of compiled code */
static PyObject *linear; /* those that are exact for complex numbers */
static PyObject *meaning; /* (node, operands) -> NumPy's value: of the other kinds */
static PyObject *quiet_variable, *quiet; /* NumPy's settings of floating-point errors: none is told */
static PyObject *cast_name, *where_name, *out_names;
static int (*copy_into)(PyObject *, PyObject *);

static void let_go(Cell *cell)
{
    Py_CLEAR(cell->array);
    Py_CLEAR(cell->leaf);
}

PyObject *errors_ignored(void) { return quiet_variable ? PyContextVar_Set(quiet_variable, quiet) : NULL; }

void errors_told(PyObject *before)
{
    PyObject *type, *value, *trace;
    if (before == NULL)
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyContextVar_Reset(quiet_variable, before);
    Py_DECREF(before);
    PyErr_Restore(type, value, trace);
}

static char kind_of(Node *node) { return dtypes[node->dtype].kind; }

static int is_exact_map(Node *node)
{
    char kind = kind_of(node);
    int complexes = 0, floats = 0, same = 1, chosen = node->op == where_name;
    if (kind == 'f' && dtypes[node->dtype].itemsize == 2)
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        complexes += kind_of(arg) == 'c';
        floats += kind_of(arg) == 'f';
        same &= arg->dtype == node->dtype || (chosen && i == 0);
    }
    if (kind == 'c') /* a choice and a conversion compute nothing */
        return node->op == cast_name || (same && (chosen || PySet_Contains(linear, node->op) == 1));
    if (node->op == cast_name)
        return complexes == 0 && (floats == 0 || kind == 'f');
    return complexes == 0 && PyDict_Contains(exact, node->op) == 1;
}

/* Whether NumPy computes the operation to the bits of compiled code. */
static int is_exact(Node *node)
{
    if (node->kind == MAP)
        return is_exact_map(node);
    if (node->kind != REDUCE && node->kind != SCAN)
        return 1;
    Node *source = (Node *)PyTuple_GET_ITEM(node->args, 0);
    return strchr("biu", kind_of(source)) != NULL && (node->kind == SCAN ? strchr("biuf", kind_of(node))
                                                                         : strchr("biu", kind_of(node))) != NULL;
}

/* Whether an object is a tuple of so many tuples, each of `each` items. */
static int are_tuples(PyObject *object, Py_ssize_t many, Py_ssize_t each)
{
    int right = PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == many;
    for (Py_ssize_t i = 0; right && i < many; i++)
        right = PyTuple_CheckExact(PyTuple_GET_ITEM(object, i)) && PyTuple_GET_SIZE(PyTuple_GET_ITEM(object, i)) == each;
    return right;
}

static int is_sound_view(Node *node, Py_ssize_t many)
{
    if (many != 1 || !are_tuples(node->attr, PyTuple_GET_SIZE(((Node *)PyTuple_GET_ITEM(node->args, 0))->shape), 3))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->attr); i++)
        if (as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(node->attr, i), 0)) >= PyTuple_GET_SIZE(node->shape))
            return 0;
    return 1;
}

static int is_sound_assembly(Node *node, Py_ssize_t many)
{
    Py_ssize_t rank = PyTuple_GET_SIZE(node->shape);
    int right = PyTuple_CheckExact(node->attr) && PyTuple_GET_SIZE(node->attr) == many;
    for (Py_ssize_t i = 0; right && i < many; i++)
        right = are_tuples(PyTuple_GET_ITEM(node->attr, i), rank, 2)
                && PyTuple_GET_SIZE(((Node *)PyTuple_GET_ITEM(node->args, i))->shape) == rank;
    return right;
}

/* Whether a node is one of those that run here, and says all that is needed. */
static int is_known_kind(Node *node)
{
    Py_ssize_t many = PyTuple_GET_SIZE(node->args);
    if (node->kind > RESHAPE || PyTuple_GET_SIZE(node->shape) > MOST_DIMS / 2)
        return 0;
    switch (node->kind) {
    case LEAF: return leaf_memory(node) != NULL;
    case SCALAR: return many == 0;
    case VIEW: return is_sound_view(node, many);
    case ASSEMBLE: return is_sound_assembly(node, many);
    }
    return many > 0;
}

/* ---- values -------------------------------------------------------------------------------------- */

static int spot_at(Node *leaf, Spot *spot)
{
    Memory *memory = leaf_memory(leaf);
    if (memory == NULL || PyTuple_GET_SIZE(leaf->shape) > MOST_DIMS)
        return 0;
    spot->dims = (int)PyTuple_GET_SIZE(leaf->shape);
    for (int d = 0; d < spot->dims; d++) {
        spot->extent[d] = as_size(PyTuple_GET_ITEM(leaf->shape, d));
        spot->stride[d] = as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(leaf->value, 2), d));
    }
    spot->memory = memory;
    spot->at = memory->at + as_size(PyTuple_GET_ITEM(leaf->value, 1));
    spot->dtype = leaf->dtype;
    return 1;
}

static PyObject *array_of_leaf(Node *leaf, int flags)
{
    Spot spot;
    return spot_at(leaf, &spot) ? array_on(&spot, flags) : NULL;
}

/* A new block of the pool for a node's value, and NumPy's array on it. */
static int give_room(Cell *cell)
{
    Node *node = cell->node;
    Py_ssize_t size = dtypes[node->dtype].itemsize * (Py_ssize_t)elements_of(node->shape);
    PyObject *memory = allocate(size ? size : 1);
    cell->leaf = memory ? node_in_memory(memory, NULL, node->dtype, node->shape) : NULL;
    Py_XDECREF(memory);
    cell->array = cell->leaf ? array_of_leaf(cell->leaf, WRITABLE) : NULL;
    return cell->array ? 0 : -1;
}

/* Move a value that is a view, or NumPy's own, into a block of the pool.  Steals `value`. */
static int move_in(Cell *cell, PyObject *value)
{
    int failed = give_room(cell) < 0;
    if (!failed && Py_IS_TYPE(value, numpy_array))
        failed = copy_into(cell->array, value) < 0;
    else if (!failed) {
        Spot spot;
        failed = !spot_at(cell->leaf, &spot) || PyObject_SetItem(cell->array, Py_Ellipsis, value) < 0;
    }
    Py_DECREF(value);
    return failed ? -1 : 0;
}

static int settle_value(Cell *cell)
{
    if (cell->leaf != NULL)
        return 0;
    PyObject *value = cell->array;
    cell->array = NULL;
    return move_in(cell, value);
}

/* ---- operations ---------------------------------------------------------------------------------- */

static PyObject *number_of(Node *node)
{
    PyObject *maker = dtypes[node->dtype].scalar;
    return maker ? PyObject_CallOneArg(maker, node->value) : NULL;
}

/* A view of an operand by its places: (dim of the result or -1, start, step) for each dim of the operand. */
static PyObject *view_of(Node *node, PyObject *source)
{
    Spot spot = {.dims = (int)PyTuple_GET_SIZE(node->shape), .dtype = node->dtype};
    if (!Py_IS_TYPE(source, numpy_array))
        return NULL;
    NumpyArray *array = (NumpyArray *)source;
    Py_ssize_t offset = 0;
    int empty = 0;
    for (int d = 0; d < spot.dims; d++)
        empty |= (spot.extent[d] = as_size(PyTuple_GET_ITEM(node->shape, d))) == 0;
    for (int i = 0; i < array->dims; i++) {
        PyObject *place = PyTuple_GET_ITEM(node->attr, i);
        Py_ssize_t out = as_size(PyTuple_GET_ITEM(place, 0)), step = as_size(PyTuple_GET_ITEM(place, 2));
        offset += as_size(PyTuple_GET_ITEM(place, 1)) * array->stride[i];
        if (out >= 0)
            spot.stride[out] += step * array->stride[i];
    }
    spot.at = array->at + (empty ? 0 : offset);
    return array_view(&spot, source);
}

/* A number, repeated: one element with strides of zero. */
static int spread_number(Cell *cell, PyObject *number)
{
    Cell one = {.node = (Node *)PyTuple_GET_ITEM(cell->node->args, 0)};
    if (give_room(&one) == 0 && PyObject_SetItem(one.array, Py_Ellipsis, number) == 0)
        cell->array = view_of(cell->node, one.array);
    let_go(&one);
    return cell->array ? 0 : -1;
}

/* Whether a value that was computed for this request is read here for the last time: its memory may be written. */
static int is_ending(Cell *cells, Cell *cell)
{
    return cell->uses == 1 && cell->views == 0 && cell->source == cell - cells && !cell->kept && cell->leaf != NULL
           && cell->node->kind != LEAF && cell->node->ahead == NULL;
}

/* Room for the result of a function of each element: an operand's that ends with it, or a new block. */
static int give_room_like(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many)
{
    for (Py_ssize_t i = 0; i < many; i++) {
        Cell *old = &cells[slots[i]];
        if (old->node->dtype != cell->node->dtype || !is_ending(cells, old)
            || !same_shape(old->node->shape, cell->node->shape))
            continue;
        cell->leaf = (Node *)Py_NewRef(old->leaf);
        cell->array = array_of_leaf(cell->leaf, WRITABLE);
        return cell->array ? 0 : -1;
    }
    return give_room(cell);
}

static int mapped(Cell *cells, Cell *cell, const int *slots, PyObject **operands, Py_ssize_t many)
{
    Node *node = cell->node;
    PyObject *function = PyDict_GetItem(exact, node->op);
    if (node->op == cast_name) {
        if (give_room(cell) < 0)
            return -1;
        return Py_IS_TYPE(operands[0], numpy_array) ? copy_into(cell->array, operands[0])
                                                    : PyObject_SetItem(cell->array, Py_Ellipsis, operands[0]);
    }
    if (node->op == where_name || many > 3) {
        PyObject *value = PyObject_Vectorcall(function, operands, (size_t)many, NULL);
        return value == NULL ? -1 : move_in(cell, value);
    }
    PyObject *given[4];
    if (give_room_like(cells, cell, slots, many) < 0)
        return -1;
    memcpy(given, operands, (size_t)many * sizeof *given);
    given[many] = cell->array;
    PyObject *done = PyObject_Vectorcall(function, given, (size_t)many, out_names);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* The pieces of an array, each at its places: (start, step) for each dim. */
static int assembled(Cell *cell, PyObject **operands, Py_ssize_t many)
{
    Node *node = cell->node;
    Py_ssize_t first = cell->in_place != NOT;
    if (cell->in_place == NOT && give_room(cell) < 0)
        return -1;
    NumpyArray *whole = (NumpyArray *)cell->array;
    for (Py_ssize_t i = first; i < many; i++) {
        PyObject *region = PyTuple_GET_ITEM(node->attr, i);
        Node *piece = (Node *)PyTuple_GET_ITEM(node->args, i);
        Spot spot = {.dims = whole->dims, .dtype = node->dtype, .at = whole->at};
        int empty = 0;
        for (int d = 0; d < whole->dims; d++) {
            PyObject *place = PyTuple_GET_ITEM(region, d);
            spot.at += as_size(PyTuple_GET_ITEM(place, 0)) * whole->stride[d];
            spot.stride[d] = as_size(PyTuple_GET_ITEM(place, 1)) * whole->stride[d];
            empty |= (spot.extent[d] = as_size(PyTuple_GET_ITEM(piece->shape, d))) == 0;
        }
        if (empty)
            continue;
        PyObject *target = array_view(&spot, cell->array);
        int failed = target == NULL
                     || (Py_IS_TYPE(operands[i], numpy_array) ? copy_into(target, operands[i])
                                                              : PyObject_SetItem(target, Py_Ellipsis, operands[i])) < 0;
        Py_XDECREF(target);
        if (failed)
            return -1;
    }
    return 0;
}

/* An operand of compiled code: in C order, and for a function of each element in one dim, so that there are few such
   structures, all of them compiled ahead (targets.cpu.ahead). */
static Node *plain_leaf_of(Cell *operand, PyObject *shape)
{
    if (operand->node->kind == SCALAR)
        return (Node *)Py_NewRef(operand->node);
    if (settle_value(operand) < 0)
        return NULL;
    NumpyArray *array = Py_IS_TYPE(operand->array, numpy_array) ? (NumpyArray *)operand->array : NULL;
    Cell copy = {.node = operand->node};
    if (array != NULL && !(array->flags & CONTIGUOUS)) {
        if (give_room(&copy) < 0 || copy_into(copy.array, operand->array) < 0)
            return let_go(&copy), NULL;
    }
    Node *leaf = copy.leaf ? copy.leaf : operand->leaf;
    Node *made = shape ? leaf_as(leaf, shape) : (Node *)Py_NewRef(leaf);
    let_go(&copy);
    return made;
}

/* A function of each element, on operands of its own extents. */
static int is_flat(Node *node)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        if (arg->kind != SCALAR && !same_shape(arg->shape, node->shape))
            return 0;
    }
    return node->kind == MAP;
}

/* Compiled code of the operation alone, on values in memory. */
static int alone(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many)
{
    Node *node = cell->node;
    PyObject *shape = is_flat(node) ? Py_BuildValue("(n)", (Py_ssize_t)elements_of(node->shape)) : NULL;
    PyObject *args = PyErr_Occurred() ? NULL : PyTuple_New(many);
    for (Py_ssize_t i = 0; args != NULL && i < many; i++) {
        Node *operand = plain_leaf_of(&cells[slots[i]], shape);
        if (operand == NULL)
            Py_CLEAR(args);
        else
            PyTuple_SET_ITEM(args, i, (PyObject *)operand);
    }
    if (args != NULL)
        PyObject_GC_UnTrack(args);
    Node *twin = args ? node_new(node->kind, node->op, args, node->dtype, shape ? shape : node->shape) : NULL;
    if (twin != NULL) {
        Py_SETREF(twin->attr, Py_NewRef(node->attr));
        if (evaluate(&twin, 1) == 0 && twin->kind == LEAF) {
            cell->leaf = shape ? leaf_as(twin, node->shape) : (Node *)Py_NewRef(twin);
            cell->array = cell->leaf ? array_of_leaf(cell->leaf, 0) : NULL;
        }
        Py_DECREF(twin);
    }
    Py_XDECREF(shape);
    return cell->array ? 0 : -1;
}

static int by_meaning(Cell *cell, PyObject **operands, Py_ssize_t many)
{
    PyObject *list = PyList_New(many);
    for (Py_ssize_t i = 0; list != NULL && i < many; i++)
        PyList_SET_ITEM(list, i, Py_NewRef(operands[i]));
    PyObject *value = list ? PyObject_CallFunctionObjArgs(meaning, cell->node, list, NULL) : NULL;
    Py_XDECREF(list);
    return value == NULL ? -1 : move_in(cell, value);
}

/* The elements in C order, in other extents. */
static int moved_in_order(Cell *cell, PyObject *source)
{
    NumpyArray *array = (NumpyArray *)source;
    Spot spot = {.dims = array->dims, .dtype = cell->node->dtype};
    Py_ssize_t step = dtypes[spot.dtype].itemsize;
    if (give_room(cell) < 0)
        return -1;
    for (int d = spot.dims - 1; d >= 0; step *= spot.extent[d--]) {
        spot.extent[d] = array->extent[d];
        spot.stride[d] = step;
    }
    spot.at = ((NumpyArray *)cell->array)->at;
    PyObject *target = array_view(&spot, cell->array);
    int failed = target == NULL || copy_into(target, source) < 0;
    Py_XDECREF(target);
    return failed ? -1 : 0;
}

static int computed(Cell *cells, Cell *cell, const int *slots)
{
    Node *node = cell->node;
    Py_ssize_t many = PyTuple_GET_SIZE(node->args);
    PyObject *small[8], **operands = many <= 8 ? small : PyMem_Malloc((size_t)many * sizeof *operands);
    if (operands == NULL)
        return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < many; i++)
        operands[i] = cells[slots[i]].array;
    int failed;
    if (!is_exact(node))
        failed = alone(cells, cell, slots, many);
    else if (node->kind == MAP) {
        failed = mapped(cells, cell, slots, operands, many);
        if (failed && PyErr_ExceptionMatches(PyExc_TypeError)) { /* no loop of NumPy's for just these types */
            PyErr_Clear();
            let_go(cell);
            failed = by_meaning(cell, operands, many);
        }
    }
    else if (node->kind == VIEW && Py_IS_TYPE(operands[0], numpy_array))
        failed = (cell->array = view_of(node, operands[0])) == NULL ? -1 : 0;
    else if (node->kind == VIEW)
        failed = spread_number(cell, operands[0]);
    else if (node->kind == ASSEMBLE)
        failed = assembled(cell, operands, many);
    else if (node->kind == RESHAPE && Py_IS_TYPE(operands[0], numpy_array))
        failed = moved_in_order(cell, operands[0]);
    else
        failed = by_meaning(cell, operands, many);
    if (operands != small)
        PyMem_Free(operands);
    return failed;
}

/* ---- a request ----------------------------------------------------------------------------------- */

/* Whether nothing but the operands of `cell` is still to be read of a memory: what they hold is copied as a whole. */
static int is_last_reader(Cell *cells, Cell *cell, const int *mine, Py_ssize_t many, int base)
{
    for (int i = 0; &cells[i] < cell; i++) {
        int uses = cells[i].source == base && i != base ? cells[i].uses : 0;
        for (Py_ssize_t k = 0; k < many; k++)
            uses -= mine[k] == i && i != base;
        if (uses > 0 || (cells[i].source == base && i != base && cells[i].kept))
            return 0;
    }
    return 1;
}

/* Whether the memory of an array of the program may be written: nobody else reads it, and the request alone holds it. */
static int is_given_up(Cell *cells, Cell *cell, const int *mine, Py_ssize_t many)
{
    Cell *old = &cells[mine[0]];
    Memory *memory = old->leaf ? leaf_memory(old->leaf) : NULL;
    return is_in_place((int)(cell - cells)) && old->uses == 1 && !old->kept && old->node->ahead == NULL && memory != NULL
           && !memory->external && memory->writable && is_last_reader(cells, cell, mine, many, mine[0]);
}

/* A region is written where the array is, if nobody else reads that. */
static void write_in_place(Cell *cells, Cell *cell, const int *mine, Py_ssize_t many)
{
    Cell *old = &cells[mine[0]];
    cell->in_place = is_ending(cells, old) ? TEMPORARY : is_given_up(cells, cell, mine, many) ? LASTING : NOT;
    if (cell->in_place == NOT)
        return;
    cell->leaf = (Node *)Py_NewRef(old->leaf);
    cell->array = array_of_leaf(old->leaf, WRITABLE);
    if (cell->array == NULL) {
        cell->in_place = NOT;
        Py_CLEAR(cell->leaf);
    }
}

static int become(Cell *cell)
{
    PyObject *value = cell->leaf->value;
    return node_become_leaf(cell->node, PyTuple_GET_ITEM(value, 0), PyTuple_GET_ITEM(value, 1),
                            PyTuple_GET_ITEM(value, 2));
}

/* Somebody besides the request, which does not have to store the value, may want it: the next request that does finds
   it with the node.  It stays pending, so that structures do not depend on what ran how. */
static int keep_ahead(Cell *cell)
{
    char kind = cell->node->kind;
    int is_cheap = kind == VIEW || kind == RESHAPE;
    if (is_cheap || Py_REFCNT(cell->node) <= cell->uses + 2) /* the list of what is pending, and the cell */
        return 0;
    if (settle_value(cell) < 0)
        return -1;
    Py_XSETREF(cell->node->ahead, Py_NewRef(cell->leaf));
    return 0;
}

#define EXCERPT 4 /* as in targets.cpu.portions */

static int64_t bytes_of(Node *node) { return elements_of(node->shape) * (int64_t)dtypes[node->dtype].itemsize; }

/* A small part of a value of this request is copied: the whole need not wait for who reads the part. */
static int copy_excerpt(Cell *cells, Cell *cell)
{
    Cell *whole = &cells[cell->source];
    if (cell->node->kind != VIEW || whole == cell || whole->node->kind == LEAF || whole->kept
        || EXCERPT * bytes_of(cell->node) > bytes_of(whole->node))
        return 0;
    cell->source = (int)(cell - cells);
    return settle_value(cell);
}

static int run_cells(Cell *cells, int count, const int *slots)
{
    for (int i = 0; i < count; i++) {
        Cell *cell = &cells[i];
        Node *node = cell->node;
        Py_ssize_t many = PyTuple_GET_SIZE(node->args);
        cell->source = i;
        if (!cell->needed)
            continue;
        if (node->kind == LEAF || node->ahead != NULL) {
            cell->leaf = (Node *)Py_NewRef(node->kind == LEAF ? (PyObject *)node : node->ahead);
            cell->array = array_of_leaf(cell->leaf, 0);
        }
        else if (node->kind == SCALAR)
            cell->array = number_of(node);
        if (node->kind == LEAF || node->kind == SCALAR || node->ahead != NULL) {
            if (cell->array == NULL || (cell->kept && node->kind != LEAF && become(cell) < 0))
                return -1;
            continue;
        }
        const int *mine = slots + cell->first;
        cell->source = node->kind == VIEW ? cells[mine[0]].source : i;
        if (node->kind == ASSEMBLE && is_patch(node))
            write_in_place(cells, cell, mine, many);
        if (computed(cells, cell, mine) < 0 || copy_excerpt(cells, cell) < 0 || (cell->kept && settle_value(cell) < 0))
            return -1;
        if (cell->kept || cell->in_place == LASTING) { /* should a later operation fail, it is not written again */
            if (become(cell) < 0)
                return -1;
        }
        else {
            note_computed(node);
            if (keep_ahead(cell) < 0)
                return -1;
        }
        cells[cell->source].views += cell->source != i && cell->uses > 0;
        for (Py_ssize_t k = 0; k < many; k++) {
            Cell *operand = &cells[mine[k]];
            if (--operand->uses > 0)
                continue;
            cells[operand->source].views -= operand->source != mine[k];
            let_go(operand);
        }
    }
    return 0;
}

/* Whether an operation is as `alone` makes them: it would only make the same one again. */
static int is_plain_operation(Node *node)
{
    if (is_flat(node) && PyTuple_GET_SIZE(node->shape) != 1)
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        Spot spot;
        if (arg->kind != LEAF || !spot_at(arg, &spot) || elements_of(arg->shape) == 0)
            continue;
        Py_ssize_t step = dtypes[spot.dtype].itemsize;
        for (int d = spot.dims - 1; d >= 0; step *= spot.extent[d--])
            if (spot.extent[d] != 1 && spot.stride[d] != step)
                return 0;
    }
    return 1;
}

double unfused_seconds(Node **nodes, int count)
{
    double seconds = 0.0;
    int operations = 0;
    Node *only = NULL;
    if (exact == NULL || numpy_array == NULL)
        return -1.0;
    for (int i = 0; i < count; i++) {
        Node *node = nodes[i];
        if (!is_known_kind(node))
            return -1.0;
        if (node->kind == LEAF || node->kind == SCALAR)
            continue;
        operations++;
        only = node;
        double pace = node->kind == VIEW ? 0.0 : is_exact(node) ? 1.0e-9 : 4.0e-9;
        Py_ssize_t elements = (Py_ssize_t)elements_of(node->shape);
        if (node->kind == REDUCE)
            elements = (Py_ssize_t)elements_of(((Node *)PyTuple_GET_ITEM(node->args, 0))->shape);
        seconds += 1.0e-6 + pace * (double)elements;
    }
    return operations == 1 && !is_exact(only) && is_plain_operation(only) ? -1.0 : seconds;
}

/* An operation whose result somebody needs needs its operands, but for one that is there already. */
static void need_operands(Cell *cell, Cell *cells, const int *slots)
{
    for (Py_ssize_t k = 0; cell->needed && cell->node->ahead == NULL && k < PyTuple_GET_SIZE(cell->node->args); k++) {
        Cell *operand = &cells[slots[cell->first + k]];
        operand->needed = 1;
        operand->uses++;
    }
}

int run_unfused(Node **nodes, int count, Node **wanted, Py_ssize_t many)
{
    int edges = 0, at = 0;
    for (int i = 0; i < count; i++)
        edges += (int)PyTuple_GET_SIZE(nodes[i]->args);
    Cell *cells = PyMem_Calloc((size_t)count, sizeof *cells);
    int *slots = PyMem_Malloc((size_t)(edges + 1) * sizeof *slots);
    if (cells == NULL || slots == NULL) {
        PyMem_Free(cells);
        PyMem_Free(slots);
        return PyErr_NoMemory(), -1;
    }
    for (int i = 0; i < count; i++) {
        Cell *cell = &cells[i];
        *cell = (Cell){.node = nodes[i], .first = at, .kept = nodes[i]->demands > 0};
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(nodes[i]->args); k++)
            slots[at++] = ((Node *)PyTuple_GET_ITEM(nodes[i]->args, k))->slot;
    }
    for (Py_ssize_t i = 0; i < many; i++)
        cells[wanted[i]->slot].kept = cells[wanted[i]->slot].needed = 1;
    for (int i = count - 1; i >= 0; i--)
        need_operands(&cells[i], cells, slots);
    for (int i = 0; i < count; i++)
        Py_INCREF(cells[i].node);
    PyObject *before = errors_ignored();
    int failed = before == NULL || run_cells(cells, count, slots) < 0;
    errors_told(before);
    for (int i = count - 1; i >= 0; i--) {
        let_go(&cells[i]);
        Py_DECREF(cells[i].node);
    }
    PyMem_Free(cells);
    PyMem_Free(slots);
    return failed ? -1 : 1;
}

/* set_unfused(exact, linear, meaning, variable, quiet, table) */
static PyObject *set_unfused(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *functions, *names, *slow, *variable, *silence, *capsule;
    if (!PyArg_ParseTuple(given, "O!O!OO!OO", &PyDict_Type, &functions, &PyFrozenSet_Type, &names, &slow,
                          &PyContextVar_Type, &variable, &silence, &capsule))
        return NULL;
    void **table = PyCapsule_GetPointer(capsule, NULL);
    if (table == NULL)
        return NULL;
    copy_into = (int (*)(PyObject *, PyObject *))table[COPY_INTO];
    cast_name = PyUnicode_InternFromString("cast");
    where_name = PyUnicode_InternFromString("where");
    PyObject *out = PyUnicode_InternFromString("out");
    out_names = out ? PyTuple_Pack(1, out) : NULL;
    Py_XDECREF(out);
    if (cast_name == NULL || where_name == NULL || out_names == NULL)
        return NULL;
    Py_XSETREF(linear, Py_NewRef(names));
    Py_XSETREF(meaning, Py_NewRef(slow));
    Py_XSETREF(quiet_variable, Py_NewRef(variable));
    Py_XSETREF(quiet, Py_NewRef(silence));
    Py_XSETREF(exact, Py_NewRef(functions));
    Py_RETURN_NONE;
}

PyMethodDef unfused_methods[] = {
    {"set_unfused", set_unfused, METH_VARARGS, "NumPy's functions, by operation, and what the others mean."},
    {NULL},
};
