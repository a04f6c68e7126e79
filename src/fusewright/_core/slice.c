/* The slice of a request and its structure, and the compiled programs by structure.

   One walk numbers the nodes and writes the structure as 64-bit words: kinds, ops, types, operand
   slots, which extents are equal, how leaves are laid out.  The words say at least what the key of
   runtime.trace says, so that a program found by them is the right one; where a node says more than
   fits words (regions, axes), the object itself is made canonical and stands for it. */

#include "launch.h"
#include "dispatch.h"

#define MOST_NODES MOST_STRUCTURE_NODES
#define MOST_WORDS (1 << 15)
#define MOST_OBJECTS (1 << 15)
static const int64_t rows[] = {4096, 32768, 131072}; /* as in runtime.trace */

static PyObject *options_variable, *process_options; /* base.options */
static PyObject *listeners;                          /* runtime.profile */
static PyObject *canonical;                          /* objects that stand for themselves */

/* What the walk finds.  The GIL is held while these are in use. */
static Node *order[MOST_NODES];
static uint64_t words[MOST_WORDS];
static int count, length;
static uint64_t walk;
static int groups_met;  /* pending calls of kernels */
static int patches;     /* regions that may be written in place */
static int products_met;

/* ---- options: read when the object in force is another ---------------------------------------- */

static PyObject *seen_options, *seen_features;
static int seen_usable, seen_fuse, seen_threads, seen_eager, seen_strict;
static int64_t seen_small;
static int seen_exact; /* nothing may change bits */

static int read_options(PyObject *options)
{
    PyObject *target = PyObject_GetAttrString(options, "target");
    PyObject *features = PyObject_GetAttrString(options, "features");
    PyObject *fuse = PyObject_GetAttrString(options, "fuse");
    PyObject *threads = PyObject_GetAttrString(options, "threads");
    PyObject *spans = PyObject_GetAttrString(options, "debug");
    PyObject *interpret = PyObject_GetAttrString(options, "interpret");
    PyObject *strict = PyObject_GetAttrString(options, "strict");
    PyObject *verify = PyObject_GetAttrString(options, "verify");
    PyObject *small = PyObject_GetAttrString(options, "small");
    PyObject *contract = PyObject_GetAttrString(options, "contract");
    PyObject *reassociate = PyObject_GetAttrString(options, "reassociate");
    if (target && features && fuse && threads && spans && interpret && strict && verify && small
        && contract && reassociate) {
        PyUnicode_InternInPlace(&features);
        seen_usable = PyUnicode_Check(target)
                      && PyUnicode_CompareWithASCIIString(target, "cpu") == 0
                      && !PyObject_IsTrue(spans) && !PyObject_IsTrue(verify);
        seen_fuse = PyObject_IsTrue(fuse);
        seen_eager = PyObject_IsTrue(interpret);
        seen_strict = PyObject_IsTrue(strict);
        seen_small = PyLong_AsLongLong(small);
        seen_exact = !PyObject_IsTrue(contract) && !PyObject_IsTrue(reassociate);
        seen_threads = threads == Py_None ? 0 : (int)PyLong_AsLong(threads);
        Py_XSETREF(seen_features, Py_NewRef(features));
        Py_XSETREF(seen_options, Py_NewRef(options));
    }
    Py_XDECREF(target);
    Py_XDECREF(features);
    Py_XDECREF(fuse);
    Py_XDECREF(threads);
    Py_XDECREF(spans);
    Py_XDECREF(interpret);
    Py_XDECREF(strict);
    Py_XDECREF(verify);
    Py_XDECREF(small);
    Py_XDECREF(contract);
    Py_XDECREF(reassociate);
    return PyErr_Occurred() ? -1 : 0;
}

uint64_t next_walk(void) { return ++walk; }

/* 1 where the options in force are known, 0 where they are not yet. */
static int options_known(void)
{
    PyObject *options;
    if (options_variable == NULL)
        return 0;
    if (PyContextVar_Get(options_variable, NULL, &options) < 0)
        return -1;
    if (options == NULL || options == Py_None)
        Py_XSETREF(options, Py_XNewRef(process_options));
    if (options == NULL)
        return 0;
    int failed = options == seen_options ? 0 : read_options(options);
    Py_DECREF(options);
    return failed ? -1 : 1;
}

/* 1 where compiled code may run under the options in force, 0 where Python decides: also while somebody listens (unless
   `told`), and before the runtime, whose listeners they are, has been loaded: there is no memory for results then. */
static int usable_if(int told)
{
    int known = listeners == NULL || (!told && PyList_GET_SIZE(listeners) > 0) ? 0 : options_known();
    return known > 0 ? seen_usable : known;
}
static int usable(void) { return usable_if(0); }

/* What is recorded to be replayed or to wait for the end of a `lazy()` block is ours at any size. */
int64_t small_elements(void)
{
    if (recording > 0 || is_holding() || is_in_lazy_block() || options_known() <= 0)
        return 0;
    return seen_small;
}

#define RECORDED 12 /* small steps of a program that are recorded like all others */
static int small_steps;

static int is_past_recorded(int allowed)
{
    if (allowed <= 0 || is_holding() || !seen_eager)
        return 0;
    if (small_steps == RECORDED)
        return 1;
    return small_steps++, 0;
}

/* Whoever listens: what is computed for a move is told as an evaluation, and old versions would be copies. */
int moves_at_once(void) { return is_native() && is_past_recorded(usable_if(1)); }
int runs_at_once(void) { return is_native() && is_past_recorded(usable()); }
/* Whether NumPy's functions may run on memory: also before the runtime is loaded, for they give memory of their own. */
static int steps_usable(void) { return listeners == NULL ? options_known() > 0 && seen_usable : usable(); }
int steps_at_once(void) { return (listeners == NULL || is_native()) && is_past_recorded(steps_usable()); }

int is_past_first_steps(void) { return usable() > 0 && (!seen_eager || small_steps == RECORDED); }

int is_strict(void) { return steps_usable() <= 0 || seen_strict; }

int options_allow(PyObject *options, int *threads)
{
    int ready = is_native() ? usable() : 0;
    *threads = seen_threads;
    return ready > 0 ? seen_options == options : ready;
}

PyObject *options_in_force(void) { return options_known() > 0 ? seen_options : NULL; }

/* ---- the structure ---------------------------------------------------------------------------- */

/* One object for all that are equal; 0 for what has no equals. */
uint64_t canonical_word(PyObject *object)
{
    PyObject *found = PyDict_SetDefault(canonical, object, object);
    if (found == NULL)
        forgive(); /* not hashable */
    return (uint64_t)(uintptr_t)found;
}

/* As runtime.trace._leaf: C order, or for each dim broadcast, unit, reversed unit, other. */
static uint64_t layout(Node *node)
{
    PyObject *strides = PyTuple_GET_ITEM(node->value, 2), *shape = node->shape;
    Py_ssize_t size = dtypes[node->dtype].itemsize, step = size;
    Py_ssize_t rank = PyTuple_GET_SIZE(shape);
    uint64_t classes = 0;
    int straight = 1;
    for (Py_ssize_t i = rank - 1; i >= 0; i--) {
        Py_ssize_t stride = as_size(PyTuple_GET_ITEM(strides, i));
        straight &= stride == step;
        step *= as_size(PyTuple_GET_ITEM(shape, i));
        classes = classes << 2 | (stride == 0 ? 0 : stride == size ? 1 : stride == -size ? 2 : 3);
    }
    return straight ? 0 : classes << 1 | 1;
}

/* Which dims of an operand are broadcast; 0 where none is. */
static uint64_t broadcast(PyObject *shape, PyObject *result)
{
    if (same_shape(shape, result))
        return 0;
    Py_ssize_t rank = PyTuple_GET_SIZE(shape), lead = PyTuple_GET_SIZE(result) - rank;
    uint64_t equal = 1;
    for (Py_ssize_t i = 0; i < rank; i++)
        equal = equal << 1
                | (as_size(PyTuple_GET_ITEM(shape, i))
                   == as_size(PyTuple_GET_ITEM(result, lead + i)));
    return equal << 8 | (uint64_t)(rank + 1);
}

/* Describe a node whose operands are numbered; 0 where Python has to look at it. */
static int folds;            /* reductions and scans of the slice */
static int uses[MOST_NODES]; /* how often each node is an operand */

static int describe(Node *node, int64_t *inner)
{
    Py_ssize_t operands = PyTuple_GET_SIZE(node->args), rank = PyTuple_GET_SIZE(node->shape);
    if (count == MOST_NODES || length + 9 * operands + 20 > MOST_WORDS || rank > 16 || node->dtype == NO_DTYPE)
        return 0;
    products_met |= node->kind == PRODUCT;
    int64_t size = 1;
    for (Py_ssize_t i = rank - 1; i >= 0; i--) {
        int64_t extent = as_size(PyTuple_GET_ITEM(node->shape, i));
        if (extent == 0)
            return 0;
        size *= i ? extent : 1;
    }
    if (rank > 1 && size > *inner)
        *inner = size;
    words[length++] = (uint64_t)node->kind | (uint64_t)node->dtype << 8 | (uint64_t)rank << 16
                      | (uint64_t)operands << 24;
    switch (node->kind) {
    case LEAF:
        if (leaf_memory(node) == NULL)
            return 0;
        words[length++] = layout(node);
        break;
    case SCALAR: case IOTA: case RESHAPE:
        break;
    case MAP: case PRODUCT:
        words[length++] = (uint64_t)(uintptr_t)node->op;
        break;
    case VIEW:
        if (!view_words(node))
            return 0;
        break;
    case ASSEMBLE: {
        int known = assemble_words(node);
        if (!known)
            return 0;
        patches += known == 2;
        words[length++] = (uint64_t)known;
        break;
    }
    case REDUCE: case SCAN: case GATHER: {
        words[length++] = (uint64_t)(uintptr_t)node->op;
        uint64_t mine = walk, word = canonical_word(node->attr);
        if (word == 0 || walk != mine)
            return 0; /* comparing ran another walk */
        words[length++] = word;
        break;
    }
    case OPAQUE: case PART:
        groups_met = 1;
        return 0;
    default:
        return 0;
    }
    for (Py_ssize_t i = 0; i < operands; i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        uint64_t how = node->kind == MAP ? broadcast(arg->shape, node->shape) : 0;
        uint64_t again = (uint64_t)is_asked_again(node, arg);
        words[length++] = (uint64_t)arg->slot | how << 16 | again << 62;
        uses[arg->slot]++;
    }
    uses[count] = 0;
    folds += node->kind == REDUCE || node->kind == SCAN;
    node->mark = walk;
    node->slot = count;
    order[count++] = node;
    return 1;
}

/* Which results of reductions and scans somebody holds besides the slice and the list of pending
   nodes, or a pending value that is computed from them: they are kept
   (`runtime.reuse.asked_for_later`). */
static void describe_held(Node **requested, Py_ssize_t many)
{
    static uint8_t wanted[MOST_NODES];
    if (folds == 0)
        return;
    memset(wanted, 0, (size_t)count);
    for (Py_ssize_t i = 0; i < many; i++)
        wanted[requested[i]->slot] = 2; /* it is stored */
    for (int i = count - 1; i >= 0; i--) {
        Node *node = order[i];
        if (wanted[i] & 2 || (!wanted[i] && Py_REFCNT(node) <= 1 + uses[i]))
            continue;
        if (node->kind == REDUCE || node->kind == SCAN) {
            words[length++] = (uint64_t)i << 32 | (UINT32_MAX - 1);
            continue;
        }
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++)
            wanted[((Node *)PyTuple_GET_ITEM(node->args, k))->slot] |= 1;
    }
}

/* What is written in place, if anything may be; 0 where it is too much. */
static int describe_patches(void)
{
    if (patches > 0)
        reuse_words(order, count);
    return length < MOST_WORDS - MOST_NODES;
}

/* Two facts about sizes (whether rows stay in cache, whether results leave it), and the options. */
static void describe_rest(int64_t inner, int large)
{
    uint64_t row = 0;
    while (row < 3 && inner >= rows[row]) /* bisect */
        row++;
    words[length++] = row << 1 | (uint64_t)large;
    words[length++] = (uint64_t)(uintptr_t)seen_features;
    words[length++] = (uint64_t)seen_fuse;
}

static void forget_all(void);

static void begin_walk(void)
{
    if (PyDict_GET_SIZE(canonical) > MOST_OBJECTS) {
        forget_all(); /* its keys hold their addresses */
        PyDict_Clear(canonical);
    }
    walk++;
    count = length = patches = groups_met = folds = products_met = 0;
}

/* Number what the wanted nodes need, operands first. */
static int walk_from(Node **wanted, Py_ssize_t many, int64_t *inner)
{
    static Node *stack[MOST_NODES];
    int depth = 0;
    if (many > MOST_NODES / 2)
        return 0;
    for (Py_ssize_t i = 0; i < many; i++)
        stack[depth++] = wanted[i];
    while (depth > 0) {
        Node *node = stack[depth - 1], *missing = NULL;
        if (node->mark != walk) {
            Py_ssize_t operands = PyTuple_GET_SIZE(node->args);
            for (Py_ssize_t i = 0; i < operands && missing == NULL; i++) {
                Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
                if (arg->mark != walk)
                    missing = arg;
            }
        }
        if (missing != NULL) {
            if (depth == MOST_NODES)
                return 0;
            stack[depth++] = missing;
            continue;
        }
        depth--;
        if (node->mark != walk) {
            int known = describe(node, inner);
            if (known <= 0)
                return known;
        }
    }
    return 1;
}

/* The same of an operation on what needs nothing; 0 for any other. */
static int walk_one(Node *node, int64_t *inner)
{
    Py_ssize_t operands = PyTuple_GET_SIZE(node->args);
    for (Py_ssize_t i = 0; i < operands; i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        if ((arg->kind != LEAF && arg->kind != SCALAR)
            || (arg->mark != walk && describe(arg, inner) <= 0))
            return 0;
    }
    return describe(node, inner) > 0;
}

/* What the wanted nodes need, and its structure. */
static int take(Node **wanted, Py_ssize_t many)
{
    int64_t inner = 0;
    int large = 0;
    begin_walk();
    if (many != 1 || !walk_one(wanted[0], &inner)) {
        if (PyErr_Occurred())
            return -1;
        if (count > 0)
            begin_walk();
        int known = walk_from(wanted, many, &inner);
        if (known <= 0)
            return known;
    }
    if (!describe_patches() || length + many + folds + 4 > MOST_WORDS)
        return 0;
    describe_held(wanted, many);
    for (Py_ssize_t i = 0; i < many; i++) {
        int64_t nbytes = dtypes[wanted[i]->dtype].itemsize;
        for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(wanted[i]->shape); d++)
            nbytes *= as_size(PyTuple_GET_ITEM(wanted[i]->shape, d));
        large |= nbytes >= past_bytes;
        words[length++] = (uint64_t)wanted[i]->slot;
    }
    describe_rest(inner, large);
    return products_met ? product_words(order, count, seen_threads, seen_eager) : 1;
}

/* ---- programs by structure -------------------------------------------------------------------- */

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

/* Two lanes, since each step waits for the multiplication before. */
static uint64_t hash_words(void)
{
    uint64_t even = 0x9E3779B97F4A7C15u, odd = (uint64_t)length;
    for (int i = 0; i + 1 < length; i += 2) {
        even = (even ^ words[i]) * 0xFF51AFD7ED558CCDu;
        odd = (odd ^ words[i + 1]) * 0xC4CEB9FE1A85EC53u;
    }
    if (length & 1)
        odd = (odd ^ words[length - 1]) * 0xFF51AFD7ED558CCDu;
    uint64_t hash = (even ^ even >> 29) + (odd ^ odd >> 32);
    return hash ^ hash >> 32;
}

static Entry *find(uint64_t hash)
{
    uint64_t place = hash & (PLACES - 1);
    for (;; place = (place + 1) & (PLACES - 1)) {
        Entry *entry = &table[place];
        if (entry->program == NULL)
            return entry;
        if (entry->hash == hash && entry->length == length
            && memcmp(entry->words, words, (size_t)length * sizeof *words) == 0)
            return entry;
    }
}

static void forget_all(void)
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

/* ---- structures of lists (steady.c) ------------------------------------------------------------ */

#define EDGE 0xFF /* in the place of a kind */
static int64_t list_inner;

int structure_usable(void) { return usable(); }

void structure_begin(void)
{
    begin_walk();
    list_inner = 0;
}

int structure_count(void) { return count; }

PyObject *structure_options(void) { return seen_options; }

int structure_knows(Node *node) { return node->mark == walk; }

int structure_add_edge(Node *node)
{
    Py_ssize_t rank = PyTuple_GET_SIZE(node->shape);
    if (count == MOST_NODES || length + 2 > MOST_WORDS || node->dtype == NO_DTYPE)
        return 0;
    for (Py_ssize_t i = 0; i < rank; i++)
        if (as_size(PyTuple_GET_ITEM(node->shape, i)) == 0)
            return 0;
    words[length++] = EDGE | (uint64_t)node->dtype << 8 | (uint64_t)rank << 16;
    node->mark = walk;
    node->slot = count;
    order[count++] = node;
    return 1;
}

int structure_add_tree(Node *node)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        if (arg->mark == walk)
            continue;
        if ((arg->kind != LEAF && arg->kind != SCALAR) || describe(arg, &list_inner) <= 0)
            return 0;
    }
    return node->demands || node->kind == PRODUCT ? 0 : describe(node, &list_inner);
}

void structure_word(uint64_t word)
{
    if (length < MOST_WORDS)
        words[length++] = word;
}

int structure_has_room(void) { return length < MOST_WORDS; }

int structure_end(Structure *found)
{
    if (length > MOST_WORDS - MOST_NODES)
        return 0;
    describe_rest(list_inner, 0);
    *found = (Structure){hash_words(), words, order, length, count};
    return 1;
}

int structure_reuse(Node **nodes, int many, uint64_t **found)
{
    uint64_t mine = next_walk();
    length = 0;
    for (int i = 0; i < many; i++) {
        nodes[i]->mark = mine;
        nodes[i]->slot = i;
    }
    for (int i = 0; i < many; i++)
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(nodes[i]->args); k++)
            if (((Node *)PyTuple_GET_ITEM(nodes[i]->args, k))->mark != mine)
                return -1;
    reuse_words(nodes, many);
    *found = words;
    return length < MOST_WORDS - MOST_NODES ? length : -1;
}

PyObject *program_of(Node **wanted, Py_ssize_t many, Structure *found)
{
    if (usable() <= 0 || take(wanted, many) <= 0 || products_met)
        return NULL;
    uint64_t hash = hash_words();
    *found = (Structure){hash, words, order, length, count};
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

static double compiling[2] = {33e-3, 1e-3}; /* seconds: of any structure, and for each node */
/* Seconds after which it is worth looking for its code on disk: three times what that takes, since many are met once. */
#define LOOK_UP 3e-4
#define LOOK_UP_NODE 3e-5
static double loading = 10e-3; /* seconds that loading what looks there takes; none when it has been loaded */
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
        forget_all();
        entry = find(hash);
    }
    if ((entry->words = PyMem_Malloc((size_t)length * sizeof *words + 1)) == NULL)
        return PyErr_NoMemory(), NULL;
    memcpy(entry->words, words, (size_t)length * sizeof *words);
    entry->hash = hash;
    entry->length = length;
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
    int done = run_unfused(order, count, pending, left);
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
    missed_seconds = seen_eager && seen_exact ? unfused_seconds(order, count) : -1.0;
    missed_due = DUE_NOW;
    if (missed_seconds < 0.0)
        return 0;
    if ((entry = entry_for(entry, hash)) == NULL)
        return -1;
    entry->spent += missed_seconds;
    spent_unfused += missed_seconds;
    double share = entry->spent / (compiling[0] + compiling[1] * count);
    /* While it is being compiled nothing is gained by asking. */
    int is_worth_a_look = entry->spent > LOOK_UP + LOOK_UP_NODE * count && spent_unfused > loading;
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
    missed = PyBytes_FromStringAndSize((char *)words, length * (Py_ssize_t)sizeof *words);
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
    int done = program_run(program, nodes, seen_threads);
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
    int ready = usable();
    if (ready <= 0)
        return ready;
    Py_ssize_t left = those_pending(wanted, many, pending);
    if (left <= 0)
        return left == -2 ? -1 : left == 0;
    int known = take(pending, left);
    if (known == 0 && groups_met) {
        known = run_groups(pending, left);
        Py_CLEAR(missed); /* of what a group needs: not this request */
        if (known <= 0 || (left = those_pending(wanted, many, pending)) <= 0)
            return known <= 0 ? known : left == -2 ? -1 : left == 0;
        known = take(pending, left);
    }
    if (known <= 0)
        return known;
    uint64_t hash = hash_words();
    Entry *entry = find(hash);
    if (products_met)
        return run_products(entry->program, &(Structure){hash, words, order, length, count}, pending, left);
    drop_slow(entry);
    if (entry->program == NULL || entry->program == Py_Ellipsis) {
        int done = try_unfused(entry, hash, pending, left);
        if (done != 0)
            return done;
        return leave();
    }
    int is_known = entry->program != Py_None;
    if (is_known && program_slots(entry->program) != count)
        return 0;
    int affordable = is_known ? program_is_affordable(entry->program, order) : 0;
    if (affordable != 0)
        return affordable < 0 ? -1 : program_compute(entry->program, order, count);
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
    int known = usable();
    if (known > 0)
        known = take((Node **)&PyTuple_GET_ITEM(nodes, 0), PyTuple_GET_SIZE(nodes));
    if (known <= 0 || products_met)
        return known < 0 ? NULL : Py_NewRef(Py_None);
    PyObject *found = PyList_New(0);
    for (int i = 0; i < count && found != NULL; i++) {
        PyObject *slot = is_in_place(i) && patches > 0 ? PyLong_FromLong(i) : NULL;
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
    length = (int)(PyBytes_GET_SIZE(bytes) / (Py_ssize_t)sizeof *words);
    if (length > MOST_WORDS)
        Py_RETURN_NONE;
    memcpy(words, PyBytes_AS_STRING(bytes), (size_t)length * sizeof *words);
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
    double any = compiling[0], each = compiling[1];
    if (!PyArg_ParseTuple(given, "|dd", &any, &each))
        return NULL;
    compiling[0] = any;
    compiling[1] = each;
    loading = 0.0;
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
    int ready = usable();
    Py_ssize_t left = ready > 0 ? those_pending((Node **)nodes, many, pending) : ready;
    int known = left > 0 ? take(pending, left) : (int)left;
    int done = known > 0 && unfused_seconds(order, count) >= 0.0 ? run_unfused(order, count, pending, left) : known < 0 ? -1 : 0;
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *forget(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    forget_all();
    PyDict_Clear(canonical);
    Py_RETURN_NONE;
}

/* set_options(context variable) */
static PyObject *set_options(PyObject *module, PyObject *variable)
{
    (void)module;
    if (!PyContextVar_CheckExact(variable))
        return PyErr_Format(PyExc_TypeError, "a context variable, not %R", variable);
    Py_XSETREF(options_variable, Py_NewRef(variable));
    Py_RETURN_NONE;
}

/* set_listeners(list) */
static PyObject *set_listeners(PyObject *module, PyObject *list)
{
    (void)module;
    if (!PyList_CheckExact(list))
        return PyErr_Format(PyExc_TypeError, "a list, not %R", list);
    Py_XSETREF(listeners, Py_NewRef(list));
    Py_RETURN_NONE;
}

static PyObject *set_process_options(PyObject *module, PyObject *options)
{
    (void)module;
    Py_XSETREF(process_options, Py_NewRef(options));
    Py_RETURN_NONE;
}

int slice_ready(void)
{
    canonical = PyDict_New();
    return canonical == NULL ? -1 : 0;
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
    {"set_options", set_options, METH_O, "The options' context variable."},
    {"set_listeners", set_listeners, METH_O, "The listeners: from now on the runtime is there."},
    {"set_process_options", set_process_options, METH_O, "The options outside every context."},
    {NULL},
};
