/* What a flush at a loop's boundary is decided by: who holds the pending values, and who reads them.

   The same as `survey` and `let_go` of frontends.arrays.survivors, in one walk each. */

#include "core.h"

/* What `slot` says of a node in this walk: the edges to it, and from whom. */
#define USED 1   /* by a node that is not the newest */
#define NEEDED 2 /* by one from `last` on */
#define EDGE 4

static int said_of(Node *node, uint64_t walk) { return node->mark == walk ? node->slot : 0; }

static void note_edges(Node *node, uint64_t walk, int said)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(node->args, k);
        arg->slot = (said_of(arg, walk) | said) + EDGE;
        arg->mark = walk;
    }
}

typedef struct {
    Node *node;
    Py_ssize_t place, behind; /* `behind`: how many records but views from there on */
    int said;
} Held;

/* The values with references besides the list's and its nodes' own, newest first; how many. */
static Py_ssize_t find_held(Held *held, PyObject *pending, uint64_t walk)
{
    Py_ssize_t behind = 0, found = 0;
    for (Py_ssize_t i = PyList_GET_SIZE(pending) - 1; i >= 0; i--) {
        Node *node = (Node *)PyList_GET_ITEM(pending, i);
        int said = said_of(node, walk);
        behind += node->kind != VIEW;
        if (node->kind != LEAF && Py_REFCNT(node) - 1 > said / EDGE)
            held[found++] = (Held){(Node *)Py_NewRef(node), i, behind, said};
    }
    return found;
}

/* (node, place, behind, whether it is used, whether it is needed) of each, oldest first; takes their references.
   What this allocates may run finalisers, which may record. */
static int list_held(PyObject *rows, Held *held, Py_ssize_t count)
{
    int failed = 0;
    while (count-- > 0) {
        Held *one = &held[count];
        PyObject *row = failed ? NULL
                               : Py_BuildValue("OnnOO", one->node, one->place, one->behind,
                                               one->said & USED ? Py_True : Py_False,
                                               one->said & NEEDED ? Py_True : Py_False);
        failed = row == NULL || PyList_Append(rows, row) < 0;
        Py_XDECREF(row);
        Py_DECREF(one->node);
    }
    return failed ? -1 : 0;
}

/* The spots of those that are computed by now, or used. */
static int list_read(PyObject *read, PyObject *left, uint64_t walk)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(left); i++) {
        PyObject *node, *spot;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(left, i), "O!O", &NodeType, &node, &spot))
            return -1;
        int is_read = ((Node *)node)->kind == LEAF || said_of((Node *)node, walk) & USED;
        if (is_read && PyList_Append(read, spot) < 0)
            return -1;
    }
    return 0;
}

/* All of it into the three; -1: an error. */
static int look_at(PyObject *pending, PyObject *left, Py_ssize_t last, PyObject *rows, PyObject *before, PyObject *read)
{
    Py_ssize_t count = PyList_GET_SIZE(pending), earliest = last - PyBytes_GET_SIZE(before);
    Held *held = PyMem_Malloc((size_t)count * sizeof *held + 1);
    if (held == NULL)
        return PyErr_NoMemory(), -1;
    uint64_t walk = next_walk();
    for (Py_ssize_t i = 0; i < count; i++)
        note_edges((Node *)PyList_GET_ITEM(pending, i), walk, (i < count - 1) * USED | (i >= last) * NEEDED);
    for (Py_ssize_t i = earliest; i < last; i++)
        PyBytes_AS_STRING(before)[i - earliest] = (said_of((Node *)PyList_GET_ITEM(pending, i), walk) & NEEDED) != 0;
    int failed = list_read(read, left, walk) < 0 || list_held(rows, held, find_held(held, pending, walk)) < 0;
    PyMem_Free(held);
    return failed ? -1 : 0;
}

/* survey(pending, last, earliest, left) */
static PyObject *survey(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *pending, *left, *found = NULL;
    Py_ssize_t last, earliest;
    if (!PyArg_ParseTuple(given, "O!nnO!", &PyList_Type, &pending, &last, &earliest, &PyList_Type, &left))
        return NULL;
    PyObject *rows = PyList_New(0), *read = PyList_New(0);
    if (rows != NULL && read != NULL && all_nodes(pending)) {
        last = Py_MIN(Py_MAX(last, 0), PyList_GET_SIZE(pending));
        PyObject *before = PyBytes_FromStringAndSize(NULL, last - Py_MIN(Py_MAX(earliest, 0), last));
        if (before != NULL && look_at(pending, left, last, rows, before, read) == 0)
            found = PyTuple_Pack(3, rows, before, read);
        Py_XDECREF(before);
    }
    Py_XDECREF(rows);
    Py_XDECREF(read);
    return found;
}

typedef struct {
    Node **node;
    Py_ssize_t count, room;
} Stack;

/* Add a node that this walk has not met; -1: out of memory. */
static int visit(Stack *stack, Node *node, uint64_t walk)
{
    if (node->mark == walk || node->kind == LEAF)
        return 0;
    if (stack->count == stack->room) {
        Py_ssize_t room = 2 * stack->room + 64;
        Node **node_room = PyMem_Realloc(stack->node, (size_t)room * sizeof *node_room);
        if (node_room == NULL)
            return PyErr_NoMemory(), -1;
        stack->node = node_room;
        stack->room = room;
    }
    node->mark = walk;
    stack->node[stack->count++] = node;
    return 0;
}

/* let_go(pending, wanted, left): what nobody can ask for after this flush need not be stored; how many pending values
   those left are computed from. */
static PyObject *let_go(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *pending, *wanted, *left;
    if (!PyArg_ParseTuple(given, "O!O!O!", &PyList_Type, &pending, &PyList_Type, &wanted, &PyList_Type, &left)
        || !all_nodes(pending) || !all_nodes(wanted) || !all_nodes(left))
        return NULL;
    uint64_t walk = next_walk();
    Stack stack = {NULL, 0, 0};
    int failed = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(wanted); i++)
        ((Node *)PyList_GET_ITEM(wanted, i))->mark = walk;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(left); i++)
        failed = visit(&stack, (Node *)PyList_GET_ITEM(left, i), walk) < 0;
    Py_ssize_t reached = 0;
    while (!failed && stack.count > 0) {
        reached++;
        PyObject *args = stack.node[--stack.count]->args;
        for (Py_ssize_t k = 0; !failed && k < PyTuple_GET_SIZE(args); k++)
            failed = visit(&stack, (Node *)PyTuple_GET_ITEM(args, k), walk) < 0;
    }
    PyMem_Free(stack.node);
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(pending); i++) {
        Node *node = (Node *)PyList_GET_ITEM(pending, i);
        if (node->mark != walk)
            node->demands = 0;
    }
    return failed ? NULL : PyLong_FromSsize_t(reached);
}

PyMethodDef survivor_methods[] = {
    {"survey", survey, METH_VARARGS, "Who holds the pending values, and who reads them."},
    {"let_go", let_go, METH_VARARGS, "Store nothing that nobody can ask for after this flush."},
    {NULL},
};
