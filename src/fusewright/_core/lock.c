/* The lock of evaluations: re-entrant, free of charge where nobody waits. */

#include "core.h"
#include <pythread.h>
#include <stddef.h>

/* The GIL guards `owner` and `depth`; `wake` is held but while somebody is being woken. */
struct Lock {
    PyObject_HEAD
    PyThread_type_lock wake;
    unsigned long owner;
    int depth, waiting;
};

static PyObject *lock_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)given, (void)names;
    Lock *lock = PyObject_New(Lock, type);
    if (lock == NULL)
        return NULL;
    lock->owner = 0;
    lock->depth = lock->waiting = 0;
    lock->wake = PyThread_allocate_lock();
    if (lock->wake == NULL || !PyThread_acquire_lock(lock->wake, NOWAIT_LOCK)) {
        PyErr_NoMemory();
        Py_CLEAR(lock);
    }
    return (PyObject *)lock;
}

static void lock_dealloc(Lock *lock)
{
    if (lock->wake != NULL)
        PyThread_free_lock(lock->wake);
    PyObject_Free(lock);
}

void lock_take(Lock *lock)
{
    unsigned long me = PyThread_get_thread_ident();
    while (lock->depth > 0 && lock->owner != me) {
        lock->waiting++;
        Py_BEGIN_ALLOW_THREADS;
        PyThread_acquire_lock(lock->wake, WAIT_LOCK);
        Py_END_ALLOW_THREADS;
    }
    lock->owner = me;
    lock->depth++;
}

void lock_leave(Lock *lock)
{
    if (--lock->depth == 0 && lock->waiting > 0) {
        lock->waiting--;
        PyThread_release_lock(lock->wake);
    }
}

int lock_depth(Lock *lock) { return lock->depth; }

static PyObject *lock_enter(PyObject *self, PyObject *none)
{
    (void)none;
    lock_take((Lock *)self);
    return Py_NewRef(self);
}

/* acquire(blocking=True): whether it was taken */
static PyObject *lock_acquire(PyObject *self, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"blocking", NULL};
    Lock *lock = (Lock *)self;
    int blocking = 1;
    if (!PyArg_ParseTupleAndKeywords(given, names, "|p", keywords, &blocking))
        return NULL;
    if (!blocking && lock->depth > 0 && lock->owner != PyThread_get_thread_ident())
        Py_RETURN_FALSE;
    lock_take(lock);
    Py_RETURN_TRUE;
}

static PyObject *lock_exit(PyObject *self, PyObject *given)
{
    (void)given;
    Lock *lock = (Lock *)self;
    if (lock->depth == 0 || lock->owner != PyThread_get_thread_ident()) {
        PyErr_SetString(PyExc_RuntimeError, "the lock is not this thread's");
        return NULL;
    }
    lock_leave(lock);
    Py_RETURN_NONE;
}

static PyMethodDef lock_methods[] = {
    {"__enter__", lock_enter, METH_NOARGS, "Take the lock; the thread that has it may."},
    {"__exit__", lock_exit, METH_VARARGS, "Leave it."},
    {"acquire", (PyCFunction)(void (*)(void))lock_acquire, METH_VARARGS | METH_KEYWORDS,
     "Take the lock; whether it was taken."},
    {"release", lock_exit, METH_NOARGS, "Leave it."},
    {NULL},
};

PyTypeObject LockType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Lock",
    .tp_basicsize = sizeof(Lock),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = lock_make,
    .tp_dealloc = (destructor)lock_dealloc,
    .tp_methods = lock_methods,
    .tp_doc = "A re-entrant lock for holders of the GIL.",
};
