/* Elements of one strided region copied into another: moves of small writes, copies of what lies in memory. */

#include "loops.h"

/* One dim: elements of one of the usual sizes are moved without a call for each. */
#define COPY_ROW(type) \
    for (Py_ssize_t i = 0; i < extent; i++) \
        memcpy(to + i * step, from + i * pace, sizeof(type))
#define FILL_ROW(type) \
    for (Py_ssize_t i = 0; i < extent; i++) \
        memcpy(to + i * (Py_ssize_t)sizeof(type), from, sizeof(type))

static void copy_row(char *restrict to, Py_ssize_t step, const char *restrict from, Py_ssize_t pace, Py_ssize_t extent,
                     size_t size)
{
    int dense = step == (Py_ssize_t)size;
    if (dense && pace == (Py_ssize_t)size)
        memcpy(to, from, size * (size_t)extent);
    else if (dense && pace == 0)
        switch (size) {
        case 1: memset(to, *from, (size_t)extent); break;
        case 2: FILL_ROW(int16_t); break;
        case 4: FILL_ROW(int32_t); break;
        case 8: FILL_ROW(int64_t); break;
        default: FILL_ROW(int64_t[2]);
        }
    else
        switch (size) {
        case 1: COPY_ROW(int8_t); break;
        case 2: COPY_ROW(int16_t); break;
        case 4: COPY_ROW(int32_t); break;
        case 8: COPY_ROW(int64_t); break;
        default: COPY_ROW(int64_t[2]);
        }
}

static void copy_dims(char *to, const Py_ssize_t *steps, const char *from, const Py_ssize_t *paces,
                      const Py_ssize_t *extent, int dims, size_t size)
{
    if (dims == 1) {
        copy_row(to, steps[0], from, paces[0], extent[0], size);
        return;
    }
    for (Py_ssize_t i = 0; i < extent[0]; i++)
        copy_dims(to + i * steps[0], steps + 1, from + i * paces[0], paces + 1, extent + 1, dims - 1, size);
}

/* Elements of 1, 2, 4, 8 or 16 bytes; dims that lie one after the other on both sides count as one. */
void copy_elements(char *to, const Py_ssize_t *steps, const char *from, const Py_ssize_t *paces,
                   const Py_ssize_t *extent, int dims, size_t size)
{
    Py_ssize_t step[MOST_DIMS], pace[MOST_DIMS], many[MOST_DIMS];
    int last = 0;
    if (dims == 0) {
        memcpy(to, from, size);
        return;
    }
    step[0] = steps[0], pace[0] = paces[0], many[0] = extent[0];
    for (int d = 1; d < dims; d++) {
        int follows = step[last] == steps[d] * extent[d] && pace[last] == paces[d] * extent[d];
        int starts = many[last] != 1 && !follows; /* another dim */
        last += starts;
        many[last] = starts ? extent[d] : many[last] * extent[d];
        step[last] = steps[d], pace[last] = paces[d];
    }
    copy_dims(to, step, from, pace, many, last + 1, size);
}
