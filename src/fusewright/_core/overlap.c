/* Which elements two regions have in common: `runtime.overlap`. */

#include "overlap.h"

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

int any_apart(const Row *a, const Row *b, Py_ssize_t rank)
{
    for (Py_ssize_t i = 0; i < rank; i++)
        if (apart(a[i], b[i]))
            return 1;
    return 0;
}

int all_same(const Row *a, const Row *b, Py_ssize_t rank)
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

int leaf_is_safe(Node *base, Node *read, int straight, const Row *writes)
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
