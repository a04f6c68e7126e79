/* The machine's record as far as the core reads it (machine.h). */
#include "core.h"

#include <stddef.h>

Machine machine = {
    .past = 1 << 26,
    .past_in_loops = 1 << 25,
    .unlocked = 1 << 18,
    .parallel = 16e3,
    .operation = 1e3,
    .element = 1.0,
    .dear_element = 4.0,
    .look_up = 1e-4,
    .look_up_node = 1e-5,
    .load_finder = 10e-3,
    .compile_first = 108e-3,
    .compile_node = 1e-3,
};
uint64_t machine_version = 0;

#define SIZE_OF(name) {#name, offsetof(Machine, name), 0}
#define TIME_OF(name) {#name, offsetof(Machine, name), 1}
static const struct {
    const char *name;
    size_t place;
    int is_time;
} fields[] = {
    SIZE_OF(past), SIZE_OF(past_in_loops), SIZE_OF(unlocked), TIME_OF(parallel), TIME_OF(operation), TIME_OF(element),
    TIME_OF(dear_element), TIME_OF(look_up), TIME_OF(look_up_node), TIME_OF(load_finder), TIME_OF(compile_first),
    TIME_OF(compile_node),
};
#define FIELDS (sizeof fields / sizeof *fields)

static const struct {
    const char *name;
    int64_t value;
} constants[] = {
    {"TINY_ELEMENTS", TINY_ELEMENTS}, {"FEW_ELEMENTS", FEW_ELEMENTS}, {"MOVED_ELEMENTS", MOVED_ELEMENTS},
    {"STARTED_ELEMENTS", STARTED_ELEMENTS}, {"KERNEL_ELEMENTS", KERNEL_ELEMENTS}, {"COPIED_ELEMENTS", COPIED_ELEMENTS},
    {"USED_ELEMENTS", USED_ELEMENTS}, {"COPIED_BYTES", COPIED_BYTES},
};

static int set_field(PyObject *name, PyObject *figure)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (PyUnicode_CompareWithASCIIString(name, fields[i].name) == 0) {
            char *place = (char *)&machine + fields[i].place;
            if (fields[i].is_time)
                *(double *)place = PyFloat_AsDouble(figure);
            else
                *(int64_t *)place = PyLong_AsLongLong(figure);
            return PyErr_Occurred() ? -1 : 0;
        }
    PyErr_Format(PyExc_TypeError, "the core reads no %R of a machine's record", name);
    return -1;
}

/* set_machine(**fields) */
static PyObject *set_machine(PyObject *module, PyObject *given, PyObject *named)
{
    (void)module;
    PyObject *name, *figure;
    Py_ssize_t next = 0;
    if (!PyArg_ParseTuple(given, ":set_machine"))
        return NULL;
    while (named != NULL && PyDict_Next(named, &next, &name, &figure))
        if (set_field(name, figure) < 0)
            return NULL;
    machine_version++;
    Py_RETURN_NONE;
}

static int tell(PyObject *found, const char *name, PyObject *figure)
{
    int failed = figure == NULL || PyDict_SetItemString(found, name, figure) < 0;
    Py_XDECREF(figure);
    return failed;
}

/* machine() -> all figures by their names: the fields, and what is the same on all machines */
static PyObject *figures(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *found = PyDict_New();
    int failed = found == NULL || tell(found, "ROWS", Py_BuildValue("(iii)", ROWS));
    for (size_t i = 0; !failed && i < sizeof constants / sizeof *constants; i++)
        failed = tell(found, constants[i].name, PyLong_FromLongLong(constants[i].value));
    for (size_t i = 0; !failed && i < FIELDS; i++) {
        char *place = (char *)&machine + fields[i].place;
        failed = tell(found, fields[i].name,
                      fields[i].is_time ? PyFloat_FromDouble(*(double *)place) : PyLong_FromLongLong(*(int64_t *)place));
    }
    if (failed)
        Py_CLEAR(found);
    return found;
}

PyMethodDef machine_methods[] = {
    {"set_machine", (PyCFunction)(void (*)(void))set_machine, METH_VARARGS | METH_KEYWORDS, "Fields of the machine's record."},
    {"machine", figures, METH_NOARGS, "What the core reads of it."},
    {NULL},
};
