/* One kind of call of a kernel at once, on NumPy's arrays and numbers, without Python (fusewright.kernels.bound): it fills
   in addresses and numbers, runs the code and makes the result. */

#include "bound.h"
#include <structmember.h>

#define MOST_CALL_WORDS 256
#define REPORT_WORDS 64 /* as in targets.cpu.loops */

/* ---- running ---------------------------------------------------------------------------------- */

typedef struct {
    int64_t word[MOST_CALL_WORDS], report[REPORT_WORDS], slot[MOST_SLOTS][2];
} Frame;

/* 1, 0 for another kind of call, -1 an error. */
static int fill(BoundCall *call, Walk *walk, Frame *frame)
{
    int64_t value[FIRST_RESULT + MOST_SLOTS];
    value[REPORT_VALUE] = (int64_t)(intptr_t)frame->report;
    for (int64_t i = 0; i < call->results; i++)
        value[FIRST_RESULT + i] = (int64_t)(intptr_t)frame->slot[i];
    Sources from = {0, FIRST_RESULT + MOST_SLOTS, walk->leaves, NULL, value, walk->leaf};
    return fill_words(call->word, call->count, &from, frame->word);
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

static int run_code(BoundCall *call, Frame *frame, Py_ssize_t nbytes)
{
    if (launch_loops(&call->loops, frame->word, nbytes) < 0)
        return -1;
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
    frame.report[0] = 0;
    if (fill(call, walk, &frame) <= 0 || run_code(call, &frame, walk->nbytes) < 0)
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
    Sources most = {0, FIRST_RESULT + MOST_SLOTS, MOST_LEAVES, NULL, NULL, NULL};
    int right = call->count <= MOST_CALL_WORDS && call->loops.team < call->count && sound_result(call->result, 0)
                && sound_guards(call->guards, &PyDict_Type, 2, 3)
                && sound_guards(call->cells, &PyCell_Type, 2, 2);
    for (Py_ssize_t i = 0; i < call->count && right; i++) {
        Word *word = &call->word[i];
        right = sound_word(word, &most);
        if (word->what == VALUE_WORD && word->number - FIRST_RESULT >= call->results)
            call->results = word->number - FIRST_RESULT + 1;
    }
    for (Py_ssize_t i = 0; i < call->pair_count && right; i++)
        right = call->pair[i].a >= 0 && call->pair[i].a < MOST_LEAVES && call->pair[i].b >= 0
                && call->pair[i].b < MOST_LEAVES;
    return right ? 0 : not_sound("not a call");
}

/* BoundCall(options, guards, cells, owner, address, team, threads, words, pairs, result, make, finish, failed) */
static PyObject *call_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    PyObject *options, *guards, *cells, *owner, *words, *pairs, *result, *make, *finish, *failed;
    long long address;
    int team, threads;
    if (!PyArg_ParseTuple(given, "OO!O!OLiiSSOOOO", &options, &PyTuple_Type, &guards, &PyTuple_Type, &cells,
                          &owner, &address, &team, &threads, &words, &pairs, &result, &make, &finish, &failed))
        return NULL;
    BoundCall *call = (BoundCall *)type->tp_alloc(type, 0);
    if (call == NULL)
        return NULL;
    call->options = Py_NewRef(options), call->guards = Py_NewRef(guards), call->cells = Py_NewRef(cells);
    call->owner = Py_NewRef(owner), call->words = Py_NewRef(words), call->pairs = Py_NewRef(pairs);
    call->result = Py_NewRef(result), call->make = Py_NewRef(make), call->finish = Py_NewRef(finish);
    call->failed = Py_NewRef(failed);
    call->loops = (Loops){(Kernel *)(intptr_t)address, team, threads};
    call->word = (Word *)PyBytes_AS_STRING(words);
    if (PyBytes_GET_SIZE(words) % (Py_ssize_t)sizeof(Word) || PyBytes_GET_SIZE(pairs) % (Py_ssize_t)sizeof(CallPair)) {
        Py_DECREF(call);
        not_sound("not a call");
        return NULL;
    }
    call->count = PyBytes_GET_SIZE(words) / (Py_ssize_t)sizeof(Word);
    call->pair = (CallPair *)PyBytes_AS_STRING(pairs);
    call->pair_count = PyBytes_GET_SIZE(pairs) / (Py_ssize_t)sizeof(CallPair);
    if (sound_call(call) < 0)
        Py_CLEAR(call);
    return (PyObject *)call;
}

#define CALL_PARTS(call) \
    &(call)->options, &(call)->guards, &(call)->cells, &(call)->owner, &(call)->words, &(call)->pairs, \
        &(call)->result, &(call)->make, &(call)->finish, &(call)->failed, &(call)->kept

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
