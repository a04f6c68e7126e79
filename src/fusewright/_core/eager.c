/* Operations on few elements in memory: computed at once, for less than it takes to record them and to ask for them later
   (decision 0062).  The bits are the same, and so is what the result is: an array of ours. */

#include "loops.h"
#include "ops.h"

typedef struct {
    Spot spot;
    char word[16]; /* of a number */
} Operand;

/* Whether NumPy would lay out a result of several dims in C order, as the memory here is. */
static int lies_in_order(PyObject *handle, const Spot *spot)
{
    while (!Py_IS_TYPE(handle, array_class))
        handle = view_base_of(handle);
    for (int d = 0; d < spot->dims; d++)
        if (spot->stride[d] <= 0 || (d > 0 && spot->stride[d] > spot->stride[d - 1]))
            return 0;
    return ((Handle *)handle)->node->layout == NULL;
}

/* An array of ours of few elements in memory. */
static int take_array(Operand *operand, PyObject *handle)
{
    Spot *spot = &operand->spot;
    if (!spot_in_memory(handle, spot) || spot->dims == 0 || (spot->dims > 1 && !lies_in_order(handle, spot)))
        return 0;
    int64_t elements = elements_at(spot);
    return 0 < elements && elements <= FEW_ELEMENTS;
}

/* A number beside an array: of Python's in the type that the operation gives it, of NumPy's in its own. */
static int take_number(Operand *operand, Op *op, PyObject *number, const Spot *array, int left_is, int *result)
{
    int dtype = scalar_dtype(number), kind = dtype == NO_DTYPE ? weak_kind(number) : -1;
    if (kind >= 0) {
        Weak *weak = &op->weak[!left_is][array->dtype][kind];
        dtype = weak->scalar;
        *result = weak->result;
    }
    else if (dtype != NO_DTYPE)
        *result = left_is ? op->two[array->dtype][dtype] : op->two[dtype][array->dtype];
    operand->spot = (Spot){.at = operand->word, .dtype = dtype};
    return *result != UNKNOWN && write_number(operand->word, dtype, number);
}

/* The extents of two that meet; 0 where they do not. */
static int meet(const Spot *a, const Spot *b, Spot *result)
{
    if (a->dims < b->dims)
        return meet(b, a, result);
    int lead = a->dims - b->dims;
    result->dims = a->dims;
    for (int d = 0; d < a->dims; d++) {
        Py_ssize_t mine = a->extent[d], theirs = d < lead ? mine : b->extent[d - lead];
        if (mine != theirs && mine != 1 && theirs != 1)
            return 0;
        result->extent[d] = mine == 1 ? theirs : mine;
    }
    return 1;
}

/* Whether NumPy's loop gives the bits of compiled code (`is_exact_map`). */
static PyObject *exact_loop(Op *op, const Spot *const *spots, int many)
{
    int result = spots[many]->dtype;
    for (int k = 0; k < many; k++)
        if (spots[k]->dtype == dtype_bfloat16 || (dtypes[spots[k]->dtype].kind == 'c' && spots[k]->dtype != result))
            return NULL;
    return exact_function(op->name, result);
}

static PyObject *computed(Op *op, const Spot **spots, int many, Spot *result)
{
    Py_ssize_t size = dtypes[result->dtype].itemsize, elements = (Py_ssize_t)elements_at(result);
    pack(result->stride, result->extent, result->dims, size);
    spots[many] = result;
    PyObject *function = elements <= FEW_ELEMENTS ? exact_loop(op, spots, many) : NULL;
    if (function == NULL)
        return NULL;
    for (int k = 0; k < many; k++)
        Py_XINCREF(spots[k]->memory); /* allocating may run Python */
    PyObject *memory = allocate(elements * size), *made = NULL;
    if (memory != NULL) {
        result->at = ((Memory *)memory)->at;
        if (loop_over(function, spots, many) && !PyErr_Occurred())
            made = handle_on(memory, result->dtype, result->extent, result->dims);
        Py_DECREF(memory);
    }
    for (int k = 0; k < many; k++)
        Py_XDECREF(spots[k]->memory);
    return made;
}

/* left op right, one of them an array; NULL without an error where it is recorded. */
PyObject *two_eagerly(Op *op, PyObject *left, PyObject *right)
{
    Operand a, b;
    Spot result;
    int left_is = is_plain(left), right_is = is_plain(right), dtype = UNKNOWN;
    if (small_elements() == 0 || (left_is && !take_array(&a, left)) || (right_is && !take_array(&b, right)))
        return NULL;
    if (left_is && right_is)
        dtype = op->two[a.spot.dtype][b.spot.dtype];
    else if (left_is ? !take_number(&b, op, right, &a.spot, 1, &dtype) : !take_number(&a, op, left, &b.spot, 0, &dtype))
        return NULL;
    result.dtype = dtype;
    const Spot *spots[MOST_SPOTS] = {&a.spot, &b.spot};
    return dtype != UNKNOWN && meet(&a.spot, &b.spot, &result) && runs_at_once() ? computed(op, spots, 2, &result) : NULL;
}

PyObject *one_eagerly(Op *op, PyObject *operand)
{
    Operand a;
    if (small_elements() == 0 || !take_array(&a, operand))
        return NULL;
    Spot result = a.spot;
    result.dtype = op->one[a.spot.dtype];
    const Spot *spots[MOST_SPOTS] = {&a.spot};
    return result.dtype != UNKNOWN && runs_at_once() ? computed(op, spots, 1, &result) : NULL;
}
