/* Functions of the drop-in that record element-wise: NumPy's ufuncs and `where`. */

#include "dispatch.h"
#include <structmember.h>

/* A function of the drop-in with a quick way in front of `general`, which does everything else. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *op, *general, *numbers; /* of numbers alone: NumPy's; or NULL */
    PyObject *of_complex;             /* of one complex array or number of NumPy's, where it is not NumPy's own; or NULL */
    int arity;
} Function;

static int is_complex(PyObject *object)
{
    if (PyComplex_CheckExact(object))
        return 1;
    int dtype = numpy_array != NULL && Py_IS_TYPE(object, numpy_array) ? dtype_of_array(object) : scalar_dtype(object);
    return dtype < NO_DTYPE && dtypes[dtype].kind == 'c';
}

static int are_numbers(PyObject *const *given, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (!is_known_number(given[i]))
            return 0;
    return 1;
}

/* What Python records, which fills in the tables of `op`. */
static PyObject *by_general(Function *function, PyObject *const *given, size_t flags, PyObject *names)
{
    if (function->general == NULL) {
        PyErr_SetString(PyExc_TypeError, "the function has no general form");
        return NULL;
    }
    if (Py_EnterRecursiveCall(" in a function of arrays"))
        return NULL;
    recording++;
    PyObject *result = PyObject_Vectorcall(function->general, given, flags, names);
    recording--;
    Py_LeaveRecursiveCall();
    return result;
}

/* ---- into an array: `np.add(a, b, out=c)`, `np.divide(a, b, out=c, where=mask)` -------------- */

typedef struct {
    PyObject *out, *where; /* where: NULL for every element */
} Into;

static PyObject *out_name, *where_name;

/* What the arguments after the operands ask for; 0 where Python has to look. */
static int read_into(Function *function, PyObject *const *given, Py_ssize_t count, PyObject *names, Into *into)
{
    Py_ssize_t many = names ? PyTuple_GET_SIZE(names) : 0;
    *into = (Into){count == function->arity + 1 ? given[function->arity] : NULL, NULL};
    if (function->op == NULL || function->numbers == NULL || (into->out == NULL && count != function->arity))
        return 0;
    for (Py_ssize_t i = 0; i < many; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (name == out_name && into->out == NULL)
            into->out = given[count + i];
        else if (name == where_name)
            into->where = given[count + i];
        else
            return 0;
    }
    if (into->out == NULL || !is_plain(into->out) || Py_TYPE(into->out) == scalar_class)
        return 0;
    if (into->where == Py_True)
        into->where = NULL;
    return into->where == NULL
           || (is_plain(into->where) && Py_TYPE(into->where) != scalar_class && handle_dtype(into->where) == dtype_bool);
}

/* Whether Python's answer without `out` fills in the table of types: of arrays of NumPy's it is those of the target's. */
static int are_recorded(PyObject *const *given, int count, PyObject *out)
{
    for (int i = 0; i < count; i++)
        if (!is_plain(given[i]) && !is_known_number(given[i])
            && !(Py_IS_TYPE(given[i], numpy_array) && dtype_of_array(given[i]) == handle_dtype(out)))
            return 0;
    return 1;
}

/* Whether the value goes there as it is: of that type and shape, in C order. */
static int goes_into(PyObject *value, PyObject *out)
{
    return is_plain(value) && Py_IS_TYPE(value, array_class) && handle_dtype(value) == handle_dtype(out)
           && same_shape(handle_shape(value), handle_shape(out)) && ((Handle *)value)->node->layout == NULL;
}

/* The elements that the mask selects, beside what is there. */
static PyObject *selected(Into *into, PyObject *value)
{
    Node *mask = handle_node(into->where), *old = mask ? handle_node(into->out) : NULL;
    if (old == NULL || old->layout != NULL || !same_shape(mask->shape, old->shape))
        return NULL;
    return handle_new(chosen(mask, ((Handle *)value)->node, old));
}

static int is_stored(PyObject *out, PyObject *value)
{
    if (Py_TYPE(out) == view_class)
        return quick_view_write(out, ((Handle *)value)->node, Py_None);
    Node *old = ((Handle *)out)->node;
    return old != NULL && old->layout == NULL && replaced(out, value);
}

/* Whether an array of ours and one of NumPy's have the same type and shape. */
static int are_alike(PyObject *ours, PyObject *numpys)
{
    NumpyArray *array = (NumpyArray *)numpys;
    PyObject *shape = is_plain(ours) && Py_TYPE(ours) != scalar_class ? handle_shape(ours) : NULL;
    int same = shape != NULL && handle_dtype(ours) == dtype_of_array(numpys) && PyTuple_GET_SIZE(shape) == array->dims;
    for (int d = 0; same && d < array->dims; d++)
        same = as_size(PyTuple_GET_ITEM(shape, d)) == array->extent[d];
    return same;
}

int put_into(PyObject *out, PyObject *value)
{
    int is_numpys = Py_IS_TYPE(out, numpy_array);
    if (!is_numpys && !Py_IS_TYPE(value, numpy_array))
        return is_plain(out) && Py_TYPE(out) != scalar_class && goes_into(value, out) ? is_stored(out, value) : 0;
    if (is_numpys ? !are_alike(value, out) : !are_alike(out, value))
        return 0;
    PyObject *content = is_numpys ? known_operand(value) : Py_NewRef(value);
    int done = content == NULL ? 0 : PyObject_SetItem(out, Py_Ellipsis, content) < 0 ? -1 : 1;
    Py_XDECREF(content);
    return done;
}

/* `out`, written; NULL without an error where Python has to look. */
static PyObject *call_into(Function *function, PyObject *const *given, Into *into)
{
    PyObject *value = quick_of(function->op, given, function->arity);
    if (value == NULL && !PyErr_Occurred() && are_recorded(given, function->arity, into->out))
        value = by_general(function, given, (size_t)function->arity, NULL);
    if (value != NULL && into->where != NULL)
        Py_SETREF(value, goes_into(value, into->out) ? selected(into, value) : NULL);
    int done = value == NULL ? 0 : put_into(into->out, value);
    Py_XDECREF(value);
    drop_refusal();
    return done > 0 ? Py_NewRef(into->out) : NULL;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static PyObject *function_call(PyObject *self, PyObject *const *given, size_t flags,
                               PyObject *names)
{
    Function *function = (Function *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (Py_EnterRecursiveCall(" in a function of arrays"))
        return NULL;
    if (function->of_complex != NULL && count == 1 && names == NULL && is_complex(given[0])) {
        Py_LeaveRecursiveCall();
        return PyObject_CallOneArg(function->of_complex, given[0]);
    }
    PyObject *plain = function->numbers ? plain_call(function->numbers, given, flags, names, function->arity, 0) : NULL;
    Py_LeaveRecursiveCall();
    if (plain != NULL || PyErr_Occurred())
        return plain;
    Into into;
    if (names == NULL && count == function->arity && function->op != NULL) {
        PyObject *result;
        TIME(result = quick_of(function->op, given, count));
        if (result != NULL || PyErr_Occurred())
            return result;
        if (function->numbers != NULL && are_numbers(given, count))
            return PyObject_Vectorcall(function->numbers, given, flags, NULL);
    } else if (read_into(function, given, count, names, &into)) {
        Lock *lock = evaluation_begins(); /* one write at a time: see `handle_setitem` */
        PyObject *result;
        TIME(result = call_into(function, given, &into));
        evaluation_ends(lock);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    TIMED(PyObject *, by_general(function, given, flags, names));
}

/* Function(): `op`, `arity` and `general` are set by the subclass. */
static PyObject *function_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)given, (void)names;
    Function *function = (Function *)type->tp_alloc(type, 0);
    if (function != NULL)
        function->call = function_call;
    return (PyObject *)function;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Function *)self)->general);
    Py_VISIT(((Function *)self)->op);
    Py_VISIT(((Function *)self)->numbers);
    Py_VISIT(((Function *)self)->of_complex);
    return 0;
}

static int function_clear(PyObject *self)
{
    Py_CLEAR(((Function *)self)->general);
    Py_CLEAR(((Function *)self)->op);
    Py_CLEAR(((Function *)self)->numbers);
    Py_CLEAR(((Function *)self)->of_complex);
    return 0;
}

static void function_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    function_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *function_op(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *op = ((Function *)self)->op;
    return Py_NewRef(op ? op : Py_None);
}

static int function_set_op(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    if (value == NULL || !Py_IS_TYPE(value, &OpType)) {
        PyErr_SetString(PyExc_TypeError, "a function's op is an Op");
        return -1;
    }
    Py_XSETREF(((Function *)self)->op, Py_NewRef(value));
    return 0;
}

static PyGetSetDef function_fields[] = {
    {"_op", function_op, function_set_op, NULL, NULL},
    {NULL},
};

static PyMemberDef function_members[] = {
    {"_arity", T_INT, offsetof(Function, arity), 0, NULL},
    {"_general_form", T_OBJECT, offsetof(Function, general), 0, NULL},
    {"_of_numbers", T_OBJECT, offsetof(Function, numbers), 0, NULL},
    {"_of_complex", T_OBJECT, offsetof(Function, of_complex), 0, NULL},
    {NULL},
};

PyTypeObject FunctionType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Function",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC
                | Py_TPFLAGS_BASETYPE,
    .tp_new = function_make,
    .tp_dealloc = function_dealloc,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Function, call),
    .tp_getset = function_fields,
    .tp_members = function_members,
    .tp_doc = "A callable that records arrays of one shape at once.",
};

/* call_directly(class): calls of its instances need no tuple of arguments.  CPython 3.11 passes this
   on to immutable classes only; ours do not change. */
static PyObject *call_directly(PyObject *module, PyObject *type)
{
    (void)module;
    PyTypeObject *given = (PyTypeObject *)type;
    if (!PyType_Check(type) || given->tp_call != PyVectorcall_Call
        || given->tp_vectorcall_offset <= 0) {
        PyErr_SetString(PyExc_TypeError, "only classes whose instances are called by the core");
        return NULL;
    }
    given->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    return Py_NewRef(type);
}

int functions_ready(void)
{
    out_name = PyUnicode_InternFromString("out");
    where_name = PyUnicode_InternFromString("where");
    return out_name == NULL || where_name == NULL ? -1 : 0;
}

PyMethodDef function_methods[] = {
    {"call_directly", call_directly, METH_O, "Call instances without a tuple of arguments."},
    {NULL},
};
