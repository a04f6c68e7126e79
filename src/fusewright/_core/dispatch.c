/* Who runs a call (decision 0016): NumPy, where no operand is an array of ours; the general function, which
   records, elsewhere.

   Small arrays are NumPy's own, so that most calls of a program of small arrays end here.  What NumPy has made and
   is large becomes an array of ours.  Small arrays of ours that meet small arrays of NumPy's are computed, and NumPy
   gets arrays on their memory. */

#include "dispatch.h"
#include "front.h"

#define MOST_OPERANDS 32
#define DEEPEST 4 /* lists in lists of operands */

/* Dispatch(plain, general, makes=0, keeps=False, extra=None, is_method=False, gives_same=False): `extra` is a keyword that NumPy's function lacks; `makes` says how many elements the function makes of its
   arguments; one that `keeps` writes into its operands or gives views of them, so that no copy will do; one that `gives_same` of a lone array gives
   that array. */
typedef struct {
    Front front;
    PyObject *plain, *extra;
    int makes, keeps, is_method, gives_same;
} Dispatch;

static PyObject *name_out, *name_like;
_Thread_local int recording;

/* ---- operands ----------------------------------------------------------------------------------- */

static int64_t elements_in(NumpyArray *array)
{
    int64_t size = 1;
    for (int d = 0; d < array->dims; d++)
        size *= array->extent[d];
    return size;
}

static int kinds_in(PyObject *sequence, int64_t small, int depth)
{
    int found = 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence) && !(found & LARGE_OURS); i++)
        found |= kind_of_operand(PySequence_Fast_GET_ITEM(sequence, i), small, depth);
    return found;
}

/* Whether an array of ours is among the values of a dict, or the items of a tuple. */
static int holds_ours(PyObject *object, int depth)
{
    PyObject *values = PyDict_Check(object) ? PyDict_Values(object) : Py_NewRef(object);
    int kinds = values == NULL ? 0 : kinds_in(values, INT64_MAX, depth);
    if (values == NULL)
        forgive();
    Py_XDECREF(values);
    return (kinds & OURS) != 0;
}

int kind_of_operand(PyObject *object, int64_t small, int depth)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyUnicode_Type || object == Py_None)
        return 0;
    if (type == numpy_array && ((NumpyArray *)object)->dims == 0)
        return 0; /* a number */
    if (type == numpy_array)
        return elements_in((NumpyArray *)object) <= small ? SMALL_PLAIN : LARGE_PLAIN;
    if (type == scalar_class)
        return NUMBER_OF_OURS;
    if (is_plain(object)) {
        PyObject *shape = handle_shape(object);
        return shape != NULL && elements_of(shape) <= small ? SMALL_OURS : LARGE_OURS;
    }
    if (is_sequence(object))
        return depth > 0 ? kinds_in(object, small, depth - 1) : UNSEEN;
    if (PyDict_CheckExact(object) || PyTuple_Check(object)) /* a named one: Python looks into them */
        return depth > 0 && holds_ours(object, depth - 1) ? LARGE_OURS : 0;
    return PyObject_TypeCheck(object, &HandleType) ? LARGE_OURS : 0;
}

/* How many numbers are in a list, and in lists in it; -1 where anything else is. */
static int64_t numbers_in(PyObject *sequence, int depth)
{
    int64_t numbers = 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); i++) {
        PyObject *each = PySequence_Fast_GET_ITEM(sequence, i);
        int64_t found = PyFloat_CheckExact(each) || PyLong_CheckExact(each) || is_numpy_number(each) ? 1
                        : is_sequence(each) && depth > 0 ? numbers_in(each, depth - 1)
                                                         : -1;
        if (found < 0)
            return -1;
        numbers += found;
    }
    return numbers;
}

int kind_of_array(PyObject *object, int64_t small)
{
    int64_t numbers = is_sequence(object) ? numbers_in(object, DEEPEST) : -1;
    return numbers < 0 ? kind_of_operand(object, small, DEEPEST) : numbers <= small ? SMALL_PLAIN : LARGE_PLAIN;
}

int is_numpys(int kinds, int is_ufunc)
{
    if (kinds & LARGE_OURS)
        return 0;
    if (kinds & SMALL_OURS)
        return (kinds & SMALL_PLAIN) && !(kinds & LARGE_PLAIN);
    return !(kinds & NUMBER_OF_OURS) || !is_ufunc || (kinds & (SMALL_PLAIN | LARGE_PLAIN)) != 0;
}

/* NumPy's array on the memory of a value, or NumPy's number; NULL, without an error, where it has none. */
PyObject *known_operand(PyObject *handle)
{
    Spot spot;
    if (!spot_of(handle, &spot)) {
        PyObject *base = view_link_of(handle) ? view_base_of(handle) : handle;
        Node *node = is_plain(base) ? (Node *)Py_XNewRef(handle_node(base)) : NULL;
        int failed = node == NULL || evaluate(&node, 1) < 0;
        Py_XDECREF(node);
        if (failed)
            return NULL;
        if (!spot_of(handle, &spot)) {
            if ((node = (Node *)Py_XNewRef(handle_node(handle))) == NULL)
                return NULL;
            failed = evaluate(&node, 1) < 0;
            Py_DECREF(node);
            if (failed || !spot_of(handle, &spot))
                return NULL;
        }
    }
    return Py_IS_TYPE(handle, scalar_class) ? read_scalar(spot.at, spot.dtype) : array_on(&spot, 0);
}

static PyObject *known_sequence(PyObject *sequence, int depth)
{
    Py_ssize_t many = PySequence_Fast_GET_SIZE(sequence);
    PyObject *made = PyList_CheckExact(sequence) ? PyList_New(many) : PyTuple_New(many);
    for (Py_ssize_t i = 0; made != NULL && i < many; i++) {
        PyObject *each = i < PySequence_Fast_GET_SIZE(sequence)
                             ? plain_operand(PySequence_Fast_GET_ITEM(sequence, i), depth)
                             : NULL;
        if (each == NULL)
            Py_CLEAR(made);
        else if (PyList_CheckExact(made))
            PyList_SET_ITEM(made, i, each);
        else
            PyTuple_SET_ITEM(made, i, each);
    }
    return made;
}

PyObject *plain_operand(PyObject *object, int depth)
{
    if (is_plain(object))
        return known_operand(object);
    int holds = is_sequence(object) && depth > 0
                && (kinds_in(object, INT64_MAX, depth - 1) & (SMALL_OURS | NUMBER_OF_OURS));
    return holds ? known_sequence(object, depth - 1) : Py_NewRef(object);
}

/* ---- results ------------------------------------------------------------------------------------- */

/* Whether nobody but the caller holds an array, nor what it is a view of. */
static int is_fresh(PyObject *object)
{
    if (Py_REFCNT(object) != 1)
        return 0;
    PyObject *base = ((NumpyArray *)object)->base;
    if (base == NULL)
        return 1;
    return Py_IS_TYPE(base, numpy_array) && Py_REFCNT(base) == 1 && ((NumpyArray *)base)->base == NULL
           && elements_in((NumpyArray *)base) == elements_in((NumpyArray *)object);
}

static int is_on_ours(PyObject *object)
{
    PyObject *base = ((NumpyArray *)object)->base;
    while (base != NULL && Py_IS_TYPE(base, numpy_array))
        base = ((NumpyArray *)base)->base;
    return base != NULL && Py_IS_TYPE(base, &MemoryType);
}

/* Steals the array. */
static PyObject *handed_array(PyObject *array, int64_t small)
{
    PyObject *made = NULL;
    if (is_on_ours(array))
        made = PyObject_CallMethod(array, "copy", NULL);
    else if (elements_in((NumpyArray *)array) > small && is_fresh(array))
        made = taken_over(array);
    else
        return array;
    Py_DECREF(array);
    return made;
}

/* Several results, in a list or tuple of the same class.  Steals them. */
static PyObject *handed_sequence(PyObject *results, int64_t small)
{
    Py_ssize_t many = PySequence_Fast_GET_SIZE(results), changes = 0;
    for (Py_ssize_t i = 0; i < many; i++) {
        PyObject *each = PySequence_Fast_GET_ITEM(results, i);
        changes += Py_IS_TYPE(each, numpy_array)
                   && (elements_in((NumpyArray *)each) > small || is_on_ours(each));
    }
    if (changes == 0 || Py_REFCNT(results) != 1)
        return results;
    PyObject *made = PyList_New(many), *kind = Py_NewRef((PyObject *)Py_TYPE(results));
    for (Py_ssize_t i = 0; made != NULL && i < many; i++)
        PyList_SET_ITEM(made, i, Py_NewRef(PySequence_Fast_GET_ITEM(results, i)));
    Py_DECREF(results);
    for (Py_ssize_t i = 0; made != NULL && i < many; i++) {
        PyObject *each = PyList_GET_ITEM(made, i);
        if (!Py_IS_TYPE(each, numpy_array))
            continue;
        PyList_SET_ITEM(made, i, NULL); /* its only reference is ours now */
        if ((each = handed_array(each, small)) == NULL)
            Py_CLEAR(made);
        else
            PyList_SET_ITEM(made, i, each);
    }
    if (made != NULL && kind != (PyObject *)&PyList_Type)
        Py_SETREF(made, kind == (PyObject *)&PyTuple_Type ? PyList_AsTuple(made)
                                                           : PyObject_CallMethod(kind, "_make", "O", made));
    Py_DECREF(kind);
    return made;
}

PyObject *handed(PyObject *result, int64_t small)
{
    if (result == NULL)
        return NULL;
    if (Py_IS_TYPE(result, numpy_array))
        return handed_array(result, small);
    if (PyList_CheckExact(result) || PyTuple_CheckExact(result)
        || (PyTuple_Check(result) && PyObject_HasAttrString((PyObject *)Py_TYPE(result), "_make")))
        return handed_sequence(result, small);
    return result;
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* `out=` and `like=` say what the result is: with one of ours the general function knows how. */
static int decides(PyObject *name) { return name == name_out || name == name_like; }

PyObject *plain_call(PyObject *plain, PyObject *const *given, size_t flags, PyObject *names, int operands,
                     int how)
{
    int64_t small = small_elements();
    Py_ssize_t many = PyVectorcall_NARGS(flags), all = many + (names ? PyTuple_GET_SIZE(names) : 0);
    int kinds = 0;
    if (small == 0 || numpy_array == NULL || all > MOST_OPERANDS)
        return NULL;
    for (Py_ssize_t i = 0; i < all; i++) {
        int kind = i < operands ? kind_of_array(given[i], small) : kind_of_operand(given[i], small, DEEPEST);
        int is_target = operands && i >= operands && i < many;
        if ((kind & SMALL_OURS) && (is_target || (i >= many && decides(PyTuple_GET_ITEM(names, i - many)))))
            return NULL;
        kinds |= kind;
    }
    if (!is_numpys(kinds, operands > 0) || ((how & KEEPS) && (kinds & SMALL_OURS)))
        return NULL;
    int64_t most = how & IS_OPERATOR ? INT64_MAX : small;
    if (!(kinds & (SMALL_OURS | NUMBER_OF_OURS)))
        return handed(PyObject_Vectorcall(plain, given, flags, names), most);
    PyObject *made[MOST_OPERANDS] = {NULL}, *result = NULL;
    int failed = 0;
    for (Py_ssize_t i = 0; i < all && !failed; i++)
        failed = (made[i] = plain_operand(given[i], DEEPEST)) == NULL;
    if (!failed)
        result = handed(PyObject_Vectorcall(plain, made, (size_t)many, names), most);
    for (Py_ssize_t i = 0; i < all; i++)
        Py_XDECREF(made[i]);
    return result;
}

static int has_extra(Dispatch *dispatch, PyObject *names)
{
    return dispatch->extra != NULL && names != NULL && PySequence_Contains(names, dispatch->extra) != 0;
}

/* Whether the class of what is named `like` decides what is made: neither an array of ours nor NumPy's own. */
static int is_like_another(PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyTuple_GET_ITEM(names, i) == name_like) {
            PyObject *like = given[many + i];
            return like != Py_None && !Py_IS_TYPE(like, numpy_array) && !PyObject_TypeCheck(like, &HandleType);
        }
    return 0;
}

static PyObject *dispatch_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names)
{
    Dispatch *dispatch = (Dispatch *)self;
    Py_ssize_t many = PyVectorcall_NARGS(flags);
    if (dispatch->gives_same && many == 1 && names == NULL && is_plain(given[0]) && !Py_IS_TYPE(given[0], scalar_class))
        return Py_NewRef(given[0]);
    if (has_extra(dispatch, names))
        return PyErr_Occurred() ? NULL : front_general(self, given, flags, names);
    if (is_like_another(given, many, names))
        return PyObject_Vectorcall(dispatch->plain, given, flags, names);
    int64_t most = dispatch->makes == MAKES_PRODUCT ? KERNEL_ELEMENTS : small_elements();
    if (dispatch->makes == 0 || elements_made(dispatch->makes, given, many, names) <= most) {
        PyObject *result = plain_call(dispatch->plain, given, flags, names, 0, dispatch->keeps ? KEEPS : 0);
        if (result != NULL || PyErr_Occurred())
            return result;
    }
    recording++;
    PyObject *result = front_general(self, given, flags, names);
    recording--;
    return result;
}

static PyObject *dispatch_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"plain", "general", "makes", "keeps", "extra", "is_method", "gives_same", NULL};
    PyObject *plain, *general, *extra = NULL;
    int makes = 0, keeps = 0, is_method = 0, gives_same = 0;
    if (!PyArg_ParseTupleAndKeywords(given, names, "OO|ipUpp", keywords, &plain, &general, &makes, &keeps, &extra,
                                     &is_method, &gives_same))
        return NULL;
    Dispatch *dispatch = (Dispatch *)front_new(type, dispatch_call, general);
    if (dispatch != NULL) {
        dispatch->plain = Py_NewRef(plain);
        dispatch->extra = Py_XNewRef(extra);
        dispatch->makes = makes;
        dispatch->keeps = keeps;
        dispatch->is_method = is_method;
        dispatch->gives_same = gives_same;
    }
    return (PyObject *)dispatch;
}

static int dispatch_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Dispatch *)self)->plain);
    return front_traverse(self, visit, arg);
}

static int dispatch_clear(PyObject *self)
{
    Py_CLEAR(((Dispatch *)self)->plain);
    Py_CLEAR(((Dispatch *)self)->extra);
    return front_clear(self);
}

/* As an attribute of a class it is no method where NumPy's function (one in C, a ufunc) is none. */
static PyObject *dispatch_bind(PyObject *self, PyObject *instance, PyObject *owner)
{
    Dispatch *dispatch = (Dispatch *)self;
    if (!dispatch->is_method && Py_TYPE(dispatch->plain)->tp_descr_get == NULL)
        return Py_NewRef(self);
    return FrontType.tp_descr_get(self, instance, owner);
}

PyObject *numpys_own(PyObject *dispatch) { return ((Dispatch *)dispatch)->plain; }

PyTypeObject DispatchType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Dispatch",
    .tp_basicsize = sizeof(Dispatch),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_descr_get = dispatch_bind,
    .tp_new = dispatch_make,
    .tp_traverse = dispatch_traverse,
    .tp_clear = dispatch_clear,
    .tp_doc = "NumPy's function where no operand is ours, else the general one; Dispatch(plain, general).",
};

int dispatch_ready(PyObject *unset)
{
    name_out = PyUnicode_InternFromString("out");
    name_like = PyUnicode_InternFromString("like");
    return name_out == NULL || name_like == NULL ? -1 : 0;
}
