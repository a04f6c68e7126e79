/* What the core reads of the machine's record (machine/record.py); until that is read, its defaults. */
#include "core.h"

int64_t past_bytes = (int64_t)1 << 26;
int64_t past_bytes_in_loops = (int64_t)1 << 25;
double parallel_nanoseconds = 16000.0;
uint64_t machine_version = 0;

/* set_machine(past, past_in_loops, parallel) */
static PyObject *set_machine(PyObject *module, PyObject *given)
{
    (void)module;
    long long past, in_loops;
    double parallel;
    if (!PyArg_ParseTuple(given, "LLd", &past, &in_loops, &parallel))
        return NULL;
    past_bytes = past;
    past_bytes_in_loops = in_loops;
    parallel_nanoseconds = parallel;
    machine_version++;
    Py_RETURN_NONE;
}

PyMethodDef machine_methods[] = {
    {"set_machine", set_machine, METH_VARARGS, "Bytes from which to write past the caches, nanoseconds from which to use threads."},
    {NULL},
};
