/* New work, operation by operation (decision 0020): a request whose structure has no compiled code yet runs here, at
   about NumPy's speed, until compiling it has paid.

   NumPy computes what it computes to the very bits of compiled code, into blocks of the pool; elementary functions and
   float sums are compiled code for that operation alone.  So the answer to "when?" is never visible in a value. */

#include "alone.h"
#include "dispatch.h"
#include "loops.h"

#define COPY_INTO 50 /* NumPy's table of functions */

static PyObject *exact;  /* NumPy's function by operation, where it computes the bits of compiled code */
static PyObject *linear; /* those that are exact for complex numbers */
static PyObject *meaning; /* (node, operands) -> NumPy's value: of the other kinds */
static PyObject *quiet_variable, *quiet; /* NumPy's settings of floating-point errors: none is told */
static PyObject *cast_name, *where_name, *out_names;

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

static int is_exact_map(Node *node)
{
    char kind = kind_of(node);
    int complexes = 0, floats = 0, same = 1, chosen = node->op == where_name;
    if (kind == 'f' && dtypes[node->dtype].itemsize == 2)
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        complexes += kind_of(arg) == 'c' || arg->dtype == dtype_bfloat16; /* neither is computed by NumPy */
        floats += kind_of(arg) == 'f';
        same &= arg->dtype == node->dtype || (chosen && i == 0);
    }
    if (kind == 'c') /* a choice and a conversion compute nothing */
        return node->op == cast_name || (same && (chosen || PySet_Contains(linear, node->op) == 1));
    if (node->op == cast_name)
        return complexes == 0 && (floats == 0 || kind == 'f');
    return complexes == 0 && PyDict_Contains(exact, node->op) == 1;
}

PyObject *exact_function(PyObject *op, int dtype)
{
    char kind = dtypes[dtype].kind;
    if (exact == NULL || (kind == 'f' && dtypes[dtype].itemsize == 2) || (kind == 'c' && PySet_Contains(linear, op) != 1))
        return NULL;
    return PyDict_GetItem(exact, op);
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

/* ---- operations ---------------------------------------------------------------------------------- */

/* Whether a value that was computed for this request is read here for the last time: its memory may be written. */
static int is_ending(Cell *cells, Cell *cell)
{
    return cell->uses == 1 && cell->views == 0 && cell->source == cell - cells && !cell->kept && cell->is_own
           && cell->node->kind != LEAF && cell->node->ahead == NULL;
}

/* Room for the result of a function of each element: an operand's that ends with it, or a new block. */
static int give_room_like(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many)
{
    for (Py_ssize_t i = 0; i < many; i++) {
        Cell *old = &cells[slots[i]];
        if (old->node->dtype == cell->node->dtype && is_ending(cells, old)
            && same_shape(old->node->shape, cell->node->shape)) {
            hold_memory_of(cell, old);
            return 0;
        }
    }
    return give_room(cell);
}

/* What NumPy's function makes of the operands, in the cell's memory. */
static int called(Cell *cells, Cell *cell, PyObject *function, const int *slots, Py_ssize_t many, PyObject *names)
{
    PyObject *given[4], *target = names ? array_on(&cell->spot, WRITABLE) : NULL;
    if (be_quiet() < 0 || (names != NULL && target == NULL)) {
        Py_XDECREF(target);
        return -1;
    }
    for (Py_ssize_t i = 0; i < many; i++)
        if ((given[i] = array_of(&cells[slots[i]])) == NULL) {
            Py_XDECREF(target);
            return -1;
        }
    given[many] = target;
    PyObject *value = PyObject_Vectorcall(function, given, (size_t)many, names);
    Py_XDECREF(target);
    if (value != NULL && names == NULL)
        return move_in(cell, value);
    Py_XDECREF(value);
    return value ? 0 : -1;
}

static int mapped(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many)
{
    Node *node = cell->node;
    const Spot *spot[MOST_SPOTS];
    if (node->op == cast_name)
        return give_room(cell) < 0 ? -1 : copy_value(&cell->spot, cell->memory, &cells[slots[0]]);
    if (many >= MOST_SPOTS)
        return called(cells, cell, PyDict_GetItem(exact, node->op), slots, many, NULL);
    if (give_room_like(cells, cell, slots, many) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < many; i++)
        spot[i] = &cells[slots[i]].spot;
    spot[many] = &cell->spot;
    PyObject *function = PyDict_GetItem(exact, node->op);
    int chosen = node->op == where_name;
    if (chosen ? choose_over(spot) : loop_over(function, spot, (int)many))
        return 0;
    return called(cells, cell, function, slots, many, chosen ? NULL : out_names);
}

/* The pieces of an array, each at its places: (start, step) for each dim. */
static int assembled(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many)
{
    Node *node = cell->node;
    if (cell->in_place == NOT && give_room(cell) < 0)
        return -1;
    Spot *whole = &cell->spot;
    for (Py_ssize_t i = cell->in_place != NOT; i < many; i++) {
        PyObject *region = PyTuple_GET_ITEM(node->attr, i);
        Node *piece = (Node *)PyTuple_GET_ITEM(node->args, i);
        Spot spot = {.memory = whole->memory, .dims = whole->dims, .dtype = node->dtype, .at = whole->at};
        for (int d = 0; d < whole->dims; d++) {
            PyObject *place = PyTuple_GET_ITEM(region, d);
            spot.extent[d] = as_size(PyTuple_GET_ITEM(piece->shape, d));
            spot.at += as_size(PyTuple_GET_ITEM(place, 0)) * whole->stride[d];
            spot.stride[d] = as_size(PyTuple_GET_ITEM(place, 1)) * whole->stride[d];
        }
        if (copy_value(&spot, cell->memory, &cells[slots[i]]) < 0)
            return -1;
    }
    return 0;
}

static int by_meaning(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many)
{
    PyObject *list = PyList_New(many);
    for (Py_ssize_t i = 0; list != NULL && i < many; i++) {
        PyObject *operand = array_of(&cells[slots[i]]);
        if (operand == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, Py_NewRef(operand));
    }
    PyObject *value = list && be_quiet() == 0 ? PyObject_CallFunctionObjArgs(meaning, cell->node, list, NULL) : NULL;
    Py_XDECREF(list);
    return value == NULL ? -1 : move_in(cell, value);
}

/* The elements in C order, in other extents. */
static int moved_in_order(Cell *cell, Cell *source)
{
    if (give_room(cell) < 0)
        return -1;
    Spot target = source->spot; /* the operand's extents, in C order */
    Py_ssize_t step = dtypes[target.dtype].itemsize;
    for (int d = target.dims - 1; d >= 0; step *= target.extent[d--])
        target.stride[d] = step;
    target.at = cell->spot.at;
    target.memory = cell->spot.memory;
    return copy_value(&target, cell->memory, source);
}

static int computed(Cell *cells, Cell *cell, const int *slots)
{
    Node *node = cell->node;
    Py_ssize_t many = PyTuple_GET_SIZE(node->args);
    if (!is_exact(node))
        return run_alone(cells, cell, slots, many);
    switch (node->kind) {
    case VIEW: return hold_view(cell, &cells[slots[0]]);
    case ASSEMBLE: return assembled(cells, cell, slots, many);
    case RESHAPE: return moved_in_order(cell, &cells[slots[0]]);
    case MAP: break;
    default: return by_meaning(cells, cell, slots, many);
    }
    if (mapped(cells, cell, slots, many) == 0)
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) /* no loop of NumPy's for just these types */
        return -1;
    forgive();
    let_go(cell);
    return by_meaning(cells, cell, slots, many);
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

/* Whether a new version of `whole` takes in just the elements of `part`, which lie in its memory. */
static int takes_in(Node *patch, Node *whole, Node *piece, const Spot *part)
{
    Spot base;
    if (patch->kind != ASSEMBLE || !is_patch(patch) || (Node *)PyTuple_GET_ITEM(patch->args, 0) != whole
        || (Node *)PyTuple_GET_ITEM(patch->args, 1) != piece || !spot_of_leaf(whole, &base) || base.dims != part->dims)
        return 0;
    PyObject *region = PyTuple_GET_ITEM(patch->attr, 1);
    for (int d = 0; d < base.dims; d++) {
        PyObject *entry = PyTuple_GET_ITEM(region, d);
        base.at += as_size(PyTuple_GET_ITEM(entry, 0)) * base.stride[d];
        if (part->extent[d] != 1 && as_size(PyTuple_GET_ITEM(entry, 1)) * base.stride[d] != part->stride[d])
            return 0;
    }
    return base.at == part->at;
}

/* Whether another array on the memory that `old` has is still to be read, but for the new version of it that takes in
   what is written (`part = a[1:]; part[::2] = 0`). */
static int is_read_later(Cell *cells, int count, Cell *cell, const int *slots, Cell *old)
{
    for (int i = 0; i < count; i++) {
        Node *other = cells[i].node;
        if (&cells[i] == old || other->kind != LEAF || leaf_memory(other) != old->spot.memory || !cells[i].needed)
            continue;
        int uses = cells[i].uses;
        for (int j = (int)(cell - cells); j < count && uses > 0; j++) {
            Py_ssize_t many = cells[j].needed ? PyTuple_GET_SIZE(cells[j].node->args) : 0;
            for (Py_ssize_t k = 0; k < many; k++)
                uses -= slots[cells[j].first + k] == i
                        && (&cells[j] == cell || takes_in(cells[j].node, other, cell->node, &old->spot));
        }
        if (uses > 0 || cells[i].kept || !is_last_reader(cells, cell, slots + cell->first, PyTuple_GET_SIZE(cell->node->args), i))
            return 1;
    }
    return 0;
}

/* Whether the memory of an array of the program may be written: nobody else reads it, and the request alone holds it.
   A part of a value lies in the memory of the whole here, whose readers are others. */
static int is_given_up(Cell *cells, int count, Cell *cell, const int *slots)
{
    const int *mine = slots + cell->first;
    Cell *old = &cells[mine[0]];
    Memory *memory = old->spot.memory;
    return cell->may_replace && old->source == mine[0] && old->uses == 1 && !old->kept && old->node->ahead == NULL
           && memory != NULL && !memory->external && memory->writable
           && is_last_reader(cells, cell, mine, PyTuple_GET_SIZE(cell->node->args), mine[0])
           && !is_read_later(cells, count, cell, slots, old);
}

/* A region is written where the array is, if nobody else reads that. */
static void write_in_place(Cell *cells, int count, Cell *cell, const int *slots)
{
    Cell *old = &cells[slots[cell->first]];
    cell->in_place = is_ending(cells, old) ? TEMPORARY : is_given_up(cells, count, cell, slots) ? LASTING : NOT;
    if (cell->in_place != NOT)
        hold_memory_of(cell, old);
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
        if (node->kind == LEAF || node->kind == SCALAR || node->ahead != NULL) {
            Node *leaf = node->kind == LEAF ? node : (Node *)node->ahead;
            if ((leaf ? hold_leaf(cell, leaf) : hold_number(cell)) < 0
                || (cell->kept && node->kind != LEAF && become(cell) < 0))
                return -1;
            continue;
        }
        const int *mine = slots + cell->first;
        cell->source = node->kind == VIEW ? cells[mine[0]].source : i;
        if (node->kind == ASSEMBLE && is_patch(node))
            write_in_place(cells, count, cell, slots);
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

double unfused_seconds(Node **nodes, int count)
{
    double nanoseconds = 0.0;
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
        double pace = node->kind == VIEW ? 0.0 : is_exact(node) ? machine.element : machine.dear_element;
        Py_ssize_t elements = (Py_ssize_t)elements_of(node->shape);
        if (node->kind == REDUCE)
            elements = (Py_ssize_t)elements_of(((Node *)PyTuple_GET_ITEM(node->args, 0))->shape);
        nanoseconds += machine.operation + pace * (double)elements;
    }
    return operations == 1 && !is_exact(only) && is_plain_operation(only) ? -1.0 : 1e-9 * nanoseconds;
}

/* An operation whose result somebody needs needs its operands, but for one that is there already. */
static void need_operands(Cell *cell, Cell *cells, const int *slots)
{
    for (Py_ssize_t k = 0; cell->needed && cell->node->ahead == NULL && k < PyTuple_GET_SIZE(cell->node->args); k++) {
        Cell *operand = &cells[slots[cell->first + k]];
        operand->needed = 1;
        operand->uses++;
        operand->kept |= (char)is_asked_again(cell->node, operand->node);
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
        cell->node = nodes[i];
        cell->first = at;
        cell->kept = (char)is_endangered(i); /* what it is made of may be overwritten */
        cell->may_replace = is_in_place(i);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(nodes[i]->args); k++)
            slots[at++] = ((Node *)PyTuple_GET_ITEM(nodes[i]->args, k))->slot;
    }
    for (Py_ssize_t i = 0; i < many; i++)
        cells[wanted[i]->slot].kept = cells[wanted[i]->slot].needed = 1;
    for (int i = count - 1; i >= 0; i--)
        need_operands(&cells[i], cells, slots);
    for (int i = 0; i < count; i++)
        Py_INCREF(cells[i].node);
    PyObject *outer = begin_quiet();
    int failed = run_cells(cells, count, slots) < 0;
    end_quiet(outer);
    for (int i = count - 1; i >= 0; i--) {
        let_go(&cells[i]);
        Py_DECREF(cells[i].node);
    }
    PyMem_Free(cells);
    PyMem_Free(slots);
    return failed ? -1 : 1;
}

/* set_unfused(exact, linear, meaning, variable, quiet, table, class of functions, numbers of types) */
static PyObject *set_unfused(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *functions, *names, *slow, *variable, *silence, *capsule, *ufunc, *numbers;
    if (!PyArg_ParseTuple(given, "O!O!OO!OOO!O!", &PyDict_Type, &functions, &PyFrozenSet_Type, &names, &slow,
                          &PyContextVar_Type, &variable, &silence, &capsule, &PyType_Type, &ufunc, &PyTuple_Type,
                          &numbers))
        return NULL;
    void **table = PyCapsule_GetPointer(capsule, NULL);
    if (table == NULL)
        return NULL;
    set_copy_into((int (*)(PyObject *, PyObject *))table[COPY_INTO]);
    cast_name = PyUnicode_InternFromString("cast");
    where_name = PyUnicode_InternFromString("where");
    PyObject *out = PyUnicode_InternFromString("out");
    out_names = out ? PyTuple_Pack(1, out) : NULL;
    Py_XDECREF(out);
    if (cast_name == NULL || where_name == NULL || out_names == NULL || set_loops(ufunc, numbers) < 0)
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
