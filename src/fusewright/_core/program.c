/* Programs: the compiled steps of a structure, run on any slice that has it.

   A Program is what targets.cpu.runner.Runner is, flattened: what to read from the nodes, sizes as
   little stack programs, and for each kernel its argument words and the call. */

#include "launch.h"
#include <structmember.h>
#include <time.h>

enum { CONST, PARAM, ADD, SUBTRACT, MULTIPLY, MINIMUM, MAXIMUM, WHERE, LESS, QUOTIENT }; /* as in targets.cpu.native */
enum { EXTENT, STRIDE, NUMBER, PLACE, PIECE }; /* as in targets.cpu.native */

typedef struct {
    int64_t what, slot, dim, position;
} Fetch;

typedef struct {
    int64_t start, length; /* pairs in `code` */
} Integer;

typedef struct {
    int64_t slot;
    Integer nbytes;
    int64_t inherits; /* the slot whose memory it takes over; -1: none */
} Room;

typedef struct {
    int64_t alias, source; /* slot `alias` is `source`'s memory; -1 for a kernel */
    Kernel *address, *finish;
    Integer units, block, inner, stretch;
    int64_t ordered, grain;
    double work; /* nanoseconds for each unit of `inner` elements */
    int64_t outputs, partials, scratch, words, complete, last;
    Room *output, *partial;
    Integer *room;
    Word *word;
    int64_t *completes, *lasts;
} Step;

#define MOST_UNNOTED 64 /* short runs that are told of at once */
#define LONG_RUN 20     /* operations: what a run takes of which is told at once */
#define TRIALS 32    /* runs of final code after which it is known how long they take */
#define MARGIN 1.25  /* by which the operations one by one have to be faster, and by as much as two of them take: that is noise */
#define NOISE 2

typedef struct {
    PyObject_HEAD
    int64_t fetches, leaves, steps, slots;
    Fetch *fetch;
    int64_t *leaf, *code;
    Step *step;
    PyObject *note;   /* called with the seconds of runs, and how many, while it is not None */
    double unnoted;
    Py_ssize_t runs;
    int64_t affordable; /* bytes of results up to which Python knows it to hold no more memory than
                           the statements do one at a time */
    double alone, best; /* seconds: a run operation by operation (0: not known), and the shortest of its own */
    int trials, slow;
    PyObject *name;   /* on disk; None: it is not there */
    PyObject *owner;  /* keeps the kernels' code */
    PyObject *blocks; /* the bytes that the pointers above point into */
} Program;

#define MOST_ARGUMENTS 1024 /* of a kernel, as in targets.cpu.native */
#define MOST_PARTIALS 16    /* reductions of a kernel, as there */

static PyObject *dropped; /* (name): code that is slower than its operations one by one; targets.cpu.due */

/* ---- sizes ------------------------------------------------------------------------------------ */

static int64_t integer(Program *program, Integer size, const int64_t *values)
{
    const int64_t *code = program->code + 2 * size.start, *end = code + 2 * size.length;
    if (size.length == 1)
        return code[0] == CONST ? code[1] : values[code[1]];
    int64_t stack[34], *top = stack;
    *stack = 0; /* nobody's */
    for (; code < end; code += 2) {
        int64_t b = *top, a = top > stack ? top[-1] : 0;
        switch (code[0]) {
        case CONST: *++top = code[1]; break;
        case PARAM: *++top = values[code[1]]; break;
        case ADD: *--top = a + b; break;
        case SUBTRACT: *--top = a - b; break;
        case MULTIPLY: *--top = a * b; break;
        case MINIMUM: *--top = a < b ? a : b; break;
        case MAXIMUM: *--top = a > b ? a : b; break;
        case LESS: *--top = a < b; break;
        case QUOTIENT: *--top = b ? a / b : 0; break;
        case WHERE: top -= 2; *top = top[0] ? a : b; break;
        }
    }
    return *top;
}

/* ---- arguments -------------------------------------------------------------------------------- */

/* What a parameter is in this slice: an integer, or the object of a scalar. */
static int fetch_value(Fetch *fetch, Node **order, int64_t *value, PyObject **object)
{
    Node *node = order[fetch->slot];
    PyObject *found = NULL;
    switch (fetch->what) {
    case EXTENT: found = PyTuple_GET_ITEM(node->shape, fetch->dim); break;
    case STRIDE:
        found = PyTuple_GET_ITEM(PyTuple_GET_ITEM(node->value, 2), fetch->dim);
        break;
    case NUMBER: *object = node->value; return 0;
    case PLACE:
        found = PyTuple_GET_ITEM(PyTuple_GET_ITEM(node->attr, fetch->dim), fetch->position);
        break;
    case PIECE: /* of piece `position / 2` */
        found = PyTuple_GET_ITEM(node->attr, fetch->position / 2);
        found = PyTuple_GET_ITEM(PyTuple_GET_ITEM(found, fetch->dim), fetch->position % 2);
    }
    *value = as_size(found);
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

/* ---- one step --------------------------------------------------------------------------------- */

static int place_new(Address *place, int64_t nbytes)
{
    PyObject *memory = allocate(nbytes);
    if (memory == NULL)
        return -1;
    Py_XSETREF(place->memory, (Memory *)memory);
    place->offset = 0;
    return 0;
}

/* The units of a kernel, on this thread or on several. */
static int call_kernel(Program *program, Step *step, int64_t *words, const int64_t *values, int64_t units, int chosen)
{
    int64_t scratch = 0, grain = 0, block = values[program->fetches];
    int threads = 1;
    for (int64_t i = 0; i < step->scratch; i++)
        scratch += (integer(program, step->room[i], values) + 63) / 64 * 64;
    int64_t inner = integer(program, step->inner, values);
    if (units > 1 && !step->ordered
        && step->work * (double)units * (double)inner >= machine.parallel) {
        if ((threads = count_threads(chosen)) < 0)
            return -1;
        if (threads > 1) {
            grain = step->grain ? step->grain : (units + threads - 1) / threads;
            grain = (grain + block - 1) / block * block;
            if (units <= grain) /* one range: nothing to share out */
                threads = 1;
        }
    }
    return launch_units(step->address, words, units, grain, scratch, threads);
}

/* Memory for what a kernel computes. */
static int place_outputs(Program *program, Step *step, Address *places, const int64_t *values)
{
    for (int64_t i = 0; i < step->outputs; i++) {
        Room *room = &step->output[i];
        Address *place = &places[room->slot];
        if (place->memory != NULL) /* a patch writes what an earlier step made */
            continue;
        if (room->inherits < 0) {
            if (place_new(place, integer(program, room->nbytes, values)) < 0)
                return -1;
            continue;
        }
        *place = places[room->inherits];
        Py_XINCREF(place->memory);
        if (place->memory == NULL)
            return -1;
    }
    return 0;
}

/* The block and the stretch follow the parameters, partial results the slots. */
static int run_kernel(Program *program, Step *step, Address *places, int64_t *values, PyObject **objects, int chosen)
{
    int64_t words[MOST_ARGUMENTS], blocks = 0, units = integer(program, step->units, values);
    Address *partial = &places[program->slots];
    Sources from = {program->slots + MOST_PARTIALS, program->fetches + 2, program->fetches, places, values, objects};
    int64_t block = values[program->fetches] = step->partials > 0 ? integer(program, step->block, values) : 1;
    values[program->fetches + 1] = step->stretch.length > 0 ? integer(program, step->stretch, values) : 0;
    int failed = place_outputs(program, step, places, values) < 0;
    blocks = (units + block - 1) / block;
    blocks = blocks > 1 ? blocks : 1;
    for (int64_t i = 0; i < step->partials && !failed; i++)
        failed = place_new(&partial[i], integer(program, step->partial[i].nbytes, values) * blocks) < 0;
    if (!failed && (failed = fill_words(step->word, step->words, &from, words) <= 0) && !PyErr_Occurred())
        PyErr_SetString(PyExc_OverflowError, "a number that its type does not hold");
    if (!failed)
        failed = call_kernel(program, step, words, values, units, chosen) < 0;
    if (!failed && step->partials > 0)
        step->finish(words, 0, blocks, NULL);
    for (int64_t i = 0; i < step->partials; i++)
        Py_CLEAR(partial[i].memory);
    return failed ? -1 : 0;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static int complete(Node *node, Address *place)
{
    PyObject *strides = PyTuple_GET_SIZE(node->shape) == 1
                            ? Py_NewRef(dtypes[node->dtype].straight)
                            : contiguous_strides(node->shape, dtypes[node->dtype].itemsize);
    PyObject *offset = place->offset ? PyLong_FromSsize_t(place->offset) : NULL;
    int failed = strides == NULL || (offset == NULL && place->offset != 0)
                 || node_become_leaf(node, (PyObject *)place->memory, offset, strides) < 0;
    Py_XDECREF(offset);
    Py_XDECREF(strides);
    return failed ? -1 : 0;
}

static int run_steps(Program *program, Node **order, Address *places, int64_t *values,
                     PyObject **objects, int threads)
{
    for (int64_t i = 0; i < program->fetches; i++)
        if (fetch_value(&program->fetch[i], order, &values[i], &objects[i]) < 0)
            return -1;
    for (int64_t i = 0; i < program->leaves; i++) {
        int64_t slot = program->leaf[i];
        PyObject *value = order[slot]->value;
        places[slot].memory = (Memory *)Py_NewRef(PyTuple_GET_ITEM(value, 0));
        places[slot].offset = as_size(PyTuple_GET_ITEM(value, 1));
    }
    for (int64_t n = 0; n < program->steps; n++) {
        Step *step = &program->step[n];
        if (step->alias >= 0) {
            Address *source = &places[step->source];
            Py_XSETREF(places[step->alias].memory, (Memory *)Py_NewRef(source->memory));
            places[step->alias].offset = source->offset;
        }
        else if (run_kernel(program, step, places, values, objects, threads) < 0)
            return -1;
        for (int64_t i = 0; i < step->complete; i++)
            if (complete(order[step->completes[i]], &places[step->completes[i]]) < 0)
                return -1;
        for (int64_t i = 0; i < step->last; i++)
            Py_CLEAR(places[step->lasts[i]].memory);
    }
    return 0;
}

/* Whether a run makes no more results than Python has looked at (targets.cpu.portions). */
int program_is_affordable(PyObject *self, Node **order)
{
    Program *program = (Program *)self;
    int64_t few[128], *values = few, total = 0;
    PyObject *object;
    if (program->steps == 1)
        return 1;
    if (program->fetches > 128
        && (values = PyMem_Malloc((size_t)program->fetches * sizeof *values)) == NULL)
        return PyErr_NoMemory(), -1;
    int failed = 0;
    for (int64_t i = 0; i < program->fetches && !failed; i++)
        failed = fetch_value(&program->fetch[i], order, &values[i], &object) < 0;
    for (int64_t n = 0; n < program->steps && !failed; n++) {
        Step *step = &program->step[n];
        for (int64_t i = 0; i < step->outputs; i++)
            if (step->output[i].inherits < 0)
                total += integer(program, step->output[i].nbytes, values);
    }
    if (values != few)
        PyMem_Free(values);
    return failed ? -1 : total <= program->affordable;
}

int64_t program_slots(PyObject *program) { return ((Program *)program)->slots; }

double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void program_compare(PyObject *self, double alone) { ((Program *)self)->alone = alone; }

int program_is_slow(PyObject *object)
{
    return object != NULL && Py_IS_TYPE(object, &ProgramType) && ((Program *)object)->slow;
}

/* A run of final code has taken so long.  Code that loses to its operations one by one runs no more, here and in later
   processes: 0, or -1 for an error. */
static int compare(Program *program, double took)
{
    program->best = program->trials++ == 0 || took < program->best ? took : program->best;
    if (program->trials < TRIALS || program->best <= MARGIN * program->alone + NOISE * machine.operation * 1e-9)
        return 0;
    program->slow = 1;
    steady_forget();
    PyObject *told = program->name == Py_None ? Py_NewRef(Py_None) : PyObject_CallOneArg(dropped, program->name);
    Py_XDECREF(told);
    return told == NULL ? -1 : 0;
}

/* Compute, and make the outputs leaves: 1 done, -1 an error. */
int program_run(PyObject *self, Node **order, int threads)
{
    Program *program = (Program *)self;
    Address mine[128 + MOST_PARTIALS], *places = mine;
    int64_t few[128 + 2], *values = few;
    PyObject *some[128], **objects = some;
    void *room = NULL;
    if (program->slots > 128 || program->fetches > 128) {
        size_t many = (size_t)(program->slots + MOST_PARTIALS) * sizeof *places
                      + (size_t)(program->fetches + 2) * (sizeof *values + sizeof *objects);
        if ((room = PyMem_Malloc(many)) == NULL)
            return PyErr_NoMemory(), -1;
        places = room;
        values = (int64_t *)(places + program->slots + MOST_PARTIALS);
        objects = (PyObject **)(values + program->fetches + 2);
    }
    for (int64_t i = 0; i < program->slots + MOST_PARTIALS; i++)
        places[i] = (Address){NULL, 0};
    int is_compared = program->note == Py_None && program->alone > 0.0 && program->trials < TRIALS;
    double began = program->note != Py_None || is_compared ? seconds_now() : 0;
    int failed = run_steps(program, order, places, values, objects, threads);
    for (int64_t i = 0; i < program->slots; i++)
        Py_XDECREF(places[i].memory);
    PyMem_Free(room);
    if (failed || (is_compared && compare(program, seconds_now() - began) < 0))
        return -1;
    if (began > 0 && program->note != Py_None) { /* another thread may have taken it meanwhile */
        program->unnoted += seconds_now() - began;
        if (++program->runs < MOST_UNNOTED && program->unnoted < LONG_RUN * machine.operation * 1e-9)
            return 1;
        PyObject *told = PyObject_CallFunction(program->note, "dn", program->unnoted, program->runs);
        program->unnoted = 0;
        program->runs = 0;
        if (told == NULL)
            return -1;
        Py_DECREF(told);
    }
    return 1;
}

/* ---- making one ------------------------------------------------------------------------------- */

/* An array of int64 records out of a bytes object, which `program->blocks` keeps. */
static int64_t *table(Program *program, PyObject *bytes, int64_t width, int64_t *count)
{
    if (!PyBytes_CheckExact(bytes) || PyList_Append(program->blocks, bytes) < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "a table is bytes");
        return NULL;
    }
    *count = PyBytes_GET_SIZE(bytes) / (8 * width);
    return (int64_t *)PyBytes_AS_STRING(bytes);
}

static int read_step(Program *program, Step *step, PyObject *given)
{
    PyObject *outputs, *partials, *scratch, *words, *completes, *lasts;
    if (!PyTuple_CheckExact(given)) {
        PyErr_SetString(PyExc_TypeError, "a step is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "LL(LL)(LL)(LL)(LL)LLdOOOOOO", &step->alias, &step->source,
                          &step->units.start, &step->units.length, &step->block.start,
                          &step->block.length, &step->inner.start, &step->inner.length,
                          &step->stretch.start, &step->stretch.length, &step->ordered, &step->grain, &step->work, &outputs, &partials, &scratch,
                          &words, &completes, &lasts))
        return -1;
    step->output = (Room *)table(program, outputs, 4, &step->outputs);
    step->partial = (Room *)table(program, partials, 4, &step->partials);
    step->room = (Integer *)table(program, scratch, 2, &step->scratch);
    step->word = (Word *)table(program, words, 4, &step->words);
    step->completes = table(program, completes, 1, &step->complete);
    step->lasts = table(program, lasts, 1, &step->last);
    if (!PyErr_Occurred() && (step->words > MOST_ARGUMENTS || step->partials > MOST_PARTIALS))
        PyErr_SetString(PyExc_ValueError, "a kernel with too many arguments");
    return PyErr_Occurred() ? -1 : 0;
}

static int within(int64_t number, int64_t count) { return number >= 0 && number < count; }

/* Whether a stack program stays inside its stack, its parameters and the code. */
static int sound_integer(Program *program, Integer size, int64_t pairs)
{
    static const int taken[] = {[ADD] = 2, [SUBTRACT] = 2, [MULTIPLY] = 2, [MINIMUM] = 2, [MAXIMUM] = 2,
                                [WHERE] = 3, [LESS] = 2, [QUOTIENT] = 2};
    int64_t depth = 0;
    if (size.start < 0 || size.length < 0 || size.start > pairs || size.length > pairs - size.start)
        return 0;
    const int64_t *code = program->code + 2 * size.start, *end = code + 2 * size.length;
    for (; code < end; code += 2) {
        if (!within(code[0], QUOTIENT + 1) || depth < taken[code[0]] || depth > 31
            || (code[0] == PARAM && !within(code[1], program->fetches)))
            return 0;
        depth += 1 - taken[code[0]];
    }
    return depth == 1 || size.length == 0;
}

static int sound_step(Program *program, Step *step, int64_t pairs)
{
    Sources most = {program->slots + step->partials, program->fetches + 2, program->fetches, NULL, NULL, NULL};
    int sound = sound_integer(program, step->units, pairs)
                && sound_integer(program, step->stretch, pairs)
                && sound_integer(program, step->block, pairs)
                && sound_integer(program, step->inner, pairs)
                && (step->alias < 0 ? step->alias == -1 && step->units.length > 0
                                          && step->inner.length > 0
                                    : within(step->alias, program->slots)
                                          && within(step->source, program->slots));
    for (int64_t i = 0; i < step->outputs && sound; i++)
        sound = within(step->output[i].slot, program->slots)
                && (step->output[i].inherits == -1
                    || within(step->output[i].inherits, program->slots))
                && sound_integer(program, step->output[i].nbytes, pairs);
    for (int64_t i = 0; i < step->partials && sound; i++)
        sound = step->block.length > 0 && sound_integer(program, step->partial[i].nbytes, pairs);
    for (int64_t i = 0; i < step->scratch && sound; i++)
        sound = sound_integer(program, step->room[i], pairs);
    for (int64_t i = 0; i < step->words && sound; i++)
        sound = sound_word(&step->word[i], &most)
                && (step->word[i].what < NUMBER_WORD
                    || (step->word[i].what == NUMBER_WORD && program->fetch[step->word[i].number].what == NUMBER));
    for (int64_t i = 0; i < step->complete && sound; i++)
        sound = within(step->completes[i], program->slots);
    for (int64_t i = 0; i < step->last && sound; i++)
        sound = within(step->lasts[i], program->slots);
    return sound;
}

/* Whether every number in the tables names something. */
static int sound_program(Program *program, int64_t pairs)
{
    int sound = within(program->slots, 1 << 20);
    for (int64_t i = 0; i < program->fetches && sound; i++)
        sound = within(program->fetch[i].slot, program->slots)
                && within(program->fetch[i].what, PIECE + 1);
    for (int64_t i = 0; i < program->leaves && sound; i++)
        sound = within(program->leaf[i], program->slots);
    for (int64_t i = 0; i < program->steps && sound; i++)
        sound = sound_step(program, &program->step[i], pairs);
    if (!sound && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a table names what there is not");
    return sound;
}

/* Program(slots, code, fetches, leaves, steps) */
static PyObject *program_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"slots", "code", "fetches", "leaves", "steps", NULL};
    PyObject *code, *fetches, *leaves, *steps;
    long long slots;
    int64_t pairs = 0;
    if (!PyArg_ParseTupleAndKeywords(given, names, "LOOOO!", keywords, &slots, &code, &fetches,
                                     &leaves, &PyTuple_Type, &steps))
        return NULL;
    Program *program = (Program *)type->tp_alloc(type, 0);
    if (program == NULL)
        return NULL;
    program->note = Py_NewRef(Py_None);
    program->unnoted = 0;
    program->runs = 0;
    program->owner = Py_NewRef(Py_None);
    program->name = Py_NewRef(Py_None);
    program->affordable = INT64_MAX;
    program->slots = slots;
    program->steps = PyTuple_GET_SIZE(steps);
    program->step = PyMem_Calloc((size_t)program->steps + 1, sizeof(Step));
    program->blocks = PyList_New(0);
    int failed = program->step == NULL || program->blocks == NULL;
    if (!failed) {
        program->code = table(program, code, 2, &pairs);
        program->fetch = (Fetch *)table(program, fetches, 4, &program->fetches);
        program->leaf = table(program, leaves, 1, &program->leaves);
        failed = PyErr_Occurred() != NULL;
    }
    for (int64_t i = 0; i < program->steps && !failed; i++)
        failed = read_step(program, &program->step[i], PyTuple_GET_ITEM(steps, i)) < 0;
    if (failed || !sound_program(program, pairs))
        Py_CLEAR(program);
    return (PyObject *)program;
}

static void program_dealloc(PyObject *self)
{
    Program *program = (Program *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(program->note);
    Py_XDECREF(program->owner);
    Py_XDECREF(program->name);
    Py_XDECREF(program->blocks);
    PyMem_Free(program->step);
    Py_TYPE(self)->tp_free(self);
}

static int program_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Program *)self)->note);
    Py_VISIT(((Program *)self)->owner);
    return 0;
}

static int program_clear(PyObject *self)
{
    Py_XSETREF(((Program *)self)->note, Py_NewRef(Py_None));
    Py_XSETREF(((Program *)self)->owner, Py_NewRef(Py_None));
    return 0;
}

/* use(step, address, finish): the code of a kernel from now on */
static PyObject *program_use(PyObject *self, PyObject *given)
{
    Program *program = (Program *)self;
    long long number, address, finish;
    if (!PyArg_ParseTuple(given, "LLL", &number, &address, &finish))
        return NULL;
    if (number < 0 || number >= program->steps) {
        PyErr_SetString(PyExc_IndexError, "no such step");
        return NULL;
    }
    program->step[number].finish = (Kernel *)(intptr_t)finish;
    program->step[number].address = (Kernel *)(intptr_t)address;
    Py_RETURN_NONE;
}

static PyMethodDef program_type_methods[] = {
    {"use", program_use, METH_VARARGS, "The code of a kernel: (step, address, finish)."},
    {NULL},
};

static PyMemberDef program_members[] = {
    {"note", T_OBJECT, offsetof(Program, note), 0, "Called with the seconds of runs, and how many, while not None."},
    {"affordable", T_LONGLONG, offsetof(Program, affordable), 0, "Bytes of results that need no second look."},
    {"name", T_OBJECT, offsetof(Program, name), 0, "Its name on disk, or None."},
    {"alone", T_DOUBLE, offsetof(Program, alone), READONLY, "Seconds that its operations take one by one; 0: not known."},
    {"trials", T_INT, offsetof(Program, trials), 0, "Runs of its final code that have been measured."},
    {"slow", T_INT, offsetof(Program, slow), READONLY, "Whether its operations are faster one by one."},
    {"owner", T_OBJECT, offsetof(Program, owner), 0, "What keeps the code of the kernels."},
    {NULL},
};

PyTypeObject ProgramType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Program",
    .tp_basicsize = sizeof(Program),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = program_make,
    .tp_dealloc = program_dealloc,
    .tp_traverse = program_traverse,
    .tp_clear = program_clear,
    .tp_methods = program_type_methods,
    .tp_members = program_members,
    .tp_doc = "Compiled steps that run on any slice of their structure.",
};

static PyObject *set_dropped(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(dropped, Py_NewRef(function));
    Py_RETURN_NONE;
}

int program_ready(PyObject *unset)
{
    dropped = Py_NewRef(unset);
    return 0;
}

PyMethodDef program_methods[] = {
    {"set_dropped", set_dropped, METH_O, "What hears of the name of code that runs no more."},
    {NULL},
};
