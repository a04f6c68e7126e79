/* Whether a new version of an array may take the old one's memory: `runtime.reuse.is_reusable`,
   question for question.

   The slice has been walked: `order` holds its nodes, operands first, and each knows its slot.  What
   is answered becomes words of the structure, since compiled code rests on it; what it rests on does
   not, so that one program serves regions that move.  Counts of references are those of Python's
   form less what its own walk holds: a dict's key, two variables, a call. */

#include "core.h"
#include "overlap.h"

#define CHAIN 16       /* as in runtime.reuse */
#define MOST_READS 200 /* as in runtime.reuse */
#define MOST_REPLACED 8 /* as in runtime.reuse */
#define PATCHES 2      /* as in runtime.trace */

/* The slice so far. */
static Node **order;
static int edges[MOST_STRUCTURE_NODES]; /* how often each is an operand */
static int listed[MOST_STRUCTURE_NODES]; /* how often each stands on a list of what is pending */
static int leaves[MOST_STRUCTURE_NODES], leaf_count;
static uint8_t reusable[MOST_STRUCTURE_NODES], endangered[MOST_STRUCTURE_NODES];
static int node_count;

static Node *operand(Node *node, Py_ssize_t at) { return (Node *)PyTuple_GET_ITEM(node->args, at); }

/* ---- who else holds the old version ------------------------------------------------------------ */

static int64_t elements(Node *node);

static int is_whole(Node *leaf)
{
    PyObject *strides = PyTuple_GET_ITEM(leaf->value, 2);
    Py_ssize_t step = dtypes[leaf->dtype].itemsize;
    for (Py_ssize_t i = rank_of(leaf) - 1; i >= 0; i--) {
        if (number(strides, i) != step)
            return 0;
        step *= extent(leaf, i);
    }
    return writable_memory(leaf) != NULL;
}

/* Whether a pending node outside the slice, which somebody besides its list holds, has an operand in the memory. */
static int reads(PyObject *entry, Memory *memory)
{
    Node *node = (Node *)entry;
    int ours = !Py_IS_TYPE(entry, &NodeType) || (node->slot >= 0 && node->slot < node_count && order[node->slot] == node);
    if (ours || Py_REFCNT(node) <= 1)
        return 0;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++)
        if (operand(node, k)->kind == LEAF && leaf_memory(operand(node, k)) == memory)
            return 1;
    return 0;
}

static int is_read_elsewhere(Memory *memory)
{
    PyObject *all = pending_list(), *left = left_list();
    int found = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all) && !found; i++)
        found = reads(PyList_GET_ITEM(all, i), memory);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(left) && !found; i++) {
        PyObject *entry = PyList_GET_ITEM(left, i);
        found = PyTuple_CheckExact(entry) && PyTuple_GET_SIZE(entry) > 0 && reads(PyTuple_GET_ITEM(entry, 0), memory);
    }
    return found;
}

/* Whether a leaf shows but a part of its memory. */
static int is_part_of(Node *leaf, Memory *memory)
{
    return elements(leaf) * dtypes[leaf->dtype].itemsize < memory->nbytes;
}

/* Only the slice so far holds this leaf and its memory: besides, there is the new version's edge.  Other leaves of the
   slice on the memory may be operands of what waits; where this leaf is a part, one may be the value of another array. */
static int is_owned(Node *leaf)
{
    if (!is_whole(leaf) || Py_REFCNT(leaf) > edges[leaf->slot] + 1)
        return 0;
    Memory *memory = leaf_memory(leaf);
    int users = 0, is_part = is_part_of(leaf, memory);
    for (int i = 0; i < leaf_count; i++) {
        Node *other = order[leaves[i]];
        if (leaf_memory(other) != memory)
            continue;
        if (is_part && other != leaf && Py_REFCNT(other) > edges[leaves[i]])
            return 0;
        users++;
    }
    return Py_REFCNT(memory) <= users && (users == 1 || !is_read_elsewhere(memory));
}

/* Only the slice holds this pending value, and does not store it: besides, there are the new
   version's edge and the lists of pending nodes. */
static int is_inside(Node *base)
{
    return !base->demands && Py_REFCNT(base) <= edges[base->slot] + listed[base->slot] + 1;
}

static void count_listed(PyObject *entry, int count)
{
    Node *node = (Node *)entry;
    if (Py_IS_TYPE(entry, &NodeType) && node->slot >= 0 && node->slot < count && order[node->slot] == node)
        listed[node->slot]++;
}

/* What is pending is held by lists: of all, and of what the last flush left alone. */
static void count_lists(int count)
{
    PyObject *all = pending_list(), *left = left_list();
    memset(listed, 0, (size_t)count * sizeof *listed);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all); i++)
        count_listed(PyList_GET_ITEM(all, i), count);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(left); i++) {
        PyObject *entry = PyList_GET_ITEM(left, i);
        if (PyTuple_CheckExact(entry) && PyTuple_GET_SIZE(entry) > 0)
            count_listed(PyTuple_GET_ITEM(entry, 0), count);
    }
}

static int is_long_chain(Node *node)
{
    int length = 0;
    for (; node->kind == ASSEMBLE && length < CHAIN; length++)
        node = operand(node, 0);
    return length >= CHAIN;
}

/* ---- where its pieces read it ------------------------------------------------------------------ */

/* The same extents but for those of one: the order of the elements is the same. */
static int same_long(Node *a, Node *b)
{
    Py_ssize_t i = 0, j = 0, n = rank_of(a), m = rank_of(b);
    for (;; i++, j++) {
        while (i < n && extent(a, i) == 1)
            i++;
        while (j < m && extent(b, j) == 1)
            j++;
        if (i == n || j == m)
            return i == n && j == m;
        if (extent(a, i) != extent(b, j))
            return 0;
    }
}

/* A view that but adds dims and drops dims of one element. */
static int is_plain_view(Node *node)
{
    if (node->kind != VIEW)
        return 0;
    Node *source = operand(node, 0);
    Py_ssize_t last = -1;
    for (Py_ssize_t i = 0; i < rank_of(source); i++) {
        PyObject *entry = PyTuple_GET_ITEM(node->attr, i);
        Py_ssize_t out = number(entry, 0), count = extent(source, i);
        if (count == 1)
            continue;
        if (out <= last || number(entry, 1) != 0 || number(entry, 2) != 1
            || extent(node, out) != count)
            return 0;
        last = out;
    }
    return 1;
}

/* ---- one read, all reads ----------------------------------------------------------------------- */

static int is_safe(Node *base, Node *read, int straight, Node *piece, const Row *writes)
{
    Row places[MOST_DIMS];
    Py_ssize_t rank = rank_of(base), last = -1;
    if (read != base && read->kind != VIEW)
        return leaf_is_safe(base, read, straight, writes);
    for (Py_ssize_t d = 0; d < rank; d++) {
        if (read == base) {
            places[d] = (Row){0, 1, extent(base, d)};
            continue;
        }
        PyObject *entry = PyTuple_GET_ITEM(read->attr, d);
        Py_ssize_t out = number(entry, 0);
        places[d] = (Row){number(entry, 1), number(entry, 2), out < 0 ? 1 : extent(read, out)};
        if (writes[d].count != 1) {
            straight &= out > last;
            last = out;
        }
    }
    if (straight && same_long(read, piece) && all_same(writes, places, rank))
        return 1;
    return any_apart(writes, places, rank);
}

/* Nodes to look at: each straight (every element comes from its own place) or not, or both. */
static struct {
    uint64_t seen[MOST_STRUCTURE_NODES][2], turn;
    int stack[2 * MOST_STRUCTURE_NODES], depth;
} visit;

static void visit_later(int slot, int straight)
{
    if (visit.seen[slot][straight] == visit.turn)
        return;
    visit.seen[slot][straight] = visit.turn;
    visit.stack[visit.depth++] = slot << 1 | straight;
}

static int reads_are_safe(Node *node)
{
    Row writes[MOST_DIMS];
    Node *base = operand(node, 0), *piece = operand(node, 1);
    Memory *memory = leaf_memory(base);
    PyObject *region = PyTuple_GET_ITEM(node->attr, 1);
    int first = memory != NULL ? 0 : base->slot, reads = 0;
    for (Py_ssize_t d = 0; d < rank_of(base); d++) {
        PyObject *entry = PyTuple_GET_ITEM(region, d);
        writes[d] = (Row){number(entry, 0), number(entry, 1), extent(piece, d)};
    }
    visit.turn++;
    visit.depth = 0;
    visit_later(piece->slot, 1);
    while (visit.depth > 0) {
        int next = visit.stack[--visit.depth], straight = next & 1;
        Node *here = order[next >> 1];
        int inner = here == base || (here->kind == VIEW && operand(here, 0) == base);
        int shared = memory != NULL && leaf_memory(here) == memory;
        if ((inner || shared)
            && (++reads >= MOST_READS || !is_safe(base, here, straight, piece, writes)))
            return 0;
        if (inner)
            continue;
        straight = straight && (here->kind == MAP || is_plain_view(here));
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(here->args); k++) {
            Node *arg = operand(here, k);
            if (arg->slot >= first)
                visit_later(arg->slot, straight && same_long(arg, here));
        }
    }
    return 1;
}

static int64_t elements(Node *node)
{
    int64_t size = 1;
    for (Py_ssize_t d = 0; d < rank_of(node); d++)
        size *= extent(node, d);
    return size;
}

static int is_strided(Node *node)
{
    PyObject *region = PyTuple_GET_ITEM(node->attr, 1);
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(region); d++)
        if (number(PyTuple_GET_ITEM(region, d), 1) != 1)
            return 1;
    return 0;
}

enum { NOT, IN_PLACE, ONCE_STORED }; /* as in runtime.reuse */

static int is_reusable(Node *node)
{
    Node *base = operand(node, 0);
    int borrowed = base->kind == RESHAPE || base->kind == OPAQUE || base->kind == PART;
    if (borrowed || !(base->kind == LEAF ? is_owned(base) : is_inside(base)))
        return NOT;
    if (reads_are_safe(node)) {
        int merged = base->kind != LEAF && !reusable[base->slot] && !is_long_chain(base);
        return merged && !is_strided(node) ? NOT : IN_PLACE;
    }
    Node *piece = operand(node, 1);
    return piece->kind != LEAF && 2 * elements(piece) <= elements(node) ? ONCE_STORED : NOT;
}

/* Versions in place that another replaces, from memory of its own, down to one that is mostly new (`replaced`): they
   are made in the pass that makes the other one. */
static void decline_replaced(Node *base)
{
    Node *node = base, *last = NULL;
    for (int length = 0; length < MOST_REPLACED && reusable[node->slot]; length++, node = operand(node, 0)) {
        if (is_strided(node))
            break;
        if (2 * elements(operand(node, 1)) > elements(node))
            last = node;
    }
    for (node = base; last != NULL && reusable[last->slot]; node = operand(node, 0))
        reusable[node->slot] = 0;
}

/* ---- as words ---------------------------------------------------------------------------------- */

/* The leaves in a memory that is written in place: the plan rests on which those are. */
static void sharing_words(Node *base)
{
    for (int i = 0; i < leaf_count; i++)
        if (leaves[i] != base->slot && leaf_memory(order[leaves[i]]) == leaf_memory(base))
            structure_word((uint64_t)base->slot << 32 | (uint64_t)leaves[i]);
}

static int all_small(int count)
{
    for (int i = 0; i < count; i++)
        if (elements(order[i]) > STARTED_ELEMENTS && PyTuple_GET_SIZE(order[i]->args) > 0)
            return 0;
    return 1;
}

/* What somebody holds besides the slice and is computed from a value that is lost, because it is
   overwritten in the memory of a leaf: it is stored (`runtime.reuse.endangered`). */
static void endangered_words(int count)
{
    static uint8_t rooted[MOST_STRUCTURE_NODES], lost[MOST_STRUCTURE_NODES];
    memset(rooted, 0, (size_t)count);
    memset(lost, 0, (size_t)count);
    for (int i = 0; i < count; i++) {
        Node *base = reusable[i] ? operand(order[i], 0) : NULL;
        rooted[i] = base != NULL && (base->kind == LEAF || rooted[base->slot]);
        if (rooted[i])
            lost[base->slot] = 1;
        for (int k = 0; rooted[i] && base->kind == LEAF && k < leaf_count; k++)
            lost[leaves[k]] |= leaf_memory(order[leaves[k]]) == leaf_memory(base);
    }
    for (int i = 0; i < count; i++) {
        int needs = 0;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(order[i]->args) && !needs; k++)
            needs = lost[operand(order[i], k)->slot];
        if (!needs || rooted[i])
            continue;
        lost[i] = 1;
        endangered[i] = Py_REFCNT(order[i]) > edges[i] + listed[i];
        if (endangered[i])
            structure_word((uint64_t)i << 32 | UINT32_MAX);
    }
}

void reuse_words(Node **nodes, int count)
{
    static uint8_t answers[MOST_STRUCTURE_NODES];
    int many = 0;
    order = nodes;
    node_count = count;
    leaf_count = 0;
    count_lists(count);
    memset(edges, 0, (size_t)count * sizeof *edges);
    memset(reusable, 0, (size_t)count);
    memset(endangered, 0, (size_t)count);
    for (int i = 0; i < count; i++) {
        Node *node = order[i];
        if (node->kind == LEAF)
            leaves[leaf_count++] = i;
        else if (node->kind == ASSEMBLE && is_patch(node)) {
            answers[i] = (uint8_t)is_reusable(node);
            reusable[i] = answers[i] != NOT;
            if (!reusable[i])
                decline_replaced(operand(node, 0));
        }
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++)
            edges[operand(node, k)->slot]++;
    }
    for (int i = 0; i < count; i++) {
        if (order[i]->kind != ASSEMBLE || !is_patch(order[i]))
            continue;
        structure_word(reusable[i] ? answers[i] : NOT);
        many += reusable[i];
    }
    for (int i = 0; i < count && many > 0; i++)
        if (reusable[i] && operand(order[i], 0)->kind == LEAF)
            sharing_words(operand(order[i], 0));
    if (many > 0)
        endangered_words(count);
    structure_word((uint64_t)(many >= PATCHES && all_small(count)));
}

int is_in_place(int slot) { return reusable[slot]; }

int is_endangered(int slot) { return endangered[slot]; }
