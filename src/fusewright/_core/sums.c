/* Sums of short vectors in memory at once, in the very order compiled code has (decision 0006): element i goes to
   lane i mod lanes, the upper half of the lanes is added to the lower until one is left. */

#include "library.h"

#define SHORT 4096 /* elements: fewer than a chunk of compiled code */
#define LANES 16   /* of float64, twice as many of float32: 128 bytes */

/* So many elements from a place on, side by side. */
static inline void fetch(void *to, const Spot *from, Py_ssize_t at, int many, size_t size)
{
    const char *place = from->at + at * from->stride[0];
    if (from->stride[0] == (Py_ssize_t)size) {
        memcpy(to, place, size * (size_t)many);
        return;
    }
    for (int i = 0; i < many; i++, place += from->stride[0])
        memcpy((char *)to + (size_t)i * size, place, size);
}

/* Both are the same but for the type.  A product is rounded before it is added: nothing is contracted. */
#define SUM(name, type, lanes) \
    static type name(const Spot *x, const Spot *y) \
    { \
        type lane[lanes], a[lanes], b[lanes]; \
        for (int i = 0; i < lanes; i++) \
            lane[i] = (type)0.0; \
        Py_ssize_t at = 0, pace = (Py_ssize_t)sizeof(type); \
        if (x->stride[0] == pace && (y == NULL || y->stride[0] == pace)) \
            for (; at + lanes <= x->extent[0]; at += lanes) { /* whole rounds, side by side in memory */ \
                memcpy(a, x->at + at * pace, sizeof a); \
                if (y != NULL) { \
                    memcpy(b, y->at + at * pace, sizeof b); \
                    for (int i = 0; i < lanes; i++) \
                        a[i] = a[i] * b[i]; \
                } \
                for (int i = 0; i < lanes; i++) \
                    lane[i] += a[i]; \
            } \
        for (; at < x->extent[0]; at += lanes) { \
            int many = (int)(x->extent[0] - at < lanes ? x->extent[0] - at : lanes); \
            fetch(a, x, at, many, sizeof(type)); \
            if (y != NULL) { \
                fetch(b, y, at, many, sizeof(type)); \
                for (int i = 0; i < many; i++) \
                    a[i] = a[i] * b[i]; \
            } \
            for (int i = 0; i < many; i++) \
                lane[i] += a[i]; \
        } \
        for (int half = lanes / 2; half > 0; half /= 2) \
            for (int i = 0; i < half; i++) \
                lane[i] += lane[i + half]; \
        return lane[0]; \
    }
SUM(sum_double, double, LANES)
SUM(sum_float, float, 2 * LANES)

static int is_short(PyObject *handle, Spot *spot)
{
    return is_plain(handle) && spot_of_part(handle, spot) && spot->dims == 1 && spot->extent[0] <= SHORT
           && (spot->dtype == dtype_float64 || spot->dtype == dtype_float32);
}

PyObject *sum_now(PyObject *left, PyObject *right, int is_mean)
{
    Spot x, y;
    if (!is_short(left, &x) || (right != NULL && !is_short(right, &y)))
        return NULL;
    if (right != NULL && !is_short(left, &x)) /* where it is now: finding the other may have run Python */
        return NULL;
    if (right != NULL && (x.dtype != y.dtype || x.extent[0] != y.extent[0]))
        return NULL;
    if ((is_mean && x.extent[0] == 0) || !runs_at_once())
        return NULL;
    if (x.dtype == dtype_float64) {
        double sum = sum_double(&x, right ? &y : NULL);
        sum = is_mean ? sum / (double)x.extent[0] : sum;
        return numpy_number((char *)&sum, x.dtype);
    }
    float sum = sum_float(&x, right ? &y : NULL);
    sum = is_mean ? sum / (float)x.extent[0] : sum;
    return numpy_number((char *)&sum, x.dtype);
}

/* A vector times a number: of other types NumPy's `dot` makes an array of the number first. */
static int is_scaled(PyObject *array, PyObject *number)
{
    return PyFloat_Check(number) && is_plain(array) && Py_TYPE(array) != scalar_class && handle_dtype(array) == dtype_float64;
}

/* `dot` of two operands that is no matter of matrices; NULL likewise. */
PyObject *dot_now(PyObject *left, PyObject *right)
{
    if (is_scaled(left, right))
        return PyNumber_Multiply(left, right);
    return is_scaled(right, left) ? PyNumber_Multiply(right, left) : sum_now(left, right, 0);
}
