/* Memory: root allocations, and the blocks of the pool (runtime.buffers). */

#include "core.h"
#include <structmember.h>

static PyObject *free_lists;  /* by cache lines: the lists of free small blocks (runtime.blocks) */
static PyObject *slow_blocks; /* (nbytes) -> Memory: large, or a small one from a new slab */
static PyObject *make_owner;  /* (memory) -> a buffer over a block's bytes */
static Py_ssize_t small_limit = -1;
static int64_t allocated;

/* Blocks between small and large wait here for the next of their size, newest first; what would be
   more than `most_waiting` bytes goes back to where it came from (runtime.blocks.LargePool). */
#define MEDIUM_CLASSES 20
#define MEDIUM_DEPTH 64
typedef struct {
    int count;
    PyObject *address[MEDIUM_DEPTH];
} Shelf;
static Shelf shelf[MEDIUM_CLASSES];
static int64_t waiting, least_waiting, most_waiting;
static Py_ssize_t medium_limit; /* the largest of them: 32 times a small one */
static PyObject *large_home;    /* (address, size): takes back what fits no shelf */

#define SPARE 256 /* objects kept for reuse */
static Memory *spare[SPARE];
static int spares;

static int64_t fresh; /* bytes handed out since this was asked last */

int64_t allocations(void) { return allocated; }

int64_t fresh_bytes(void)
{
    int64_t found = fresh;
    fresh = 0;
    return found;
}

static PyObject *fresh_bytes_method(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLongLong(fresh_bytes());
}

static Memory *memory_bare(PyObject *address, Py_ssize_t nbytes)
{
    Memory *memory;
    if (spares > 0)
        memory = (Memory *)PyObject_Init((PyObject *)spare[--spares], &MemoryType);
    else if ((memory = PyObject_New(Memory, &MemoryType)) == NULL)
        return NULL;
    memory->address = Py_NewRef(address);
    memory->at = PyLong_AsVoidPtr(address);
    memory->nbytes = nbytes;
    memory->size = 0;
    memory->owner = memory->home = memory->weak = NULL;
    memory->external = memory->is_shared = 0;
    memory->readers = 0;
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
        memory->external = memory->is_shared = (char)external;
        memory->writable = (char)writable;
    }
    return (PyObject *)memory;
}

/* Bytes that another object keeps; nobody else sees them. */
PyObject *memory_on(char *at, Py_ssize_t nbytes, PyObject *owner, int writable)
{
    PyObject *address = PyLong_FromVoidPtr(at);
    Memory *memory = address ? memory_bare(address, nbytes) : NULL;
    Py_XDECREF(address);
    if (memory != NULL) {
        memory->owner = Py_NewRef(owner);
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

/* The shelf for so many bytes, and the size of the blocks on it: four to each power of two, as
   `runtime.blocks.size_class` has them. */
static Shelf *shelf_of(Py_ssize_t nbytes, Py_ssize_t *size)
{
    Py_ssize_t low = small_limit, first = 0;
    for (; nbytes > 2 * low; low *= 2)
        first += 4;
    Py_ssize_t step = low / 4, number = (nbytes - low - 1) / step;
    *size = low + (number + 1) * step;
    return &shelf[first + number];
}

/* Whether a block now waits on its shelf. */
static int shelved(Memory *memory)
{
    Py_ssize_t size;
    if (memory->size > medium_limit || waiting + memory->size > most_waiting)
        return 0;
    Shelf *fitting = shelf_of(memory->size, &size);
    if (fitting->count == MEDIUM_DEPTH)
        return 0;
    fitting->address[fitting->count++] = Py_NewRef(memory->address);
    waiting += memory->size;
    return 1;
}

static void go_home(Memory *memory)
{
    if (memory->size > 0 && shelved(memory))
        return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!PyList_CheckExact(memory->home))
        last_call(memory->home, Py_BuildValue("(On)", memory->address, memory->size));
    else if (PyList_Append(memory->home, memory->address) < 0)
        PyErr_WriteUnraisable(memory->home);
    PyErr_Restore(type, value, traceback);
}

static void memory_dealloc(Memory *memory)
{
    if (memory->weak != NULL)
        PyObject_ClearWeakRefs((PyObject *)memory);
    PyObject *home = memory->home;
    if (home != NULL && !(PyList_CheckExact(home) && append_in_place(home, memory->address)))
        go_home(memory);
    Py_XDECREF(home);
    Py_XDECREF(memory->owner);
    Py_XDECREF(memory->address);
    if (spares < SPARE)
        spare[spares++] = memory;
    else
        PyObject_Free(memory);
}

/* The newest block on the shelf for `nbytes`, or NULL without an error. */
static PyObject *from_shelf(Py_ssize_t nbytes)
{
    Py_ssize_t size;
    Shelf *fitting = shelf_of(nbytes, &size);
    if (fitting->count == 0)
        return NULL;
    PyObject *address = fitting->address[--fitting->count];
    waiting -= size;
    if (waiting < least_waiting)
        least_waiting = waiting;
    Memory *memory = memory_bare(address, nbytes);
    Py_DECREF(address);
    if (memory != NULL) {
        memory->size = size;
        memory->home = Py_NewRef(large_home);
    }
    return (PyObject *)memory;
}

/* shelves(limit): what waits beyond so many bytes is taken off: (address, size) each.  So many may
   wait from now on. */
static PyObject *shelves(PyObject *module, PyObject *limit)
{
    (void)module;
    int64_t most = PyLong_AsLongLong(limit);
    PyObject *found = most == -1 && PyErr_Occurred() ? NULL : PyList_New(0);
    for (int i = MEDIUM_CLASSES - 1; found != NULL && i >= 0; i--)
        while (found != NULL && waiting > most && shelf[i].count > 0) {
            Py_ssize_t size = (small_limit << i / 4) / 4 * (4 + i % 4 + 1);
            PyObject *block = Py_BuildValue("(On)", shelf[i].address[shelf[i].count - 1], size);
            if (block == NULL || PyList_Append(found, block) < 0)
                Py_CLEAR(found);
            else {
                Py_DECREF(shelf[i].address[--shelf[i].count]);
                waiting -= size;
            }
            Py_XDECREF(block);
        }
    if (found != NULL)
        most_waiting = most;
    if (waiting < least_waiting)
        least_waiting = waiting;
    return found;
}

/* waiting_blocks(): bytes on the shelves, and the least there were since this was asked last */
static PyObject *waiting_blocks(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *found = Py_BuildValue("(LL)", (long long)waiting, (long long)least_waiting);
    least_waiting = waiting;
    return found;
}

/* The package's module of this name; where it is new, nothing disturbs its import. */
PyObject *load_module(const char *name)
{
    PyObject *loading = PyImport_ImportModule("fusewright.base.later");
    PyObject *module = loading ? PyObject_CallMethod(loading, "load", "s", name) : NULL;
    Py_XDECREF(loading);
    return module;
}

/* The pool says here what it is when it is loaded, which is when the first block is wanted. */
static int load_pool(void)
{
    PyObject *pool = load_module("fusewright.runtime.buffers");
    Py_XDECREF(pool);
    return pool == NULL ? -1 : 0;
}

/* A block of `nbytes` aligned to 64, with whatever it held before. */
PyObject *allocate(Py_ssize_t nbytes)
{
    if (small_limit < 0 && load_pool() < 0)
        return NULL;
    allocated++;
    fresh += nbytes;
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
    else if (nbytes <= medium_limit) {
        PyObject *memory = from_shelf(nbytes);
        if (memory != NULL || PyErr_Occurred())
            return memory;
    }
    return PyObject_CallFunction(slow_blocks, "n", nbytes);
}

static PyObject *allocate_method(PyObject *module, PyObject *count)
{
    (void)module;
    Py_ssize_t nbytes = PyLong_AsSsize_t(count);
    if (nbytes >= 0)
        return allocate(nbytes);
    forgive(); /* more than an address can say: Python refuses it */
    return PyObject_CallOneArg(slow_blocks, count);
}

static PyObject *count_allocations(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLongLong(allocated);
}

/* set_pool(free lists, largest small block, slow, owner, home of large blocks) */
static PyObject *set_pool(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *lists, *slow, *owner, *home;
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(given, "O!nOOO", &PyList_Type, &lists, &limit, &slow, &owner, &home))
        return NULL;
    int sound = limit >= 4 && limit % 4 == 0 && PyList_GET_SIZE(lists) > (limit + 63) >> 6;
    sound = sound && (waiting == 0 || limit == small_limit);
    for (Py_ssize_t i = 0; sound && i < PyList_GET_SIZE(lists); i++)
        sound = PyList_CheckExact(PyList_GET_ITEM(lists, i));
    if (!sound) {
        PyErr_SetString(PyExc_ValueError, "a list of free blocks for each size");
        return NULL;
    }
    Py_XSETREF(free_lists, Py_NewRef(lists));
    Py_XSETREF(slow_blocks, Py_NewRef(slow));
    Py_XSETREF(make_owner, Py_NewRef(owner));
    Py_XSETREF(large_home, Py_NewRef(home));
    small_limit = limit;
    medium_limit = limit << MEDIUM_CLASSES / 4;
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

static PyObject *get_external(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((Memory *)self)->external);
}

static int set_external(PyObject *self, PyObject *value, void *closure)
{
    Memory *memory = (Memory *)self;
    int is_shared = value ? PyObject_IsTrue(value) : -1;
    (void)closure;
    if (is_shared < 0)
        return -1;
    memory->is_shared = (char)is_shared;
    memory->external = memory->is_shared || memory->readers > 0;
    return 0;
}

static PyGetSetDef memory_fields[] = {
    {"external", get_external, set_external, "Whether others see these bytes, too.", NULL},
    {"owner", get_owner, NULL, "A buffer over exactly these bytes; it keeps the memory.", NULL},
    {NULL},
};

static PyMemberDef memory_members[] = {
    {"address", T_OBJECT, offsetof(Memory, address), READONLY, NULL},
    {"nbytes", T_PYSSIZET, offsetof(Memory, nbytes), READONLY, NULL},
    {"readers", T_INT, offsetof(Memory, readers), READONLY, NULL},
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
    large_home = Py_NewRef(unset);
    slow_blocks = Py_NewRef(unset);
    make_owner = Py_NewRef(unset);
    return (free_lists = PyList_New(0)) == NULL ? -1 : 0;
}

PyMethodDef memory_methods[] = {
    {"block", block, METH_VARARGS, "A block of the pool: (address, nbytes, home, size)."},
    {"allocate", allocate_method, METH_O, "A block of so many bytes."},
    {"allocations", count_allocations, METH_NOARGS, "Blocks handed out."},
    {"fresh_bytes", fresh_bytes_method, METH_NOARGS, "Bytes handed out since this was asked last."},
    {"shelves", shelves, METH_O, "Take off what waits beyond so many bytes: (address, size) each."},
    {"waiting_blocks", waiting_blocks, METH_NOARGS, "Bytes on the shelves; the least there were."},
    {"set_pool", set_pool, METH_VARARGS, "Free lists, largest small block, slow path, owner, home."},
    {NULL},
};
