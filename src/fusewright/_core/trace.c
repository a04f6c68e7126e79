/* The pending list, its gate, and values asked for.

   The policy (what a closed gate means, when pending work is computed unasked) is Python's, in
   frontends.arrays.trace. */

#include "front.h"
#include <stddef.h>

static PyObject *pending;     /* the list of frontends.arrays.trace */
static PyObject *passed_gate; /* what a record calls once the list is longer than `gate` */
static PyObject *slow_evaluate, *made_bytes, *settle;
static PyObject *left; /* what the last flush left alone */
static Py_ssize_t whole; /* the list's length when its tail was cut last */
static Py_ssize_t gate;
static Py_ssize_t due; /* the length up to which records that read no shared memory pass anyway */
static int readings; /* buffers that functions of C are reading now */
static int armed; /* whether places in loops are being watched */
static int native; /* whether requests go to our own driver */

#define MANY 32 /* values that are left behind, as in frontends.arrays.trace: so many are pruned */

#define UNCOUNTED (1 << 20) /* bytes of results that may add up before Python counts them */
static int64_t uncounted;

static Lock *evaluating;

/* ---- recording ------------------------------------------------------------------------------ */

static int reads_shared(Node *node)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++)
        if (is_seen_by_others((Node *)PyTuple_GET_ITEM(node->args, i)))
            return 1;
    return 0;
}

static int is_watched(void) { return gate < 0 || readings > 0; } /* whether somebody else sees memory of ours */

int record(Node *node) { return is_laid_out(node) && derive_layout(node) < 0 ? -1 : record_straight(node); }

int record_straight(Node *node)
{
    if (!append_in_place(pending, (PyObject *)node) && PyList_Append(pending, (PyObject *)node) < 0)
        return -1;
    int is_of_shared = is_watched() && due >= 0 && reads_shared(node);
    if (is_of_shared && !is_in_lazy_block()) /* others may write to what it reads */
        return evaluate(&node, 1);
    if (PyList_GET_SIZE(pending) > gate) {
        if (gate < 0 && PyList_GET_SIZE(pending) <= due && !is_of_shared)
            return 0;
        int passed = is_watched() ? 0 : steady_passes(pending, left, gate);
        if (passed != 0)
            return passed < 0 ? -1 : 0;
        if (!reads_shared(node) && places_pass(PyList_GET_SIZE(pending)))
            return 0;
        PyObject *done = PyObject_CallOneArg(passed_gate, (PyObject *)node);
        if (done == NULL)
            return -1;
        Py_DECREF(done);
    }
    return 0;
}

static PyObject *record_method(PyObject *module, PyObject *node)
{
    (void)module;
    if (!Py_IS_TYPE(node, &NodeType)) {
        PyErr_SetString(PyExc_TypeError, "only a Node can be recorded");
        return NULL;
    }
    return record((Node *)node) < 0 ? NULL : Py_NewRef(node);
}

/* Forget the newest nodes as far as they are computed or dead: their operands die with them. */
void drop_tail(void)
{
    for (Py_ssize_t count = PyList_GET_SIZE(pending); count > 0;) {
        Node *node = (Node *)PyList_GET_ITEM(pending, count - 1);
        if (Py_REFCNT(node) > 1 && node->kind != LEAF && node->kind != SCALAR)
            break;
        Py_SET_SIZE(pending, --count); /* before the reference goes: finalisers may record */
        Py_DECREF(node);
        count = PyList_GET_SIZE(pending);
        whole = count;
    }
}

/* The last of the list, which somebody holds; NULL where none is. */
Node *newest_pending(void)
{
    drop_tail();
    Py_ssize_t count = PyList_GET_SIZE(pending);
    return count > 0 ? (Node *)PyList_GET_ITEM(pending, count - 1) : NULL;
}

static PyObject *drop_tail_method(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    drop_tail();
    Py_RETURN_NONE;
}

/* Note another edge to each operand: `slot` counts them in the walk `mark`. */
static void count_edges(Node *node, uint64_t mark)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, k);
        arg->slot = arg->mark == mark ? arg->slot + 1 : 1;
        arg->mark = mark;
    }
}

/* prune(base): drop the computed and the dead, newest first, since a dead node keeps its operands
   alive; how many of the first `base` stay.  They go when the list is whole again: finalisers may record. */
static PyObject *prune(PyObject *module, PyObject *number)
{
    (void)module;
    Py_ssize_t count = PyList_GET_SIZE(pending), kept = 0, gone = 0, below = 0;
    Py_ssize_t base = PyLong_AsSsize_t(number);
    if (base == -1 && PyErr_Occurred())
        return NULL;
    Node **dropped = PyMem_Malloc((size_t)count * sizeof *dropped + 1);
    if (dropped == NULL)
        return PyErr_NoMemory();
    uint64_t mark = next_walk();
    for (Py_ssize_t i = count - 1; i >= 0; i--) {
        Node *node = (Node *)PyList_GET_ITEM(pending, i);
        Py_ssize_t edges = node->mark == mark ? node->slot : 0; /* from the dead */
        if (node->kind == LEAF || Py_REFCNT(node) - 1 <= edges) {
            count_edges(node, mark);
            dropped[gone++] = node;
            PyList_SET_ITEM(pending, i, NULL);
        }
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyList_GET_ITEM(pending, i) != NULL) {
            below += i < base;
            PyList_SET_ITEM(pending, kept++, PyList_GET_ITEM(pending, i));
        }
    Py_SET_SIZE(pending, kept);
    whole = kept;
    for (Py_ssize_t i = 0; i < gone; i++)
        Py_DECREF(dropped[i]);
    PyMem_Free(dropped);
    return PyLong_FromSsize_t(below);
}

/* ---- values asked for ----------------------------------------------------------------------- */

int left_to_python(Node **nodes, Py_ssize_t count)
{
    PyObject *list = PyTuple_New(count);
    if (list == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(list, i, Py_NewRef(nodes[i]));
    PyObject *done = PyObject_CallObject(slow_evaluate, list);
    Py_DECREF(list);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Little is counted when it has added up: see trace.note_bytes. */
int count_bytes(int64_t nbytes)
{
    uncounted += nbytes;
    if (uncounted <= UNCOUNTED)
        return 0;
    PyObject *noted = PyObject_CallFunction(made_bytes, "L", (long long)uncounted);
    uncounted = 0;
    Py_XDECREF(noted);
    return noted == NULL ? -1 : 0;
}

/* A fork's child has another lock: who left the old one there must not leave that. */
Lock *evaluation_begins(void)
{
    Lock *lock = (Lock *)Py_NewRef(evaluating);
    lock_take(lock);
    return lock;
}

void evaluation_ends(Lock *lock)
{
    lock_leave(lock);
    Py_DECREF(lock);
}
/* A request is under way under a lock: what is computed for it is a part, which nobody has asked for.  Gives the one
   around it, for `request_ends`. */
static Lock *within;
Lock *request_begins(Lock *lock)
{
    Lock *around = within;
    within = lock;
    return around;
}

void request_ends(Lock *around) { within = around; }
int is_native(void) { return native; }
int is_nested(void) { return lock_depth(evaluating) > 1; }
PyObject *pending_list(void) { return pending; }
PyObject *left_list(void) { return left; }

/* Whether Python has something to decide after an evaluation: within a loop, or as values have been left behind since
   it was asked last. */
static int is_to_settle(void)
{
    static Py_ssize_t settled;
    Py_ssize_t length = PyList_GET_SIZE(pending);
    settled = length < settled ? length : settled;
    if (!armed && length <= settled + MANY)
        return 0;
    settled = length;
    return 1;
}

/* Turn nodes into leaves now. */
int evaluate(Node **nodes, Py_ssize_t count)
{
    int computed = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (nodes[i]->kind == SCALAR)
            return left_to_python(nodes, count);
        computed &= nodes[i]->kind == LEAF;
    }
    if (computed || !native)
        return computed ? 0 : left_to_python(nodes, count);
    for (Py_ssize_t i = 0; i < count; i++)
        Py_INCREF(nodes[i]);
    Lock *lock = evaluation_begins(), *around = request_begins(lock);
    int done = run_slice(nodes, count);
    request_ends(around);
    if (done == 0)
        done = left_to_python(nodes, count);
    else if (done > 0) {
        drop_tail();
        PyObject *noted = count_bytes(fresh_bytes()) < 0 ? NULL : Py_NewRef(Py_None);
        if (noted != NULL && around != lock && is_to_settle()) /* nobody asks for a part of a request */
            Py_SETREF(noted, PyObject_CallNoArgs(settle));
        done = noted == NULL ? -1 : 0;
        Py_XDECREF(noted);
    }
    evaluation_ends(lock);
    for (Py_ssize_t i = 0; i < count; i++)
        Py_DECREF(nodes[i]);
    return done;
}

static PyObject *evaluate_method(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!Py_IS_TYPE(given[i], &NodeType)) {
            PyErr_SetString(PyExc_TypeError, "only a Node can be evaluated");
            return NULL;
        }
    if (count > 0 && evaluate((Node **)given, count) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* Evaluator(general): fusewright.evaluate; of one array here, of anything else by `general`. */
static PyObject *evaluator_call(PyObject *self, PyObject *const *given, size_t flags,
                                PyObject *names)
{
    if (names == NULL && PyVectorcall_NARGS(flags) == 1 && is_plain(given[0])) {
        Node *node = handle_node(given[0]);
        if (node == NULL || evaluate(&node, 1) < 0)
            return NULL;
        return Py_NewRef(given[0]);
    }
    return front_general(self, given, flags, names);
}

static PyObject *evaluator_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    PyObject *general;
    (void)names;
    if (!PyArg_ParseTuple(given, "O", &general))
        return NULL;
    return front_new(type, evaluator_call, general);
}

PyTypeObject EvaluatorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Evaluator",
    .tp_basicsize = sizeof(Front),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_new = evaluator_make,
    .tp_traverse = front_traverse,
    .tp_clear = front_clear,
    .tp_doc = "A function that evaluates one array, or leaves its arguments to another.",
};

/* set_trace(pending, passed_gate, evaluate, note_bytes, settle, lock, left) */
static PyObject *set_trace(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *list, *gate_function, *slow, *bytes, *after, *lock, *alone;
    if (!PyArg_ParseTuple(given, "O!OOOOO!O!", &PyList_Type, &list, &gate_function, &slow, &bytes,
                          &after, &LockType, &lock, &PyList_Type, &alone))
        return NULL;
    if (!all_nodes(list))
        return NULL;
    Py_XSETREF(pending, Py_NewRef(list));
    Py_XSETREF(passed_gate, Py_NewRef(gate_function));
    Py_XSETREF(slow_evaluate, Py_NewRef(slow));
    Py_XSETREF(made_bytes, Py_NewRef(bytes));
    Py_XSETREF(left, Py_NewRef(alone));
    Py_XSETREF(settle, Py_NewRef(after));
    Py_XSETREF(evaluating, (Lock *)Py_NewRef(lock));
    Py_RETURN_NONE;
}

static PyObject *set_gate(PyObject *module, PyObject *given)
{
    (void)module;
    Py_ssize_t length, open;
    if (!PyArg_ParseTuple(given, "nn", &length, &open))
        return NULL;
    gate = length, due = open;
    Py_RETURN_NONE;
}

void change_readings(int change) { readings += change; }

static PyObject *is_read(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyBool_FromLong(readings > 0);
}

static PyObject *get_whole(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromSsize_t(whole);
}

static PyObject *set_whole(PyObject *module, PyObject *value)
{
    (void)module;
    whole = PyLong_AsSsize_t(value);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *set_truth(int *flag, PyObject *value)
{
    int truth = PyObject_IsTrue(value);
    if (truth < 0)
        return NULL;
    *flag = truth;
    Py_RETURN_NONE;
}

static PyObject *set_armed(PyObject *Py_UNUSED(module), PyObject *value) { return set_truth(&armed, value); }
static PyObject *set_native(PyObject *Py_UNUSED(module), PyObject *value) { return set_truth(&native, value); }

int trace_ready(PyObject *unset)
{
    passed_gate = Py_NewRef(unset);
    slow_evaluate = Py_NewRef(unset);
    made_bytes = Py_NewRef(unset);
    settle = Py_NewRef(unset);
    pending = PyList_New(0);
    left = PyList_New(0);
    evaluating = (Lock *)LockType.tp_new(&LockType, NULL, NULL);
    return pending == NULL || left == NULL || evaluating == NULL ? -1 : 0;
}

PyMethodDef trace_methods[] = {
    {"record", record_method, METH_O, "Put a node on the pending list."},
    {"drop_tail", drop_tail_method, METH_NOARGS, "Forget the newest nodes if computed or dead."},
    {"prune", prune, METH_O, "Drop the computed and the dead; how many of the first so many stay."},
    {"whole", get_whole, METH_NOARGS, "The list's length when it was cut last."},
    {"set_whole", set_whole, METH_O, "Say that the list is as it was recorded from here on."},
    {"memoise", steady_memoise, METH_VARARGS, "What a flush of this structure computes."},
    {"steady_flushes", steady_count, METH_NOARGS, "Flushes done from memos so far."},
    {"set_turn", steady_set_turn, METH_VARARGS, "Where the loop turns."},
    {"evaluate", (PyCFunction)(void (*)(void))evaluate_method, METH_FASTCALL,
     "Turn nodes into leaves now."},
    {"set_trace", set_trace, METH_VARARGS, "The list and the functions of the trace."},
    {"is_read", is_read, METH_NOARGS, "Whether a function of C is reading a buffer now."},
    {"set_gate", set_gate, METH_VARARGS,
     "The length from which records call passed_gate; and while that is -1, because memory is "
     "shared, the one up to which those that read none of it need not."},
    {"set_armed", set_armed, METH_O, "Whether evaluations call settle."},
    {"set_native", set_native, METH_O, "Whether requests are looked up here first."},
    {NULL},
};
