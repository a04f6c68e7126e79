/* Calls of kernels at once, on NumPy's arrays and numbers, without Python (fusewright.kernels.bound).

   A CallCache belongs to one kernel.  It puts the arguments in order (keywords, defaults), walks through
   tuples and the attributes that the kernel uses, and finds by the types of what it meets (of arrays the
   layout too) the BoundCall that an earlier such call has left.  That fills in addresses and numbers, runs
   the code and makes the result.  A call of another kind is left alone. */

#include "groups.h"
#include "library.h"
#include <structmember.h>

#define MOST_KEY 512
#define MOST_LEAVES 64
#define MOST_HELD 128
#define MOST_SLOTS 32
#define MOST_CALL_WORDS 256
#define REPORT_WORDS 64 /* as in targets.cpu.loops */
#define TABLE 512       /* places; a power of two */
#define MOST_CALLS 256
#define LONG_BYTES (1 << 18) /* of arguments, above which other threads may run meanwhile */
#define LARGE_BYTES (1 << 25) /* as in kernels.specialise */
#define ALIGNED 0x0100

enum { CONSTANT, VALUE, RESULT, REPORT, TEAM, EXTENT, STRIDE };

typedef struct {
    int64_t what, number, part; /* part: of a complex number; the dim of an extent or a stride */
} CallWord;

typedef struct {
    int64_t a, b; /* leaves: arrays that must not overlap */
} CallPair;

typedef void Code(int64_t *words, int64_t low, int64_t high, void *scratch);

typedef struct {
    PyObject_HEAD
    PyObject *options, *guards, *cells, *owner, *words, *pairs, *result, *make, *finish, *failed;
    PyObject *take, *give; /* the threads; None: it runs on one */
    PyObject *kept;        /* what the key names by its address */
    Code *code;
    CallWord *word;
    CallPair *pair;
    Py_ssize_t count, pair_count;
    uint64_t *key;
    Py_ssize_t length;
    uint64_t hash;
    long long calls;
} BoundCall;

typedef struct {
    PyObject_HEAD
    PyObject *names, *defaults, *missing, *fixed, *names_of, *outer;
    Py_ssize_t positional, only; /* parameters taken by position, and by nothing else */
    int exact;                   /* whether extents and strides are part of the key */
    BoundCall *table[TABLE];
    Py_ssize_t used;
} CallCache;

/* What a walk through the arguments finds. */
typedef struct {
    CallCache *cache;
    PyObject *keep; /* a list: what the key names by its address; or NULL */
    uint64_t key[MOST_KEY];
    Py_ssize_t length;
    PyObject *leaf[MOST_LEAVES]; /* borrowed */
    Py_ssize_t leaves;
    PyObject *held[MOST_HELD];
    Py_ssize_t helds;
    Py_ssize_t nbytes;
} Walk;

extern PyTypeObject BoundCallType;

/* ---- the key ---------------------------------------------------------------------------------- */

static int push(Walk *walk, uint64_t word)
{
    if (walk->length == MOST_KEY)
        return 0;
    walk->key[walk->length++] = word;
    return 1;
}

static int push_object(Walk *walk, void *object)
{
    if (walk->keep != NULL && PyList_Append(walk->keep, object) < 0)
        return 0;
    return push(walk, (uint64_t)(uintptr_t)object);
}

static int add_leaf(Walk *walk, PyObject *object)
{
    if (walk->leaves == MOST_LEAVES)
        return 0;
    walk->leaf[walk->leaves++] = object;
    return 1;
}

/* Kept until the call has ended; steals. */
static int hold(Walk *walk, PyObject *object)
{
    if (walk->helds == MOST_HELD) {
        Py_DECREF(object);
        return 0;
    }
    walk->held[walk->helds++] = object;
    return 1;
}

static int is_contiguous(NumpyArray *array) { return array->flags & CONTIGUOUS; }

static Py_ssize_t itemsize_of(NumpyArray *array)
{
    int dtype = dtype_of_array((PyObject *)array);
    return dtype == NO_DTYPE ? 0 : dtypes[dtype].itemsize;
}

/* As `kernels.arguments._layout`: of each dim whether it is broadcast, of the last whether it is dense. */
static uint64_t layout_of(NumpyArray *array, Py_ssize_t itemsize)
{
    uint64_t layout = 1;
    if (is_contiguous(array))
        return 0;
    for (int dim = 0; dim < array->dims; dim++) {
        Py_ssize_t stride = array->stride[dim];
        int unit = dim == array->dims - 1 && stride == itemsize;
        layout = layout * 3 + (unit ? 2 : stride == 0 ? 1 : 0);
    }
    return layout;
}

static int walk_array(Walk *walk, NumpyArray *array)
{
    Py_ssize_t itemsize = itemsize_of(array), nbytes = itemsize;
    if (itemsize == 0 || array->dims > 32)
        return 0;
    for (int dim = 0; dim < array->dims; dim++)
        nbytes *= array->extent[dim];
    walk->nbytes += nbytes;
    uint64_t flags = (uint64_t)(array->flags & (ALIGNED | WRITABLE));
    uint64_t head = flags << 32 | (uint64_t)(nbytes >= LARGE_BYTES) << 16 | (uint64_t)array->dims << 1 | 1;
    if (!push(walk, head) || !push_object(walk, array->dtype) || !push(walk, layout_of(array, itemsize)))
        return 0;
    for (int dim = 0; dim < array->dims && walk->cache->exact; dim++)
        if (!push(walk, (uint64_t)array->extent[dim]) || !push(walk, (uint64_t)array->stride[dim]))
            return 0;
    return add_leaf(walk, (PyObject *)array);
}

static int walk_value(Walk *walk, PyObject *value, int is_fixed);

static int walk_tuple(Walk *walk, PyObject *value, int is_fixed)
{
    if (!push_object(walk, Py_TYPE(value)) || !push(walk, (uint64_t)PyTuple_GET_SIZE(value)))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++)
        if (!walk_value(walk, PyTuple_GET_ITEM(value, i), is_fixed))
            return 0;
    return 1;
}

/* The attributes that the kernel uses of objects of this type. */
static int walk_attributes(Walk *walk, PyObject *object, PyObject *names)
{
    if (!push_object(walk, Py_TYPE(object)))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *found = PyObject_GetAttr(object, PyTuple_GET_ITEM(names, i));
        if (found == NULL)
            return PyErr_Clear(), 0; /* Python asks again, and says it */
        if (!hold(walk, found) || !walk_value(walk, found, 0))
            return 0;
    }
    return 1;
}

static int is_static(PyObject *value)
{
    return value == Py_None || PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)
           || PyFunction_Check(value) || PyType_CheckExact(value) || PyModule_CheckExact(value)
           || PyCFunction_CheckExact(value);
}

/* A number that code is compiled for. */
static int walk_fixed(Walk *walk, PyObject *value)
{
    int overflow = 0;
    uint64_t bits = 0;
    if (PyFloat_CheckExact(value))
        memcpy(&bits, &((PyFloatObject *)value)->ob_fval, sizeof bits);
    else if (PyLong_CheckExact(value))
        bits = (uint64_t)PyLong_AsLongLongAndOverflow(value, &overflow);
    else if (PyBool_Check(value))
        bits = value == Py_True;
    else
        return 0;
    return !overflow && push_object(walk, Py_TYPE(value)) && push(walk, bits);
}

/* What is made of other values; 0 for what is not, or what only Python knows. */
static int walk_inside(Walk *walk, PyObject *value, int is_fixed)
{
    PyObject *names = PyTuple_CheckExact(value)
                          ? NULL
                          : PyDict_GetItemWithError(walk->cache->names_of, (PyObject *)Py_TYPE(value));
    if (PyErr_Occurred() || Py_EnterRecursiveCall(" in the arguments of a kernel"))
        return PyErr_Clear(), 0;
    int known = PyTuple_CheckExact(value) ? walk_tuple(walk, value, is_fixed)
                : names != NULL           ? walk_attributes(walk, value, names)
                                          : 0;
    Py_LeaveRecursiveCall();
    return known;
}

/* 1, or 0 for what only Python knows. */
static int walk_value(Walk *walk, PyObject *value, int is_fixed)
{
    if (Py_IS_TYPE(value, numpy_array))
        return !is_fixed && walk_array(walk, (NumpyArray *)value);
    if (is_static(value))
        return push(walk, 3) && push_object(walk, value);
    if (is_known_number(value))
        return is_fixed ? walk_fixed(walk, value) : push_object(walk, Py_TYPE(value)) && add_leaf(walk, value);
    if ((PyLong_Check(value) || PyFloat_Check(value)) && !is_fixed) /* an `IntEnum`'s, say */
        return push_object(walk, Py_TYPE(value)) && add_leaf(walk, value);
    return walk_inside(walk, value, is_fixed);
}

/* ---- the arguments in order ------------------------------------------------------------------- */

/* 1, or 0 where something is wrong with them; borrowed.  Without `named` every parameter has its place. */
static int in_order(CallCache *cache, PyObject *args, PyObject *named, PyObject **value)
{
    Py_ssize_t given = PyTuple_GET_SIZE(args), count = PyTuple_GET_SIZE(cache->names), taken = 0;
    if (given > (named != NULL ? cache->positional : count))
        return 0;
    for (Py_ssize_t i = 0; i < given; i++)
        value[i] = PyTuple_GET_ITEM(args, i);
    for (Py_ssize_t i = given; i < count; i++) {
        PyObject *found = NULL;
        if (named != NULL && PyDict_GET_SIZE(named) > 0 && i >= cache->only)
            found = PyDict_GetItemWithError(named, PyTuple_GET_ITEM(cache->names, i));
        taken += found != NULL;
        if (found == NULL && PyErr_Occurred())
            return PyErr_Clear(), 0;
        value[i] = found != NULL ? found : PyTuple_GET_ITEM(cache->defaults, i);
        if (value[i] == cache->missing)
            return 0;
    }
    return named == NULL || taken == PyDict_GET_SIZE(named);
}

/* What a name from outside, (globals, name) or (cell,), means now; borrowed. */
static PyObject *outer_value(PyObject *where)
{
    PyObject *first = PyTuple_GET_ITEM(where, 0);
    if (PyCell_Check(first))
        return PyCell_GET(first);
    return PyDict_GetItemWithError(first, PyTuple_GET_ITEM(where, 1));
}

static int walk_all(CallCache *cache, PyObject *args, PyObject *named, Walk *walk)
{
    PyObject *value[MOST_LEAVES];
    Py_ssize_t count = PyTuple_GET_SIZE(cache->names);
    PyObject *options = options_in_force();
    if (options == NULL)
        return PyErr_Clear(), 0;
    if (numpy_array == NULL || count > MOST_LEAVES || !in_order(cache, args, named, value)
        || !push_object(walk, options))
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!walk_value(walk, value[i], PyTuple_GET_ITEM(cache->fixed, i) == Py_True))
            return 0;
    PyObject *outer = cache->outer; /* attributes run Python, which may replace it */
    if (!hold(walk, Py_NewRef(outer)))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outer); i++) {
        PyObject *found = outer_value(PyTuple_GET_ITEM(outer, i));
        if (found == NULL)
            return PyErr_Clear(), 0;
        if (!hold(walk, Py_NewRef(found)) || !walk_value(walk, found, 0))
            return 0;
    }
    return 1;
}

static void walk_ends(Walk *walk)
{
    while (walk->helds > 0)
        Py_DECREF(walk->held[--walk->helds]);
}

static uint64_t hash_of(const Walk *walk)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (Py_ssize_t i = 0; i < walk->length; i++) {
        hash = (hash ^ walk->key[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The place of a call with this key, or the free one where it belongs; there is one. */
static BoundCall **place_of(CallCache *cache, const Walk *walk, uint64_t hash)
{
    for (uint64_t at = hash;; at++) {
        BoundCall **place = &cache->table[at & (TABLE - 1)];
        if (*place == NULL
            || ((*place)->hash == hash && (*place)->length == walk->length
                && memcmp((*place)->key, walk->key, (size_t)walk->length * sizeof *walk->key) == 0))
            return place;
    }
}

/* ---- running ---------------------------------------------------------------------------------- */

static int64_t bits_at(const char *at, int dtype)
{
    uint64_t bits = 0;
    Py_ssize_t size = dtypes[dtype].itemsize;
    memcpy(&bits, at, (size_t)size);
    if (dtypes[dtype].kind == 'i' && size < 8)
        return (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
    return (int64_t)bits;
}

/* A part of a complex number of NumPy's. */
static int64_t part_at(const char *at, Py_ssize_t size, int64_t part)
{
    uint64_t bits = 0;
    memcpy(&bits, at + part * (size / 2), (size_t)(size / 2));
    return (int64_t)bits;
}

/* The word of a value: an array's address, a number's bits; 0 where it has none. */
static int word_of(PyObject *value, int64_t part, int64_t *word)
{
    if (Py_IS_TYPE(value, numpy_array)) {
        *word = (int64_t)(intptr_t)((NumpyArray *)value)->at;
        return 1;
    }
    int dtype = scalar_dtype(value), overflow = 0;
    if (dtype != NO_DTYPE) {
        const char *at = (const char *)value + sizeof(PyObject); /* the number follows the head */
        *word = dtypes[dtype].kind == 'c' ? part_at(at, dtypes[dtype].itemsize, part) : bits_at(at, dtype);
        return 1;
    }
    if (PyFloat_Check(value))
        memcpy(word, &((PyFloatObject *)value)->ob_fval, sizeof *word);
    else if (PyComplex_CheckExact(value)) {
        Py_complex both = ((PyComplexObject *)value)->cval;
        memcpy(word, part ? &both.imag : &both.real, sizeof *word);
    }
    else if (PyLong_Check(value))
        *word = PyLong_AsLongLongAndOverflow(value, &overflow);
    else
        return 0;
    return !overflow;
}

typedef struct {
    int64_t word[MOST_CALL_WORDS], report[REPORT_WORDS], slot[MOST_SLOTS][2];
} Frame;

static int fill(BoundCall *call, Walk *walk, Frame *frame)
{
    for (Py_ssize_t i = 0; i < call->count; i++) {
        CallWord *each = &call->word[i];
        int64_t *word = &frame->word[i];
        *word = each->number;
        if (each->what == RESULT)
            *word = (int64_t)(intptr_t)frame->slot[each->number];
        else if (each->what == REPORT)
            *word = (int64_t)(intptr_t)frame->report;
        else if (each->what == TEAM)
            *word = 0;
        else if (each->what != CONSTANT) {
            if (each->number >= walk->leaves)
                return 0;
            NumpyArray *array = (NumpyArray *)walk->leaf[each->number];
            if (each->what == VALUE) {
                if (!word_of((PyObject *)array, each->part, word))
                    return 0;
                continue;
            }
            if (!Py_IS_TYPE(array, numpy_array) || each->part >= array->dims)
                return 0;
            *word = each->what == EXTENT ? array->extent[each->part] : array->stride[each->part];
        }
    }
    return 1;
}

/* The bytes an array lies in, half open. */
static void span_of(NumpyArray *array, char **low, char **high)
{
    Py_ssize_t size = itemsize_of(array);
    *low = *high = array->at;
    for (int dim = 0; dim < array->dims; dim++) {
        if (array->extent[dim] == 0) {
            *low = *high = array->at;
            return;
        }
        Py_ssize_t reach = array->stride[dim] * (array->extent[dim] - 1);
        *(reach < 0 ? low : high) += reach;
    }
    *high += size;
}

static int are_apart(BoundCall *call, Walk *walk)
{
    char *low[2], *high[2];
    for (Py_ssize_t i = 0; i < call->pair_count; i++) {
        if (call->pair[i].a >= walk->leaves || call->pair[i].b >= walk->leaves)
            return 0;
        PyObject *a = walk->leaf[call->pair[i].a], *b = walk->leaf[call->pair[i].b];
        if (!Py_IS_TYPE(a, numpy_array) || !Py_IS_TYPE(b, numpy_array))
            return 0;
        span_of((NumpyArray *)a, &low[0], &high[0]);
        span_of((NumpyArray *)b, &low[1], &high[1]);
        if (low[0] < high[1] && low[1] < high[0])
            return 0;
    }
    return 1;
}

/* The threads' word; -1 where they cannot be asked for. */
static int take_threads(BoundCall *call, Frame *frame, int *taken)
{
    *taken = 0;
    if (call->take == Py_None)
        return 0;
    PyObject *team = PyObject_CallNoArgs(call->take);
    int64_t word = team == NULL ? -1 : PyLong_AsLongLong(team);
    Py_XDECREF(team);
    if (PyErr_Occurred())
        return -1;
    for (Py_ssize_t i = 0; i < call->count; i++)
        if (call->word[i].what == TEAM)
            frame->word[i] = word;
    *taken = word != 0;
    return 0;
}

static int launch(BoundCall *call, Frame *frame, Py_ssize_t nbytes)
{
    int taken;
    if (take_threads(call, frame, &taken) < 0)
        return -1;
    if (nbytes > LONG_BYTES || call->take != Py_None) {
        Py_BEGIN_ALLOW_THREADS
        call->code(frame->word, 0, 1, NULL);
        Py_END_ALLOW_THREADS
    }
    else
        call->code(frame->word, 0, 1, NULL);
    if (taken) {
        PyObject *given = PyObject_CallNoArgs(call->give);
        if (given == NULL)
            return -1;
        Py_DECREF(given);
    }
    if (frame->report[0] == 0)
        return 0;
    PyObject *report = PyBytes_FromStringAndSize((char *)frame->report, sizeof frame->report);
    PyObject *error = report == NULL ? NULL : PyObject_CallOneArg(call->failed, report);
    Py_XDECREF(report);
    if (error != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return -1;
}

/* (slot, dtype, whether it is Python's), a tuple of these, or None. */
static PyObject *result_of(PyObject *shape, Frame *frame)
{
    if (!PyTuple_CheckExact(shape))
        return Py_NewRef(Py_None);
    Py_ssize_t count = PyTuple_GET_SIZE(shape);
    if (count == 3 && PyLong_CheckExact(PyTuple_GET_ITEM(shape, 0))) {
        char *at = (char *)frame->slot[as_size(PyTuple_GET_ITEM(shape, 0))];
        int dtype = dtype_index(PyTuple_GET_ITEM(shape, 1));
        if (PyTuple_GET_ITEM(shape, 2) != Py_True)
            return read_scalar(at, dtype);
        if (dtypes[dtype].kind == 'c')
            return PyComplex_FromDoubles(((double *)at)[0], ((double *)at)[1]);
        return read_number(at, dtype);
    }
    PyObject *all = PyTuple_New(count);
    for (Py_ssize_t i = 0; i < count && all != NULL; i++) {
        PyObject *each = result_of(PyTuple_GET_ITEM(shape, i), frame);
        if (each == NULL)
            Py_CLEAR(all);
        else
            PyTuple_SET_ITEM(all, i, each);
    }
    return all;
}

static PyObject *leaf_tuple(Walk *walk)
{
    PyObject *all = PyTuple_New(walk->leaves);
    for (Py_ssize_t i = 0; i < walk->leaves && all != NULL; i++)
        PyTuple_SET_ITEM(all, i, Py_NewRef(walk->leaf[i]));
    return all;
}

/* The arrays that the call makes become leaves; 0 where Python says so. */
static int make_arrays(BoundCall *call, Walk *walk)
{
    PyObject *leaves = leaf_tuple(walk);
    PyObject *made = leaves == NULL ? NULL : PyObject_CallOneArg(call->make, leaves);
    Py_XDECREF(leaves);
    if (made == NULL)
        return -1;
    int known = PyTuple_CheckExact(made) && hold(walk, made);
    for (Py_ssize_t i = 0; known && i < PyTuple_GET_SIZE(made); i++) {
        known = Py_IS_TYPE(PyTuple_GET_ITEM(made, i), numpy_array) && add_leaf(walk, PyTuple_GET_ITEM(made, i));
    }
    return known;
}

/* NULL, without an error, for another kind of call. */
static PyObject *run(BoundCall *call, Walk *walk)
{
    Frame frame;
    if (options_in_force() != call->options || !guards_hold(call->guards, call->cells) || !are_apart(call, walk))
        return NULL;
    if (call->make != Py_None) {
        int made = make_arrays(call, walk);
        if (made <= 0)
            return NULL;
    }
    if (!fill(call, walk, &frame))
        return NULL;
    frame.report[0] = 0;
    if (launch(call, &frame, walk->nbytes) < 0)
        return NULL;
    call->calls++;
    if (call->finish == Py_None)
        return result_of(call->result, &frame);
    PyObject *leaves = leaf_tuple(walk);
    PyObject *found = leaves == NULL ? NULL : PyObject_CallOneArg(call->finish, leaves);
    Py_XDECREF(leaves);
    return found;
}

/* run(args, named): what the call returns; NotImplemented where no call like it is known. */
static PyObject *cache_run(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    CallCache *cache = (CallCache *)self;
    if (count != 2 || !PyTuple_CheckExact(given[0]) || !PyDict_CheckExact(given[1])) {
        PyErr_SetString(PyExc_TypeError, "run takes a tuple and a dict");
        return NULL;
    }
    Walk walk;
    walk.cache = cache;
    walk.keep = NULL;
    walk.length = walk.leaves = walk.helds = walk.nbytes = 0;
    PyObject *done = NULL;
    if (cache->used > 0 && !is_in_lazy_block() && walk_all(cache, given[0], given[1], &walk)) {
        BoundCall *call = *place_of(cache, &walk, hash_of(&walk));
        if (call != NULL && hold(&walk, Py_NewRef(call)))
            done = run(call, &walk);
    }
    walk_ends(&walk);
    if (done == NULL && !PyErr_Occurred())
        done = Py_NewRef(Py_NotImplemented);
    return done;
}

/* ---- learning --------------------------------------------------------------------------------- */

static PyObject *cache_leaves(PyObject *self, PyObject *args)
{
    CallCache *cache = (CallCache *)self;
    Walk walk;
    walk.cache = cache;
    walk.keep = NULL;
    walk.length = walk.leaves = walk.helds = walk.nbytes = 0;
    if (!PyTuple_CheckExact(args)) {
        PyErr_SetString(PyExc_TypeError, "leaves takes a tuple");
        return NULL;
    }
    PyObject *found = walk_all(cache, args, NULL, &walk) ? leaf_tuple(&walk) : NULL;
    walk_ends(&walk);
    if (found == NULL && !PyErr_Occurred())
        found = Py_NewRef(Py_None);
    return found;
}

static void forget(CallCache *cache)
{
    cache->used = 0;
    for (int i = 0; i < TABLE; i++)
        Py_CLEAR(cache->table[i]);
}

static int set_key(BoundCall *call, const Walk *walk, uint64_t hash)
{
    uint64_t *key = PyMem_Malloc((size_t)(walk->length + 1) * sizeof *key);
    if (key == NULL)
        return PyErr_NoMemory(), -1;
    memcpy(key, walk->key, (size_t)walk->length * sizeof *key);
    call->key = key;
    call->length = walk->length;
    call->hash = hash;
    Py_XSETREF(call->kept, Py_NewRef(walk->keep));
    return 0;
}

/* add(args, call): calls like this one run so from now on; the call that did before. */
static PyObject *cache_add(PyObject *self, PyObject *given)
{
    CallCache *cache = (CallCache *)self;
    PyObject *args;
    BoundCall *call;
    if (!PyArg_ParseTuple(given, "O!O!", &PyTuple_Type, &args, &BoundCallType, &call))
        return NULL;
    Walk walk;
    walk.cache = cache;
    walk.length = walk.leaves = walk.helds = walk.nbytes = 0;
    if (call->key != NULL || (walk.keep = PyList_New(0)) == NULL)
        return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_ValueError, "a call is added once"), NULL);
    PyObject *before = NULL;
    if (walk_all(cache, args, NULL, &walk)) {
        if (cache->used >= MOST_CALLS)
            forget(cache);
        uint64_t hash = hash_of(&walk);
        BoundCall **place = place_of(cache, &walk, hash);
        if (set_key(call, &walk, hash) == 0) {
            cache->used += *place == NULL;
            before = *place == NULL ? Py_NewRef(Py_None) : (PyObject *)*place;
            *place = (BoundCall *)Py_NewRef(call);
        }
    }
    walk_ends(&walk);
    Py_DECREF(walk.keep);
    return before != NULL || PyErr_Occurred() ? before : Py_NewRef(Py_None);
}

static PyObject *cache_clear(PyObject *self, PyObject *none)
{
    (void)none;
    forget((CallCache *)self);
    Py_RETURN_NONE;
}

/* ---- making a call ---------------------------------------------------------------------------- */

static int wrong(const char *what)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, what);
    return -1;
}

static int sound_result(PyObject *shape, int depth)
{
    if (shape == Py_None)
        return 1;
    if (!PyTuple_CheckExact(shape) || depth > 100)
        return 0;
    Py_ssize_t count = PyTuple_GET_SIZE(shape);
    if (count == 3 && PyLong_CheckExact(PyTuple_GET_ITEM(shape, 0))) {
        Py_ssize_t slot = as_size(PyTuple_GET_ITEM(shape, 0));
        return slot >= 0 && slot < MOST_SLOTS && dtype_index(PyTuple_GET_ITEM(shape, 1)) != NO_DTYPE;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!sound_result(PyTuple_GET_ITEM(shape, i), depth + 1))
            return 0;
    return 1;
}

static int sound_call(BoundCall *call)
{
    int right = call->count <= MOST_CALL_WORDS && sound_result(call->result, 0)
                && sound_guards(call->guards, &PyDict_Type, 2, 3)
                && sound_guards(call->cells, &PyCell_Type, 2, 2);
    for (Py_ssize_t i = 0; i < call->count && right; i++) {
        CallWord *word = &call->word[i];
        int64_t most = word->what == RESULT ? MOST_SLOTS : MOST_LEAVES;
        right = word->what >= CONSTANT && word->what <= STRIDE && word->part >= 0
                && (word->what == CONSTANT || (word->number >= 0 && word->number < most));
    }
    for (Py_ssize_t i = 0; i < call->pair_count && right; i++)
        right = call->pair[i].a >= 0 && call->pair[i].a < MOST_LEAVES && call->pair[i].b >= 0
                && call->pair[i].b < MOST_LEAVES;
    return right ? 0 : wrong("not a call");
}

/* BoundCall(options, guards, cells, owner, address, words, pairs, result, make, finish, failed, take, give) */
static PyObject *call_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    PyObject *options, *guards, *cells, *owner, *words, *pairs, *result, *make, *finish, *failed, *take, *give;
    long long address;
    if (!PyArg_ParseTuple(given, "OO!O!OLSSOOOOOO", &options, &PyTuple_Type, &guards, &PyTuple_Type, &cells,
                          &owner, &address, &words, &pairs, &result, &make, &finish, &failed, &take, &give))
        return NULL;
    BoundCall *call = (BoundCall *)type->tp_alloc(type, 0);
    if (call == NULL)
        return NULL;
    call->options = Py_NewRef(options), call->guards = Py_NewRef(guards), call->cells = Py_NewRef(cells);
    call->owner = Py_NewRef(owner), call->words = Py_NewRef(words), call->pairs = Py_NewRef(pairs);
    call->result = Py_NewRef(result), call->make = Py_NewRef(make), call->finish = Py_NewRef(finish);
    call->failed = Py_NewRef(failed), call->take = Py_NewRef(take), call->give = Py_NewRef(give);
    call->code = (Code *)(intptr_t)address;
    call->word = (CallWord *)PyBytes_AS_STRING(words);
    if (PyBytes_GET_SIZE(words) % (Py_ssize_t)sizeof(CallWord) || PyBytes_GET_SIZE(pairs) % (Py_ssize_t)sizeof(CallPair)) {
        Py_DECREF(call);
        wrong("not a call");
        return NULL;
    }
    call->count = PyBytes_GET_SIZE(words) / (Py_ssize_t)sizeof(CallWord);
    call->pair = (CallPair *)PyBytes_AS_STRING(pairs);
    call->pair_count = PyBytes_GET_SIZE(pairs) / (Py_ssize_t)sizeof(CallPair);
    if (sound_call(call) < 0)
        Py_CLEAR(call);
    return (PyObject *)call;
}

#define CALL_PARTS(call) \
    &(call)->options, &(call)->guards, &(call)->cells, &(call)->owner, &(call)->words, &(call)->pairs, \
        &(call)->result, &(call)->make, &(call)->finish, &(call)->failed, &(call)->take, &(call)->give, &(call)->kept

static int call_traverse(PyObject *self, visitproc visit, void *arg)
{
    PyObject **part[] = {CALL_PARTS((BoundCall *)self)};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        Py_VISIT(*part[i]);
    return 0;
}

static void call_dealloc(PyObject *self)
{
    PyObject **part[] = {CALL_PARTS((BoundCall *)self)};
    PyObject_GC_UnTrack(self);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        Py_CLEAR(*part[i]);
    PyMem_Free(((BoundCall *)self)->key);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef call_members[] = {
    {"calls", T_LONGLONG, offsetof(BoundCall, calls), READONLY, "How often it ran."},
    {"options", T_OBJECT, offsetof(BoundCall, options), READONLY, "The settings it was made for."},
    {"owner", T_OBJECT, offsetof(BoundCall, owner), READONLY, "The compiled code."},
    {NULL},
};

PyTypeObject BoundCallType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.BoundCall",
    .tp_basicsize = sizeof(BoundCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = call_make,
    .tp_dealloc = call_dealloc,
    .tp_traverse = call_traverse,
    .tp_members = call_members,
    .tp_doc = "How one kind of call of a kernel runs.",
};

/* ---- the cache of a kernel -------------------------------------------------------------------- */

static int all_tuples(PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value))
        if (!PyTuple_CheckExact(value))
            return 0;
    return 1;
}

static int sound_outer(PyObject *outer)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outer); i++) {
        PyObject *where = PyTuple_GET_ITEM(outer, i);
        if (!PyTuple_CheckExact(where) || PyTuple_GET_SIZE(where) == 0)
            return 0;
        PyObject *first = PyTuple_GET_ITEM(where, 0);
        if (!PyCell_Check(first) && !(PyDict_CheckExact(first) && PyTuple_GET_SIZE(where) == 2))
            return 0;
    }
    return 1;
}

/* CallCache(names, defaults, missing, fixed, positional, only, attributes, outer, exact) */
static PyObject *cache_make(PyTypeObject *type, PyObject *given, PyObject *named)
{
    (void)named;
    PyObject *names, *defaults, *missing, *fixed, *attributes, *outer;
    Py_ssize_t positional, only;
    int exact;
    if (!PyArg_ParseTuple(given, "O!O!OO!nnO!O!p", &PyTuple_Type, &names, &PyTuple_Type, &defaults, &missing,
                          &PyTuple_Type, &fixed, &positional, &only, &PyDict_Type, &attributes, &PyTuple_Type,
                          &outer, &exact))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    if (PyTuple_GET_SIZE(defaults) != count || PyTuple_GET_SIZE(fixed) != count || positional < 0
        || positional > count || !all_tuples(attributes) || !sound_outer(outer)) {
        wrong("not a cache of calls");
        return NULL;
    }
    PyObject *own = PyDict_Copy(attributes);
    CallCache *cache = own == NULL ? NULL : (CallCache *)type->tp_alloc(type, 0);
    if (cache == NULL) {
        Py_XDECREF(own);
        return NULL;
    }
    cache->names = Py_NewRef(names), cache->defaults = Py_NewRef(defaults);
    cache->missing = Py_NewRef(missing), cache->fixed = Py_NewRef(fixed);
    cache->names_of = own, cache->outer = Py_NewRef(outer);
    cache->positional = positional, cache->only = only, cache->exact = exact;
    return (PyObject *)cache;
}

static int cache_traverse(PyObject *self, visitproc visit, void *arg)
{
    CallCache *cache = (CallCache *)self;
    Py_VISIT(cache->defaults);
    Py_VISIT(cache->names_of);
    Py_VISIT(cache->outer);
    for (int i = 0; i < TABLE; i++)
        Py_VISIT(cache->table[i]);
    return 0;
}

static void cache_dealloc(PyObject *self)
{
    CallCache *cache = (CallCache *)self;
    PyObject_GC_UnTrack(self);
    forget(cache);
    Py_CLEAR(cache->names);
    Py_CLEAR(cache->defaults);
    Py_CLEAR(cache->missing);
    Py_CLEAR(cache->fixed);
    Py_CLEAR(cache->names_of);
    Py_CLEAR(cache->outer);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef cache_methods[] = {
    {"run", (PyCFunction)(void (*)(void))cache_run, METH_FASTCALL,
     "Run a call like an earlier one; NotImplemented where none was."},
    {"leaves", cache_leaves, METH_O, "The arrays and numbers among arguments in order, or None."},
    {"add", cache_add, METH_VARARGS, "Calls like this one run so from now on; what they did before."},
    {"clear", cache_clear, METH_NOARGS, "No call is known any more."},
    {NULL},
};

static PyMemberDef cache_members[] = {
    {"used", T_PYSSIZET, offsetof(CallCache, used), READONLY, "How many kinds of calls are known."},
    {"exact", T_INT, offsetof(CallCache, exact), READONLY, "Whether shapes tell calls apart."},
    {NULL},
};

PyTypeObject CallCacheType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.CallCache",
    .tp_basicsize = sizeof(CallCache),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = cache_make,
    .tp_dealloc = cache_dealloc,
    .tp_traverse = cache_traverse,
    .tp_methods = cache_methods,
    .tp_members = cache_members,
    .tp_doc = "The calls of one kernel that run without Python.",
};
