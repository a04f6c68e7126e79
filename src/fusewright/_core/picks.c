/* Elements that arrays of 64-bit integers name, read and written at once without NumPy: `x[columns]`, `scores[rows, labels]`,
   `phi[multiples] = 0`.  Dims behind the named ones come whole, as rows side by side in memory. */

#include "dispatch.h"

#define MOST_NAMED 4

/* What names elements: for each of the first dims integers, all of one shape, or one integer for all. */
typedef struct {
    int named, dims;
    Py_ssize_t extent[MOST_DIMS], many;
    const char *at[MOST_NAMED];
    Py_ssize_t step[MOST_NAMED];
    int64_t one[MOST_NAMED];
    Memory *memory[MOST_NAMED]; /* borrowed; NULL of NumPy's arrays and of single integers */
} Picks;

/* Whether an array can be one of a subscript's, beside those before it. */
static int add_array(Picks *picks, const char *at, Memory *memory, int dims, const Py_ssize_t *extent, const Py_ssize_t *stride)
{
    if (dims < 1 || (dims > 1 && !lies_packed(dims, extent, stride, 8)))
        return 0;
    if (picks->dims == 0) {
        picks->dims = dims;
        picks->many = 1;
        for (int d = 0; d < dims; d++)
            picks->many *= picks->extent[d] = extent[d];
    }
    picks->at[picks->named] = at;
    picks->step[picks->named] = dims == 1 ? stride[0] : 8;
    picks->memory[picks->named++] = memory;
    return dims == picks->dims && picks->many <= MOVED_ELEMENTS && memcmp(extent, picks->extent, (size_t)dims * sizeof *extent) == 0;
}

/* One entry of a subscript; what has to be computed for it is, where `computes`. */
static int add_entry(Picks *picks, PyObject *entry, int computes)
{
    Spot spot;
    if (Py_IS_TYPE(entry, numpy_array)) {
        NumpyArray *array = (NumpyArray *)entry;
        return dtype_of_array(entry) == dtype_int64 && array->dims <= MOST_DIMS
               && add_array(picks, array->at, NULL, array->dims, array->extent, array->stride);
    }
    if (is_plain(entry)) {
        int may = Py_TYPE(entry) != scalar_class && handle_dtype(entry) == dtype_int64
                  && elements_of(handle_shape(entry)) <= MOVED_ELEMENTS;
        return may && (computes ? known_spot(entry, &spot) > 0 : spot_of(entry, &spot))
               && add_array(picks, spot.at, spot.memory, spot.dims, spot.extent, spot.stride);
    }
    int overflow = 1;
    if (PyLong_CheckExact(entry))
        picks->one[picks->named] = PyLong_AsLongLongAndOverflow(entry, &overflow);
    picks->at[picks->named] = (const char *)&picks->one[picks->named];
    picks->step[picks->named] = 0;
    picks->memory[picks->named++] = NULL;
    return !overflow;
}

/* Whether a subscript is such arrays: 0, without an error, for any other. */
static int read_picks(PyObject *key, Picks *picks, int computes)
{
    PyObject *const *entries = PyTuple_CheckExact(key) ? &PyTuple_GET_ITEM(key, 0) : &key;
    Py_ssize_t many = PyTuple_CheckExact(key) ? PyTuple_GET_SIZE(key) : 1;
    picks->named = picks->dims = 0;
    for (Py_ssize_t i = 0; i < many; i++)
        if (many > MOST_NAMED || !add_entry(picks, entries[i], computes)) {
            drop_refusal();
            return 0;
        }
    return picks->dims > 0;
}

/* The bytes of what stands behind the named dims; -1 where that is much in all. */
static Py_ssize_t row_bytes(const Picks *picks, const Spot *spot)
{
    Py_ssize_t elements = 1;
    if (spot->dims < picks->named || picks->dims + spot->dims - picks->named > MOST_DIMS)
        return -1;
    for (int d = picks->named; d < spot->dims; d++)
        elements *= spot->extent[d];
    return elements * picks->many <= USED_ELEMENTS ? elements * dtypes[spot->dtype].itemsize : -1;
}

/* Whether it lies side by side in memory. */
static int are_rows(const Picks *picks, const Spot *spot)
{
    return lies_packed(spot->dims - picks->named, spot->extent + picks->named, spot->stride + picks->named, dtypes[spot->dtype].itemsize);
}

static inline int is_outside(const char *at, uint64_t extent)
{
    uint64_t index;
    memcpy(&index, at, sizeof index);
    return index + extent >= 2 * extent;
}

/* Whether all indices are within bounds: the general way says where one is not. */
static int are_inside(const Picks *picks, const Spot *spot)
{
    int outside = 0;
    for (int k = 0; k < picks->named; k++) {
        const char *at = picks->at[k];
        Py_ssize_t step = picks->step[k], count = step == 0 ? 1 : picks->many;
        uint64_t extent = (uint64_t)spot->extent[k];
        if (step == 8)
            for (Py_ssize_t i = 0; i < count; i++)
                outside |= is_outside(at + i * 8, extent);
        else
            for (Py_ssize_t i = 0; i < count; i++)
                outside |= is_outside(at + i * step, extent);
    }
    return !outside;
}

/* How far from the array's first element picks are, so many from `first` on. */
static void read_offsets(const Picks *picks, const Spot *spot, Py_ssize_t first, Py_ssize_t many, Py_ssize_t *offset)
{
    for (int k = 0; k < picks->named; k++) {
        const char *at = picks->at[k] + first * picks->step[k];
        Py_ssize_t step = picks->step[k], extent = spot->extent[k], stride = spot->stride[k];
        for (Py_ssize_t i = 0; i < many; i++) {
            int64_t index;
            memcpy(&index, at + i * step, sizeof index);
            index += index < 0 ? extent : 0;
            offset[i] = (k == 0 ? 0 : offset[i]) + index * stride;
        }
    }
}

#define BLOCK 256 /* picks whose offsets are on the stack */

/* The frequent case: one list of places side by side, elements of eight bytes. */
static inline int are_words(const Picks *picks, Py_ssize_t bytes)
{
    return picks->named == 1 && picks->step[0] == 8 && bytes == 8;
}

static inline Py_ssize_t far_of(const char *list, Py_ssize_t number, Py_ssize_t extent, Py_ssize_t stride)
{
    int64_t index;
    memcpy(&index, list + 8 * number, sizeof index);
    return (index + (index < 0 ? extent : 0)) * stride;
}

/* 0 where an index is out of bounds. */
static int gather_words(const char *list, Py_ssize_t many, const Spot *spot, char *to)
{
    Py_ssize_t extent = spot->extent[0], stride = spot->stride[0];
    const char *from = spot->at;
    for (Py_ssize_t i = 0; i < many; i++) {
        if (is_outside(list + 8 * i, (uint64_t)extent))
            return 0;
        memcpy(to + 8 * i, from + far_of(list, i, extent, stride), 8);
    }
    return 1;
}

static int gather_rows(const Picks *picks, const Spot *spot, char *to, Py_ssize_t bytes)
{
    Py_ssize_t offset[BLOCK];
    const char *from = spot->at;
    if (are_words(picks, bytes))
        return gather_words(picks->at[0], picks->many, spot, to);
    if (!are_inside(picks, spot))
        return 0;
    for (Py_ssize_t first = 0; first < picks->many; first += BLOCK) {
        Py_ssize_t many = picks->many - first < BLOCK ? picks->many - first : BLOCK;
        read_offsets(picks, spot, first, many, offset);
        for (Py_ssize_t i = 0; i < many; i++, to += bytes)
            if (bytes == 8)
                memcpy(to, from + offset[i], 8);
            else
                memcpy(to, from + offset[i], (size_t)bytes);
    }
    return 1;
}

/* handle[key]; NULL, without an error, where it is not that simple. */
PyObject *picked(PyObject *handle, PyObject *key)
{
    Picks picks;
    Spot spot;
    if (!read_picks(key, &picks, 1))
        return NULL;
    int known = known_spot(handle, &spot) > 0;
    drop_refusal();
    Py_ssize_t bytes = known && read_picks(key, &picks, 0) ? row_bytes(&picks, &spot) : -1;
    PyObject *memory = bytes >= 0 && are_rows(&picks, &spot) ? allocate(picks.many * bytes + 1) : NULL;
    int rest = spot.dims - picks.named, made_here = memory != NULL && gather_rows(&picks, &spot, ((Memory *)memory)->at, bytes);
    if (made_here)
        memcpy(picks.extent + picks.dims, spot.extent + picks.named, (size_t)rest * sizeof *spot.extent);
    PyObject *made = made_here ? handle_on(memory, spot.dtype, picks.extent, picks.dims + rest) : NULL;
    Py_XDECREF(memory);
    return made;
}

/* What is written: where it is, and the bytes from one pick's content, and from one element, to the next. */
typedef struct {
    const char *at;
    Py_ssize_t pace, step;
    Memory *memory;
    char word[16];
} Content;

/* Whether a value is what is to be written, as it lies in memory: of the array's type and of the shape of what is
   named, or one number.  It is computed, where `computes`. */
static int read_content(PyObject *value, const Picks *picks, const Spot *spot, Py_ssize_t bytes, int computes, Content *content)
{
    Spot found;
    Py_ssize_t size = dtypes[spot->dtype].itemsize;
    int rest = spot->dims - picks->named;
    if (Py_IS_TYPE(value, numpy_array)) {
        NumpyArray *array = (NumpyArray *)value;
        if (array->dims != picks->dims + rest || dtype_of_array(value) != spot->dtype)
            return 0;
        found = (Spot){.at = array->at, .dtype = spot->dtype, .dims = array->dims};
        memcpy(found.extent, array->extent, (size_t)found.dims * sizeof *found.extent);
        memcpy(found.stride, array->stride, (size_t)found.dims * sizeof *found.stride);
    } else if (is_plain(value)) {
        int64_t many = elements_of(handle_shape(value));
        if (handle_dtype(value) != spot->dtype || (many != 1 && many * size != picks->many * bytes) || !(computes ? known_spot(value, &found) > 0 : spot_of(value, &found)))
            return 0;
    } else {
        *content = (Content){.at = content->word};
        return write_number(content->word, spot->dtype, value);
    }
    *content = (Content){.at = found.at, .memory = found.memory};
    if (found.dims == 0)
        return 1;
    int same = found.dims == picks->dims + rest
               && memcmp(found.extent, picks->extent, (size_t)picks->dims * sizeof *found.extent) == 0
               && memcmp(found.extent + picks->dims, spot->extent + picks->named, (size_t)rest * sizeof *found.extent) == 0;
    int is_row = found.dims == 1 && rest == 0;
    content->pace = is_row ? found.stride[0] : bytes;
    content->step = size;
    return same && (is_row || lies_packed(found.dims, found.extent, found.stride, size));
}

static int is_apart(const Picks *picks, const Content *content, const Spot *spot)
{
    int apart = content->memory != spot->memory && !spot->memory->external;
    for (int k = 0; k < picks->named; k++)
        apart = apart && picks->memory[k] != spot->memory;
    return apart;
}

/* The last of several writes to one place stays, as in NumPy. */
static void scatter_rows(const Picks *picks, const Spot *spot, const Content *content, Py_ssize_t bytes)
{
    Py_ssize_t offset[BLOCK], size = dtypes[spot->dtype].itemsize, pace = content->pace;
    Py_ssize_t unit = content->step != 0 ? bytes : size; /* bytes that are copied at a time */
    Py_ssize_t extent = spot->extent[0], stride = spot->stride[0], all = picks->many;
    const char *from = content->at, *list = picks->at[0];
    char *to = spot->at;
    if (are_words(picks, bytes)) {
        for (Py_ssize_t i = 0; i < all; i++)
            memcpy(to + far_of(list, i, extent, stride), from + i * pace, 8);
        return;
    }
    for (Py_ssize_t first = 0; first < picks->many; first += BLOCK) {
        Py_ssize_t many = picks->many - first < BLOCK ? picks->many - first : BLOCK;
        read_offsets(picks, spot, first, many, offset);
        for (Py_ssize_t i = 0; i < many; i++, from += pace)
            if (bytes == 8)
                memcpy(to + offset[i], from, 8);
            else
                for (Py_ssize_t k = 0; k < bytes; k += unit)
                    memcpy(to + offset[i] + k, from, (size_t)unit);
    }
}

/* handle[key] = value: 1 done, 0 where it is not that simple, -1 an error. */
int put_picked(PyObject *handle, PyObject *key, PyObject *value)
{
    Picks picks;
    Content content;
    Spot spot;
    if (is_strict() || !read_picks(key, &picks, 1))
        return 0;
    spot.dtype = handle_dtype(handle);
    spot.dims = read_shape(handle_shape(handle), spot.extent);
    Py_ssize_t bytes = spot.dims < 0 ? -1 : row_bytes(&picks, &spot);
    /* What is written is computed first: it may read what is there now. */
    int ready = bytes >= 0 && read_content(value, &picks, &spot, bytes, 1, &content) && writable_spot(handle, 1, &spot)
                && read_picks(key, &picks, 0) && read_content(value, &picks, &spot, bytes, 0, &content)
                && is_apart(&picks, &content, &spot) && are_rows(&picks, &spot) && are_inside(&picks, &spot);
    drop_refusal();
    if (!ready)
        return PyErr_Occurred() ? -1 : 0;
    scatter_rows(&picks, &spot, &content, bytes);
    return 1;
}
