/* Functions that write into their first operand, at once: NumPy's own, on our memory (`np.add.at(a, i, 1)`, `a.sort()`).

   The other operands are known or small; what is written to is nobody else's and in memory.  Everything else is the
   general function's. */

#include "dispatch.h"
#include "front.h"

#define MOST_OPERANDS 8

/* Writer(function, general, limit): of arrays of up to `limit` elements */
typedef struct {
    Front front;
    PyObject *function;
    long long limit;
} Writer;

static int is_within(PyObject *handle, int64_t limit)
{
    PyObject *shape = handle_shape(handle);
    return shape != NULL && elements_of(shape) <= limit;
}

/* An operand that is read; NULL, with or without an error, where it is not known.  A number stays one: NumPy looks at
   those before they become integers. */
static PyObject *read_operand(PyObject *given, int64_t limit)
{
    Spot spot;
    if (is_plain(given)) {
        if (!is_within(given, limit) || known_spot(given, &spot) <= 0)
            return NULL;
        return Py_TYPE(given) == scalar_class ? numpy_number(spot.at, spot.dtype) : array_on(&spot, 0);
    }
    return kind_of_operand(given, 0, 3) & OURS ? NULL : Py_NewRef(given);
}

static PyObject *written_now(Writer *writer, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    Py_ssize_t all = many + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject *made[MOST_OPERANDS] = {NULL}, *result = NULL;
    if (numpy_array == NULL || many < 1 || all > MOST_OPERANDS || !is_plain(given[0]) || !is_within(given[0], writer->limit)
        || is_listened_to() || is_strict() || !steps_at_once())
        return NULL;
    int failed = 0;
    for (Py_ssize_t i = 1; i < all && !failed; i++)
        failed = (made[i] = read_operand(given[i], writer->limit)) == NULL;
    if (!failed && (made[0] = writable_array(given[0], 1)) != NULL) /* last: nothing is computed any more */
        result = PyObject_Vectorcall(writer->function, made, (size_t)many, names);
    if (result != NULL && result == made[0])
        Py_SETREF(result, Py_NewRef(given[0]));
    for (Py_ssize_t i = 0; i < all; i++)
        Py_XDECREF(made[i]);
    drop_refusal();
    return result;
}

static PyObject *writer_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names)
{
    Lock *lock = evaluation_begins(); /* one write at a time, as for subscripts */
    PyObject *result = written_now((Writer *)self, given, PyVectorcall_NARGS(flags), names);
    evaluation_ends(lock);
    return result != NULL || PyErr_Occurred() ? result : front_general(self, given, flags, names);
}

static PyObject *writer_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"function", "general", "limit", NULL};
    PyObject *function, *general;
    long long limit;
    if (!PyArg_ParseTupleAndKeywords(given, names, "OOL", keywords, &function, &general, &limit))
        return NULL;
    Writer *writer = (Writer *)front_new(type, writer_call, general);
    if (writer != NULL) {
        writer->function = Py_NewRef(function);
        writer->limit = limit;
    }
    return (PyObject *)writer;
}

static int writer_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Writer *)self)->function);
    return front_traverse(self, visit, arg);
}

static int writer_clear(PyObject *self)
{
    Py_CLEAR(((Writer *)self)->function);
    return front_clear(self);
}

PyTypeObject WriterType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Writer",
    .tp_basicsize = sizeof(Writer),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_new = writer_make,
    .tp_traverse = writer_traverse,
    .tp_clear = writer_clear,
    .tp_doc = "A function of NumPy's that writes into its first operand, run on our memory; Writer(function, general, limit).",
};
