/* NumPy arrays given to kernels inside `lazy()`: handles on their memory, kept from block to block,
   and the end of a block (frontends.arrays.sharing).

   A loan knows what an array was: its memory, shape and type.  An array that is that still has the
   handle; while a block is open the loan holds the array.  What is not plain (memory that two arrays
   share, other strides) is left to Python, for the rest of the block. */

#include "core.h"

#define LOANS 64
#define MOST_DIMS 8

/* The fields of an ndarray; Python looks whether they are there (sharing._lends). */
typedef struct {
    PyObject_HEAD
    char *data;
    int rank;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} Array;
enum { C_ORDER = 0x1, ALIGNED = 0x100, WRITABLE = 0x400 };

typedef struct {
    PyObject *array; /* held while active */
    PyObject *dtype;
    char *data;
    int rank, flags, active;
    Py_ssize_t shape[MOST_DIMS];
    Handle *handle;
    Node *leaf;
} Loan;

static Loan loan[LOANS];
static int next_loan;
static PyTypeObject *array_type;
static PyObject *make_leaf; /* (array) -> a leaf on its memory, or None */
static PyObject *owed;      /* by id: (handle, leaf that its value lands in), of the block's thread */
static unsigned long lazy_thread;
static int lazy_depth, tangled;
static _Thread_local int lazy_blocks; /* of this thread */

int is_in_lazy_block(void) { return lazy_blocks > 0; }

int is_lending(void)
{
    return lazy_depth > 0 && !tangled && array_type != NULL
           && lazy_thread == PyThread_get_thread_ident();
}

int is_numpy_array(PyObject *object) { return array_type != NULL && Py_IS_TYPE(object, array_type); }

static int is_same(const Loan *each, const Array *array)
{
    int flags = array->flags & (C_ORDER | ALIGNED | WRITABLE);
    return each->handle != NULL && each->data == array->data && each->rank == array->rank
           && each->flags == flags && each->dtype == array->dtype
           && memcmp(each->shape, array->shape, (size_t)array->rank * sizeof *each->shape) == 0;
}

static Py_ssize_t bytes_of(const Loan *each) { return leaf_memory(each->leaf)->nbytes; }

static int overlaps(const Loan *one)
{
    for (int i = 0; i < LOANS; i++) {
        const Loan *other = &loan[i];
        if (other != one && other->active && one->data < other->data + bytes_of(other)
            && other->data < one->data + bytes_of(one))
            return 1;
    }
    return 0;
}

static void drop(Loan *old)
{
    Loan gone = *old;
    memset(old, 0, sizeof *old);
    if (gone.active)
        Py_XDECREF(gone.array);
    Py_XDECREF(gone.dtype);
    Py_XDECREF(gone.handle);
    Py_XDECREF(gone.leaf);
}

/* A place for a new loan; NULL where all are active. */
static Loan *place(void)
{
    for (int i = 0; i < LOANS; i++) {
        Loan *each = &loan[next_loan++ % LOANS];
        if (!each->active) {
            drop(each);
            return each;
        }
    }
    return NULL;
}

/* NULL, without an error, where Python has to look. */
static Loan *open_loan(PyObject *object)
{
    Array *array = (Array *)object;
    if (array->rank > MOST_DIMS || !(array->flags & C_ORDER) || !(array->flags & ALIGNED))
        return NULL;
    PyObject *leaf = PyObject_CallOneArg(make_leaf, object);
    if (leaf == NULL)
        return NULL;
    int known = Py_IS_TYPE(leaf, &NodeType) && ((Node *)leaf)->kind == LEAF
                && leaf_memory((Node *)leaf) != NULL && array_class != NULL;
    Loan *fresh = known ? place() : NULL;
    Handle *handle = fresh == NULL ? NULL : (Handle *)handle_new((Node *)Py_NewRef(leaf));
    if (handle == NULL) {
        Py_DECREF(leaf);
        return NULL;
    }
    handle->flags = array->flags & WRITABLE ? 0 : 1;
    *fresh = (Loan){object, Py_NewRef(array->dtype), array->data, array->rank,
                    array->flags & (C_ORDER | ALIGNED | WRITABLE), 0, {0}, handle, (Node *)leaf};
    memcpy(fresh->shape, array->shape, (size_t)array->rank * sizeof *fresh->shape);
    return fresh;
}

/* The handle on an array's memory for this block, borrowed; NULL, without an error: ask Python. */
PyObject *lend(PyObject *object)
{
    Loan *found = NULL;
    if (!is_lending() || !is_numpy_array(object))
        return NULL;
    for (int i = 0; i < LOANS && found == NULL; i++)
        if (loan[i].array == object)
            found = &loan[i];
    if (found != NULL && !is_same(found, (Array *)object)) {
        if (found->active) { /* it has been changed in this block */
            tangled = 1;
            return NULL;
        }
        drop(found);
        found = NULL;
    }
    if (found == NULL && (found = open_loan(object)) == NULL)
        return NULL;
    if (!found->active) {
        if (overlaps(found)) {
            tangled = 1;
            return NULL;
        }
        Memory *memory = leaf_memory(found->leaf);
        Py_XSETREF(memory->owner, Py_NewRef(object));
        found->active = 1;
        Py_INCREF(object);
    }
    return (PyObject *)found->handle;
}

/* A handle's new value; what is lent gets it when the block ends. */
int handle_write(Handle *handle, Node *node)
{
    Node *old = handle->node;
    if (old != NULL && external_memory(old) != NULL) {
        PyObject *key = PyLong_FromVoidPtr(handle), *pair = PyTuple_Pack(2, handle, old);
        int failed = key == NULL || pair == NULL || owed == NULL
                     || PyDict_SetDefault(owed, key, pair) == NULL;
        Py_XDECREF(key);
        Py_XDECREF(pair);
        if (failed)
            return -1;
    }
    Py_XSETREF(handle->node, (Node *)Py_NewRef(node));
    return 0;
}

/* ---- the end of a block ------------------------------------------------------------------------ */

static Loan *loan_of(PyObject *handle)
{
    for (int i = 0; i < LOANS; i++)
        if (loan[i].active && (PyObject *)loan[i].handle == handle)
            return &loan[i];
    return NULL;
}

/* The arrays are their owners' again; what somebody still holds of a loan ends it.  Only the thread
   whose block is open has loans. */
static void end_loans(void)
{
    if (lazy_depth == 0 || lazy_thread != PyThread_get_thread_ident())
        return;
    tangled = 0;
    for (int i = 0; i < LOANS; i++) {
        Loan *each = &loan[i];
        if (!each->active)
            continue;
        Py_XSETREF(each->handle->node, (Node *)Py_NewRef(each->leaf));
        Memory *memory = leaf_memory(each->leaf);
        int alone = Py_REFCNT(each->leaf) == 2 && Py_REFCNT(each->handle) == 1
                    && Py_REFCNT(memory) == 1;
        if (alone) {
            each->active = 0;
            Py_CLEAR(memory->owner);
            Py_DECREF(each->array); /* its address stays as the key */
        }
        else
            drop(each);
    }
}

static int reads_external(Node *node, uint64_t walk)
{
    PyObject *args = node->args;
    if (node->kind == PART && PyTuple_GET_SIZE(args) == 1)
        args = ((Node *)PyTuple_GET_ITEM(args, 0))->args;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        Node *arg = (Node *)PyTuple_GET_ITEM(args, i);
        if (arg->mark == walk || external_memory(arg) != NULL)
            return 1;
    }
    return 0;
}

/* reading_external(): the pending values whose computation reads what others can write, if somebody
   but the list and its nodes holds them */
static PyObject *reading_external(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *list = pending_list(), *found = PyList_New(0);
    Py_ssize_t count = PyList_GET_SIZE(list);
    uint64_t walk = next_walk();
    for (Py_ssize_t i = 0; i < count; i++) {
        Node *node = (Node *)PyList_GET_ITEM(list, i);
        node->slot = 0;
        if (reads_external(node, walk))
            node->mark = walk;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *args = ((Node *)PyList_GET_ITEM(list, i))->args;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++)
            ((Node *)PyTuple_GET_ITEM(args, k))->slot++;
    }
    for (Py_ssize_t i = 0; i < count && found != NULL; i++) {
        Node *node = (Node *)PyList_GET_ITEM(list, i);
        if (node->mark == walk && node->kind != LEAF && Py_REFCNT(node) - 1 > node->slot
            && PyList_Append(found, (PyObject *)node) < 0)
            Py_CLEAR(found);
    }
    return found;
}

/* land(handle, old): whether a computed value has been copied to where it belongs */
static PyObject *land(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *handle;
    Node *old;
    if (!PyArg_ParseTuple(given, "OO!", &handle, &NodeType, &old))
        return NULL;
    Loan *into = loan_of(handle);
    Node *node = into == NULL ? NULL : into->handle->node;
    if (into == NULL || old != into->leaf || node == NULL || node->kind != LEAF)
        Py_RETURN_FALSE;
    Memory *from = leaf_memory(node), *to = leaf_memory(old);
    PyObject *straight = contiguous_strides(node->shape, dtypes[node->dtype].itemsize);
    if (straight == NULL)
        return NULL;
    int fits = from != NULL && node->dtype == old->dtype && same_shape(node->shape, old->shape)
               && same_shape(straight, PyTuple_GET_ITEM(node->value, 2));
    Py_DECREF(straight);
    if (!fits)
        Py_RETURN_FALSE;
    memmove(to->at, from->at + as_size(PyTuple_GET_ITEM(node->value, 1)), (size_t)to->nbytes);
    Py_XSETREF(into->handle->node, (Node *)Py_NewRef(old));
    Py_RETURN_TRUE;
}

static PyObject *end_loans_method(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    end_loans();
    Py_RETURN_NONE;
}

static PyObject *lend_method(PyObject *module, PyObject *array)
{
    (void)module;
    PyObject *handle = lend(array);
    if (handle == NULL && PyErr_Occurred())
        return NULL;
    return Py_NewRef(handle == NULL ? Py_None : handle);
}

/* stop_lending(handle): a handle that is not lent is written to; arrays go through Python now */
static PyObject *stop_lending(PyObject *module, PyObject *handle)
{
    (void)module;
    if (is_lending())
        tangled = loan_of(handle) == NULL;
    Py_RETURN_NONE;
}

/* enter_lazy(change, owed): this thread enters (1) or leaves (-1) a `lazy()` block */
static PyObject *enter_lazy(PyObject *module, PyObject *given)
{
    (void)module;
    int change;
    PyObject *dict;
    if (!PyArg_ParseTuple(given, "iO!", &change, &PyDict_Type, &dict))
        return NULL;
    unsigned long me = PyThread_get_thread_ident();
    lazy_blocks += change;
    if (lazy_depth == 0 && change > 0) {
        lazy_thread = me;
        Py_XSETREF(owed, Py_NewRef(dict));
    }
    if (lazy_thread == me && lazy_depth + change >= 0 && change >= -1 && change <= 1)
        lazy_depth += change;
    Py_RETURN_NONE;
}

/* set_lending(class of arrays, leaf of an array) */
static PyObject *set_lending(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *type, *make;
    if (!PyArg_ParseTuple(given, "O!O", &PyType_Type, &type, &make))
        return NULL;
    Py_XSETREF(array_type, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(make_leaf, Py_NewRef(make));
    Py_RETURN_NONE;
}

PyMethodDef lent_methods[] = {
    {"lend", lend_method, METH_O, "The handle on a NumPy array in this block; None: ask Python."},
    {"land", land, METH_VARARGS, "Copy a computed value to where it belongs; whether that is known."},
    {"end_loans", end_loans_method, METH_NOARGS, "The arrays are their owners' again."},
    {"stop_lending", stop_lending, METH_O, "A handle that is not lent is written to."},
    {"enter_lazy", enter_lazy, METH_VARARGS, "This thread enters or leaves a lazy block."},
    {"reading_external", reading_external, METH_NOARGS,
     "The held pending values that read what others can write."},
    {"set_lending", set_lending, METH_VARARGS, "The class of arrays, and their leaves."},
    {NULL},
};
