/* Groups of kernel calls run from what an earlier group of their shape found out: code, what its
   words are, which arrays need memory.

   What has a holder gets memory and is a leaf then.  What the code keeps in registers (its arrays are
   `gone`) stays pending where somebody holds it: the group runs once more should it be asked for. */

#include "groups.h"
#include "launch.h"
#include <structmember.h>

enum { WRITTEN = 1, OVERWRITTEN = 2, GONE = 4, TWICE = 8 };

typedef struct {
    int64_t operand, flags, dtype, nbytes, bits; /* operand -1: `bits` everywhere */
} Array;

typedef struct {
    int64_t array, nbytes, offset; /* array -1: a result; offset: where it begins in the array */
} Buffer;

typedef struct {
    int64_t a, a_low, a_high, b, b_low, b_high; /* buffers, and the bytes they reach */
} Pair;

struct GroupProgram {
    PyObject_HEAD
    PyObject *options, *owner, *blocks;
    Loops loops;
    int64_t dead, gone, arrays, buffers, words, pairs, outputs, lazies, nbytes;
    int joined;
    Array *array;
    Buffer *buffer;
    Word *word;
    Pair *pair;
    int64_t *output; /* the buffer that each is, or -1 less an array */
    int64_t *lazy;   /* the operands that are numbers, in the order of their values */
};

#define MOST_ARRAYS 64
#define MOST_BUFFERS 128
#define MOST_WORDS 512
#define MOST_GROUPS 1024
#define MOST_PARTS 1024

static int64_t joined_runs;

/* ---- what a run works on ---------------------------------------------------------------------- */

static int is_straight(Node *leaf)
{
    PyObject *strides = PyTuple_GET_ITEM(leaf->value, 2);
    Py_ssize_t step = dtypes[leaf->dtype].itemsize;
    for (Py_ssize_t i = PyTuple_GET_SIZE(leaf->shape) - 1; i >= 0; i--) {
        Py_ssize_t extent = as_size(PyTuple_GET_ITEM(leaf->shape, i));
        if (extent != 1 && as_size(PyTuple_GET_ITEM(strides, i)) != step)
            return 0;
        step *= extent;
    }
    return 1;
}

static Py_ssize_t bytes_of(Node *node)
{
    Py_ssize_t size = dtypes[node->dtype].itemsize;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->shape); i++)
        size *= as_size(PyTuple_GET_ITEM(node->shape, i));
    return size;
}

static void fill(char *at, Py_ssize_t nbytes, int64_t bits, Py_ssize_t size)
{
    if (bits == 0)
        memset(at, 0, (size_t)nbytes);
    else
        for (Py_ssize_t i = 0; i + size <= nbytes; i += size)
            memcpy(at + i, &bits, (size_t)size);
}

/* The elements of a leaf's dims from `dim` on, in C order; where the next ones belong. */
static char *gather(char *to, const char *from, Node *leaf, Py_ssize_t dim)
{
    Py_ssize_t size = dtypes[leaf->dtype].itemsize, rank = PyTuple_GET_SIZE(leaf->shape);
    if (dim == rank)
        return memcpy(to, from, (size_t)size), to + size;
    Py_ssize_t count = as_size(PyTuple_GET_ITEM(leaf->shape, dim));
    Py_ssize_t stride = as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(leaf->value, 2), dim));
    if (dim == rank - 1 && size == 8) {
        for (Py_ssize_t i = 0; i < count; i++, to += 8, from += stride)
            memcpy(to, from, 8);
        return to;
    }
    for (Py_ssize_t i = 0; i < count; i++, from += stride)
        to = gather(to, from, leaf, dim + 1);
    return to;
}

/* Memory for an array: 1, 0 left to Python, -1 an error. */
static int settle_array(Array *array, Node *whole, Address *place, int64_t *fresh)
{
    if (array->flags & GONE)
        return 1;
    Node *leaf = NULL;
    if (array->operand >= 0) {
        leaf = operand(whole, array->operand);
        Memory *memory = leaf_memory(leaf);
        if (memory == NULL || bytes_of(leaf) != array->nbytes)
            return 0;
        place->memory = memory;
        place->offset = as_size(PyTuple_GET_ITEM(leaf->value, 1));
        /* A second run finds what the first has given in it, under another name. */
        int alone = Py_REFCNT(leaf) == 1 && Py_REFCNT(memory) == 1 && writable_memory(leaf) != NULL
                    && !(array->flags & TWICE) && group_of(whole)->runs == 0;
        if (is_straight(leaf) && (!(array->flags & WRITTEN) || alone)) {
            Py_INCREF(memory);
            return 1;
        }
    }
    Address from = *place;
    place->offset = 0;
    if ((place->memory = (Memory *)allocate(array->nbytes)) == NULL)
        return -1;
    *fresh += array->nbytes;
    if (array->flags & OVERWRITTEN)
        return 1;
    if (leaf != NULL && is_straight(leaf))
        memcpy(place->memory->at, from.memory->at + from.offset, (size_t)array->nbytes);
    else if (leaf != NULL)
        gather(place->memory->at, from.memory->at + from.offset, leaf, 0);
    else
        fill(place->memory->at, array->nbytes, array->bits, dtypes[array->dtype].itemsize);
    return 1;
}

static int overlaps(GroupProgram *program, const Address *buffers)
{
    for (int64_t i = 0; i < program->pairs; i++) {
        Pair *pair = &program->pair[i];
        char *a = address_at(&buffers[pair->a]), *b = address_at(&buffers[pair->b]);
        if (a != NULL && b != NULL && a + pair->a_low < b + pair->b_high
            && b + pair->b_low < a + pair->a_high)
            return 1;
    }
    return 0;
}

/* A number that is a value: 0 where it is not what the code takes. */
static int lazy_value(Node *node, int64_t *value)
{
    if (node->dtype != dtype_float64 && node->dtype != dtype_int64)
        return 0;
    if (node->kind == SCALAR)
        return write_number((char *)value, node->dtype, node->value);
    Memory *memory = leaf_memory(node);
    if (memory == NULL)
        return 0;
    memcpy(value, memory->at + as_size(PyTuple_GET_ITEM(node->value, 1)), 8);
    return 1;
}

/* The numbers of all calls in turn: how many; -1 where Python has to look. */
static Py_ssize_t numbers_of(Group *group, PyObject **number)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(group->values); i++) {
        PyObject *call = PyList_GET_ITEM(group->values, i);
        if (!PyTuple_CheckExact(call) || count + PyTuple_GET_SIZE(call) > MOST_WORDS)
            return -1;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(call); k++)
            number[count++] = PyTuple_GET_ITEM(call, k);
    }
    return count;
}

/* 1, 0 where Python has to look, -1 an error. */
static int fill_group(GroupProgram *program, Group *group, Node *whole, const Address *buffers, int64_t *words)
{
    PyObject *number[MOST_WORDS];
    int64_t value[MOST_OPERANDS];
    Sources from = {program->buffers, program->lazies, numbers_of(group, number), buffers, value, number};
    for (int64_t i = 0; i < program->lazies; i++)
        if (program->lazy[i] >= PyTuple_GET_SIZE(whole->args) || !lazy_value(operand(whole, program->lazy[i]), &value[i]))
            return 0;
    return from.objects < 0 ? 0 : fill_words(program->word, program->words, &from, words);
}

/* ---- one run ---------------------------------------------------------------------------------- */

/* Run the code: 1 with the memory of each buffer, 0 left to Python, -1 an error. */
static int run_program(GroupProgram *program, Group *group, Node *whole, Address *arrays,
                       Address *buffers, int64_t *fresh)
{
    int64_t words[MOST_WORDS];
    int ready = 1;
    for (int64_t i = 0; i < program->arrays && ready > 0; i++)
        if (program->array[i].operand >= PyTuple_GET_SIZE(whole->args))
            ready = 0;
        else
            ready = settle_array(&program->array[i], whole, &arrays[i], fresh);
    for (int64_t i = 0; i < program->buffers && ready > 0; i++) {
        Buffer *buffer = &program->buffer[i];
        if (buffer->array >= 0) {
            buffers[i] = arrays[buffer->array];
            buffers[i].offset += buffer->offset;
        }
        else if ((buffers[i].memory = (Memory *)allocate(buffer->nbytes)) == NULL)
            ready = -1;
        Py_XINCREF(buffer->array >= 0 ? buffers[i].memory : NULL);
    }
    if (ready > 0)
        ready = overlaps(program, buffers) ? 0 : fill_group(program, group, whole, buffers, words);
    if (ready <= 0)
        return ready;
    joined_runs += program->joined;
    return launch_loops(&program->loops, words, program->nbytes) < 0 ? -1 : 1;
}

/* ---- who has what a group gives --------------------------------------------------------------- */

typedef struct {
    Node *part[MOST_PARTS]; /* those that somebody holds */
    char wanted[MOST_PARTS];
    int count, complete; /* whether these are all */
} Parts;

/* The parts of a group that are pending; `own` references to it are the caller's. */
static int find_parts(Node *whole, Node **wanted, int many, Parts *found)
{
    PyObject *list = pending_list();
    Py_ssize_t left = Py_REFCNT(whole) - 1;
    found->count = 0;
    for (Py_ssize_t i = PyList_GET_SIZE(list) - 1; i >= 0 && left > 0; i--) {
        Node *node = (Node *)PyList_GET_ITEM(list, i);
        if (node->kind != PART || PyTuple_GET_SIZE(node->args) != 1 || operand(node, 0) != whole)
            continue;
        left--;
        int asked = 0;
        for (int k = 0; k < many; k++)
            asked |= wanted[k] == node;
        if (Py_REFCNT(node) - asked == 1 && !asked)
            continue; /* nobody but the list */
        if (found->count == MOST_PARTS)
            return 0;
        found->wanted[found->count] = (char)asked;
        found->part[found->count++] = node;
    }
    found->complete = left == 0;
    return 1;
}

static Py_ssize_t output_of(Node *part, Shape *shape)
{
    Py_ssize_t output = PyLong_CheckExact(part->attr) ? as_size(part->attr) : -1;
    return output >= 0 && output < shape->outputs ? output : -1;
}

/* The arrays that need not be stored: nobody holds them, or (in a first run that may be repeated)
   nobody has asked for them. */
static int64_t count_dead(Group *group, Shape *shape, const Parts *parts)
{
    int64_t alive = 0;
    if (!parts->complete)
        return 0;
    for (int i = 0; i < parts->count; i++) {
        Py_ssize_t output = output_of(parts->part[i], shape);
        int array = output < 0 ? -1 : shape->of_output[output];
        if (array >= MOST_ARRAYS)
            return 0;
        if (array >= 0 && (parts->wanted[i] || group->runs > 0 || !shape->keeps))
            alive |= (int64_t)1 << array;
    }
    return shape->forgettable & ~alive;
}

static int become(Node *part, Address *place)
{
    PyObject *strides = contiguous_strides(part->shape, dtypes[part->dtype].itemsize);
    PyObject *offset = PyLong_FromSsize_t(place->offset);
    int failed = strides == NULL || offset == NULL || bytes_of(part) + place->offset > place->memory->nbytes
                 || node_become_leaf(part, (PyObject *)place->memory, offset, strides) < 0;
    Py_XDECREF(strides);
    Py_XDECREF(offset);
    if (failed && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a group gave less than its shape says");
    return failed ? -1 : 0;
}

static Address *place_of(GroupProgram *program, Py_ssize_t output, Address *arrays, Address *buffers)
{
    int64_t number = output < program->outputs ? program->output[output] : INT64_MIN;
    if (number >= 0)
        return number < program->buffers ? &buffers[number] : NULL;
    return -1 - number < program->arrays && number > INT64_MIN ? &arrays[-1 - number] : NULL;
}

/* The memory of every output, for parts that are not on the list. */
static int keep_outcome(GroupProgram *program, Group *group, Address *arrays, Address *buffers)
{
    PyObject *outcome = PyTuple_New(program->outputs);
    for (int64_t i = 0; outcome != NULL && i < program->outputs; i++) {
        Address *place = place_of(program, i, arrays, buffers);
        PyObject *entry = place == NULL || place->memory == NULL
                              ? Py_NewRef(Py_None)
                              : Py_BuildValue("(On)", place->memory, place->offset);
        if (entry == NULL)
            Py_CLEAR(outcome);
        else
            PyTuple_SET_ITEM(outcome, i, entry);
    }
    Py_XSETREF(group->outcome, outcome);
    return outcome == NULL ? -1 : 0;
}

/* What somebody holds is in memory now, but for what is gone; that waits with the group. */
static int deliver(GroupProgram *program, Group *group, Node *whole, Parts *parts, Address *arrays,
                   Address *buffers)
{
    int waits = 0, failed = 0;
    Shape *shape = shape_of(group);
    if (shape == NULL || shape->outputs > program->outputs)
        return 0;
    for (int i = 0; i < parts->count && !failed; i++) {
        Py_ssize_t output = output_of(parts->part[i], shape);
        int is_now = output >= 0 && (shape->of_output[output] >= 0 || program->output[output] >= 0);
        Address *place = is_now ? place_of(program, output, arrays, buffers) : NULL;
        if (place == NULL || place->memory == NULL || bytes_of(parts->part[i]) > place->memory->nbytes)
            waits = 1;
        else
            failed = become(parts->part[i], place) < 0;
    }
    group->runs++;
    if (!failed && !parts->complete)
        failed = keep_outcome(program, group, arrays, buffers) < 0;
    else if (!failed && !waits)
        Py_XSETREF(group->outcome, Py_NewRef(no_args));
    if (!failed && (!waits || !parts->complete))
        Py_SETREF(whole->args, Py_NewRef(no_args)); /* dead parts must not keep its operands */
    return failed ? -1 : 1;
}

/* What runs a shape where these arrays are dead; where there is room for no more, what stores some
   of them. */
static GroupProgram *program_for(Shape *shape, int64_t dead)
{
    int threads;
    GroupProgram *found = NULL;
    for (int i = shape->programs - 1; i >= 0; i--) {
        GroupProgram *program = (GroupProgram *)shape->program[i];
        int fits = program->dead == dead || (shape->full && (program->dead & ~dead) == 0);
        if (fits && (found == NULL || program->dead == dead)
            && options_allow(program->options, &threads) > 0)
            found = program;
    }
    return found;
}

static int run_known(GroupProgram *program, Group *group, Node *whole, Parts *parts)
{
    Address arrays[MOST_ARRAYS] = {{NULL, 0}}, buffers[MOST_BUFFERS] = {{NULL, 0}};
    int64_t fresh = 0;
    Py_INCREF(program);
    Py_INCREF(group);
    for (int i = 0; i < parts->count; i++)
        Py_INCREF(parts->part[i]);
    int done = run_program(program, group, whole, arrays, buffers, &fresh);
    if (done > 0)
        done = deliver(program, group, whole, parts, arrays, buffers);
    for (int i = 0; i < parts->count; i++)
        Py_DECREF(parts->part[i]);
    for (int64_t i = 0; i < program->arrays; i++)
        Py_XDECREF(arrays[i].memory);
    for (int64_t i = 0; i < program->buffers; i++)
        Py_XDECREF(buffers[i].memory);
    Py_DECREF(group);
    Py_DECREF(program);
    if (done > 0 && count_bytes(fresh) < 0)
        return -1;
    return done;
}

/* The operands that are pending. */
static int settle_operands(Node *whole)
{
    Node *pending[MOST_OPERANDS];
    Py_ssize_t count = 0, operands = PyTuple_GET_SIZE(whole->args);
    if (operands > MOST_OPERANDS)
        return 0;
    for (Py_ssize_t i = 0; i < operands; i++)
        if (operand(whole, i)->kind != LEAF && operand(whole, i)->kind != SCALAR)
            pending[count++] = operand(whole, i);
    if (count == 0)
        return 1;
    PyObject *args = Py_NewRef(whole->args);
    int done = run_slice(pending, count);
    Py_DECREF(args);
    return done;
}

/* What was asked for of a group that has run. */
static int recall(Group *group, Node *whole, Node **wanted, int many)
{
    for (int i = 0; i < many; i++) {
        Node *part = wanted[i];
        if (part->kind != PART || PyTuple_GET_SIZE(part->args) != 1 || operand(part, 0) != whole)
            continue;
        Py_ssize_t output = PyLong_CheckExact(part->attr) ? as_size(part->attr) : -1;
        PyObject *entry = output >= 0 && output < PyTuple_GET_SIZE(group->outcome)
                              ? PyTuple_GET_ITEM(group->outcome, output)
                              : Py_None;
        Address place;
        if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != 2
            || !Py_IS_TYPE(PyTuple_GET_ITEM(entry, 0), &MemoryType)
            || !PyLong_CheckExact(PyTuple_GET_ITEM(entry, 1)))
            return 0;
        place.memory = (Memory *)PyTuple_GET_ITEM(entry, 0);
        place.offset = as_size(PyTuple_GET_ITEM(entry, 1));
        if (become(part, &place) < 0)
            return -1;
    }
    return 1;
}

/* `whole` has one reference of the caller's. */
static int run_one(Node *whole, Node **wanted, int many)
{
    Parts parts;
    Group *group = group_of(whole);
    if (group == NULL || !is_none(group->error) || group->values == NULL
        || !PyList_CheckExact(group->values))
        return 0;
    if (!is_none(group->outcome))
        return PyTuple_CheckExact(group->outcome) ? recall(group, whole, wanted, many) : 0;
    Shape *shape = shape_of(group);
    int done = shape == NULL || shape->of_output == NULL ? 0 : settle_operands(whole);
    if (done <= 0)
        return done;
    if (group->outcome != NULL && group->outcome != Py_None)
        return 0;
    if (!find_parts(whole, wanted, many, &parts))
        return 0;
    int64_t dead = count_dead(group, shape, &parts);
    GroupProgram *program = program_for(shape, dead);
    group->dead = program == NULL ? dead : -1; /* for Python, which looks at once */
    done = program == NULL ? 0 : run_known(program, group, whole, &parts);
    return done > 0 && !parts.complete ? recall(group, whole, wanted, many) : done;
}

/* ---- the groups a request needs --------------------------------------------------------------- */

typedef struct {
    Node *group[MOST_GROUPS], *part[MOST_PARTS];
    int groups, parts;
} Needed;

/* Operands first; 0 where there are too many. */
static int find_groups(Node **wanted, Py_ssize_t count, Needed *needed)
{
    static Node *stack[MOST_STRUCTURE_NODES];
    uint64_t walk = next_walk();
    int depth = 0;
    needed->groups = needed->parts = 0;
    for (Py_ssize_t i = 0; i < count && depth < MOST_STRUCTURE_NODES; i++)
        stack[depth++] = wanted[i];
    while (depth > 0) {
        Node *node = stack[depth - 1], *missing = NULL;
        if (node->mark != walk)
            for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args) && missing == NULL; i++)
                if (operand(node, i)->mark != walk)
                    missing = operand(node, i);
        if (missing != NULL) {
            if (depth == MOST_STRUCTURE_NODES)
                return 0;
            stack[depth++] = missing;
            continue;
        }
        depth--;
        if (node->mark == walk)
            continue;
        node->mark = walk;
        if (group_of(node) != NULL) {
            if (needed->groups == MOST_GROUPS)
                return 0;
            needed->group[needed->groups++] = node;
        }
        else if (node->kind == PART && PyTuple_GET_SIZE(node->args) == 1
                 && group_of(operand(node, 0)) != NULL) {
            if (needed->parts == MOST_PARTS)
                return 0;
            needed->part[needed->parts++] = node;
        }
    }
    return needed->groups > 0;
}

int run_groups(Node **wanted, Py_ssize_t count)
{
    Needed needed;
    int grown = join_requested(wanted, count);
    if (grown <= 0 || !find_groups(wanted, count, &needed))
        return grown < 0 ? -1 : 0;
    for (int i = 0; i < needed.groups; i++)
        Py_INCREF(needed.group[i]);
    for (int i = 0; i < needed.parts; i++)
        Py_INCREF(needed.part[i]);
    int done = 1;
    for (int i = 0; i < needed.groups && done > 0; i++)
        done = run_one(needed.group[i], needed.part, needed.parts);
    for (int i = 0; i < needed.parts; i++)
        Py_DECREF(needed.part[i]);
    for (int i = 0; i < needed.groups; i++)
        Py_DECREF(needed.group[i]);
    return done;
}

/* ---- making one ------------------------------------------------------------------------------- */

static int wrong(const char *what)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, what);
    return -1;
}

/* Records of int64 out of a bytes object, which `program->blocks` keeps. */
static void *table(GroupProgram *program, PyObject *bytes, size_t width, int64_t most, int64_t *count)
{
    if (!PyBytes_CheckExact(bytes) || PyList_Append(program->blocks, bytes) < 0) {
        wrong("a table is bytes");
        return NULL;
    }
    *count = PyBytes_GET_SIZE(bytes) / (Py_ssize_t)(8 * width);
    if (*count > most) {
        wrong("too large a group");
        return NULL;
    }
    return PyBytes_AS_STRING(bytes);
}

static int within(int64_t number, int64_t count) { return number >= 0 && number < count; }

static int is_sound(GroupProgram *program)
{
    Sources most = {program->buffers, program->lazies, MOST_WORDS, NULL, NULL, NULL};
    int right = program->loops.team < program->words;
    for (int64_t i = 0; i < program->lazies && right; i++)
        right = program->lazy[i] >= 0;
    for (int64_t i = 0; i < program->arrays && right; i++) {
        Array *array = &program->array[i];
        right = array->operand >= -1 && within(array->dtype, NO_DTYPE) && array->nbytes >= 0
                && dtypes[array->dtype].itemsize > 0
                && (array->operand >= 0 || (array->flags & OVERWRITTEN)
                    || dtypes[array->dtype].itemsize <= 8);
    }
    for (int64_t i = 0; i < program->buffers && right; i++)
        right = program->buffer[i].array < program->arrays && program->buffer[i].nbytes >= 0
                && (program->buffer[i].array < 0
                    || program->buffer[i].offset <= program->array[program->buffer[i].array].nbytes)
                && program->buffer[i].offset >= 0;
    for (int64_t i = 0; i < program->words && right; i++)
        right = sound_word(&program->word[i], &most) && program->word[i].what <= NUMBER_WORD;
    for (int64_t i = 0; i < program->pairs && right; i++)
        right = within(program->pair[i].a, program->buffers)
                && within(program->pair[i].b, program->buffers);
    return right ? 0 : wrong("not a group's program");
}

/* GroupProgram(options, owner, address, dead, gone, nbytes, joined, threads, team, arrays, buffers,
   words, pairs, outputs, lazies) */
static PyObject *program_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    PyObject *options, *owner, *arrays, *buffers, *words, *pairs, *outputs, *lazies;
    long long address, dead, gone, nbytes;
    int joined, threads, team;
    if (!PyArg_ParseTuple(given, "OOLLLLpiiOOOOOO", &options, &owner, &address, &dead, &gone, &nbytes,
                          &joined, &threads, &team, &arrays, &buffers, &words, &pairs, &outputs, &lazies))
        return NULL;
    GroupProgram *program = (GroupProgram *)type->tp_alloc(type, 0);
    if (program == NULL)
        return NULL;
    program->options = Py_NewRef(options);
    program->owner = Py_NewRef(owner);
    program->loops = (Loops){(Kernel *)(intptr_t)address, team, threads};
    program->dead = dead;
    program->gone = gone;
    program->nbytes = nbytes;
    program->joined = joined;
    int sound = (program->blocks = PyList_New(0)) != NULL
        && (program->array = table(program, arrays, 5, MOST_ARRAYS, &program->arrays)) != NULL
        && (program->buffer = table(program, buffers, 3, MOST_BUFFERS, &program->buffers)) != NULL
        && (program->word = table(program, words, 4, MOST_WORDS, &program->words)) != NULL
        && (program->pair = table(program, pairs, 6, 1 << 16, &program->pairs)) != NULL
        && (program->output = table(program, outputs, 1, 1 << 16, &program->outputs)) != NULL
        && (program->lazy = table(program, lazies, 1, MOST_OPERANDS, &program->lazies)) != NULL
        && is_sound(program) == 0;
    if (!sound)
        Py_CLEAR(program);
    return (PyObject *)program;
}

static int program_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((GroupProgram *)self)->options);
    Py_VISIT(((GroupProgram *)self)->owner);
    return 0;
}

static void program_dealloc(PyObject *self)
{
    GroupProgram *program = (GroupProgram *)self;
    PyObject_GC_UnTrack(self);
    Py_CLEAR(program->options);
    Py_CLEAR(program->owner);
    Py_CLEAR(program->blocks);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject GroupProgramType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.GroupProgram",
    .tp_basicsize = sizeof(GroupProgram),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = program_make,
    .tp_dealloc = program_dealloc,
    .tp_traverse = program_traverse,
    .tp_doc = "How groups of one shape run.",
};

static PyObject *get_joined_runs(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLongLong(joined_runs);
}

PyMethodDef group_run_methods[] = {
    {"joined_runs", get_joined_runs, METH_NOARGS, "How often code of several calls ran."},
    {NULL},
};
