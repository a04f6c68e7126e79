/* Replays: calls of a recorded function (fusewright.replay) without Python.

   A Replay knows one recording of the common kind: arrays and floats in, new arrays out.  A
   Replayer is the function: it tries its replays and leaves every other call to `general`. */

#include "core.h"
#include <structmember.h>

#define MOST_ARGUMENTS 32
#define MOST_NODES 256

/* ---- one recording ---------------------------------------------------------------------------- */

typedef struct {
    int dtype; /* NO_DTYPE: a float */
    int flags;
    PyObject *shape, *strides;
    int slot; /* in the slice, or -1 where its value is not needed */
} Argument;

typedef struct {
    PyObject_HEAD
    PyObject *options, *guards, *cells, *nodes, *scalars, *order, *outputs, *program, *arguments;
    int count;
    int as_tuple;
    Argument argument[MOST_ARGUMENTS];
} Replay;

/* Whether everything the function reads besides its arguments is what it was. */
static int holds(Replay *replay)
{
    if (!guards_hold(replay->guards, replay->cells))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(replay->nodes); i++) {
        PyObject *entry = PyTuple_GET_ITEM(replay->nodes, i), *handle = PyTuple_GET_ITEM(entry, 0);
        if (!is_plain(handle) || (PyObject *)handle_node(handle) != PyTuple_GET_ITEM(entry, 1))
            return 0;
    }
    return 1;
}

static int fits(Argument *argument, PyObject *given)
{
    if (argument->dtype == NO_DTYPE)
        return PyFloat_CheckExact(given);
    if (!Py_IS_TYPE(given, array_class))
        return 0;
    Handle *handle = (Handle *)given;
    Node *node = handle->node;
    return node != NULL && leaf_memory(node) != NULL && node->dtype == argument->dtype
           && handle->flags == argument->flags && same_shape(node->shape, argument->shape)
           && same_shape(PyTuple_GET_ITEM(node->value, 2), argument->strides) && external_memory(node) == NULL;
}

static int all_fit(Replay *replay, PyObject *const *given)
{
    for (int i = 0; i < replay->count; i++) {
        if (!fits(&replay->argument[i], given[i]))
            return 0;
        for (int k = 0; k < i; k++)
            if (given[k] == given[i] && replay->argument[i].dtype != NO_DTYPE)
                return 0;
    }
    return 1;
}

/* Put what follows from the float arguments into the slice. */
static int bind_scalars(Replay *replay, PyObject *const *given)
{
    if (PyTuple_GET_SIZE(replay->scalars) == 0)
        return 0;
    PyObject *floats = PyList_New(0);
    for (int i = 0; i < replay->count && floats != NULL; i++)
        if (replay->argument[i].dtype == NO_DTYPE && PyList_Append(floats, given[i]) < 0)
            Py_CLEAR(floats);
    for (Py_ssize_t i = 0; floats != NULL && i < PyTuple_GET_SIZE(replay->scalars); i++) {
        PyObject *pair = PyTuple_GET_ITEM(replay->scalars, i);
        PyObject *value = PyObject_CallOneArg(PyTuple_GET_ITEM(pair, 1), floats);
        if (value == NULL)
            Py_CLEAR(floats);
        else
            Py_SETREF(((Node *)PyTuple_GET_ITEM(pair, 0))->value, value);
    }
    Py_XDECREF(floats);
    return floats == NULL ? -1 : 0;
}

/* The call's results; NULL without an error where the call is another. */
static PyObject *replay_locked(Replay *replay, PyObject *const *given, Py_ssize_t count)
{
    if (count != replay->count || !all_fit(replay, given) || !holds(replay))
        return NULL;
    int threads;
    int ready = options_allow(replay->options, &threads);
    if (ready <= 0)
        return NULL;
    Node *order[MOST_NODES], *fresh[MOST_ARGUMENTS];
    Py_ssize_t nodes = PyTuple_GET_SIZE(replay->order), many = PyTuple_GET_SIZE(replay->outputs);
    for (Py_ssize_t i = 0; i < nodes; i++)
        order[i] = (Node *)PyTuple_GET_ITEM(replay->order, i);
    for (int i = 0; i < replay->count; i++)
        if (replay->argument[i].slot >= 0)
            order[replay->argument[i].slot] = ((Handle *)given[i])->node;
    int failed = 0;
    Py_ssize_t made = 0;
    for (; made < many && !failed; made++) {
        long slot = PyLong_AsLong(PyTuple_GET_ITEM(replay->outputs, made));
        fresh[made] = node_new(MAP, no_name, Py_NewRef(no_args), order[slot]->dtype, order[slot]->shape);
        if ((failed = fresh[made] == NULL))
            break;
        Py_SETREF(fresh[made]->attr, Py_NewRef(order[slot]->attr)); /* positions in it are arguments */
        order[slot] = fresh[made];
    }
    for (Py_ssize_t i = 0; i < nodes && !failed; i++)
        Py_INCREF(order[i]); /* whoever has the GIL next may drop them */
    PyObject *result = NULL;
    if (!failed) {
        if (bind_scalars(replay, given) == 0 && program_run(replay->program, order, threads) > 0)
            result = handles_of(fresh, many, replay->as_tuple ? 't' : 0);
        for (Py_ssize_t i = 0; i < nodes; i++)
            Py_DECREF(order[i]);
    }
    int64_t nbytes = 0;
    for (Py_ssize_t i = 0; i < made; i++) {
        if (result != NULL)
            nbytes += ((Memory *)PyTuple_GET_ITEM(fresh[i]->value, 0))->nbytes;
        Py_DECREF(fresh[i]);
    }
    if (result != NULL && count_bytes(nbytes) < 0)
        Py_CLEAR(result);
    return result;
}

static PyObject *replay_call(Replay *replay, PyObject *const *given, Py_ssize_t count)
{
    Lock *lock = evaluation_begins(); /* what fits now must fit when it runs */
    PyObject *result = replay_locked(replay, given, count);
    evaluation_ends(lock);
    return result;
}

static int all_tuples(PyObject *tuple, Py_ssize_t width)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *entry = PyTuple_GET_ITEM(tuple, i);
        if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != width)
            return 0;
    }
    return 1;
}

static int all_first(PyObject *tuple, PyTypeObject *type)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if (!PyObject_TypeCheck(PyTuple_GET_ITEM(PyTuple_GET_ITEM(tuple, i), 0), type))
            return 0;
    return 1;
}

/* Whether the parts of a recording are what they should be. */
static int sound(Replay *replay)
{
    Py_ssize_t nodes = PyTuple_GET_SIZE(replay->order), many = PyTuple_GET_SIZE(replay->outputs);
    int right = all_tuples(replay->guards, 3) && all_first(replay->guards, &PyDict_Type)
                && all_tuples(replay->cells, 2) && all_first(replay->cells, &PyCell_Type)
                && all_tuples(replay->nodes, 2) && all_tuples(replay->scalars, 2)
                && all_first(replay->scalars, &NodeType)
                && program_slots(replay->program) == nodes && (replay->as_tuple || many == 1);
    for (int i = 0; i < replay->count && right; i++)
        right = replay->argument[i].slot < nodes;
    for (Py_ssize_t i = 0; i < many && right; i++) {
        PyObject *slot = PyTuple_GET_ITEM(replay->outputs, i);
        long at = PyLong_CheckExact(slot) ? PyLong_AsLong(slot) : -1;
        right = at >= 0 && at < nodes;
    }
    if (!right && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "not a recording");
    return right && all_nodes(replay->order);
}

/* Replay(options, guards, cells, nodes, arguments, scalars, order, outputs, program, as_tuple);
   an argument is (dtype, flags, shape, strides, slot), or None for a float. */
static PyObject *replay_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    PyObject *options, *guards, *cells, *nodes, *arguments, *scalars, *order, *outputs, *program;
    int as_tuple;
    if (!PyArg_ParseTuple(given, "OO!O!O!O!O!O!O!O!p", &options, &PyTuple_Type, &guards,
                          &PyTuple_Type, &cells, &PyTuple_Type, &nodes, &PyTuple_Type, &arguments,
                          &PyTuple_Type, &scalars, &PyTuple_Type, &order, &PyTuple_Type, &outputs,
                          &ProgramType, &program, &as_tuple))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(arguments);
    if (count > MOST_ARGUMENTS || PyTuple_GET_SIZE(outputs) > MOST_ARGUMENTS
        || PyTuple_GET_SIZE(order) > MOST_NODES) {
        PyErr_SetString(PyExc_ValueError, "a recording too large for the core");
        return NULL;
    }
    Replay *replay = (Replay *)type->tp_alloc(type, 0);
    if (replay == NULL)
        return NULL;
    replay->options = Py_NewRef(options);
    replay->guards = Py_NewRef(guards);
    replay->cells = Py_NewRef(cells);
    replay->nodes = Py_NewRef(nodes);
    replay->arguments = Py_NewRef(arguments); /* keeps shapes and strides */
    replay->scalars = Py_NewRef(scalars);
    replay->order = Py_NewRef(order);
    replay->outputs = Py_NewRef(outputs);
    replay->program = Py_NewRef(program);
    replay->as_tuple = as_tuple;
    replay->count = (int)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *each = PyTuple_GET_ITEM(arguments, i), *dtype;
        Argument *argument = &replay->argument[i];
        argument->dtype = NO_DTYPE;
        argument->slot = -1;
        if (each == Py_None)
            continue;
        if (!PyTuple_CheckExact(each)) {
            PyErr_SetString(PyExc_TypeError, "an argument is a tuple, or None");
            Py_DECREF(replay);
            return NULL;
        }
        if (!PyArg_ParseTuple(each, "OiO!O!i", &dtype, &argument->flags, &PyTuple_Type,
                              &argument->shape, &PyTuple_Type, &argument->strides,
                              &argument->slot)) {
            Py_DECREF(replay);
            return NULL;
        }
        argument->dtype = dtype_index(dtype);
    }
    if (!sound(replay))
        Py_CLEAR(replay);
    return (PyObject *)replay;
}

static int replay_traverse(PyObject *self, visitproc visit, void *arg)
{
    Replay *replay = (Replay *)self;
    Py_VISIT(replay->options);
    Py_VISIT(replay->guards);
    Py_VISIT(replay->cells);
    Py_VISIT(replay->nodes);
    Py_VISIT(replay->arguments);
    Py_VISIT(replay->scalars);
    Py_VISIT(replay->order);
    Py_VISIT(replay->outputs);
    Py_VISIT(replay->program);
    return 0;
}

static int replay_clear(PyObject *self)
{
    Replay *replay = (Replay *)self;
    Py_CLEAR(replay->options);
    Py_CLEAR(replay->guards);
    Py_CLEAR(replay->cells);
    Py_CLEAR(replay->nodes);
    Py_CLEAR(replay->arguments);
    Py_CLEAR(replay->scalars);
    Py_CLEAR(replay->order);
    Py_CLEAR(replay->outputs);
    Py_CLEAR(replay->program);
    return 0;
}

static void replay_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    replay_clear(self);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject ReplayType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Replay",
    .tp_basicsize = sizeof(Replay),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = replay_make,
    .tp_dealloc = replay_dealloc,
    .tp_traverse = replay_traverse,
    .tp_clear = replay_clear,
    .tp_doc = "One recording of a function: arrays and floats in, new arrays out.",
};

/* ---- the function ----------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *general, *replays;
} Replayer;

static PyObject *replayer_call(PyObject *self, PyObject *const *given, size_t flags,
                               PyObject *names)
{
    Replayer *replayer = (Replayer *)self;
    if (names == NULL && replayer->replays != NULL && PyTuple_CheckExact(replayer->replays)) {
        PyObject *replays = Py_NewRef(replayer->replays), *result = NULL;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(replays) && result == NULL; i++) {
            Replay *replay = (Replay *)PyTuple_GET_ITEM(replays, i);
            result = replay_call(replay, given, PyVectorcall_NARGS(flags));
            if (result == NULL && PyErr_Occurred())
                break;
        }
        Py_DECREF(replays);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    if (replayer->general == NULL) {
        PyErr_SetString(PyExc_TypeError, "the function has no general form");
        return NULL;
    }
    if (Py_EnterRecursiveCall(" in a function of arrays"))
        return NULL;
    PyObject *result = PyObject_Vectorcall(replayer->general, given, flags, names);
    Py_LeaveRecursiveCall();
    return result;
}

static PyObject *replayer_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)given, (void)names;
    Replayer *replayer = (Replayer *)type->tp_alloc(type, 0);
    if (replayer != NULL)
        replayer->call = replayer_call;
    return (PyObject *)replayer;
}

static int replayer_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Replayer *)self)->general);
    Py_VISIT(((Replayer *)self)->replays);
    return 0;
}

static int replayer_clear(PyObject *self)
{
    Py_CLEAR(((Replayer *)self)->general);
    Py_CLEAR(((Replayer *)self)->replays);
    return 0;
}

static void replayer_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    replayer_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *get_replays(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *replays = ((Replayer *)self)->replays;
    return Py_NewRef(replays ? replays : no_args);
}

static int set_replays(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    Py_ssize_t count = value != NULL && PyTuple_CheckExact(value) ? PyTuple_GET_SIZE(value) : -1;
    int right = count >= 0;
    for (Py_ssize_t i = 0; i < count && right; i++)
        right = Py_IS_TYPE(PyTuple_GET_ITEM(value, i), &ReplayType);
    if (!right) {
        PyErr_SetString(PyExc_TypeError, "replays are a tuple of Replay");
        return -1;
    }
    Py_XSETREF(((Replayer *)self)->replays, Py_NewRef(value));
    return 0;
}

static PyGetSetDef replayer_fields[] = {
    {"_replays", get_replays, set_replays, NULL, NULL},
    {NULL},
};

static PyMemberDef replayer_members[] = {
    {"_general_form", T_OBJECT, offsetof(Replayer, general), 0, NULL},
    {NULL},
};

PyTypeObject ReplayerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Replayer",
    .tp_basicsize = sizeof(Replayer),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC
                | Py_TPFLAGS_BASETYPE,
    .tp_new = replayer_make,
    .tp_dealloc = replayer_dealloc,
    .tp_traverse = replayer_traverse,
    .tp_clear = replayer_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Replayer, call),
    .tp_getset = replayer_fields,
    .tp_members = replayer_members,
    .tp_doc = "A callable that replays what it has recorded.",
};
