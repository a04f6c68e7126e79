/* The options in force, read when the object is another, and what follows from them: who runs small work, and whether
   compiled code may run. */

#include "structure.h"

static PyObject *options_variable, *process_options; /* base.options */
static PyObject *listeners;                          /* runtime.profile */
InForce in_force;

static int read_options(PyObject *options)
{
    PyObject *target = PyObject_GetAttrString(options, "target");
    PyObject *features = PyObject_GetAttrString(options, "features");
    PyObject *fuse = PyObject_GetAttrString(options, "fuse");
    PyObject *threads = PyObject_GetAttrString(options, "threads");
    PyObject *spans = PyObject_GetAttrString(options, "debug");
    PyObject *interpret = PyObject_GetAttrString(options, "interpret");
    PyObject *strict = PyObject_GetAttrString(options, "strict");
    PyObject *verify = PyObject_GetAttrString(options, "verify");
    PyObject *small = PyObject_GetAttrString(options, "small");
    PyObject *contract = PyObject_GetAttrString(options, "contract");
    PyObject *reassociate = PyObject_GetAttrString(options, "reassociate");
    if (target && features && fuse && threads && spans && interpret && strict && verify && small
        && contract && reassociate) {
        PyUnicode_InternInPlace(&features);
        in_force.usable = PyUnicode_Check(target)
                      && PyUnicode_CompareWithASCIIString(target, "cpu") == 0
                      && !PyObject_IsTrue(spans) && !PyObject_IsTrue(verify);
        in_force.fuse = PyObject_IsTrue(fuse);
        in_force.eager = PyObject_IsTrue(interpret);
        in_force.strict = PyObject_IsTrue(strict);
        in_force.small = PyLong_AsLongLong(small);
        in_force.exact = !PyObject_IsTrue(contract) && !PyObject_IsTrue(reassociate);
        in_force.threads = threads == Py_None ? 0 : (int)PyLong_AsLong(threads);
        Py_XSETREF(in_force.features, Py_NewRef(features));
        Py_XSETREF(in_force.options, Py_NewRef(options));
    }
    Py_XDECREF(target);
    Py_XDECREF(features);
    Py_XDECREF(fuse);
    Py_XDECREF(threads);
    Py_XDECREF(spans);
    Py_XDECREF(interpret);
    Py_XDECREF(strict);
    Py_XDECREF(verify);
    Py_XDECREF(small);
    Py_XDECREF(contract);
    Py_XDECREF(reassociate);
    return PyErr_Occurred() ? -1 : 0;
}

/* 1 where the options in force are known, 0 where they are not yet. */
static int options_known(void)
{
    PyObject *options;
    if (options_variable == NULL)
        return 0;
    if (PyContextVar_Get(options_variable, NULL, &options) < 0)
        return -1;
    if (options == NULL || options == Py_None)
        Py_XSETREF(options, Py_XNewRef(process_options));
    if (options == NULL)
        return 0;
    int failed = options == in_force.options ? 0 : read_options(options);
    Py_DECREF(options);
    return failed ? -1 : 1;
}

/* 1 where compiled code may run under the options in force, 0 where Python decides: also while somebody listens (unless
   `told`), and before the runtime, whose listeners they are, has been loaded: there is no memory for results then. */
static int usable_if(int told)
{
    int known = listeners == NULL || (!told && PyList_GET_SIZE(listeners) > 0) ? 0 : options_known();
    return known > 0 ? in_force.usable : known;
}
int structure_usable(void) { return usable_if(0); }

/* What is recorded to be replayed or to wait for the end of a `lazy()` block is ours at any size. */
int64_t small_elements(void)
{
    if (recording > 0 || is_holding() || is_in_lazy_block() || options_known() <= 0)
        return 0;
    return in_force.small;
}

#define RECORDED 12 /* small steps of a program that are recorded like all others */
static int small_steps;

static int is_past_recorded(int allowed)
{
    if (allowed <= 0 || is_holding() || !in_force.eager)
        return 0;
    if (small_steps == RECORDED)
        return 1;
    return small_steps++, 0;
}

/* Whoever listens: what is computed for a move is told as an evaluation, and old versions would be copies. */
int moves_at_once(void) { return is_native() && is_past_recorded(usable_if(1)); }
int runs_at_once(void) { return is_native() && is_past_recorded(structure_usable()); }
/* Whether NumPy's functions may run on memory: also before the runtime is loaded, for they give memory of their own. */
static int steps_usable(void) { return listeners == NULL ? options_known() > 0 && in_force.usable : structure_usable(); }
int steps_at_once(void) { return (listeners == NULL || is_native()) && is_past_recorded(steps_usable()); }

int is_past_first_steps(void) { return structure_usable() > 0 && (!in_force.eager || small_steps == RECORDED); }

int is_strict(void) { return steps_usable() <= 0 || in_force.strict; }

int options_allow(PyObject *options, int *threads)
{
    int ready = is_native() ? structure_usable() : 0;
    *threads = in_force.threads;
    return ready > 0 ? in_force.options == options : ready;
}

PyObject *options_in_force(void) { return options_known() > 0 ? in_force.options : NULL; }

/* set_options(context variable) */
static PyObject *set_options(PyObject *module, PyObject *variable)
{
    (void)module;
    if (!PyContextVar_CheckExact(variable))
        return PyErr_Format(PyExc_TypeError, "a context variable, not %R", variable);
    Py_XSETREF(options_variable, Py_NewRef(variable));
    Py_RETURN_NONE;
}

/* set_listeners(list) */
static PyObject *set_listeners(PyObject *module, PyObject *list)
{
    (void)module;
    if (!PyList_CheckExact(list))
        return PyErr_Format(PyExc_TypeError, "a list, not %R", list);
    Py_XSETREF(listeners, Py_NewRef(list));
    Py_RETURN_NONE;
}

static PyObject *set_process_options(PyObject *module, PyObject *options)
{
    (void)module;
    Py_XSETREF(process_options, Py_NewRef(options));
    Py_RETURN_NONE;
}

PyMethodDef options_methods[] = {
    {"set_options", set_options, METH_O, "The options' context variable."},
    {"set_listeners", set_listeners, METH_O, "The listeners: from now on the runtime is there."},
    {"set_process_options", set_process_options, METH_O, "The options outside every context."},
    {NULL},
};
