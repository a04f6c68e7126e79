/* Memory: root allocations, and the blocks of the pool (runtime.buffers). */

#include "core.h"
#include <structmember.h>

static PyObject *free_lists;  /* by cache lines: the lists of free small blocks (runtime.blocks) */
static PyObject *slow_blocks; /* (nbytes) -> Memory: large, or a small one from a new slab */
static PyObject *make_owner;  /* (memory) -> a buffer over a block's bytes */
static Py_ssize_t small_limit = -1;
static int64_t allocated;

int64_t allocations(void) { return allocated; }

static Memory *memory_bare(PyObject *address, Py_ssize_t nbytes)
{
    Memory *memory = PyObject_New(Memory, &MemoryType);
    if (memory == NULL)
        return NULL;
    memory->address = Py_NewRef(address);
    memory->at = PyLong_AsVoidPtr(address);
    memory->nbytes = nbytes;
    memory->size = 0;
    memory->owner = memory->home = memory->weak = NULL;
    memory->external = 0;
    memory->writable = 1;
    if (memory->at == NULL && PyErr_Occurred())
        Py_CLEAR(memory);
    return memory;
}

/* Memory(address, nbytes, owner, external=False, writable=True) */
static PyObject *memory_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"address", "nbytes", "owner", "external", "writable", NULL};
    (void)type;
    PyObject *address, *owner;
    Py_ssize_t nbytes;
    int external = 0, writable = 1;
    if (!PyArg_ParseTupleAndKeywords(given, names, "O!nO|pp", keywords, &PyLong_Type, &address,
                                     &nbytes, &owner, &external, &writable))
        return NULL;
    Memory *memory = memory_bare(address, nbytes);
    if (memory != NULL) {
        memory->owner = Py_NewRef(owner);
        memory->external = (char)external;
        memory->writable = (char)writable;
    }
    return (PyObject *)memory;
}

/* block(address, nbytes, home, size=0): one of the pool's.  `home` is the list its address goes back
   to, or the function that takes address and size back. */
static PyObject *block(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *address, *home;
    Py_ssize_t nbytes, size = 0;
    if (!PyArg_ParseTuple(given, "O!nO|n", &PyLong_Type, &address, &nbytes, &home, &size))
        return NULL;
    Memory *memory = memory_bare(address, nbytes);
    if (memory != NULL) {
        memory->home = Py_NewRef(home);
        memory->size = size;
    }
    return (PyObject *)memory;
}

static void go_home(Memory *memory)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int failed;
    if (PyList_CheckExact(memory->home))
        failed = PyList_Append(memory->home, memory->address);
    else {
        PyObject *done = PyObject_CallFunction(memory->home, "On", memory->address, memory->size);
        failed = done == NULL;
        Py_XDECREF(done);
    }
    if (failed)
        PyErr_WriteUnraisable(memory->home);
    PyErr_Restore(type, value, traceback);
}

static void memory_dealloc(Memory *memory)
{
    if (memory->weak != NULL)
        PyObject_ClearWeakRefs((PyObject *)memory);
    if (memory->home != NULL)
        go_home(memory);
    Py_XDECREF(memory->home);
    Py_XDECREF(memory->owner);
    Py_XDECREF(memory->address);
    PyObject_Free(memory);
}

/* A block of `nbytes` aligned to 64, with whatever it held before. */
PyObject *allocate(Py_ssize_t nbytes)
{
    allocated++;
    if (nbytes <= small_limit) {
        PyObject *list = PyList_GET_ITEM(free_lists, (nbytes + 63) >> 6);
        Py_ssize_t left = PyList_GET_SIZE(list);
        if (left > 0) {
            PyObject *address = PyList_GET_ITEM(list, left - 1);
            Py_SET_SIZE(list, left - 1); /* its reference is ours now */
            Memory *memory = memory_bare(address, nbytes);
            Py_DECREF(address);
            if (memory != NULL)
                memory->home = Py_NewRef(list);
            return (PyObject *)memory;
        }
    }
    return PyObject_CallFunction(slow_blocks, "n", nbytes);
}

static PyObject *allocate_method(PyObject *module, PyObject *count)
{
    (void)module;
    Py_ssize_t nbytes = PyLong_AsSsize_t(count);
    if (nbytes >= 0)
        return allocate(nbytes);
    PyErr_Clear(); /* more than an address can say: Python refuses it */
    return PyObject_CallOneArg(slow_blocks, count);
}

static PyObject *count_allocations(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLongLong(allocated);
}

/* set_pool(free lists, largest small block, slow, owner) */
static PyObject *set_pool(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *lists, *slow, *owner;
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(given, "O!nOO", &PyList_Type, &lists, &limit, &slow, &owner))
        return NULL;
    int sound = limit >= 0 && PyList_GET_SIZE(lists) > (limit + 63) >> 6;
    for (Py_ssize_t i = 0; sound && i < PyList_GET_SIZE(lists); i++)
        sound = PyList_CheckExact(PyList_GET_ITEM(lists, i));
    if (!sound) {
        PyErr_SetString(PyExc_ValueError, "a list of free blocks for each size");
        return NULL;
    }
    Py_XSETREF(free_lists, Py_NewRef(lists));
    Py_XSETREF(slow_blocks, Py_NewRef(slow));
    Py_XSETREF(make_owner, Py_NewRef(owner));
    small_limit = limit;
    Py_RETURN_NONE;
}

static PyObject *get_owner(PyObject *self, void *closure)
{
    (void)closure;
    Memory *memory = (Memory *)self;
    if (memory->owner != NULL)
        return Py_NewRef(memory->owner);
    return PyObject_CallOneArg(make_owner, self);
}

static PyGetSetDef memory_fields[] = {
    {"owner", get_owner, NULL, "A buffer over exactly these bytes; it keeps the memory.", NULL},
    {NULL},
};

static PyMemberDef memory_members[] = {
    {"address", T_OBJECT, offsetof(Memory, address), READONLY, NULL},
    {"nbytes", T_PYSSIZET, offsetof(Memory, nbytes), READONLY, NULL},
    {"external", T_BOOL, offsetof(Memory, external), 0, NULL},
    {"writable", T_BOOL, offsetof(Memory, writable), 0, NULL},
    {NULL},
};

PyTypeObject MemoryType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Memory",
    .tp_basicsize = sizeof(Memory),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = memory_make,
    .tp_dealloc = (destructor)memory_dealloc,
    .tp_weaklistoffset = offsetof(Memory, weak),
    .tp_getset = memory_fields,
    .tp_members = memory_members,
    .tp_doc = "A root allocation: the native form of fusewright.ir.graph.Memory.",
};

int memory_ready(PyObject *unset)
{
    slow_blocks = Py_NewRef(unset);
    make_owner = Py_NewRef(unset);
    return (free_lists = PyList_New(0)) == NULL ? -1 : 0;
}

PyMethodDef memory_methods[] = {
    {"block", block, METH_VARARGS, "A block of the pool: (address, nbytes, home, size)."},
    {"allocate", allocate_method, METH_O, "A block of so many bytes."},
    {"allocations", count_allocations, METH_NOARGS, "Blocks handed out."},
    {"set_pool", set_pool, METH_VARARGS, "Free lists, largest small block, slow path, owner."},
    {NULL},
};
