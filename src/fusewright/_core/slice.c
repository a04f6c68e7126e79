/* Requests: the compiled programs by structure, and what runs where there is none. */

#include "structure.h"

#define PLACES (1 << 13)
typedef struct {
    uint64_t hash;
    int length;
    uint64_t *words;
    PyObject *program; /* NULL: a place that is free; None: Python runs it; Ellipsis: not compiled yet */
    double spent;      /* seconds that it has run operation by operation, by prediction */
    double alone;      /* the least that such a run has taken */
    int runs;          /* of them */
    int asked;         /* when Python was asked for its code: NEVER, EARLY (on disk only), or how much had been compiled */
} Entry;
static Entry table[PLACES];
static int entries;

static Entry *find(uint64_t hash)
{
    uint64_t place = hash & (PLACES - 1);
    for (;; place = (place + 1) & (PLACES - 1)) {
        Entry *entry = &table[place];
        if (entry->program == NULL)
            return entry;
        if (entry->hash == hash && entry->length == taken.length
            && memcmp(entry->words, taken.words, (size_t)taken.length * sizeof *taken.words) == 0)
            return entry;
    }
}

void programs_forget(void)
{
    steady_forget();
    joins_forget();
    for (int i = 0; i < PLACES; i++) {
        if (table[i].program == NULL)
            continue;
        PyMem_Free(table[i].words);
        table[i].words = NULL;
        Py_CLEAR(table[i].program);
    }
    entries = 0;
}

void note_computed(Node *node)
{
    if (is_worth_keeping(node))
        node->demands++; /* contract 5: the next request that needs it stores it */
}

PyObject *program_of(Node **wanted, Py_ssize_t many, Structure *found)
{
    if (structure_usable() <= 0 || take_slice(wanted, many) <= 0 || taken.products)
        return NULL;
    uint64_t hash = hash_words();
    *found = (Structure){hash, taken.words, taken.order, taken.length, taken.count};
    PyObject *program = find(hash)->program;
    return program == Py_None || program == Py_Ellipsis ? NULL : program;
}

/* The structure the last request had, when no program was known for it. */
static PyObject *missed; /* its words, as bytes */

/* Those that are not in memory: how many; -1 for too many, -2 for an error. */
static Py_ssize_t those_pending(Node **wanted, Py_ssize_t many, Node **pending)
{
    Py_ssize_t left = 0;
    for (Py_ssize_t i = 0; i < many; i++) {
        if (wanted[i]->kind != LEAF && settle_empty(wanted[i]) < 0)
            return -2;
        if (wanted[i]->kind == LEAF)
            continue;
        if (left == 64)
            return -1;
        pending[left++] = wanted[i];
    }
    return left;
}

#define OFTEN_ENOUGH 3 /* times what looking for its code on disk takes: then it is worth it, since many are met once */
static int is_finder_loaded; /* whether what looks there has been loaded */
static double spent_unfused; /* seconds of all requests so far */
static double missed_seconds;
static int compilations = 3; /* more than NOTED */
enum { NEVER, EARLY, NOTED, DROPPED = -1 };
#define NOTED_SHARE 0.33 /* of what compiling costs: so long in one process, and later ones compile it at once */
enum { NOT_DUE, DUE_LATER, DUE_NOW };
static int missed_due; /* whether it is to be compiled: in a later process, or now */

static Entry *entry_for(Entry *entry, uint64_t hash)
{
    if (entry->program != NULL)
        return entry;
    if (entries > PLACES / 2) {
        programs_forget();
        entry = find(hash);
    }
    if ((entry->words = PyMem_Malloc((size_t)taken.length * sizeof *taken.words + 1)) == NULL)
        return PyErr_NoMemory(), NULL;
    memcpy(entry->words, taken.words, (size_t)taken.length * sizeof *taken.words);
    entry->hash = hash;
    entry->length = taken.length;
    entry->spent = entry->alone = 0.0;
    entry->runs = 0;
    entry->asked = NEVER;
    entry->program = Py_NewRef(Py_Ellipsis);
    entries++;
    return entry;
}

/* Operation by operation, and how long that takes: what fused code is to be compared with. */
static int run_alone(uint64_t hash, Node **pending, Py_ssize_t left)
{
    double began = seconds_now();
    int done = run_unfused(taken.order, taken.count, pending, left);
    Entry *entry = done > 0 ? find(hash) : NULL; /* the table may be another one now */
    if (entry != NULL && entry->program == Py_Ellipsis) {
        double took = seconds_now() - began;
        entry->alone = entry->runs++ == 0 || took < entry->alone ? took : entry->alone;
    }
    return done;
}

/* Operation by operation, as long as that has taken less than compiling would: 1 done, 0 no longer, -1 an error. */
static int try_unfused(Entry *entry, uint64_t hash, Node **pending, Py_ssize_t left)
{
    missed_seconds = in_force.eager && in_force.exact ? unfused_seconds(taken.order, taken.count) : -1.0;
    missed_due = DUE_NOW;
    if (missed_seconds < 0.0)
        return 0;
    if ((entry = entry_for(entry, hash)) == NULL)
        return -1;
    entry->spent += missed_seconds;
    spent_unfused += missed_seconds;
    double share = entry->spent / (machine.compile_first + machine.compile_node * taken.count);
    /* While it is being compiled nothing is gained by asking. */
    double look_up = machine.look_up + machine.look_up_node * taken.count;
    int is_worth_a_look = entry->spent > OFTEN_ENOUGH * look_up && (is_finder_loaded || spent_unfused > machine.load_finder);
    int wanted = share > 1.0 ? compilations : share > NOTED_SHARE ? NOTED : is_worth_a_look ? EARLY : NEVER;
    int asks = wanted == compilations ? entry->asked != wanted : entry->asked < wanted;
    missed_due = wanted == compilations ? DUE_NOW : wanted == NOTED ? DUE_LATER : NOT_DUE;
    if (entry->asked == DROPPED)
        return run_alone(hash, pending, left);
    if (asks)
        entry->asked = wanted;
    return asks ? 0 : run_alone(hash, pending, left);
}

/* The request goes to Python, which may ask for its structure: 0, or -1 for an error. */
static int leave(void)
{
    missed = PyBytes_FromStringAndSize((char *)taken.words, taken.length * (Py_ssize_t)sizeof *taken.words);
    return missed == NULL ? -1 : 0;
}

/* A program that is slower than its operations one by one runs no more. */
static void drop_slow(Entry *entry)
{
    if (program_is_slow(entry->program)) {
        Py_SETREF(entry->program, Py_NewRef(Py_Ellipsis));
        entry->asked = DROPPED;
    }
}

/* The kernel may give the GIL away: the nodes are copied, the program and they are kept. */
int program_compute(PyObject *program, Node **given, int many)
{
    Node *mine[256], **nodes = mine;
    if (many > 256 && (nodes = PyMem_Malloc((size_t)many * sizeof *nodes)) == NULL)
        return PyErr_NoMemory(), -1;
    for (int i = 0; i < many; i++)
        nodes[i] = (Node *)Py_NewRef(given[i]);
    Py_INCREF(program);
    int done = program_run(program, nodes, in_force.threads);
    for (int i = many - 1; i >= 0; i--) {
        if (done > 0)
            note_computed(nodes[i]);
        Py_DECREF(nodes[i]);
    }
    Py_DECREF(program);
    if (nodes != mine)
        PyMem_Free(nodes);
    return done;
}

int run_slice(Node **wanted, Py_ssize_t many)
{
    Node *pending[64];
    Py_CLEAR(missed);
    int ready = structure_usable();
    if (ready <= 0)
        return ready;
    Py_ssize_t left = those_pending(wanted, many, pending);
    if (left <= 0)
        return left == -2 ? -1 : left == 0;
    int known = take_slice(pending, left);
    if (known == 0 && taken.groups) {
        known = run_groups(pending, left);
        Py_CLEAR(missed); /* of what a group needs: not this request */
        if (known <= 0 || (left = those_pending(wanted, many, pending)) <= 0)
            return known <= 0 ? known : left == -2 ? -1 : left == 0;
        known = take_slice(pending, left);
    }
    if (known <= 0)
        return known;
    uint64_t hash = hash_words();
    Entry *entry = find(hash);
    if (taken.products)
        return run_products(entry->program, &(Structure){hash, taken.words, taken.order, taken.length, taken.count},
                            pending, left);
    drop_slow(entry);
    if (entry->program == NULL || entry->program == Py_Ellipsis) {
        int done = try_unfused(entry, hash, pending, left);
        if (done != 0)
            return done;
        return leave();
    }
    int is_known = entry->program != Py_None;
    if (is_known && program_slots(entry->program) != taken.count)
        return 0;
    int affordable = is_known ? program_is_affordable(entry->program, taken.order) : 0;
    if (affordable != 0)
        return affordable < 0 ? -1 : program_compute(entry->program, taken.order, taken.count);
    missed_seconds = -1.0; /* Python looks again, and may know another program */
    return leave();
}

/* compute(*nodes): make them leaves; whether a program was known for what they need */
static PyObject *compute(PyObject *module, PyObject *const *nodes, Py_ssize_t many)
{
    (void)module;
    int ready = 1;
    for (Py_ssize_t i = 0; i < many; i++) {
        if (!Py_IS_TYPE(nodes[i], &NodeType)) {
            PyErr_SetString(PyExc_TypeError, "only a Node can be computed");
            return NULL;
        }
        ready &= ((Node *)nodes[i])->kind != SCALAR;
    }
    int done = ready ? run_slice((Node **)nodes, many) : 0;
    return done < 0 ? NULL : PyBool_FromLong(done);
}

/* take_missed(): the structure of the last request, if it is one for a program; else None */
static PyObject *take_missed(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *found = missed ? missed : Py_NewRef(Py_None);
    missed = NULL;
    return found;
}

/* in_place(nodes): the slots of what a request for them would write in place, as Python counts
   them; None where Python decides. */
static PyObject *in_place(PyObject *module, PyObject *nodes)
{
    (void)module;
    if (!PyTuple_CheckExact(nodes) || !all_nodes(nodes)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "the nodes are a tuple");
        return NULL;
    }
    int known = structure_usable();
    if (known > 0)
        known = take_slice((Node **)&PyTuple_GET_ITEM(nodes, 0), PyTuple_GET_SIZE(nodes));
    if (known <= 0 || taken.products)
        return known < 0 ? NULL : Py_NewRef(Py_None);
    PyObject *found = PyList_New(0);
    for (int i = 0; i < taken.count && found != NULL; i++) {
        PyObject *slot = is_in_place(i) && taken.patches > 0 ? PyLong_FromLong(i) : NULL;
        if (slot != NULL && PyList_Append(found, slot) < 0)
            Py_CLEAR(found);
        Py_XDECREF(slot);
    }
    return found;
}

/* learn(words, program or None): what to run for a structure */
static PyObject *learn(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *bytes, *program;
    if (!PyArg_ParseTuple(given, "SO", &bytes, &program))
        return NULL;
    if (program != Py_None && !Py_IS_TYPE(program, &ProgramType) && !Py_IS_TYPE(program, &ScheduleType)) {
        PyErr_SetString(PyExc_TypeError, "only a Program can be run");
        return NULL;
    }
    taken.length = (int)(PyBytes_GET_SIZE(bytes) / (Py_ssize_t)sizeof *taken.words);
    if (taken.length > MOST_WORDS)
        Py_RETURN_NONE;
    memcpy(taken.words, PyBytes_AS_STRING(bytes), (size_t)taken.length * sizeof *taken.words);
    uint64_t hash = hash_words();
    Entry *entry = entry_for(find(hash), hash);
    if (entry == NULL)
        return NULL;
    if (entry->runs >= 2 && Py_IS_TYPE(program, &ProgramType))
        program_compare(program, entry->alone);
    Py_XSETREF(entry->program, Py_NewRef(program));
    Py_RETURN_NONE;
}

/* seconds_missed(): about how long the request that was left to Python takes operation by operation; negative: it
   cannot run so */
static PyObject *seconds_missed(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyFloat_FromDouble(missed_seconds);
}

/* is_due(): whether that request is to be compiled: 2 now, as it has run as long as compiling takes; 1 in a later process */
static PyObject *is_due(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLong(missed_due);
}

/* set_compiling(any, each): the seconds that compiling a structure takes, and more for each node; what is due asks
   again, since one may have been compiled.  Who says so has been loaded. */
static PyObject *set_compiling(PyObject *module, PyObject *given)
{
    (void)module;
    double any = machine.compile_first, each = machine.compile_node;
    if (!PyArg_ParseTuple(given, "|dd", &any, &each))
        return NULL;
    machine.compile_first = any;
    machine.compile_node = each;
    is_finder_loaded = 1;
    compilations++;
    Py_RETURN_NONE;
}

/* unfused(*nodes): make them leaves operation by operation; whether that could be */
static PyObject *unfused(PyObject *module, PyObject *const *nodes, Py_ssize_t many)
{
    (void)module;
    Node *pending[64];
    for (Py_ssize_t i = 0; i < many; i++)
        if (!Py_IS_TYPE(nodes[i], &NodeType) || ((Node *)nodes[i])->kind == SCALAR) {
            PyErr_SetString(PyExc_TypeError, "only a Node can be computed");
            return NULL;
        }
    int ready = structure_usable();
    Py_ssize_t left = ready > 0 ? those_pending((Node **)nodes, many, pending) : ready;
    int known = left > 0 ? take_slice(pending, left) : (int)left;
    int done = known < 0 ? -1 : 0;
    if (known > 0 && unfused_seconds(taken.order, taken.count) >= 0.0)
        done = run_unfused(taken.order, taken.count, pending, left);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *forget(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    programs_forget();
    structure_forget();
    Py_RETURN_NONE;
}

PyMethodDef slice_methods[] = {
    {"compute", (PyCFunction)(void (*)(void))compute, METH_FASTCALL,
     "Make nodes leaves by a known program; whether there was one."},
    {"take_missed", take_missed, METH_NOARGS, "The last request's structure, if it was unknown."},
    {"in_place", in_place, METH_O, "The slots of what a request would write in place."},
    {"learn", learn, METH_VARARGS, "The program of a structure; None leaves it to Python."},
    {"unfused", (PyCFunction)(void (*)(void))unfused, METH_FASTCALL,
     "Make nodes leaves operation by operation; whether that could be."},
    {"seconds_missed", seconds_missed, METH_NOARGS, "Of the last request that was left, so."},
    {"is_due", is_due, METH_NOARGS, "Whether that request is to be compiled: 1 later, 2 now."},
    {"set_compiling", set_compiling, METH_VARARGS, "How long compiling takes."},
    {"forget", forget, METH_NOARGS, "Drop all programs."},
    {NULL},
};
