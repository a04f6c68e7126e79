/* Calls whose kind NumPy has agreed to before (frontends.arrays.agreement).

   Before a function of ours runs, Python looks whether NumPy would take the call, and what type its result would have.
   The answer follows from the operands' types, ranks and flags, from which of their extents are equal, and from the other
   arguments.  It is asked for when such a call comes the second time, and remembered. */

#include "dispatch.h"
#include "front.h"
#include "recipes.h"

#define MOST_BYTES 240
#define MOST_EXTENTS 16
#define MOST_NUMBERS 4
#define MOST_LETTERS 24
#define MOST_GIVEN 32 /* arguments */
#define MOST_KINDS 512 /* of calls that are remembered of one function */
#define DEEPEST 3

/* Agreed(function, general, judge, step=None): `judge(arguments, names)` says what is so of a call that the function may be called
   with: the type of its result, True where that is no matter, the place of `out` among the arguments where the call without it gives
   what is to be put there, or False for any other call: the `step` is those', NumPy's own function. */
typedef struct {
    Front front;
    PyObject *function, *judge, *step;
    PyObject *known; /* {kind of call: None where it came once, the judgement, or Ellipsis where one was refused after all} */
    PyObject *recipes; /* {form of call: None where it was recorded once, a recipe, or False} */
} Agreed;

/* What kind of call it is, written down. */
typedef struct {
    unsigned char bytes[MOST_BYTES];
    int used, ours, extents;
    Py_ssize_t extent[MOST_EXTENTS];
    double number[MOST_NUMBERS];
    int numbers, is_loose; /* whether something else than extents and numbers decides what is recorded */
} Kind;

static int put_bytes(Kind *kind, const void *bytes, Py_ssize_t count)
{
    if (count > MOST_BYTES - kind->used)
        return 0;
    memcpy(kind->bytes + kind->used, bytes, (size_t)count);
    kind->used += (int)count;
    return 1;
}

static int put_tag(Kind *kind, char tag, Py_ssize_t number)
{
    if (number < 0 || number > 255 || kind->used + 2 > MOST_BYTES)
        return 0;
    kind->bytes[kind->used++] = (unsigned char)tag;
    kind->bytes[kind->used++] = (unsigned char)number;
    return 1;
}

/* An extent by its place among those that differ: 0 and 1 are themselves. */
static int put_extent(Kind *kind, Py_ssize_t extent)
{
    int place = 0;
    if (extent < 2)
        return put_tag(kind, 'x', extent);
    while (place < kind->extents && kind->extent[place] != extent)
        place++;
    if (place == MOST_EXTENTS)
        return 0;
    if (place == kind->extents)
        kind->extent[kind->extents++] = extent;
    return put_tag(kind, 'x', place + 2);
}

static int put_handle(Kind *kind, PyObject *handle)
{
    PyObject *shape = handle_shape(handle);
    int sound = shape != NULL && put_tag(kind, Py_TYPE(handle) == scalar_class ? 'n' : 'h', handle_dtype(handle))
                && put_tag(kind, ((Handle *)handle)->flags & READ_ONLY ? 'r' : 'w', PyTuple_GET_SIZE(shape));
    for (Py_ssize_t d = 0; sound && d < PyTuple_GET_SIZE(shape); d++)
        sound = put_extent(kind, as_size(PyTuple_GET_ITEM(shape, d)));
    kind->ours++;
    kind->is_loose |= Py_TYPE(handle) == scalar_class;
    return sound;
}

static int put_array(Kind *kind, PyObject *object)
{
    NumpyArray *array = (NumpyArray *)object;
    int dtype = dtype_of_array(object), sound = dtype != NO_DTYPE && put_tag(kind, 'a', dtype)
                                                && put_tag(kind, array->flags & WRITABLE ? 'w' : 'r', array->dims);
    for (int d = 0; sound && d < array->dims; d++)
        sound = put_extent(kind, array->extent[d]);
    kind->is_loose = 1;
    return sound;
}

static void put_value(Kind *kind, double value)
{
    if (kind->numbers == MOST_NUMBERS)
        kind->is_loose = 1;
    else
        kind->number[kind->numbers++] = value;
}

static int put_letters(Kind *kind, char tag, PyObject *text)
{
    if (!PyUnicode_IS_COMPACT_ASCII(text) || PyUnicode_GET_LENGTH(text) > MOST_LETTERS)
        return 0;
    return put_tag(kind, tag, PyUnicode_GET_LENGTH(text)) && put_bytes(kind, PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text));
}

/* Integers count by their value, other numbers by their type. */
static int put_integer(Kind *kind, char tag, int dtype, PyObject *number)
{
    PyObject *index = PyNumber_Index(number);
    int overflow = 1;
    long long whole = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : 0;
    Py_XDECREF(index);
    forgive();
    return !overflow && put_tag(kind, tag, dtype) && put_bytes(kind, &whole, sizeof whole);
}

static int put_number(Kind *kind, PyObject *number)
{
    int dtype = scalar_dtype(number);
    char letter = dtype == NO_DTYPE ? 'b' : dtypes[dtype].kind;
    if (letter == 'b')
        return 0;
    kind->is_loose |= letter == 'f' || letter == 'c';
    return letter == 'f' || letter == 'c' ? put_tag(kind, 'g', dtype) : put_integer(kind, 'j', dtype, number);
}

/* A type, as `dtype=` names one. */
static int put_type(Kind *kind, PyObject *type)
{
    PyTypeObject *const pythons[] = {&PyFloat_Type, &PyLong_Type, &PyBool_Type, &PyComplex_Type};
    for (int i = 0; i < 4; i++)
        if (type == (PyObject *)pythons[i])
            return put_tag(kind, 'p', i);
    for (int i = 0; i < NO_DTYPE; i++) {
        if (numpy_dtypes[i] == type)
            return put_tag(kind, 'd', i);
        if (dtypes[i].scalar == type)
            return put_tag(kind, 't', i);
    }
    return 0;
}

static int put_object(Kind *kind, PyObject *object, int depth)
{
    if (is_plain(object))
        return put_handle(kind, object);
    if (PyLong_CheckExact(object))
        return put_integer(kind, 'i', 0, object);
    if (PyFloat_CheckExact(object))
        put_value(kind, PyFloat_AS_DOUBLE(object));
    kind->is_loose |= PyComplex_CheckExact(object);
    if (PyFloat_CheckExact(object) || PyComplex_CheckExact(object) || object == Py_None || PyBool_Check(object))
        return put_tag(kind, 'o', PyFloat_CheckExact(object) ? 0 : object == Py_None ? 1 : object == Py_True ? 2 : object == Py_False ? 3 : 4);
    if (Py_IS_TYPE(object, numpy_array))
        return put_array(kind, object);
    if (PyUnicode_CheckExact(object))
        return put_letters(kind, 's', object);
    if (!is_sequence(object))
        return put_number(kind, object) || put_type(kind, object);
    int sound = depth > 0 && put_tag(kind, PyList_CheckExact(object) ? '[' : '(', PySequence_Fast_GET_SIZE(object));
    for (Py_ssize_t i = 0; sound && i < PySequence_Fast_GET_SIZE(object); i++)
        sound = put_object(kind, PySequence_Fast_GET_ITEM(object, i), depth - 1);
    return sound;
}

/* NULL, without an error, for what is not plain. */
static PyObject *kind_of_call(Kind *kind, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    Py_ssize_t all = many + (names ? PyTuple_GET_SIZE(names) : 0);
    int sound = numpy_array != NULL && put_tag(kind, '#', many);
    for (Py_ssize_t i = 0; sound && i < all; i++)
        sound = (i < many || put_letters(kind, '=', PyTuple_GET_ITEM(names, i - many))) && put_object(kind, given[i], DEEPEST);
    forgive();
    return sound && kind->ours ? PyBytes_FromStringAndSize((char *)kind->bytes, kind->used) : NULL;
}

/* The kind with the very extents and numbers; NULL, without an error, where more decides. */
static PyObject *form_of_call(const Kind *kind)
{
    char bytes[MOST_BYTES + sizeof kind->extent + sizeof kind->number];
    size_t extents = (size_t)kind->extents * sizeof *kind->extent, numbers = (size_t)kind->numbers * sizeof *kind->number;
    if (kind->is_loose)
        return NULL;
    memcpy(bytes, kind->bytes, (size_t)kind->used);
    memcpy(bytes + kind->used, kind->extent, extents);
    memcpy(bytes + kind->used + extents, kind->number, numbers);
    return PyBytes_FromStringAndSize(bytes, kind->used + (Py_ssize_t)(extents + numbers));
}

/* Python's judgement of a call, asked for where a kind of call comes the second time; borrowed, NULL: none yet. */
static PyObject *judgement(Agreed *self, PyObject *kind, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    PyObject *found = PyDict_GetItemWithError(self->known, kind);
    if (found == NULL) {
        if (!PyErr_Occurred() && PyDict_GET_SIZE(self->known) < MOST_KINDS)
            PyDict_SetItem(self->known, kind, Py_None);
        return NULL;
    }
    if (found != Py_None)
        return found;
    found = front_told(self->judge, NULL, given, many, names);
    if (found == NULL || PyDict_SetItem(self->known, kind, found) < 0) {
        Py_XDECREF(found);
        return NULL;
    }
    Py_DECREF(found); /* the dictionary holds it */
    return found;
}

/* Whether a result has the type that NumPy's would have. */
static int is_of_type(PyObject *result, PyObject *type)
{
    if (type == Py_True)
        return 1;
    if (is_plain(result) && handle_dtype(result) < NO_DTYPE)
        return numpy_dtypes[handle_dtype(result)] == type;
    PyObject *found = PyObject_GetAttrString(result, "dtype");
    int same = found != NULL && PyObject_RichCompareBool(found, type, Py_EQ) == 1;
    Py_XDECREF(found);
    forgive();
    return same;
}

/* The function itself, where such a call is right: by a recipe, or for a recipe to be learnt. */
static PyObject *rightly_called(Agreed *self, const Kind *kind, PyObject *const *given, size_t flags, PyObject *names)
{
    PyObject *form = form_of_call(kind), *result = NULL;
    if (form != NULL)
        result = recipe_call(self->recipes, form, self->function, given, PyVectorcall_NARGS(flags), names);
    if (result == NULL && !PyErr_Occurred()) {
        result = PyObject_Vectorcall(self->function, given, flags, names);
        if (result != NULL && form != NULL && recipe_note(self->recipes, form, result) < 0)
            Py_CLEAR(result);
    }
    Py_XDECREF(form);
    return result;
}

/* Whether an array is part of a list or tuple: NumPy joins those into `out` one after the other. */
static int is_joined(PyObject *object, PyObject *array, int depth)
{
    int found = is_plain(object) && is_plain(array)
                && (view_link_of(object) ? view_base_of(object) : object) == (view_link_of(array) ? view_base_of(array) : array);
    for (Py_ssize_t i = 0; is_sequence(object) && depth > 0 && i < PySequence_Fast_GET_SIZE(object) && !found; i++)
        found = is_joined(PySequence_Fast_GET_ITEM(object, i), array, depth - 1);
    return found;
}

/* The call without the argument at a place, and what it gives put into that: `out`; NULL, with or without an error, where it does
   not fit. */
static PyObject *called_into(PyObject *object, Py_ssize_t at, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0, used = 0;
    PyObject *others[MOST_GIVEN], *out = given[at], *left = NULL, *result = NULL;
    if (many + named > MOST_GIVEN || (at < many && at + 1 != many))
        return NULL;
    for (Py_ssize_t i = 0; i < many + named; i++)
        if (i != at && is_sequence(given[i]) && is_joined(given[i], out, DEEPEST))
            return NULL;
        else if (i != at)
            others[used++] = given[i];
    if (named && (left = PyTuple_New(at < many ? named : named - 1)) == NULL)
        return NULL;
    for (Py_ssize_t i = 0, to = 0; i < named; i++)
        if (many + i != at)
            PyTuple_SET_ITEM(left, to++, Py_NewRef(PyTuple_GET_ITEM(names, i)));
    PyObject *first = front_first(object);
    int is_within = Py_IS_TYPE(first, &DispatchType) && recording > 0; /* it has called us, and begins anew */
    recording -= is_within;
    PyObject *value = PyObject_Vectorcall(first, others, (size_t)(many - (at < many)), left);
    recording += is_within;
    if (value != NULL && put_into(out, value) > 0)
        result = Py_NewRef(out);
    Py_XDECREF(value);
    Py_XDECREF(left);
    return result;
}

static PyObject *agreed_call(PyObject *object, PyObject *const *given, size_t flags, PyObject *names)
{
    Agreed *self = (Agreed *)object;
    Py_ssize_t many = PyVectorcall_NARGS(flags);
    Kind form = {.used = 0};
    PyObject *kind = kind_of_call(&form, given, many, names);
    PyObject *type = kind ? Py_XNewRef(judgement(self, kind, given, many, names)) : NULL, *result = NULL;
    if (type != NULL && type != Py_False && type != Py_Ellipsis) {
        if (PyLong_CheckExact(type))
            result = called_into(object, PyLong_AsSsize_t(type), given, many, names);
        else if ((result = rightly_called(self, &form, given, flags, names)) != NULL && !is_of_type(result, type))
            Py_CLEAR(result);
        if (result == NULL && !(PyErr_Occurred() && (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))))
            forgive(), PyDict_SetItem(self->known, kind, Py_Ellipsis); /* the general form says what becomes of it */
    }
    if (type == Py_False && self->step != NULL)
        result = PyObject_Vectorcall(self->step, given, flags, names);
    Py_XDECREF(type);
    Py_XDECREF(kind);
    return result != NULL || PyErr_Occurred() ? result : front_general(object, given, flags, names);
}

static PyObject *agreed_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"function", "general", "judge", "step", NULL};
    PyObject *function, *general, *judge, *step = Py_None;
    if (!PyArg_ParseTupleAndKeywords(given, names, "OOO|O", keywords, &function, &general, &judge, &step))
        return NULL;
    Agreed *agreed = (Agreed *)front_new(type, agreed_call, general);
    if (agreed != NULL) {
        agreed->function = Py_NewRef(function);
        agreed->judge = Py_NewRef(judge);
        agreed->step = step == Py_None ? NULL : Py_NewRef(step);
        if ((agreed->known = PyDict_New()) == NULL || (agreed->recipes = PyDict_New()) == NULL)
            Py_CLEAR(agreed);
    }
    return (PyObject *)agreed;
}

static int agreed_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Agreed *)self)->function);
    Py_VISIT(((Agreed *)self)->judge);
    Py_VISIT(((Agreed *)self)->step);
    Py_VISIT(((Agreed *)self)->known);
    Py_VISIT(((Agreed *)self)->recipes);
    return front_traverse(self, visit, arg);
}

static int agreed_clear(PyObject *self)
{
    Py_CLEAR(((Agreed *)self)->function);
    Py_CLEAR(((Agreed *)self)->judge);
    Py_CLEAR(((Agreed *)self)->step);
    Py_CLEAR(((Agreed *)self)->known);
    Py_CLEAR(((Agreed *)self)->recipes);
    return front_clear(self);
}

PyTypeObject AgreedType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Agreed",
    .tp_basicsize = sizeof(Agreed),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_new = agreed_make,
    .tp_traverse = agreed_traverse,
    .tp_clear = agreed_clear,
    .tp_doc = "A function of ours where NumPy is known to take such a call, else the general one; Agreed(function, general, judge).",
};
