/* Whether a new version of an array may take the old one's memory: `runtime.reuse.is_reusable`,
   question for question.

   The slice has been walked: `order` holds its nodes, operands first, and each knows its slot.  What
   is answered becomes words of the structure, since compiled code rests on it; what it rests on does
   not, so that one program serves regions that move.  Counts of references are those of Python's
   form less what its own walk holds: a dict's key, two variables, a call. */

#include "core.h"
#include "region.h"

#define CHAIN 4        /* as in runtime.reuse */
#define MOST_READS 200 /* as in runtime.reuse */
#define PATCHES 2      /* as in runtime.trace */

typedef struct {
    Py_ssize_t start, step, count; /* positions in a dim */
} Row;

/* The slice so far. */
static Node **order;
static int edges[MOST_STRUCTURE_NODES]; /* how often each is an operand */
static int listed[MOST_STRUCTURE_NODES]; /* how often each stands on a list of what is pending */
static int leaves[MOST_STRUCTURE_NODES], leaf_count;
static uint8_t reusable[MOST_STRUCTURE_NODES], endangered[MOST_STRUCTURE_NODES];
static int node_count;

static Py_ssize_t extent(Node *node, Py_ssize_t dim)
{
    return as_size(PyTuple_GET_ITEM(node->shape, dim));
}

static Py_ssize_t rank_of(Node *node) { return PyTuple_GET_SIZE(node->shape); }

static Py_ssize_t number(PyObject *entry, Py_ssize_t at)
{
    return as_size(PyTuple_GET_ITEM(entry, at));
}

static Node *operand(Node *node, Py_ssize_t at) { return (Node *)PyTuple_GET_ITEM(node->args, at); }

/* ---- who else holds the old version ------------------------------------------------------------ */

static int is_whole(Node *leaf)
{
    PyObject *strides = PyTuple_GET_ITEM(leaf->value, 2);
    Py_ssize_t step = dtypes[leaf->dtype].itemsize;
    for (Py_ssize_t i = rank_of(leaf) - 1; i >= 0; i--) {
        if (number(strides, i) != step)
            return 0;
        step *= extent(leaf, i);
    }
    Memory *memory = leaf_memory(leaf);
    return !memory->external && memory->writable;
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

/* Only the slice holds this leaf and its memory: besides, there is the new version's edge.  Other leaves of the slice on
   the memory may be operands of what waits. */
static int is_owned(Node *leaf)
{
    if (!is_whole(leaf) || Py_REFCNT(leaf) > edges[leaf->slot] + 1)
        return 0;
    Memory *memory = leaf_memory(leaf);
    int users = 0;
    for (int i = 0; i < leaf_count; i++)
        users += leaf_memory(order[leaves[i]]) == memory;
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

static Py_ssize_t common_divisor(Py_ssize_t a, Py_ssize_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) {
        Py_ssize_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* As Python has it: never negative. */
static Py_ssize_t modulo(Py_ssize_t a, Py_ssize_t b)
{
    Py_ssize_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

static int apart(Row a, Row b)
{
    Py_ssize_t a_end = a.start + a.step * (a.count - 1), b_end = b.start + b.step * (b.count - 1);
    Py_ssize_t low = a.start < a_end ? a.start : a_end, high = a.start < a_end ? a_end : a.start;
    Py_ssize_t least = b.start < b_end ? b.start : b_end, most = b.start < b_end ? b_end : b.start;
    Py_ssize_t common = common_divisor(a.count > 1 ? a.step : 0, b.count > 1 ? b.step : 0);
    return high < least || most < low || (common > 1 && modulo(a.start - b.start, common) > 0);
}

static int any_apart(const Row *a, const Row *b, Py_ssize_t rank)
{
    for (Py_ssize_t i = 0; i < rank; i++)
        if (apart(a[i], b[i]))
            return 1;
    return 0;
}

static int all_same(const Row *a, const Row *b, Py_ssize_t rank)
{
    for (Py_ssize_t i = 0; i < rank; i++)
        if (a[i].start != b[i].start || a[i].count != b[i].count
            || (a[i].step != b[i].step && a[i].count != 1))
            return 0;
    return 1;
}

/* ---- another leaf on the memory of the base ---------------------------------------------------- */

/* Elements in memory: where they begin, and the dims of more than one. */
typedef struct {
    Py_ssize_t first, size, low, high;
    Row dim[MOST_DIMS]; /* `step` in bytes, no start */
    int rank;
} Window;

static void window_begin(Window *window, Py_ssize_t first, Py_ssize_t size)
{
    window->first = window->low = first;
    window->high = first + size;
    window->size = size;
    window->rank = 0;
}

static void window_add(Window *window, Py_ssize_t count, Py_ssize_t step)
{
    if (count == 1)
        return;
    window->dim[window->rank++] = (Row){0, step, count};
    *(step < 0 ? &window->low : &window->high) += (count - 1) * step;
}

static Py_ssize_t common_step(const Window *window, Py_ssize_t common)
{
    for (int i = 0; i < window->rank; i++)
        common = common_divisor(common, window->dim[i].step);
    return common;
}

static int same_window(const Window *a, const Window *b)
{
    return a->first == b->first && a->size == b->size && a->rank == b->rank
           && all_same(a->dim, b->dim, a->rank);
}

/* Which elements of a base the leaf is: rows of positions; 0 where it is no such region. */
static int find_places(Node *base, Node *read, Row *found)
{
    PyObject *strides = PyTuple_GET_ITEM(base->value, 2), *paces = PyTuple_GET_ITEM(read->value, 2);
    Py_ssize_t rank = rank_of(base), left = number(read->value, 1) - number(base->value, 1);
    for (Py_ssize_t d = 0; d < rank; d++) {
        Py_ssize_t stride = number(strides, d), rest = modulo(left, stride);
        found[d] = (Row){(left - rest) / stride, 0, 1};
        left = rest;
    }
    for (Py_ssize_t i = 0; i < rank_of(read); i++) {
        Py_ssize_t count = extent(read, i), pace = number(paces, i), d = 0;
        if (count == 1 || pace == 0)
            continue;
        while (d < rank && (extent(base, d) == 1 || pace % number(strides, d) != 0))
            d++;
        if (d == rank || found[d].count > 1)
            return 0;
        found[d].step = pace / number(strides, d);
        found[d].count = count;
    }
    for (Py_ssize_t d = 0; d < rank; d++) {
        Py_ssize_t start = found[d].start, end = start + found[d].step * (found[d].count - 1);
        if (start < 0 || start >= extent(base, d) || end < 0 || end >= extent(base, d))
            return 0;
    }
    return left == 0;
}

static int leaf_is_safe(Node *base, Node *read, int straight, const Row *writes)
{
    Row where[MOST_DIMS];
    Window written, seen;
    PyObject *strides = PyTuple_GET_ITEM(base->value, 2), *paces = PyTuple_GET_ITEM(read->value, 2);
    Py_ssize_t rank = rank_of(base), first = number(base->value, 1);
    for (Py_ssize_t d = 0; d < rank; d++)
        first += writes[d].start * number(strides, d);
    window_begin(&written, first, dtypes[base->dtype].itemsize);
    window_begin(&seen, number(read->value, 1), dtypes[read->dtype].itemsize);
    for (Py_ssize_t d = 0; d < rank; d++)
        window_add(&written, writes[d].count, writes[d].step * number(strides, d));
    for (Py_ssize_t d = 0; d < rank_of(read); d++)
        window_add(&seen, extent(read, d), number(paces, d));
    if (same_window(&written, &seen))
        return straight;
    if (written.high <= seen.low || seen.high <= written.low)
        return 1;
    Py_ssize_t common = common_step(&seen, common_step(&written, 0));
    Py_ssize_t away = common ? modulo(seen.first - first, common) : 0;
    if (common && written.size <= away && away <= common - seen.size)
        return 1;
    return written.size == seen.size && find_places(base, read, where)
           && any_apart(writes, where, rank);
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
    Memory *memory = base->kind == LEAF ? leaf_memory(base) : NULL;
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
        int shared = memory != NULL && here->kind == LEAF && leaf_memory(here) == memory;
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
        if (elements(order[i]) > SMALL_ELEMENTS && PyTuple_GET_SIZE(order[i]->args) > 0)
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
            int yes = is_reusable(node);
            structure_word((uint64_t)yes);
            many += yes != NOT;
            reusable[i] = yes != NOT;
        }
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++)
            edges[operand(node, k)->slot]++;
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
