/* The structure of what a request needs.

   One walk numbers the nodes and writes the structure as 64-bit words: kinds, ops, types, operand
   slots, which extents are equal, how leaves are laid out.  The words say at least what the key of
   runtime.trace says, so that a program found by them is the right one; where a node says more than
   fits words (regions, axes), the object itself is made canonical and stands for it. */

#include "structure.h"

#define MOST_OBJECTS (1 << 15)

static PyObject *canonical; /* objects that stand for themselves */
static uint64_t walk;
Taken taken;

uint64_t next_walk(void) { return ++walk; }

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

static int folds;            /* reductions and scans of the slice */
static int uses[MOST_NODES]; /* how often each node is an operand */

/* What a node does, apart from its operands; 0 where Python has to look at it. */
static int describe_meaning(Node *node)
{
    uint64_t mine = walk, word = 0;
    int known = 0;
    switch (node->kind) {
    case LEAF:
        if (leaf_memory(node) == NULL)
            return 0;
        word = layout(node);
        break;
    case SCALAR: case IOTA: case RESHAPE:
        return 1;
    case MAP: case PRODUCT:
        word = (uint64_t)(uintptr_t)node->op;
        break;
    case VIEW:
        return view_words(node);
    case ASSEMBLE:
        if ((known = assemble_words(node)) == 0)
            return 0;
        taken.patches += known == 2;
        word = (uint64_t)known;
        break;
    case REDUCE: case SCAN: case GATHER:
        taken.words[taken.length++] = (uint64_t)(uintptr_t)node->op;
        word = canonical_word(node->attr);
        if (word == 0 || walk != mine)
            return 0; /* comparing ran another walk */
        break;
    case OPAQUE: case PART:
        taken.groups = 1;
        return 0;
    default:
        return 0;
    }
    taken.words[taken.length++] = word;
    return 1;
}

/* Describe a node whose operands are numbered; 0 where Python has to look at it. */
static int describe(Node *node, int64_t *inner)
{
    Py_ssize_t operands = PyTuple_GET_SIZE(node->args), rank = PyTuple_GET_SIZE(node->shape);
    if (taken.count == MOST_NODES || taken.length + 9 * operands + 20 > MOST_WORDS || rank > 16 || node->dtype == NO_DTYPE)
        return 0;
    taken.products |= node->kind == PRODUCT;
    int64_t size = 1;
    for (Py_ssize_t i = rank - 1; i >= 0; i--) {
        int64_t extent = as_size(PyTuple_GET_ITEM(node->shape, i));
        if (extent == 0)
            return 0;
        size *= i ? extent : 1;
    }
    if (rank > 1 && size > *inner)
        *inner = size;
    taken.words[taken.length++] = (uint64_t)node->kind | (uint64_t)node->dtype << 8 | (uint64_t)rank << 16
                      | (uint64_t)operands << 24;
    if (!describe_meaning(node))
        return 0;
    for (Py_ssize_t i = 0; i < operands; i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, i);
        uint64_t how = node->kind == MAP ? broadcast(arg->shape, node->shape) : 0;
        uint64_t again = (uint64_t)is_asked_again(node, arg);
        taken.words[taken.length++] = (uint64_t)arg->slot | how << 16 | again << 62;
        uses[arg->slot]++;
    }
    uses[taken.count] = 0;
    folds += node->kind == REDUCE || node->kind == SCAN;
    node->mark = walk;
    node->slot = taken.count;
    taken.order[taken.count++] = node;
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
    memset(wanted, 0, (size_t)taken.count);
    for (Py_ssize_t i = 0; i < many; i++)
        wanted[requested[i]->slot] = 2; /* it is stored */
    for (int i = taken.count - 1; i >= 0; i--) {
        Node *node = taken.order[i];
        if (wanted[i] & 2 || (!wanted[i] && Py_REFCNT(node) <= 1 + uses[i]))
            continue;
        if (node->kind == REDUCE || node->kind == SCAN) {
            taken.words[taken.length++] = (uint64_t)i << 32 | (UINT32_MAX - 1);
            continue;
        }
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++)
            wanted[((Node *)PyTuple_GET_ITEM(node->args, k))->slot] |= 1;
    }
}

/* What is written in place, if anything may be; 0 where it is too much. */
static int describe_patches(void)
{
    if (taken.patches > 0)
        reuse_words(taken.order, taken.count);
    return taken.length < MOST_WORDS - MOST_NODES;
}

/* Two facts about sizes (whether rows stay in cache, whether results leave it), and the options. */
static void describe_rest(int64_t inner, int large)
{
    static const int64_t rows[] = {ROWS};
    uint64_t row = 0;
    while (row < 3 && inner >= rows[row]) /* bisect */
        row++;
    taken.words[taken.length++] = row << 1 | (uint64_t)large;
    taken.words[taken.length++] = (uint64_t)(uintptr_t)in_force.features;
    taken.words[taken.length++] = (uint64_t)in_force.fuse;
}

static void begin_walk(void)
{
    if (PyDict_GET_SIZE(canonical) > MOST_OBJECTS) {
        programs_forget(); /* its keys hold their addresses */
        PyDict_Clear(canonical);
    }
    walk++;
    taken.count = taken.length = taken.patches = taken.groups = folds = taken.products = 0;
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
int take_slice(Node **wanted, Py_ssize_t many)
{
    int64_t inner = 0;
    int large = 0;
    begin_walk();
    if (many != 1 || !walk_one(wanted[0], &inner)) {
        if (PyErr_Occurred())
            return -1;
        if (taken.count > 0)
            begin_walk();
        int known = walk_from(wanted, many, &inner);
        if (known <= 0)
            return known;
    }
    if (!describe_patches() || taken.length + many + folds + 4 > MOST_WORDS)
        return 0;
    describe_held(wanted, many);
    for (Py_ssize_t i = 0; i < many; i++) {
        int64_t nbytes = dtypes[wanted[i]->dtype].itemsize;
        for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(wanted[i]->shape); d++)
            nbytes *= as_size(PyTuple_GET_ITEM(wanted[i]->shape, d));
        large |= nbytes >= machine.past;
        taken.words[taken.length++] = (uint64_t)wanted[i]->slot;
    }
    describe_rest(inner, large);
    return taken.products ? product_words(taken.order, taken.count, in_force.threads, in_force.eager) : 1;
}

/* Two lanes, since each step waits for the multiplication before. */
uint64_t hash_words(void)
{
    uint64_t even = 0x9E3779B97F4A7C15u, odd = (uint64_t)taken.length;
    for (int i = 0; i + 1 < taken.length; i += 2) {
        even = (even ^ taken.words[i]) * 0xFF51AFD7ED558CCDu;
        odd = (odd ^ taken.words[i + 1]) * 0xC4CEB9FE1A85EC53u;
    }
    if (taken.length & 1)
        odd = (odd ^ taken.words[taken.length - 1]) * 0xFF51AFD7ED558CCDu;
    uint64_t hash = (even ^ even >> 29) + (odd ^ odd >> 32);
    return hash ^ hash >> 32;
}

/* ---- structures of lists (steady.c) ------------------------------------------------------------ */

#define EDGE 0xFF /* in the place of a kind */
static int64_t list_inner;

void structure_begin(void)
{
    begin_walk();
    list_inner = 0;
}

int structure_count(void) { return taken.count; }

PyObject *structure_options(void) { return in_force.options; }

int structure_knows(Node *node) { return node->mark == walk; }

int structure_add_edge(Node *node)
{
    Py_ssize_t rank = PyTuple_GET_SIZE(node->shape);
    if (taken.count == MOST_NODES || taken.length + 2 > MOST_WORDS || node->dtype == NO_DTYPE)
        return 0;
    for (Py_ssize_t i = 0; i < rank; i++)
        if (as_size(PyTuple_GET_ITEM(node->shape, i)) == 0)
            return 0;
    taken.words[taken.length++] = EDGE | (uint64_t)node->dtype << 8 | (uint64_t)rank << 16;
    node->mark = walk;
    node->slot = taken.count;
    taken.order[taken.count++] = node;
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
    if (taken.length < MOST_WORDS)
        taken.words[taken.length++] = word;
}

int structure_has_room(void) { return taken.length < MOST_WORDS; }

int structure_end(Structure *found)
{
    if (taken.length > MOST_WORDS - MOST_NODES)
        return 0;
    describe_rest(list_inner, 0);
    *found = (Structure){hash_words(), taken.words, taken.order, taken.length, taken.count};
    return 1;
}

int structure_reuse(Node **nodes, int many, uint64_t **found)
{
    uint64_t mine = next_walk();
    taken.length = 0;
    for (int i = 0; i < many; i++) {
        nodes[i]->mark = mine;
        nodes[i]->slot = i;
    }
    for (int i = 0; i < many; i++)
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(nodes[i]->args); k++)
            if (((Node *)PyTuple_GET_ITEM(nodes[i]->args, k))->mark != mine)
                return -1;
    reuse_words(nodes, many);
    *found = taken.words;
    return taken.length < MOST_WORDS - MOST_NODES ? taken.length : -1;
}

int structure_ready(void)
{
    canonical = PyDict_New();
    return canonical == NULL ? -1 : 0;
}

void structure_forget(void) { PyDict_Clear(canonical); }
