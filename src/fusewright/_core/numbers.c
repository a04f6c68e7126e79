/* Numbers of Python's and of NumPy's: read from memory, and written there as NumPy converts them. */

#include "launch.h"
#include <math.h>

/* Python repeats a sequence so often (`[0] * n`): NumPy's numbers leave that to the sequence, arrays multiply its elements. */
static int is_repeated(PyObject *number, PyObject *other)
{
    const PySequenceMethods *sequence = Py_TYPE(other)->tp_as_sequence;
    const PyNumberMethods *as_number = Py_TYPE(other)->tp_as_number;
    return Py_IS_TYPE(number, scalar_class) && sequence != NULL && sequence->sq_repeat != NULL
           && (as_number == NULL || as_number->nb_multiply == NULL);
}

int is_repetition(PyObject *left, PyObject *right)
{
    return is_repeated(left, right) || is_repeated(right, left);
}

int64_t number_bits(const char *at, int dtype)
{
    uint64_t bits = 0;
    int unused = 64 - 8 * (int)dtypes[dtype].itemsize;
    memcpy(&bits, at, (size_t)dtypes[dtype].itemsize); /* little-endian */
    return dtypes[dtype].kind == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

PyObject *read_number(const char *at, int dtype)
{
    double real;
    float narrow;
    if (dtype == dtype_float64)
        return PyFloat_FromDouble(*(double *)memcpy(&real, at, sizeof real));
    if (dtype == dtype_float32)
        return PyFloat_FromDouble(*(float *)memcpy(&narrow, at, sizeof narrow));
    if (dtypes[dtype].kind == 'i' || dtypes[dtype].kind == 'u') {
        int64_t bits = number_bits(at, dtype);
        return dtypes[dtype].kind == 'u' ? PyLong_FromUnsignedLongLong((uint64_t)bits) : PyLong_FromLongLong(bits);
    }
    return dtype == dtype_bool ? PyBool_FromLong(*at) : NULL;
}

PyObject *read_scalar(const char *at, int dtype)
{
    PyObject *number = numpy_number(at, dtype);
    if (number != NULL || PyErr_Occurred())
        return number;
    if ((number = read_number(at, dtype)) != NULL)
        Py_SETREF(number, PyObject_CallOneArg(dtypes[dtype].scalar, number));
    return number;
}

/* What a Python or NumPy number is as a real number of a type with at most `digits` bits of precision, rounded at most
   once on the way: 0 where it is none. */
static int real_value(PyObject *number, int digits, double *real)
{
    int dtype = scalar_dtype(number);
    if (PyFloat_CheckExact(number) || dtype == dtype_float64) {
        *real = PyFloat_AS_DOUBLE(number);
        return 1;
    }
    int is_whole = dtype != NO_DTYPE && strchr("iu", dtypes[dtype].kind) && (digits > 24 || dtypes[dtype].itemsize < 8);
    if (!PyLong_CheckExact(number) && dtype != dtype_float32 && !is_whole)
        return 0;
    *real = PyFloat_AsDouble(number);
    if (*real != -1.0 || !PyErr_Occurred())
        return 1;
    forgive();
    return 0;
}

static int write_float(char *at, int dtype, PyObject *number)
{
    double real;
    int is_wide = dtype == dtype_float64;
    if ((!is_wide && dtype != dtype_float32) || !real_value(number, is_wide ? 53 : 24, &real))
        return 0;
    float narrow = (float)real;
    if (!is_wide && isinf(narrow) && !isinf(real))
        return 0; /* NumPy warns */
    memcpy(at, is_wide ? (void *)&real : &narrow, is_wide ? sizeof real : sizeof narrow);
    return 1;
}

static int write_complex(char *at, int dtype, PyObject *number)
{
    Py_complex both = {0.0, 0.0};
    int is_wide = dtypes[dtype].itemsize == 16;
    if (PyComplex_CheckExact(number) || Py_IS_TYPE(number, (PyTypeObject *)dtypes[dtype].scalar))
        both = PyComplex_AsCComplex(number);
    else if (!real_value(number, is_wide ? 53 : 24, &both.real))
        return 0;
    float narrow[2] = {(float)both.real, (float)both.imag};
    if (!is_wide && ((isinf(narrow[0]) && !isinf(both.real)) || (isinf(narrow[1]) && !isinf(both.imag))))
        return 0; /* NumPy warns */
    memcpy(at, is_wide ? (void *)&both : narrow, is_wide ? sizeof both : sizeof narrow);
    return 1;
}

static int write_whole(char *at, int dtype, PyObject *number)
{
    int made_of = scalar_dtype(number), overflow = 0, bits = (int)dtypes[dtype].itemsize * 8;
    if (!PyLong_CheckExact(number) && (made_of == NO_DTYPE || strchr("iu", dtypes[made_of].kind) == NULL))
        return 0;
    PyObject *index = PyNumber_Index(number);
    long long whole = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : 0;
    Py_XDECREF(index);
    forgive();
    if (index == NULL || overflow)
        return 0;
    if (dtypes[dtype].kind == 'i' && bits < 64 && (whole < -(1LL << (bits - 1)) || whole >= 1LL << (bits - 1)))
        return 0;
    if (dtypes[dtype].kind == 'u' && (whole < 0 || (bits < 64 && whole >= 1LL << bits)))
        return 0;
    memcpy(at, &whole, (size_t)dtypes[dtype].itemsize); /* little-endian */
    return 1;
}

int write_number(char *at, int dtype, PyObject *number)
{
    switch (dtypes[dtype].kind) {
    case 'f': return write_float(at, dtype, number);
    case 'c': return write_complex(at, dtype, number);
    case 'i':
    case 'u': return write_whole(at, dtype, number);
    }
    if (!PyBool_Check(number) && !Py_IS_TYPE(number, (PyTypeObject *)dtypes[dtype].scalar))
        return 0;
    *at = PyObject_IsTrue(number) > 0;
    return 1;
}

#define VAST (1LL << 44) /* times what is taken at once it may be more than the largest integer: NumPy then ends the process */

static int is_one_vast(PyObject *number)
{
    int overflow = 0;
    long long whole = PyLong_CheckExact(number) ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
    return overflow || whole > VAST || whole < -VAST;
}

int is_vast(PyObject *object)
{
    if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object))
        return is_one_vast(object);
    Py_ssize_t many = PySequence_Fast_GET_SIZE(object);
    for (Py_ssize_t i = 0; i < many && many <= MOST_DIMS; i++) /* extents, or repeats of dims */
        if (is_one_vast(PySequence_Fast_GET_ITEM(object, i)))
            return 1;
    return 0;
}

static uint16_t bfloat16_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16); /* to nearest, ties to even */
}

/* ---- argument words --------------------------------------------------------------------------- */

static int real_word(PyObject *number, int dtype, int64_t part, int64_t *word)
{
    double real;
    if (part >= 0) {
        Py_complex both = PyComplex_AsCComplex(number);
        if (both.real == -1.0 && PyErr_Occurred())
            return -1;
        real = part ? both.imag : both.real;
    }
    else if ((real = PyFloat_AsDouble(number)) == -1.0 && PyErr_Occurred())
        return -1;
    float narrow = (float)real;
    if (dtypes[dtype].itemsize > 2)
        memcpy(word, dtypes[dtype].itemsize == 8 ? (void *)&real : &narrow, (size_t)dtypes[dtype].itemsize);
    else if (dtype == dtype_bfloat16)
        *word = bfloat16_bits(narrow);
    else if (PyFloat_Pack2(real, (char *)word, 1) < 0) {
        forgive();
        *word = real < 0 ? 0xFC00 : 0x7C00; /* too large is infinite, as in NumPy */
    }
    return 1;
}

int number_word(PyObject *number, int dtype, int64_t part, int64_t *word)
{
    int overflow;
    *word = 0;
    if (PyFloat_CheckExact(number) && dtype == dtype_float64 && part < 0) {
        memcpy(word, &((PyFloatObject *)number)->ob_fval, sizeof *word);
        return 1;
    }
    if (part < 0 && !PyLong_CheckExact(number) && scalar_dtype(number) == dtype) {
        *word = number_bits((const char *)number + sizeof(PyObject), dtype); /* the number follows the head */
        return 1;
    }
    if (dtypes[dtype].kind == 'f')
        return real_word(number, dtype, part, word);
    PyObject *whole = PyNumber_Long(number);
    if (whole == NULL)
        return -1;
    *word = PyLong_AsLongLongAndOverflow(whole, &overflow);
    if (overflow > 0 && dtypes[dtype].kind == 'u') {
        *word = (int64_t)PyLong_AsUnsignedLongLong(whole);
        overflow = PyErr_Occurred() != NULL;
        forgive();
    }
    Py_DECREF(whole);
    return !overflow;
}
