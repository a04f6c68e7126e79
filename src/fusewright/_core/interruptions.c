/* What a signal's handler raises (Ctrl-C: KeyboardInterrupt) is the program's, and never lost.

   Python may call a handler wherever it runs code of its own: in what runs when an object dies,
   whose errors nobody hears, and where an error only says that another way has to be gone.  There
   the error is put off: the thread has it before its next instruction. */

#include "core.h"

static PyObject *put_off[3];

static int raise_now(void *unset)
{
    (void)unset;
    PyErr_Restore(put_off[0], put_off[1], put_off[2]);
    memset(put_off, 0, sizeof put_off);
    return PyErr_Occurred() ? -1 : 0;
}

/* Whether this is the main thread, the one where handlers run. */
static int is_main(void)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    int same = ident != NULL && PyLong_Check(ident) && PyLong_AsUnsignedLong(ident) == PyThread_get_thread_ident();
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    PyErr_Clear();
    return same;
}

/* The error that is set is raised later, in this thread; of several, one is enough.  What ends another
   thread than the main one is a class (`base.interruptions.raise_in`). */
static void postpone(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!is_main())
        PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type);
    else if (put_off[0] == NULL && Py_AddPendingCall(raise_now, NULL) == 0) {
        put_off[0] = type, put_off[1] = value, put_off[2] = trace;
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Whether the error that is set comes from outside (`base.interruptions`). */
static int is_interruption(void)
{
    PyObject *type, *value, *trace, *answer = NULL;
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return 1;
    PyErr_Fetch(&type, &value, &trace);
    if (trace != NULL) { /* a handler is code in Python */
        PyErr_NormalizeException(&type, &value, &trace);
        PyObject *module = load_module("fusewright.base.interruptions");
        answer = module ? PyObject_CallMethod(module, "is_interruption", "OO", value, trace) : NULL;
        Py_XDECREF(module);
        PyErr_Clear();
    }
    Py_XDECREF(answer);
    PyErr_Restore(type, value, trace);
    return answer == Py_True;
}

/* The error that is set, or none, says no more than that another way has to be gone. */
void forgive(void)
{
    if (PyErr_Occurred() && is_interruption())
        postpone();
    else
        PyErr_Clear();
}

/* A call where nobody hears of errors, and none is set; steals the arguments. */
void last_call(PyObject *function, PyObject *given)
{
    if (PyErr_CheckSignals() < 0) /* handlers that are due come before, not in the midst */
        postpone();
    PyObject *done = given ? PyObject_CallObject(function, given) : NULL;
    Py_XDECREF(given);
    if (done == NULL && !is_interruption())
        PyErr_WriteUnraisable(function);
    forgive();
    Py_XDECREF(done);
}

static PyObject *call_at_last(PyObject *function, PyObject *given)
{
    last_call(function, Py_NewRef(given));
    Py_RETURN_NONE;
}

static PyMethodDef at_last = {"at_last", call_at_last, METH_VARARGS, NULL};

/* outlasting(function): the same for what calls it when an object has died */
static PyObject *outlasting(PyObject *module, PyObject *function)
{
    (void)module;
    return PyCFunction_New(&at_last, function);
}

PyMethodDef interruption_methods[] = {
    {"outlasting", outlasting, METH_O, "A call whose interruption is raised after it: (function)."},
    {NULL, NULL, 0, NULL},
};
