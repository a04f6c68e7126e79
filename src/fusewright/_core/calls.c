/* Calls of kernels with lazy arrays (fusewright.kernels), recorded without Python.

   A Recorder knows what one kind of call records: which arguments it takes, the nodes it appends to
   the pending list, and which arguments get new values.  A call of another kind is left alone. */

#include "groups.h"
#include <structmember.h>

#define MOST_VALUES 512

typedef struct {
    int kind, dtype, count, first; /* operands are `operand[first]` and those that follow */
    PyObject *op, *shape, *attr;   /* borrowed */
} Step;

typedef struct {
    PyObject_HEAD
    PyObject *options, *guards, *cells, *arguments, *constants, *steps, *writes;
    Deferral *deferral; /* NULL: the call records the steps */
    long long calls;
    int count, values, made, written; /* arguments, all values, steps, writes */
    Argument argument[MOST_ARGUMENTS];
    int array[MOST_ARGUMENTS], fresh[MOST_ARGUMENTS]; /* a write: the argument, the value */
    Step *step;
    int *operand;
} Recorder;

/* ---- whether a call is of the kind ------------------------------------------------------------ */

int guards_hold(PyObject *guards, PyObject *cells)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(guards); i++) {
        PyObject *guard = PyTuple_GET_ITEM(guards, i);
        PyObject *now = PyDict_GetItemWithError(PyTuple_GET_ITEM(guard, 0),
                                                PyTuple_GET_ITEM(guard, 1));
        /* without a third entry: the name must be missing */
        if (now != (PyTuple_GET_SIZE(guard) == 3 ? PyTuple_GET_ITEM(guard, 2) : NULL))
            return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); i++) {
        PyObject *cell = PyTuple_GET_ITEM(cells, i);
        if (PyCell_GET(PyTuple_GET_ITEM(cell, 0)) != PyTuple_GET_ITEM(cell, 1))
            return 0;
    }
    return 1;
}

/* `lent`: it is a NumPy array's handle, which only kernels of this block see. */
static int fits(Argument *argument, PyObject *given, int lent)
{
    int overflow;
    switch (argument->form) {
    case FLOAT:
        return PyFloat_CheckExact(given);
    case INTEGER:
        if (!PyLong_CheckExact(given))
            return 0;
        PyLong_AsLongLongAndOverflow(given, &overflow);
        return !overflow;
    case FIXED:
        return PyLong_CheckExact(given) && PyObject_RichCompareBool(given, argument->shape, Py_EQ) == 1;
    }
    if (!Py_IS_TYPE(given, argument->form == LAZY ? scalar_class : array_class))
        return 0;
    Handle *handle = (Handle *)given;
    Node *node = handle->node;
    if (node == NULL || node->dtype != argument->dtype)
        return 0;
    if (lent ? node->kind == LEAF && leaf_memory(node) == NULL : is_seen_by_others(node))
        return 0;
    return argument->form == LAZY
           || (handle->flags == argument->flags && same_shape(node->shape, argument->shape));
}

static int all_fit(Recorder *recorder, PyObject *const *given, const char *lent)
{
    for (int i = 0; i < recorder->count; i++) {
        Argument *argument = &recorder->argument[i];
        if (!fits(argument, given[i], lent[i]))
            return 0;
        for (int k = 0; k < i && argument->form == ARRAY; k++)
            if (recorder->argument[k].form == ARRAY
                && (given[k] == given[i]) != (recorder->argument[k].slot == argument->slot))
                return 0;
    }
    return 1;
}

/* ---- recording it ----------------------------------------------------------------------------- */

static Node *argument_node(Argument *argument, PyObject *given)
{
    if (argument->form == ARRAY || argument->form == LAZY)
        return (Node *)Py_NewRef(((Handle *)given)->node);
    int dtype = argument->form == FLOAT ? dtype_float64 : dtype_int64;
    Node *node = node_new(SCALAR, no_name, Py_NewRef(no_args), dtype, no_args);
    if (node != NULL)
        Py_SETREF(node->value, Py_NewRef(given));
    return node;
}

static Node *step_node(Recorder *recorder, Step *step, Node **values)
{
    PyObject *args = PyTuple_New(step->count);
    if (args == NULL)
        return NULL;
    for (int i = 0; i < step->count; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(values[recorder->operand[step->first + i]]));
    PyObject_GC_UnTrack(args); /* nodes form no cycles */
    Node *node = node_new(step->kind, step->op, args, step->dtype, step->shape);
    if (node == NULL)
        return NULL;
    Py_SETREF(node->attr, Py_NewRef(step->attr));
    if (record(node) < 0)
        Py_CLEAR(node);
    return node;
}

/* 1 done, 0 another kind of call, -1 an error; nothing is written then. */
static int record_steps(Recorder *recorder, PyObject *const *given)
{
    int made = 0, done = 1;
    Node *values[MOST_VALUES] = {NULL};
    Py_ssize_t constants = PyTuple_GET_SIZE(recorder->constants);
    int first = recorder->values - recorder->made, failed = 0;
    for (int i = 0; i < recorder->count && !failed; i++) {
        int slot = recorder->argument[i].slot;
        if (slot >= 0 && values[slot] == NULL)
            failed = (values[slot] = argument_node(&recorder->argument[i], given[i])) == NULL;
    }
    for (Py_ssize_t i = 0; i < constants && !failed; i++)
        values[first - constants + i] = (Node *)Py_NewRef(PyTuple_GET_ITEM(recorder->constants, i));
    for (; made < recorder->made && !failed; made++)
        failed = (values[first + made] = step_node(recorder, &recorder->step[made], values)) == NULL;
    for (int i = 0; i < recorder->written && !failed; i++) /* Python copies what others can write */
        done &= external_memory(values[recorder->fresh[i]]) == NULL;
    for (int i = 0; i < recorder->written && !failed && done; i++)
        failed = handle_write((Handle *)given[recorder->array[i]], values[recorder->fresh[i]]) < 0;
    for (int i = 0; i < recorder->values; i++)
        Py_XDECREF(values[i]);
    return failed ? -1 : done;
}

/* What the call returns; NULL, without an error, for another kind of call. */
static PyObject *record_call(Recorder *recorder, PyObject *const *given, const char *lent,
                             Py_ssize_t count)
{
    int threads;
    if (count != recorder->count || !all_fit(recorder, given, lent) || !guards_hold(recorder->guards, recorder->cells)
        || options_allow(recorder->options, &threads) <= 0)
        return NULL;
    PyObject *result = NULL;
    if (recorder->deferral != NULL)
        result = defer_call(recorder->deferral, recorder->argument, given);
    else if (record_steps(recorder, given) > 0)
        result = Py_NewRef(Py_None);
    recorder->calls += result != NULL;
    return result;
}

/* The arguments, held, with handles in the place of NumPy's arrays; how many were found before one
   that Python has to lend. */
static Py_ssize_t borrow(PyObject *const *given, Py_ssize_t count, PyObject **handles, char *lent)
{
    Py_ssize_t found = 0;
    for (; found < count; found++) {
        lent[found] = (char)is_numpy_array(given[found]);
        PyObject *handle = lent[found] ? lend(given[found]) : given[found];
        if (handle == NULL)
            break;
        handles[found] = Py_NewRef(handle); /* what runs meanwhile may end the block */
    }
    return found;
}

/* record_call(recorders, arguments): what the call returns; NotImplemented if none of them knew it. */
static PyObject *record_call_method(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyTuple_CheckExact(given[0]) || !PyTuple_CheckExact(given[1])) {
        PyErr_SetString(PyExc_TypeError, "record_call takes two tuples");
        return NULL;
    }
    PyObject *recorders = Py_NewRef(given[0]), *done = NULL;
    PyObject *const *arguments = &PyTuple_GET_ITEM(given[1], 0), *handles[MOST_ARGUMENTS];
    Py_ssize_t many = PyTuple_GET_SIZE(given[1]);
    char lent[MOST_ARGUMENTS] = {0};
    Py_ssize_t held = 0;
    Lock *lock = evaluation_begins(); /* no write between what it reads and what it writes */
    int known = many <= MOST_ARGUMENTS;
    if (known && is_lending()) {
        held = borrow(arguments, many, handles, lent);
        known = held == many;
        arguments = handles;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(recorders) && done == NULL && known; i++) {
        PyObject *each = PyTuple_GET_ITEM(recorders, i);
        if (Py_IS_TYPE(each, &RecorderType))
            TIME(done = record_call((Recorder *)each, arguments, lent, many));
        else
            PyErr_SetString(PyExc_TypeError, "only a Recorder records calls");
        if (PyErr_Occurred())
            break;
    }
    evaluation_ends(lock);
    while (held > 0)
        Py_DECREF(handles[--held]);
    Py_DECREF(recorders);
    if (done == NULL && !PyErr_Occurred())
        done = Py_NewRef(Py_NotImplemented);
    return done;
}

PyMethodDef call_methods[] = {
    {"record_call", (PyCFunction)(void (*)(void))record_call_method, METH_FASTCALL,
     "Record a call like an earlier one; NotImplemented where none was."},
    {NULL},
};

/* ---- making one ------------------------------------------------------------------------------- */

static int wrong(const char *what)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, what);
    return -1;
}

/* (form, slot, dtype, flags, shape), the shape of a fixed integer being its value. */
static int take_argument(Recorder *recorder, int number)
{
    PyObject *each = PyTuple_GET_ITEM(recorder->arguments, number), *dtype;
    Argument *argument = &recorder->argument[number];
    if (!PyTuple_CheckExact(each)
        || !PyArg_ParseTuple(each, "iiOiO", &argument->form, &argument->slot, &dtype,
                             &argument->flags, &argument->shape))
        return wrong("an argument is a tuple");
    argument->dtype = dtype_index(dtype);
    int right = argument->form >= 0 && argument->form < FORMS && argument->slot >= -1;
    right = right && (argument->form == FIXED ? PyLong_CheckExact(argument->shape)
                                              : PyTuple_CheckExact(argument->shape));
    return right && argument->dtype != NO_DTYPE ? 0 : wrong("not an argument");
}

/* (kind, op, operands, dtype, shape, attr); operands are earlier values. */
static int take_step(Recorder *recorder, int number, int first, int *used)
{
    PyObject *each = PyTuple_GET_ITEM(recorder->steps, number), *operands, *dtype;
    Step *step = &recorder->step[number];
    if (!PyTuple_CheckExact(each)
        || !PyArg_ParseTuple(each, "iUO!OO!O", &step->kind, &step->op, &PyTuple_Type, &operands,
                             &dtype, &PyTuple_Type, &step->shape, &step->attr))
        return wrong("a step is a tuple");
    step->dtype = dtype_index(dtype);
    step->first = *used;
    step->count = (int)PyTuple_GET_SIZE(operands);
    if (step->kind < MAP || step->kind >= OPAQUE || step->dtype == NO_DTYPE)
        return wrong("not a step");
    int *grown = PyMem_Realloc(recorder->operand, (size_t)(*used + step->count + 1) * sizeof(int));
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    recorder->operand = grown;
    for (int i = 0; i < step->count; i++) {
        long operand = PyLong_AsLong(PyTuple_GET_ITEM(operands, i));
        if (operand < 0 || operand >= first + number)
            return wrong("an operand is an earlier value");
        recorder->operand[(*used)++] = (int)operand;
    }
    return 0;
}

/* Values that no argument gives must come from constants and steps. */
static int all_given(Recorder *recorder, int first)
{
    Py_ssize_t inputs = first - PyTuple_GET_SIZE(recorder->constants);
    for (Py_ssize_t slot = 0; slot < inputs; slot++) {
        int found = 0;
        for (int i = 0; i < recorder->count; i++)
            found |= recorder->argument[i].slot == slot;
        if (!found)
            return 0;
    }
    for (int i = 0; i < recorder->count; i++)
        if (recorder->argument[i].slot >= inputs)
            return 0;
    return all_nodes(recorder->constants);
}

static int take_writes(Recorder *recorder)
{
    for (int i = 0; i < recorder->written; i++) {
        PyObject *each = PyTuple_GET_ITEM(recorder->writes, i);
        if (!PyTuple_CheckExact(each)
            || !PyArg_ParseTuple(each, "ii", &recorder->array[i], &recorder->fresh[i]))
            return wrong("a write is a pair");
        int array = recorder->array[i], fresh = recorder->fresh[i];
        if (array < 0 || array >= recorder->count || recorder->argument[array].form != ARRAY
            || fresh < 0 || fresh >= recorder->values)
            return wrong("not a write");
    }
    return 0;
}

static int take_all(Recorder *recorder, int inputs)
{
    int first = inputs + (int)PyTuple_GET_SIZE(recorder->constants), used = 0;
    for (int i = 0; i < recorder->count; i++)
        if (take_argument(recorder, i) < 0)
            return -1;
    recorder->step = PyMem_Calloc((size_t)recorder->made + 1, sizeof(Step));
    if (recorder->step == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < recorder->made; i++)
        if (take_step(recorder, i, first, &used) < 0)
            return -1;
    if (!all_given(recorder, first))
        return wrong("a value comes from nowhere");
    return take_writes(recorder);
}

int sound_guards(PyObject *guards, PyTypeObject *type, Py_ssize_t least, Py_ssize_t most)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(guards); i++) {
        PyObject *guard = PyTuple_GET_ITEM(guards, i);
        if (!PyTuple_CheckExact(guard) || PyTuple_GET_SIZE(guard) < least
            || PyTuple_GET_SIZE(guard) > most || !Py_IS_TYPE(PyTuple_GET_ITEM(guard, 0), type))
            return 0;
    }
    return 1;
}

/* Positions that a deferral takes arguments from. */
static int takes_arrays(Recorder *recorder, Deferral *deferral)
{
    for (int i = 0; i < deferral->arrays; i++)
        if (deferral->array[i] >= recorder->count
            || recorder->argument[deferral->array[i]].form != ARRAY)
            return 0;
    for (int i = 0; i < deferral->numbers; i++)
        if (deferral->number[i] >= recorder->count
            || recorder->argument[deferral->number[i]].form == ARRAY)
            return 0;
    return 1;
}

/* Recorder(options, guards, cells, arguments, inputs, constants, steps, writes, deferral=None);
   `inputs` values come from arguments. */
static PyObject *recorder_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    PyObject *options, *guards, *cells, *arguments, *constants, *steps, *writes, *deferral = NULL;
    int inputs;
    if (!PyArg_ParseTuple(given, "OO!O!O!iO!O!O!|O!", &options, &PyTuple_Type, &guards, &PyTuple_Type,
                          &cells, &PyTuple_Type, &arguments, &inputs, &PyTuple_Type, &constants,
                          &PyTuple_Type, &steps, &PyTuple_Type, &writes, &DeferralType, &deferral))
        return NULL;
    Py_ssize_t values = inputs + PyTuple_GET_SIZE(constants) + PyTuple_GET_SIZE(steps);
    if (PyTuple_GET_SIZE(arguments) > MOST_ARGUMENTS || PyTuple_GET_SIZE(writes) > MOST_ARGUMENTS
        || values > MOST_VALUES || inputs < 0 || !sound_guards(guards, &PyDict_Type, 2, 3)
        || !sound_guards(cells, &PyCell_Type, 2, 2)) {
        PyErr_SetString(PyExc_ValueError, "not a call the core can record");
        return NULL;
    }
    Recorder *recorder = (Recorder *)type->tp_alloc(type, 0);
    if (recorder == NULL)
        return NULL;
    recorder->options = Py_NewRef(options);
    recorder->guards = Py_NewRef(guards);
    recorder->cells = Py_NewRef(cells);
    recorder->arguments = Py_NewRef(arguments); /* these keep what is borrowed of them */
    recorder->constants = Py_NewRef(constants);
    recorder->steps = Py_NewRef(steps);
    recorder->writes = Py_NewRef(writes);
    recorder->count = (int)PyTuple_GET_SIZE(arguments);
    recorder->made = (int)PyTuple_GET_SIZE(steps);
    recorder->written = (int)PyTuple_GET_SIZE(writes);
    recorder->values = (int)values;
    recorder->deferral = (Deferral *)Py_XNewRef(deferral);
    if (take_all(recorder, inputs) < 0)
        Py_CLEAR(recorder);
    else if (deferral != NULL && !takes_arrays(recorder, recorder->deferral)) {
        wrong("not a call to defer");
        Py_CLEAR(recorder);
    }
    return (PyObject *)recorder;
}

static int recorder_traverse(PyObject *self, visitproc visit, void *arg)
{
    Recorder *recorder = (Recorder *)self;
    Py_VISIT(recorder->options);
    Py_VISIT(recorder->guards);
    Py_VISIT(recorder->cells);
    Py_VISIT(recorder->arguments);
    Py_VISIT(recorder->constants);
    Py_VISIT(recorder->steps);
    Py_VISIT(recorder->writes);
    Py_VISIT(recorder->deferral);
    return 0;
}

static void recorder_dealloc(PyObject *self)
{
    Recorder *recorder = (Recorder *)self;
    PyObject_GC_UnTrack(self);
    Py_CLEAR(recorder->options);
    Py_CLEAR(recorder->guards);
    Py_CLEAR(recorder->cells);
    Py_CLEAR(recorder->arguments);
    Py_CLEAR(recorder->constants);
    Py_CLEAR(recorder->steps);
    Py_CLEAR(recorder->writes);
    Py_CLEAR(recorder->deferral);
    PyMem_Free(recorder->step);
    PyMem_Free(recorder->operand);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef recorder_members[] = {
    {"calls", T_LONGLONG, offsetof(Recorder, calls), READONLY, NULL},
    {NULL},
};

PyTypeObject RecorderType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Recorder",
    .tp_basicsize = sizeof(Recorder),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = recorder_make,
    .tp_dealloc = recorder_dealloc,
    .tp_traverse = recorder_traverse,
    .tp_members = recorder_members,
    .tp_doc = "What one kind of call of a kernel records.",
};
