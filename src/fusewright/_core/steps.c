/* Library steps and new arrays, at once: functions of NumPy's on small values in memory.

   Only functions whose recorded form gives the same bits stand here (frontends.arrays.front, numpy.instant):
   NumPy runs them anyway, or they move elements, count and compare. */

#include "dispatch.h"
#include "front.h"
#include <math.h>

#define MOST_OPERANDS 8
#define DEEPEST 3 /* lists in lists of operands */


/* Step(function, general, most=0, product=None, sum=None, limit=USED_ELEMENTS, makes=0, converts=0, known=limit, reads=0): a function of NumPy's on
   what is in memory; else the general one, as for products of more than `most` multiplications.  One that `converts` an
   array to a type tells of no floating-point error, as its recorded form does not. */
typedef struct {
    Front front;
    PyObject *function;
    PyObject *product, *sum; /* of two vectors: an Op and a Reduction; or NULL */
    long long most, limit;   /* elements of an operand, or of what is made of nothing */
    long long known;         /* of an operand that is in memory already */
    int makes, converts;
    int reads; /* it copies what it may not write, though it writes nothing */
} Step;

/* ---- operands ----------------------------------------------------------------------------------- */

static PyObject *operand(PyObject *given, const Step *step, int depth, int *ours);

static PyObject *operands(PyObject *given, const Step *step, int depth, int *ours)
{
    Py_ssize_t many = PySequence_Fast_GET_SIZE(given);
    PyObject *made = depth == 0 ? NULL : PyList_CheckExact(given) ? PyList_New(many) : PyTuple_New(many);
    for (Py_ssize_t i = 0; made != NULL && i < many && i < PySequence_Fast_GET_SIZE(given); i++) {
        PyObject *each = operand(PySequence_Fast_GET_ITEM(given, i), step, depth - 1, ours);
        if (each == NULL)
            Py_CLEAR(made);
        else if (PyList_CheckExact(made))
            PyList_SET_ITEM(made, i, each);
        else
            PyTuple_SET_ITEM(made, i, each);
    }
    return made;
}

/* An operand as NumPy takes it, and how many arrays of ours it holds; NULL where one is not known or not small. */
static PyObject *operand(PyObject *given, const Step *step, int depth, int *ours)
{
    Spot spot;
    if (is_plain(given)) {
        PyObject *shape = handle_shape(given);
        ++*ours;
        int64_t size = shape != NULL ? elements_of(shape) : INT64_MAX;
        int known = size <= step->limit ? known_spot(given, &spot) > 0 : size <= step->known && spot_of(given, &spot);
        if (known && Py_TYPE(given) == scalar_class && depth < DEEPEST)
            return numpy_number(spot.at, spot.dtype); /* in a list: NumPy refuses numbers out of range, not arrays of them */
        return known ? array_on(&spot, step->reads ? WRITABLE : 0) : NULL;
    }
    if (PyObject_TypeCheck(given, &HandleType) || is_vast(given))
        return NULL;
    int kinds = is_sequence(given) ? kind_of_operand(given, INT64_MAX, depth + 1) : 0;
    return kinds & (OURS | UNSEEN) ? operands(given, step, depth, ours) : Py_NewRef(given);
}

static int is_named(PyObject *name, const char *wanted) { return PyUnicode_CompareWithASCIIString(name, wanted) == 0; }

/* ---- what new arrays hold ------------------------------------------------------------------------ */

static int is_integer(PyObject *object) { return PyLong_CheckExact(object) || is_numpy_integer(object); }

/* -1 for what is no count */
static int64_t count_of(PyObject *object)
{
    Py_ssize_t count = is_integer(object) ? PyNumber_AsSsize_t(object, NULL) : -1;
    return count < 0 || count > (1 << 30) ? -1 : count;
}

static int64_t count_of_shape(PyObject *shape)
{
    if (!is_sequence(shape))
        return count_of(shape);
    int64_t size = 1;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(shape) && size >= 0 && size <= USED_ELEMENTS; i++) {
        int64_t extent = count_of(PySequence_Fast_GET_ITEM(shape, i));
        size = extent < 0 ? -1 : size * extent;
    }
    return size;
}

static int64_t count_of_range(PyObject *const *given, Py_ssize_t many)
{
    double ends[3] = {0, 0, 1};
    if (many < 1 || many > 3)
        return -1;
    for (Py_ssize_t i = 0; i < many; i++) {
        if (!is_known_number(given[i]) || PyComplex_CheckExact(given[i]))
            return -1;
        ends[many == 1 ? 1 : i] = PyFloat_AsDouble(given[i]);
    }
    double count = (ends[1] - ends[0]) / ends[2];
    if (PyErr_Occurred())
        forgive();
    return count == count ? (count > USED_ELEMENTS ? USED_ELEMENTS + 1 : count > 0 ? (int64_t)ceil(count) : 0) : -1;
}

/* Numbers in nested lists; those of our arrays are counted when these are looked at. */
static int64_t count_of_list(PyObject *list, int depth)
{
    int64_t size = 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *each = PySequence_Fast_GET_ITEM(list, i);
        int64_t more = is_known_number(each) || is_plain(each)  ? 1
                       : is_sequence(each) && depth > 0 ? count_of_list(each, depth - 1)
                                                        : -1;
        if (more < 0)
            return -1;
        size += more;
    }
    return size;
}

/* The sizes of all operands, multiplied: a grid of them. */
static int64_t count_of_product(PyObject *const *given, Py_ssize_t many)
{
    int64_t size = 1;
    for (Py_ssize_t i = 0; i < many && size <= USED_ELEMENTS; i++) {
        if (Py_IS_TYPE(given[i], numpy_array))
            for (int d = 0; d < ((NumpyArray *)given[i])->dims; d++)
                size *= ((NumpyArray *)given[i])->extent[d];
        else if (is_sequence(given[i]))
            size *= PySequence_Fast_GET_SIZE(given[i]);
        else if (handle_shape(given[i]) != NULL)
            size *= elements_of(handle_shape(given[i]));
    }
    return size;
}

/* How many elements are made of these arguments; -1 where that is not plain. */
static int64_t count_of_made(int makes, PyObject *const *given, Py_ssize_t many)
{
    if (many == 0)
        return -1;
    switch (makes) {
    case MAKES_SHAPE: return many == 1 || is_known_number(given[1]) || PyType_Check(given[1]) ? count_of_shape(given[0]) : -1;
    case MAKES_RANGE: return count_of_range(given, many);
    case MAKES_SPACED:
        return many < 2 || !is_known_number(given[0]) || !is_known_number(given[1]) ? -1 : many < 3 ? 50 : count_of(given[2]);
    case MAKES_PRODUCT: return count_of_product(given, many);
    case MAKES_LIST: return is_sequence(given[0]) ? count_of_list(given[0], DEEPEST) : -1;
    case MAKES_SQUARE: {
        int64_t rows = count_of(given[0]), columns = many > 1 && given[1] != Py_None ? count_of(given[1]) : rows;
        return rows < 0 || columns < 0 ? -1 : rows * columns;
    }
    }
    return -1;
}

int64_t elements_made(int makes, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    static const char *const meanings[][3] = {
        [MAKES_SHAPE] = {"shape"}, [MAKES_RANGE] = {"start", "stop", "step"}, [MAKES_SPACED] = {"start", "stop", "num"}, [MAKES_SQUARE] = {"N", "M"}};
    PyObject *all[3] = {NULL, NULL, NULL};
    Py_ssize_t found = many < 3 ? many : 3;
    if (makes == MAKES_PRODUCT)
        return count_of_product(given, many);
    if (makes < MAKES_SHAPE || makes > MAKES_SQUARE || makes == MAKES_LIST)
        return -1;
    for (Py_ssize_t i = 0; i < found; i++)
        all[i] = given[i];
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++)
        for (Py_ssize_t k = found; k < 3 && meanings[makes][k] != NULL; k++)
            if (is_named(PyTuple_GET_ITEM(names, i), meanings[makes][k]))
                all[k] = given[many + i];
    if (makes == MAKES_SPACED)
        return all[2] == NULL ? 50 : count_of(all[2]);
    while (found < 3 && all[found] != NULL)
        found++;
    return makes == MAKES_SHAPE ? (all[0] ? count_of_shape(all[0]) : -1) : count_of_made(makes, all, found);
}

/* Names that leave a new array as it is described above: its type, the order of a grid. */
static int are_plain_names(PyObject *names)
{
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (!is_named(PyTuple_GET_ITEM(names, i), "dtype") && !is_named(PyTuple_GET_ITEM(names, i), "indexing"))
            return 0;
    return 1;
}

/* ---- results ------------------------------------------------------------------------------------- */

static PyObject *received(PyObject *result);

/* Several results, in a list or a tuple of the same class. */
static PyObject *all_received(PyObject *results)
{
    Py_ssize_t many = PySequence_Fast_GET_SIZE(results), arrays = 0;
    for (Py_ssize_t i = 0; i < many; i++)
        arrays += Py_IS_TYPE(PySequence_Fast_GET_ITEM(results, i), numpy_array);
    if (arrays == 0)
        return Py_NewRef(results);
    PyObject *made = PyList_New(many);
    for (Py_ssize_t i = 0; made != NULL && i < many; i++) {
        PyObject *each = received(PySequence_Fast_GET_ITEM(results, i));
        if (each == NULL)
            Py_CLEAR(made);
        else
            PyList_SET_ITEM(made, i, each);
    }
    if (made == NULL || PyList_CheckExact(results))
        return made;
    PyObject *whole = PyTuple_CheckExact(results) ? PyList_AsTuple(made)
                                                  : PyObject_CallMethod((PyObject *)Py_TYPE(results), "_make", "O", made);
    Py_DECREF(made);
    return whole;
}

/* What a call was given it gives back: NumPy's array for `out`. */
static int is_among(PyObject *result, PyObject *const *given, Py_ssize_t all)
{
    for (Py_ssize_t i = 0; i < all; i++)
        if (given[i] == result)
            return 1;
    return 0;
}

static PyObject *received(PyObject *result)
{
    return PyList_CheckExact(result) || PyTuple_Check(result) ? all_received(result) : adopted(result);
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* NULL, without an error, where it is recorded */
static PyObject *step_now(Step *step, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    Py_ssize_t all = many + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject *made[MOST_OPERANDS] = {NULL}, *result = NULL;
    if (numpy_array == NULL || all > MOST_OPERANDS)
        return NULL;
    if (step->makes != MAKES_NOTHING) {
        int64_t count = are_plain_names(names) ? count_of_made(step->makes, given, many) : -1;
        if (count < 0 || count > step->limit)
            return NULL;
    }
    for (Py_ssize_t i = many; i < all; i++)
        if (is_named(PyTuple_GET_ITEM(names, i - many), "out") || is_named(PyTuple_GET_ITEM(names, i - many), "like"))
            return NULL;
    if (is_listened_to() || is_strict() || !steps_at_once())
        return NULL;
    int ours = step->makes != MAKES_NOTHING, failed = 0;
    for (Py_ssize_t i = 0; i < all && !failed; i++)
        failed = (made[i] = operand(given[i], step, DEEPEST, &ours)) == NULL;
    PyObject *before = step->converts && !failed ? errors_ignored() : NULL;
    if (!failed && ours > 0 && !(step->converts && before == NULL)
        && (result = PyObject_Vectorcall(step->function, made, (size_t)many, names)) != NULL)
        Py_SETREF(result, is_among(result, given, all) ? Py_NewRef(result) : received(result));
    errors_told(before);
    for (Py_ssize_t i = 0; i < all; i++)
        Py_XDECREF(made[i]);
    drop_refusal();
    return result;
}

/* Two vectors of one type and length, whose product is recorded as a sum of products. */
static int are_vectors(PyObject *left, PyObject *right)
{
    PyObject *shape = handle_shape(left), *other = handle_shape(right);
    if (shape == NULL || other == NULL || PyTuple_GET_SIZE(shape) != 1 || !same_shape(shape, other))
        return 0;
    int dtype = handle_node(left) ? handle_node(left)->dtype : NO_DTYPE;
    return (dtype == dtype_float64 || dtype == dtype_float32 || dtype == dtype_int64) && handle_node(right)
           && handle_node(right)->dtype == dtype;
}

/* The extents of an operand of a product, ours or NumPy's; -1 of any other. */
static int operand_extents(PyObject *operand, Py_ssize_t *extent)
{
    if (numpy_array != NULL && Py_IS_TYPE(operand, numpy_array)) {
        NumpyArray *array = (NumpyArray *)operand;
        if (array->dims > MOST_DIMS)
            return -1;
        memcpy(extent, array->extent, (size_t)array->dims * sizeof *extent);
        return array->dims;
    }
    PyObject *shape = handle_shape(operand);
    return shape == NULL ? -1 : read_shape(shape, extent);
}

static int is_vector(PyObject *operand)
{
    Py_ssize_t extent[MOST_DIMS];
    return operand_extents(operand, extent) < 2;
}

/* Whether a product of two is worth waiting for others. */
static int is_large(PyObject *left, PyObject *right, int64_t most)
{
    Py_ssize_t extent[2][MOST_DIMS];
    int dims[2] = {operand_extents(left, extent[0]), operand_extents(right, extent[1])};
    if (dims[0] < 0 || dims[1] < 0)
        return 1;
    int64_t size = 1;
    for (int i = 0; i < dims[0]; i++)
        size *= extent[0][i];
    for (int i = 1; i < dims[1]; i++)
        size *= extent[1][i];
    return size > most;
}

/* Whether a conversion gives a new array: an array of ours and a type are all it is given.  Complex numbers may warn. */
static int is_conversion(PyObject *const *given, Py_ssize_t count, PyObject *names)
{
    return names == NULL && count == 2 && is_plain(given[0]) && handle_dtype(given[0]) < NO_DTYPE
           && dtypes[handle_dtype(given[0])].kind != 'c' && Py_TYPE(given[0]) != scalar_class;
}

static PyObject *step_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names)
{
    Step *step = (Step *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int is_product = step->most > 0 || step->sum != NULL, now = is_product ? names == NULL && count > 0 : 1;
    if (!is_product)
        now = !step->converts || is_conversion(given, count, names);
    else if (now && step->sum != NULL) {
        PyObject *number = count == 2 ? dot_now(given[0], given[1]) : NULL;
        if (number != NULL || PyErr_Occurred())
            return number;
        if (count == 2 && are_vectors(given[0], given[1])) {
            PyObject *product = quick_product(step->product, given[0], given[1]);
            PyObject *sum = product ? PyObject_CallOneArg(step->sum, product) : NULL;
            Py_XDECREF(product);
            if (sum != NULL || PyErr_Occurred())
                return sum;
        }
        now = count == 2 && !(is_vector(given[0]) && is_vector(given[1]));
    }
    if (now && step->most > 0 && step->sum == NULL && count == 2) {
        PyObject *number = product_now(given[0], given[1]);
        if (number != NULL || PyErr_Occurred())
            return number;
    }
    if (now && step->most > 0)
        now = count == 2 && !is_large(given[0], given[1], step->most);
    PyObject *result = now ? step_now(step, given, count, names) : NULL;
    if (result != NULL || PyErr_Occurred())
        return result;
    return front_general(self, given, flags, names);
}

static PyObject *step_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    static char *keywords[] = {"function", "general", "most", "product", "sum", "limit", "makes", "converts", "known",
                               "reads", NULL};
    PyObject *function, *general, *product = NULL, *sum = NULL;
    long long most = 0, limit = USED_ELEMENTS, known = 0;
    int makes = MAKES_NOTHING, converts = 0, reads = 0;
    if (!PyArg_ParseTupleAndKeywords(given, names, "OO|LO!OLipLp", keywords, &function, &general, &most, &OpType,
                                     &product, &sum, &limit, &makes, &converts, &known, &reads))
        return NULL;
    if (makes < MAKES_NOTHING || makes > MAKES_PRODUCT) {
        PyErr_SetString(PyExc_ValueError, "a function makes what the core knows");
        return NULL;
    }
    Step *step = (Step *)front_new(type, step_call, general);
    if (step != NULL) {
        step->most = most;
        step->limit = limit;
        step->known = known;
        step->makes = makes;
        step->converts = converts;
        step->reads = reads;
        step->product = Py_XNewRef(product);
        step->sum = product ? Py_XNewRef(sum) : NULL;
        step->function = Py_NewRef(function);
    }
    return (PyObject *)step;
}

static int step_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Step *)self)->function);
    Py_VISIT(((Step *)self)->product);
    Py_VISIT(((Step *)self)->sum);
    return front_traverse(self, visit, arg);
}

static int step_clear(PyObject *self)
{
    Py_CLEAR(((Step *)self)->function);
    Py_CLEAR(((Step *)self)->product);
    Py_CLEAR(((Step *)self)->sum);
    return front_clear(self);
}

PyTypeObject StepType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Step",
    .tp_basicsize = sizeof(Step),
    .tp_base = &FrontType,
    .tp_flags = FRONT_FLAGS,
    .tp_new = step_make,
    .tp_traverse = step_traverse,
    .tp_clear = step_clear,
    .tp_doc = "A library step that is run at once on small values in memory; Step(function, general, most=0).",
};
