/* One kind of call of a kernel at once, on NumPy's arrays and numbers, without Python (fusewright.kernels.bound): it fills
   in addresses and numbers, runs the code and makes the result. */

#include "bound.h"
#include <structmember.h>

#define MOST_CALL_WORDS 256
#define REPORT_WORDS 64 /* as in targets.cpu.loops */
#define LONG_BYTES (1 << 18) /* of arguments, above which other threads may run meanwhile */

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
    Py_ssize_t size = array_itemsize(array);
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

PyObject *walk_leaves(Walk *walk)
{
    PyObject *all = PyTuple_New(walk->leaves);
    for (Py_ssize_t i = 0; i < walk->leaves && all != NULL; i++)
        PyTuple_SET_ITEM(all, i, Py_NewRef(walk->leaf[i]));
    return all;
}

/* The arrays that the call makes become leaves; 0 where Python says so. */
static int make_arrays(BoundCall *call, Walk *walk)
{
    PyObject *leaves = walk_leaves(walk);
    PyObject *made = leaves == NULL ? NULL : PyObject_CallOneArg(call->make, leaves);
    Py_XDECREF(leaves);
    if (made == NULL)
        return -1;
    int known = PyTuple_CheckExact(made) && walk_hold(walk, made);
    for (Py_ssize_t i = 0; known && i < PyTuple_GET_SIZE(made); i++) {
        known = Py_IS_TYPE(PyTuple_GET_ITEM(made, i), numpy_array) && walk_leaf(walk, PyTuple_GET_ITEM(made, i));
    }
    return known;
}

/* NULL, without an error, for another kind of call. */
PyObject *bound_run(BoundCall *call, Walk *walk)
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
    PyObject *leaves = walk_leaves(walk);
    PyObject *found = leaves == NULL ? NULL : PyObject_CallOneArg(call->finish, leaves);
    Py_XDECREF(leaves);
    return found;
}

/* ---- making a call ---------------------------------------------------------------------------- */

int not_sound(const char *what)
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
    return right ? 0 : not_sound("not a call");
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
        not_sound("not a call");
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
