/* Calls of kernels at once, on NumPy's arrays and numbers, without Python (fusewright.kernels.bound).

   A CallCache belongs to one kernel.  It puts the arguments in order (keywords, defaults), walks through
   tuples and the attributes that the kernel uses, and finds by the types of what it meets (of arrays the
   layout too) the BoundCall that an earlier such call has left.  That fills in addresses and numbers, runs
   the code and makes the result.  A call of another kind is left alone. */

#include "bound.h"
#include <structmember.h>

#define MOST_CALLS 256

/* The place of a call with this key, or the free one where it belongs; there is one. */
static BoundCall **call_place(CallCache *cache, const Walk *walk, uint64_t hash)
{
    for (uint64_t at = hash;; at++) {
        BoundCall **place = &cache->table[at & (TABLE - 1)];
        if (*place == NULL
            || ((*place)->hash == hash && (*place)->length == walk->length
                && memcmp((*place)->key, walk->key, (size_t)walk->length * sizeof *walk->key) == 0))
            return place;
    }
}

/* bound_run(args, named): what the call returns; NotImplemented where no call like it is known. */
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
        BoundCall *call = *call_place(cache, &walk, walk_hash(&walk));
        if (call != NULL && walk_hold(&walk, Py_NewRef(call)))
            done = bound_run(call, &walk);
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
    PyObject *found = walk_all(cache, args, NULL, &walk) ? walk_leaves(&walk) : NULL;
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
        uint64_t hash = walk_hash(&walk);
        BoundCall **place = call_place(cache, &walk, hash);
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
        not_sound("not a cache of calls");
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
