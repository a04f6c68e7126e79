/* Steady loops: flushes that repeat, from a memo.

   Once Python has decided at two boundaries in a row what a flush of this very structure computes
   and what it leaves alone (frontends.arrays.trace), the next such boundary is recognised here: one
   walk over the list, one look-up, one run.  A changed branch, shape or place leads back to Python,
   and what was remembered stays for when the program comes back. */

#include "core.h"

#define MEMOS 64
#define MOST_PENDING 1024

typedef struct {
    int16_t place, operand; /* pending[place], or its operand of that number (-1: itself) */
} Source;

#define MOST_OUTPUTS 64
#define MOST_LATE 8 /* nodes recorded before a loop begins, which the list has at the first boundary only */

typedef struct {
    uint64_t hash;
    int length, count, nodes, outputs, answers;
    uint64_t *words;   /* the structure of the list, its holders, the options; NULL: no memo */
    int16_t *output;   /* where the list has what is computed */
    PyObject *program; /* what computes it; NULL: it is asked for like any other request */
    uint64_t *answer;  /* what of the slice is written in place */
    Source *source;    /* where the program's nodes are */
    int confirmed;
} Memo;

static int64_t flushes; /* done from memos */
static Memo memo[MEMOS];
static int newest_memo;

/* Where the loop turns: the records before and at its boundary, and the list's length then. */
static PyObject *turn_code, *before_code;
static int turn_at, before_at;
static Py_ssize_t turn_length;

static int stands_at(PyObject *code, int at)
{
    PyThreadState *state = PyThreadState_Get();
    PyFrameObject *frame = PyThreadState_GetFrame(state);
    if (frame == NULL)
        return 0;
    PyCodeObject *now = PyFrame_GetCode(frame);
    int same = (PyObject *)now == code && PyFrame_GetLasti(frame) == at;
    Py_DECREF(now);
    Py_DECREF(frame);
    return same;
}

static void drop_memo(Memo *old)
{
    PyMem_Free(old->words);
    PyMem_Free(old->answer);
    PyMem_Free(old->source);
    PyMem_Free(old->output);
    Py_XDECREF(old->program);
    memset(old, 0, sizeof *old);
}

void steady_forget(void)
{
    for (int i = 0; i < MEMOS; i++)
        drop_memo(&memo[i]);
}

static Memo *find_memo(uint64_t hash, const uint64_t *words, int length)
{
    for (int i = 0; i < MEMOS; i++)
        if (memo[i].words != NULL && memo[i].hash == hash && memo[i].length == length
            && memcmp(memo[i].words, words, (size_t)length * sizeof *words) == 0)
            return &memo[i];
    return NULL;
}

/* The structure of the list but for its newest node; 0 where it is not one for a memo. */
static int describe_list(PyObject *pending, Py_ssize_t count, Structure *found)
{
    static int edges[MOST_STRUCTURE_NODES];
    if (count < 1 || count > MOST_PENDING || !structure_usable())
        return 0;
    structure_begin();
    for (Py_ssize_t i = 0; i < count; i++) {
        Node *node = (Node *)PyList_GET_ITEM(pending, i);
        if (node->kind == LEAF || structure_add_tree(node) <= 0)
            return 0;
    }
    memset(edges, 0, (size_t)structure_count() * sizeof *edges);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *args = ((Node *)PyList_GET_ITEM(pending, i))->args;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++)
            edges[((Node *)PyTuple_GET_ITEM(args, k))->slot]++;
    }
    uint64_t held = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        Node *node = (Node *)PyList_GET_ITEM(pending, i);
        held = held << 1 | (Py_REFCNT(node) - 1 > edges[node->slot]);
        if ((i & 31) == 31 || i == count - 1) {
            structure_word(held);
            held = 1;
        }
    }
    return structure_end(found);
}

/* Where the nodes of the slice are in the list. */
static Source *sources(PyObject *pending, Py_ssize_t count, Node **order, int nodes)
{
    Source *source = PyMem_Malloc((size_t)nodes * sizeof *source + 1);
    uint64_t walk = next_walk();
    for (int i = 0; source != NULL && i < nodes; i++) {
        order[i]->mark = walk;
        order[i]->slot = i;
        source[i].place = -1;
    }
    for (Py_ssize_t i = 0; source != NULL && i < count; i++) {
        Node *node = (Node *)PyList_GET_ITEM(pending, i);
        if (node->mark == walk)
            source[node->slot] = (Source){(int16_t)i, -1};
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++) {
            Node *arg = (Node *)PyTuple_GET_ITEM(node->args, k);
            if (arg->mark == walk && source[arg->slot].place < 0)
                source[arg->slot] = (Source){(int16_t)i, (int16_t)k};
        }
    }
    for (int i = 0; source != NULL && i < nodes; i++)
        if (source[i].place < 0) {
            PyMem_Free(source);
            return NULL;
        }
    return source;
}

static int fill_answers(Memo *fresh, Node **order)
{
    uint64_t *answer;
    int many = structure_reuse(order, fresh->nodes, &answer);
    size_t bytes = (size_t)many * sizeof *answer;
    if (many < 0 || (fresh->answer = PyMem_Malloc(bytes)) == NULL)
        return 0;
    memcpy(fresh->answer, answer, bytes);
    fresh->answers = many;
    return 1;
}

/* Whether the same is written in place as when the memo was made. */
static int same_answers(const Memo *known, Node **order)
{
    uint64_t *answer;
    return structure_reuse(order, known->nodes, &answer) == known->answers
           && memcmp(answer, known->answer, (size_t)known->answers * sizeof *answer) == 0;
}

/* Where the list has what is wanted; 0 where it has not. */
static int fill_output(Memo *fresh, PyObject *pending, PyObject *wanted)
{
    uint64_t walk = next_walk();
    for (int i = 0; i < fresh->count; i++) {
        Node *node = (Node *)PyList_GET_ITEM(pending, i);
        node->mark = walk;
        node->slot = i;
    }
    if ((fresh->output = PyMem_Malloc((size_t)fresh->outputs * sizeof(int16_t) + 1)) == NULL)
        return 0;
    for (int i = 0; i < fresh->outputs; i++) {
        Node *node = (Node *)PyTuple_GET_ITEM(wanted, i);
        if (node->mark != walk)
            return 0;
        fresh->output[i] = (int16_t)node->slot;
    }
    return 1;
}

static int fill_memo(Memo *fresh, PyObject *pending, Structure *list, PyObject *wanted)
{
    Structure slice;
    size_t bytes = (size_t)list->length * sizeof *list->words;
    if ((fresh->words = PyMem_Malloc(bytes)) == NULL) /* the next walk writes where these are */
        return 0;
    memcpy(fresh->words, list->words, bytes);
    fresh->hash = list->hash;
    fresh->length = list->length;
    if (fresh->outputs > MOST_OUTPUTS || !fill_output(fresh, pending, wanted))
        return 0;
    PyObject *program = program_of((Node **)&PyTuple_GET_ITEM(wanted, 0), fresh->outputs, &slice);
    if (program == NULL) /* as long as its operations run one by one */
        return !PyErr_Occurred();
    if (program_slots(program) != slice.count)
        return 0;
    fresh->program = Py_NewRef(program);
    fresh->nodes = slice.count;
    fresh->source = sources(pending, fresh->count, slice.order, slice.count);
    return fresh->source != NULL && fill_answers(fresh, slice.order);
}

/* Whether two memos of one structure say the same. */
static int is_same(const Memo *known, const Memo *fresh)
{
    return known->nodes == fresh->nodes && known->outputs == fresh->outputs && known->program == fresh->program
           && known->answers == fresh->answers
           && memcmp(known->output, fresh->output, (size_t)fresh->outputs * sizeof *fresh->output) == 0
           && (fresh->program == NULL
               || (memcmp(known->source, fresh->source, (size_t)fresh->nodes * sizeof(Source)) == 0
                   && memcmp(known->answer, fresh->answer, (size_t)fresh->answers * sizeof *fresh->answer) == 0));
}

/* memoise(pending, wanted): Python is about to compute `wanted` and to let the rest of the list go */
PyObject *steady_memoise(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *pending, *wanted;
    Structure list;
    if (!PyArg_ParseTuple(given, "O!O!", &PyList_Type, &pending, &PyTuple_Type, &wanted))
        return NULL;
    if (!all_nodes(pending) || !all_nodes(wanted))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(pending) - 1;
    if (describe_list(pending, count, &list) <= 0) {
        forgive();
        Py_RETURN_FALSE;
    }
    Memo *known = find_memo(list.hash, list.words, list.length);
    Memo fresh = {.count = (int)count, .outputs = (int)PyTuple_GET_SIZE(wanted)};
    if (!fill_memo(&fresh, pending, &list, wanted)) {
        drop_memo(&fresh);
        forgive();
        Py_RETURN_FALSE;
    }
    if (known != NULL)
        fresh.confirmed = is_same(known, &fresh);
    else {
        newest_memo = (newest_memo + 1) % MEMOS;
        known = &memo[newest_memo];
    }
    drop_memo(known);
    *known = fresh;
    return PyBool_FromLong(fresh.confirmed);
}

/* Let go what the last flush left alone and nobody holds any more (`survivors.forget_dead`). */
static int forget_dead(PyObject *left)
{
    for (Py_ssize_t i = PyList_GET_SIZE(left) - 1; i >= 0; i--) {
        PyObject *pair = PyList_GET_ITEM(left, i);
        int is_dead = PyTuple_CheckExact(pair) && Py_REFCNT(pair) == 1 && Py_REFCNT(PyTuple_GET_ITEM(pair, 0)) == 1;
        if (is_dead && PyList_SetSlice(left, i, i + 1, NULL) < 0)
            return -1;
        i = Py_MIN(i, PyList_GET_SIZE(left)); /* finalisers may change it */
    }
    return 0;
}

/* By the program that the memo names: 1 done, 0 not, -1 an error. */
static int run_program(Memo *known, PyObject *pending)
{
    Node *order[MOST_PENDING];
    int nodes = known->nodes;
    if (nodes > MOST_PENDING)
        return 0;
    for (int i = 0; i < nodes; i++) {
        Node *node = (Node *)PyList_GET_ITEM(pending, known->source[i].place);
        if (known->source[i].operand >= 0)
            node = (Node *)PyTuple_GET_ITEM(node->args, known->source[i].operand);
        order[i] = node;
    }
    if (!same_answers(known, order)) /* while nobody else holds them */
        return 0;
    int affordable = program_is_affordable(known->program, order);
    return affordable > 0 ? program_compute(known->program, order, nodes) : affordable;
}

/* What the flush left alone is not pending work: only the newest stays, and what follows it. */
static int keep_newest(PyObject *pending, PyObject *left, PyObject *newest)
{
    Py_ssize_t place = PyList_GET_SIZE(pending) - 1;
    while (place > 0 && PyList_GET_ITEM(pending, place) != newest)
        place--;
    return PyList_SetSlice(pending, 0, place, NULL) < 0 ? -1 : PyList_SetSlice(left, 0, PyList_GET_SIZE(left), NULL);
}

static int flush(PyObject *pending, PyObject *left)
{
    Structure list;
    Node *stored[MOST_OUTPUTS];
    Py_ssize_t count = PyList_GET_SIZE(pending) - 1;
    if (describe_list(pending, count, &list) <= 0) {
        forgive();
        return 0;
    }
    Memo *known = find_memo(list.hash, list.words, list.length);
    if (known == NULL || !known->confirmed)
        return 0;
    int outputs = known->outputs, has_program = known->program != NULL;
    for (int i = 0; i < outputs; i++)
        stored[i] = (Node *)Py_NewRef(PyList_GET_ITEM(pending, known->output[i]));
    PyObject *newest = Py_NewRef(PyList_GET_ITEM(pending, count));
    int done = has_program ? run_program(known, pending) : run_slice(stored, outputs);
    int is_pythons = done == 0 && !has_program; /* which compiles it, or will, and counts the bytes */
    if (is_pythons)
        done = left_to_python(stored, outputs) < 0 ? -1 : 1;
    int64_t nbytes = 0;
    for (int i = outputs - 1; i >= 0; i--) {
        Memory *memory = done > 0 && !is_pythons ? leaf_memory(stored[i]) : NULL;
        nbytes += memory != NULL ? memory->nbytes : 0;
        Py_DECREF(stored[i]);
    }
    if (done > 0) {
        flushes++;
        if (keep_newest(pending, left, newest) < 0 || count_bytes(nbytes) < 0)
            done = -1;
    }
    Py_DECREF(newest);
    return done;
}

/* A record has passed the gate: 1 where nothing is left to do for Python. */
int steady_passes(PyObject *pending, PyObject *left, Py_ssize_t gate)
{
    Py_ssize_t late = PyList_GET_SIZE(pending) - turn_length;
    if (turn_code == NULL || gate != turn_length - 2 || gate < 0 || late > MOST_LATE || !is_native())
        return 0;
    if (stands_at(before_code, before_at)) {
        places_note(); /* in case Python has to look at the next */
        return 1;
    }
    if (late < 0 || !stands_at(turn_code, turn_at))
        return 0;
    Lock *lock = evaluation_begins(), *around = request_begins(lock);
    int done = forget_dead(left) < 0 ? -1 : flush(pending, left);
    request_ends(around);
    evaluation_ends(lock);
    if (done != 0)
        places_forget(); /* this record's was not among them */
    return done;
}

PyObject *steady_count(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLongLong(flushes);
}

/* set_turn(length, code, at, code before, at before), or set_turn() */
PyObject *steady_set_turn(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *code = NULL, *before = NULL;
    if (!PyArg_ParseTuple(given, "|nO!iO!i", &turn_length, &PyCode_Type, &code, &turn_at,
                          &PyCode_Type, &before, &before_at))
        return NULL;
    Py_XSETREF(turn_code, Py_XNewRef(code));
    Py_XSETREF(before_code, Py_XNewRef(before));
    Py_RETURN_NONE;
}
