/* How long the program is in the front ends, while a profile listens (`runtime.profile`).

   Operators, subscripts and functions of arrays are timed from the outermost call to its return; what that call spends
   in evaluations and in library steps is taken off.  Nobody listens: one look at `timed`
   for each call. */

#include "core.h"
#include <time.h>

typedef struct {
    int depth;
    int64_t began, elsewhere; /* nanoseconds: when the outermost call began, and what of it is no recording */
} Inside;

int timed;
static int64_t total; /* nanoseconds, of all threads; the GIL guards it */
static _Thread_local Inside inside;

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void timing_enters(void)
{
    if (inside.depth++ == 0) {
        inside.elsewhere = 0;
        inside.began = nanoseconds();
    }
}

void timing_leaves(void)
{
    if (--inside.depth > 0)
        return;
    int64_t took = nanoseconds() - inside.began - inside.elsewhere;
    total += took > 0 ? took : 0;
}

PyObject *timed_getitem(PyObject *handle, PyObject *key) { TIMED(PyObject *, handle_getitem(handle, key)); }

int timed_setitem(PyObject *handle, PyObject *key, PyObject *value)
{
    TIMED(int, handle_setitem(handle, key, value));
}

/* time_recording(on): whether anybody listens */
static PyObject *time_recording(PyObject *module, PyObject *on)
{
    (void)module;
    int truth = PyObject_IsTrue(on);
    if (truth < 0)
        return NULL;
    timed = truth;
    Py_RETURN_NONE;
}

static PyObject *recording_seconds(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyFloat_FromDouble(1e-9 * (double)total);
}

/* not_recording(seconds): so long just now */
static PyObject *not_recording(PyObject *module, PyObject *seconds)
{
    (void)module;
    double took = PyFloat_AsDouble(seconds);
    if (took == -1.0 && PyErr_Occurred())
        return NULL;
    inside.elsewhere += (int64_t)(1e9 * took);
    Py_RETURN_NONE;
}

/* as_evaluation(function, arguments, names): what it takes is no recording, nor what calls of ours in it take */
static PyObject *as_evaluation(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *function, *arguments, *names;
    if (!PyArg_ParseTuple(given, "OO!O!", &function, &PyTuple_Type, &arguments, &PyDict_Type, &names))
        return NULL;
    Inside outer = inside;
    int64_t began = nanoseconds();
    inside.depth = 1;
    PyObject *result = PyObject_Call(function, arguments, names);
    inside = outer;
    inside.elsewhere += nanoseconds() - began;
    return result;
}

/* as_recording(function, arguments, names): what it takes is recording */
static PyObject *as_recording(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject *function, *arguments, *names;
    if (!PyArg_ParseTuple(given, "OO!O!", &function, &PyTuple_Type, &arguments, &PyDict_Type, &names))
        return NULL;
    TIMED(PyObject *, PyObject_Call(function, arguments, names));
}

PyMethodDef timing_methods[] = {
    {"time_recording", time_recording, METH_O, "Whether calls of the front ends are timed."},
    {"recording_seconds", recording_seconds, METH_NOARGS, "The time in them so far, without evaluations."},
    {"not_recording", not_recording, METH_O, "So many seconds just now were no recording."},
    {"as_evaluation", as_evaluation, METH_VARARGS, "Call a function whose time is no recording."},
    {"as_recording", as_recording, METH_VARARGS, "Call a function whose time is recording."},
    {NULL},
};
