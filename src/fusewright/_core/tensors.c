/* Compiled programs on memory of other libraries: addresses in, new values out, for callers that have compared layouts
   themselves (bridges.torch). */

#include "core.h"

#define FEW 128

/* A leaf like `like` on that memory. */
static Node *leaf_on_memory(Node *like, PyObject *memory, PyObject *offset, PyObject *strides)
{
    Node *node = node_new(LEAF, no_name, Py_NewRef(no_args), like->dtype, like->shape);
    PyObject *value = node ? PyTuple_Pack(3, memory, offset, strides) : NULL;
    if (value == NULL) {
        Py_XDECREF(node);
        return NULL;
    }
    Py_XSETREF(node->value, value);
    return node;
}

/* A value that is still to be computed as `like` is. */
static Node *pending_as(Node *like)
{
    Node *node = node_new(like->kind, like->op, Py_NewRef(like->args), like->dtype, like->shape);
    if (node != NULL)
        Py_XSETREF(node->attr, Py_NewRef(like->attr));
    return node;
}

static int is_place(PyObject *object, Py_ssize_t limit, Py_ssize_t *place)
{
    *place = PyLong_CheckExact(object) ? PyLong_AsSsize_t(object) : -1;
    forgive();
    return *place >= 0 && *place < limit;
}

/* Put leaves on the given memory into the slice; 0 where the tables do not fit it. */
static int bind_leaves(PyObject *leaves, PyObject *const *memory, Py_ssize_t memories, Node **order, Py_ssize_t slots)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(leaves); i++) {
        PyObject *entry = PyTuple_GET_ITEM(leaves, i);
        Py_ssize_t slot, number;
        if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != 4
            || !is_place(PyTuple_GET_ITEM(entry, 0), slots, &slot)
            || !is_place(PyTuple_GET_ITEM(entry, 1), memories, &number)
            || !PyLong_CheckExact(PyTuple_GET_ITEM(entry, 2)) || !PyTuple_CheckExact(PyTuple_GET_ITEM(entry, 3))
            || PyTuple_GET_SIZE(PyTuple_GET_ITEM(entry, 3)) != PyTuple_GET_SIZE(order[slot]->shape)
            || memory[number] == NULL || order[slot]->kind != LEAF)
            return 0;
        Node *made = leaf_on_memory(order[slot], memory[number], PyTuple_GET_ITEM(entry, 2),
                                    PyTuple_GET_ITEM(entry, 3));
        if (made == NULL)
            return -1;
        Py_SETREF(order[slot], made);
    }
    return 1;
}

/* New values in the places of the results, which `fresh` lists. */
static int bind_results(PyObject *places, Node **order, Py_ssize_t slots, PyObject *fresh)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places); i++) {
        Py_ssize_t slot;
        if (!is_place(PyTuple_GET_ITEM(places, i), slots, &slot) || order[slot]->kind == LEAF)
            return 0;
        Node *made = pending_as(order[slot]);
        if (made == NULL)
            return -1;
        Py_SETREF(order[slot], made);
        PyTuple_SET_ITEM(fresh, i, Py_NewRef(made));
    }
    return 1;
}

/* Memory at each address, of so many bytes; None is no array. */
static int take_memory(PyObject *addresses, PyObject *spans, PyObject **memory)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(spans); i++) {
        PyObject *address = PyList_GET_ITEM(addresses, i);
        if (address == Py_None)
            continue;
        if (!PyLong_CheckExact(address) || !PyLong_CheckExact(PyTuple_GET_ITEM(spans, i)))
            return 0;
        char *at = PyLong_AsVoidPtr(address);
        Py_ssize_t nbytes = PyLong_AsSsize_t(PyTuple_GET_ITEM(spans, i));
        if (PyErr_Occurred() || (memory[i] = memory_on(at, nbytes, Py_None, 0)) == NULL)
            return -1;
        ((Memory *)memory[i])->external = ((Memory *)memory[i])->is_shared = 1;
    }
    return 1;
}

/* run_on(program, order, leaves, spans, addresses, places, threads): the results as leaves, a tuple. */
static PyObject *run_on(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *program, *nodes, *leaves, *spans, *addresses, *places;
    int threads;
    if (!PyArg_ParseTuple(given, "O!O!O!O!O!O!i", &ProgramType, &program, &PyTuple_Type, &nodes, &PyTuple_Type, &leaves,
                          &PyTuple_Type, &spans, &PyList_Type, &addresses, &PyTuple_Type, &places, &threads))
        return NULL;
    Py_ssize_t slots = PyTuple_GET_SIZE(nodes), memories = PyTuple_GET_SIZE(spans), count = slots + memories;
    if (!all_nodes(nodes))
        return NULL;
    PyObject *few[FEW] = {NULL}, **room = few;
    if (count > FEW && (room = PyMem_Calloc((size_t)count, sizeof *room)) == NULL)
        return PyErr_NoMemory();
    PyObject **memory = room + slots, *fresh = PyTuple_New(PyTuple_GET_SIZE(places));
    Node **order = (Node **)room;
    for (Py_ssize_t i = 0; i < slots; i++)
        order[i] = (Node *)Py_NewRef(PyTuple_GET_ITEM(nodes, i));
    int done = fresh == NULL ? -1
               : threads > 0 && program_slots(program) == slots && PyList_GET_SIZE(addresses) == memories;
    if (done > 0)
        done = take_memory(addresses, spans, memory);
    if (done > 0)
        done = bind_leaves(leaves, memory, memories, order, slots);
    if (done > 0)
        done = bind_results(places, order, slots, fresh);
    if (done == 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the tables do not fit the program");
    if (done > 0) {
        Lock *lock = evaluation_begins();
        done = program_run(program, order, threads);
        evaluation_ends(lock);
    }
    for (Py_ssize_t i = 0; i < count; i++)
        Py_XDECREF(room[i]);
    if (room != few)
        PyMem_Free(room);
    if (done <= 0)
        Py_CLEAR(fresh);
    return fresh;
}

PyMethodDef tensor_methods[] = {
    {"run_on", run_on, METH_VARARGS, "A program's results on memory at the given addresses."},
    {NULL},
};
