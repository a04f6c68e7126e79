/* Requests with products of matrices that have run before: which values are computed first, and then which kernels are
   called, with argument words that are known but for addresses and numbers (targets.cpu.product_calls).

   A Schedule belongs to a structure that says all extents and strides, and the number of threads. */

#include "launch.h"

#define SELF (-1) /* the place of a call's own words; rooms are those before it */
#define MOST_PLACES 256

typedef struct {
    int64_t *words, length;
    int64_t *address, addresses; /* which word, which place */
    int64_t *number, numbers;    /* which word, the node's slot, its type, its part */
    long long code, units, grain, scratch;
    int threads;
} Call;

/* Values that are needed, then kernels. */
typedef struct {
    int64_t *wanted, wants; /* slots of values, or of views of them */
    int64_t *result, results; /* slots and bytes */
    int64_t *operand, operands; /* slots */
    int64_t *room, rooms; /* bytes */
    int64_t *member, members; /* slots of what is computed on the way */
    PyObject *strides; /* those of what each operand is, or looks into */
    Call *call;
    Py_ssize_t calls;
} Stage;

typedef struct {
    PyObject_HEAD
    int64_t slots;
    Stage *stage;
    Py_ssize_t stages;
    int64_t *held, helds;
    PyObject *blocks; /* the bytes and tuples that the pointers above point into */
    PyObject *owner;  /* keeps the kernels' code */
} Schedule;

/* ---- requests --------------------------------------------------------------------------------- */

static PyObject *missed; /* the structure of the last request that was left to Python, as bytes, */
static Node *missed_node[64]; /* and what it asked for: compared only */
static int missed_slot[64], missed_many;

/* What decides how products are computed: all extents and strides, the machine, the threads. */
int product_words(Node **order, int count, int threads, int eager)
{
    uint64_t mine = order[0]->mark;
    if (!can_launch())
        return 0;
    if ((threads = count_threads(threads)) < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        Node *node = order[i];
        Py_ssize_t rank = PyTuple_GET_SIZE(node->shape);
        for (Py_ssize_t d = 0; d < rank; d++)
            structure_word((uint64_t)as_size(PyTuple_GET_ITEM(node->shape, d)));
        for (Py_ssize_t d = 0; d < rank && node->kind == LEAF; d++)
            structure_word((uint64_t)as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(node->value, 2), d)));
        if (node->kind == VIEW || node->kind == ASSEMBLE) {
            uint64_t word = canonical_word(node->attr);
            if (word == 0 || order[0]->mark != mine)
                return 0; /* comparing ran another walk */
            structure_word(word);
        }
    }
    structure_word(machine_version);
    structure_word((uint64_t)threads << 1 | (uint64_t)eager);
    return structure_has_room();
}

static int compute_inside(Node **nodes, Py_ssize_t count)
{
    int done = run_slice(nodes, count);
    return done == 0 ? (left_to_python(nodes, count) < 0 ? -1 : 1) : done;
}

static int schedule_run(PyObject *self, Node **order, int count);

/* A request that is known, or left to Python. */
int run_products(PyObject *known, const Structure *found, Node **pending, Py_ssize_t left)
{
    Py_CLEAR(missed);
    if (known == NULL || !Py_IS_TYPE(known, &ScheduleType)) {
        missed = PyBytes_FromStringAndSize((char *)found->words, found->length * (Py_ssize_t)sizeof *found->words);
        for (missed_many = 0; missed_many < left; missed_many++) {
            missed_node[missed_many] = pending[missed_many];
            missed_slot[missed_many] = pending[missed_many]->slot;
        }
        return missed == NULL ? -1 : 0;
    }
    PyObject *schedule = Py_NewRef(known);
    int done = schedule_run(schedule, found->order, found->count);
    Py_DECREF(schedule);
    Py_CLEAR(missed); /* of something inside */
    Node *rest[64];
    int many = 0;
    for (Py_ssize_t i = 0; i < left && done > 0; i++)
        if (pending[i]->kind != LEAF)
            rest[many++] = pending[i];
    return done > 0 && many > 0 ? compute_inside(rest, many) : done;
}

/* take_missed_products(nodes): the structure of the last request, if it was one for these nodes and has products */
static PyObject *take_missed_products(PyObject *module, PyObject *nodes)
{
    (void)module;
    PyObject *found = missed;
    missed = NULL;
    int same = found != NULL && PyTuple_CheckExact(nodes) && PyTuple_GET_SIZE(nodes) == missed_many;
    for (Py_ssize_t i = 0; i < missed_many && same; i++) {
        Node *node = (Node *)PyTuple_GET_ITEM(nodes, i);
        same = node == missed_node[i] && structure_knows(node) && node->slot == missed_slot[i];
    }
    if (!same)
        Py_XSETREF(found, Py_NewRef(Py_None));
    return found;
}

/* ---- a run ------------------------------------------------------------------------------------ */

static Node *looked_into(Node *node)
{
    while (node->kind == VIEW)
        node = (Node *)PyTuple_GET_ITEM(node->args, 0);
    return node;
}

/* 1 done; -1 an error */
static int compute_first(const Stage *stage, Node **nodes)
{
    Node *need[64];
    int many = 0, done = 1;
    for (int64_t i = 0; i < stage->wants && many < 64; i++) {
        Node *base = looked_into(nodes[stage->wanted[i]]);
        int known = base->kind == LEAF || base->kind == SCALAR;
        for (int k = 0; k < many; k++)
            known |= need[k] == base;
        if (!known)
            need[many++] = (Node *)Py_NewRef(base);
    }
    if (many > 0)
        done = compute_inside(need, many);
    while (many > 0)
        Py_DECREF(need[--many]);
    return done;
}

/* Where the operands begin: 1; 0 where they lie otherwise than when this was made. */
static int place_operands(const Stage *stage, Node **nodes, char **places)
{
    for (int64_t i = 0; i < stage->operands; i++) {
        Node *base = looked_into(nodes[stage->operand[i]]);
        Memory *memory = leaf_memory(base);
        if (memory == NULL || !same_shape(PyTuple_GET_ITEM(base->value, 2), PyTuple_GET_ITEM(stage->strides, i)))
            return 0;
        places[i] = memory->at + as_size(PyTuple_GET_ITEM(base->value, 1));
    }
    return 1;
}

/* 1 done; 0: a number that Python has to look at; -1 */
static int run_call(const Call *call, Node **nodes, char **places, char **rooms)
{
    int64_t *words = PyMem_Malloc((size_t)call->length * sizeof *words + 1);
    if (words == NULL)
        return PyErr_NoMemory(), -1;
    memcpy(words, call->words, (size_t)call->length * sizeof *words);
    for (int64_t i = 0; i < call->addresses; i++) {
        int64_t at = call->address[2 * i], place = call->address[2 * i + 1];
        char *start = place == SELF ? (char *)words : place < 0 ? rooms[SELF - 1 - place] : places[place];
        words[at] += (int64_t)(intptr_t)start;
    }
    int done = 1;
    for (int64_t i = 0; i < call->numbers && done > 0; i++) {
        const int64_t *number = &call->number[4 * i];
        done = number_word(nodes[number[1]]->value, (int)number[2], number[3], &words[number[0]]);
    }
    if (done > 0)
        done = launch_apart((Kernel *)(intptr_t)call->code, words, call->units, call->grain, call->scratch, call->threads) < 0 ? -1 : 1;
    PyMem_Free(words);
    return done;
}

static int complete_result(Node *node, PyObject *memory)
{
    PyObject *strides = contiguous_strides(node->shape, dtypes[node->dtype].itemsize);
    int failed = strides == NULL || node_become_leaf(node, memory, NULL, strides) < 0;
    Py_XDECREF(strides);
    return failed ? -1 : 1;
}

static int run_stage(const Stage *stage, Node **nodes)
{
    PyObject *memory[MOST_PLACES];
    char *places[2 * MOST_PLACES];
    int64_t many = 0, total = stage->results + stage->rooms;
    int done = compute_first(stage, nodes);
    if (done <= 0 || stage->results == 0)
        return done;
    for (int64_t i = 0; i < stage->results && done > 0; i++)
        done = nodes[stage->result[2 * i]]->kind != LEAF;
    if (done > 0)
        done = place_operands(stage, nodes, places + stage->results);
    char **rooms = places + stage->results + stage->operands;
    for (; many < total && done > 0; many++) {
        int64_t nbytes = many < stage->results ? stage->result[2 * many + 1] : stage->room[many - stage->results];
        if ((memory[many] = allocate(nbytes)) == NULL) {
            done = -1;
            break;
        }
        *(many < stage->results ? &places[many] : &rooms[many - stage->results]) = ((Memory *)memory[many])->at;
    }
    for (Py_ssize_t i = 0; i < stage->calls && done > 0; i++)
        done = run_call(&stage->call[i], nodes, places, rooms);
    for (int64_t i = 0; i < stage->results && done > 0; i++)
        done = complete_result(nodes[stage->result[2 * i]], memory[i]);
    for (int64_t i = 0; i < stage->members && done > 0; i++)
        note_computed(nodes[stage->member[i]]);
    while (many > 0)
        Py_DECREF(memory[--many]);
    return done;
}

/* Compute what products need, and the products: 1 done, what is left of the request is no longer one with products;
   0: Python does the rest; -1 an error. */
static int schedule_run(PyObject *self, Node **order, int count)
{
    Schedule *schedule = (Schedule *)self;
    Node *few[256], **nodes = few;
    int done = 1;
    if (schedule->slots != count)
        return 0;
    if (count > 256 && (nodes = PyMem_Malloc((size_t)count * sizeof *nodes)) == NULL)
        return PyErr_NoMemory(), -1;
    memcpy(nodes, order, (size_t)count * sizeof *nodes);
    for (int64_t i = 0; i < schedule->helds; i++) /* no others: who counts references is to find those of Python's way */
        Py_INCREF(nodes[schedule->held[i]]);
    for (Py_ssize_t i = 0; i < schedule->stages && done > 0; i++)
        done = run_stage(&schedule->stage[i], nodes);
    for (int64_t i = 0; i < schedule->helds; i++)
        Py_DECREF(nodes[schedule->held[i]]);
    if (nodes != few)
        PyMem_Free(nodes);
    return done;
}

/* ---- making one ------------------------------------------------------------------------------- */

/* An array of records out of a bytes object, which `blocks` keeps. */
static int read_table(Schedule *schedule, PyObject *bytes, int64_t width, int64_t **table, int64_t *count)
{
    if (!PyBytes_CheckExact(bytes)) {
        PyErr_SetString(PyExc_TypeError, "a table is bytes");
        return 0;
    }
    *count = PyBytes_GET_SIZE(bytes) / (8 * width);
    *table = (int64_t *)PyBytes_AS_STRING(bytes);
    return PyList_Append(schedule->blocks, bytes) == 0;
}

static int are_slots(const Schedule *schedule, const int64_t *table, int64_t count, int64_t width)
{
    for (int64_t i = 0; i < count; i++)
        if (table[i * width] < 0 || table[i * width] >= schedule->slots)
            return 0;
    return 1;
}

static int is_sound_call(const Schedule *schedule, const Stage *stage, const Call *call)
{
    int64_t places = stage->results + stage->operands;
    for (int64_t i = 0; i < call->addresses; i++) {
        int64_t at = call->address[2 * i], place = call->address[2 * i + 1];
        if (at < 0 || at >= call->length || place >= places || place < SELF - stage->rooms)
            return 0;
    }
    for (int64_t i = 0; i < call->numbers; i++) {
        const int64_t *number = &call->number[4 * i];
        if (number[0] < 0 || number[0] >= call->length || number[2] < 0 || number[2] >= NO_DTYPE || number[3] > 1)
            return 0;
    }
    return are_slots(schedule, call->number ? call->number + 1 : NULL, call->numbers, 4);
}

static int read_call(Schedule *schedule, const Stage *stage, PyObject *given, Call *call)
{
    PyObject *words, *addresses, *numbers;
    if (!PyArg_ParseTuple(given, "OOOLLLLi", &words, &addresses, &numbers, &call->code, &call->units, &call->grain,
                          &call->scratch, &call->threads)
        || !read_table(schedule, words, 1, &call->words, &call->length)
        || !read_table(schedule, addresses, 2, &call->address, &call->addresses)
        || !read_table(schedule, numbers, 4, &call->number, &call->numbers))
        return 0;
    if (!is_sound_call(schedule, stage, call))
        PyErr_SetString(PyExc_ValueError, "a call with words that are not there");
    return !PyErr_Occurred();
}

static int read_stage(Schedule *schedule, PyObject *given, Stage *stage)
{
    PyObject *wanted, *results, *operands, *rooms, *members, *calls;
    if (!PyArg_ParseTuple(given, "OOOO!OOO!", &wanted, &results, &operands, &PyTuple_Type, &stage->strides, &rooms,
                          &members, &PyTuple_Type, &calls)
        || PyList_Append(schedule->blocks, stage->strides) < 0
        || !read_table(schedule, wanted, 1, &stage->wanted, &stage->wants)
        || !read_table(schedule, results, 2, &stage->result, &stage->results)
        || !read_table(schedule, operands, 1, &stage->operand, &stage->operands)
        || !read_table(schedule, rooms, 1, &stage->room, &stage->rooms)
        || !read_table(schedule, members, 1, &stage->member, &stage->members))
        return 0;
    if (!are_slots(schedule, stage->wanted, stage->wants, 1) || !are_slots(schedule, stage->result, stage->results, 2)
        || !are_slots(schedule, stage->operand, stage->operands, 1) || !are_slots(schedule, stage->member, stage->members, 1)
        || stage->results + stage->operands + stage->rooms > MOST_PLACES || stage->wants > 64
        || PyTuple_GET_SIZE(stage->strides) != stage->operands) {
        PyErr_SetString(PyExc_ValueError, "a stage with values that are not there, or too many");
        return 0;
    }
    if ((stage->call = PyMem_Calloc((size_t)PyTuple_GET_SIZE(calls) + 1, sizeof *stage->call)) == NULL)
        return PyErr_NoMemory(), 0;
    for (; stage->calls < PyTuple_GET_SIZE(calls); stage->calls++)
        if (!read_call(schedule, stage, PyTuple_GET_ITEM(calls, stage->calls), &stage->call[stage->calls]))
            return 0;
    return 1;
}

/* Schedule(slots, held, stages, owner) */
static PyObject *schedule_make(PyTypeObject *type, PyObject *given, PyObject *named)
{
    (void)named;
    long long slots;
    PyObject *held, *stages, *owner;
    if (!PyArg_ParseTuple(given, "LOO!O", &slots, &held, &PyTuple_Type, &stages, &owner))
        return NULL;
    Schedule *schedule = (Schedule *)type->tp_alloc(type, 0);
    if (schedule == NULL)
        return NULL;
    schedule->slots = slots;
    schedule->owner = Py_NewRef(owner);
    schedule->blocks = PyList_New(0);
    Py_ssize_t many = PyTuple_GET_SIZE(stages);
    int sound = schedule->blocks != NULL && read_table(schedule, held, 1, &schedule->held, &schedule->helds);
    if (sound && !(sound = are_slots(schedule, schedule->held, schedule->helds, 1)))
        PyErr_SetString(PyExc_ValueError, "values that are not there");
    if (sound && (schedule->stage = PyMem_Calloc((size_t)many + 1, sizeof *schedule->stage)) == NULL)
        sound = (PyErr_NoMemory(), 0);
    for (; sound && schedule->stages < many; schedule->stages++)
        sound = read_stage(schedule, PyTuple_GET_ITEM(stages, schedule->stages), &schedule->stage[schedule->stages]);
    if (!sound)
        Py_CLEAR(schedule);
    return (PyObject *)schedule;
}

static void schedule_dealloc(PyObject *self)
{
    Schedule *schedule = (Schedule *)self;
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = 0; schedule->stage != NULL && i <= schedule->stages; i++)
        PyMem_Free(schedule->stage[i].call);
    PyMem_Free(schedule->stage);
    Py_XDECREF(schedule->blocks);
    Py_XDECREF(schedule->owner);
    Py_TYPE(self)->tp_free(self);
}

static int schedule_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Schedule *)self)->owner);
    Py_VISIT(((Schedule *)self)->blocks);
    return 0;
}

static int schedule_clear(PyObject *self)
{
    Py_CLEAR(((Schedule *)self)->owner);
    return 0;
}

PyTypeObject ScheduleType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Schedule",
    .tp_basicsize = sizeof(Schedule),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = schedule_make,
    .tp_dealloc = schedule_dealloc,
    .tp_traverse = schedule_traverse,
    .tp_clear = schedule_clear,
    .tp_doc = "What a request with products computes and calls.",
};

PyMethodDef product_methods[] = {
    {"take_missed_products", take_missed_products, METH_O, "The structure of the last request, if it is one with products for these nodes."},
    {NULL},
};
