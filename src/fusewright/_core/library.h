/* What is done at once through NumPy (library.c, gathers.c) and without it (sums.c). */

#ifndef FUSEWRIGHT_LIBRARY_H
#define FUSEWRIGHT_LIBRARY_H

#include "region.h"

#define LIGHT 128 /* operations behind an operand that is computed to be used at once */
#define WRITABLE 0x0400
#define CONTIGUOUS 0x0001

/* The fields of an array (numpy/ndarraytypes.h). */
typedef struct {
    PyObject_HEAD
    char *at;
    int dims;
    Py_ssize_t *extent, *stride;
    PyObject *base, *dtype;
    int flags;
} NumpyArray;

extern PyTypeObject *numpy_array; /* NULL while NumPy's table is not known */
extern PyObject *numpy_dtypes[DTYPES];

static inline int is_sequence(PyObject *object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }

/* Where a value lies in memory. */
typedef struct {
    Memory *memory; /* borrowed */
    char *at;
    int dtype, dims;
    Py_ssize_t extent[MOST_DIMS], stride[MOST_DIMS];
} Spot;

int lies_packed(int dims, const Py_ssize_t *extent, const Py_ssize_t *stride, Py_ssize_t step); /* in C order, without gaps */
int is_dense(const Spot *spot); /* the same of what lies there */
int read_shape(PyObject *shape, Py_ssize_t *extents); /* arrange.c: how many dims; -1 where there are too many */
int64_t elements_at(const Spot *spot);
void pack(Py_ssize_t *packed, const Py_ssize_t *extent, int dims, Py_ssize_t size); /* strides of elements in C order */
int spot_in(const Spot *whole, const Region *region, Spot *spot); /* where a region of it is; 0 where it is none of it */
int spot_of_leaf(Node *node, Spot *spot); /* 0 of what is none */
int spot_in_memory(PyObject *handle, Spot *spot); /* of a plain handle, without a node for a view; 0 where it is not */
int spot_of(PyObject *handle, Spot *spot); /* of a plain handle; 0 where it is not in memory */
int spot_of_part(PyObject *handle, Spot *spot); /* the same; what a view is part of is computed for it */
int known_spot(PyObject *handle, Spot *spot);   /* the same of anything light: 1 known, 0 recorded, -1 an error */
int spot_reshaped(const Spot *whole, PyObject *shape, Spot *spot); /* arrange.c; 0 where elements have to move */
PyObject *array_on(Spot *spot, int flags);      /* NumPy's array there */
PyObject *array_view(Spot *spot, PyObject *base); /* the same on the memory of NumPy's array */
PyObject *handle_on(PyObject *memory, int dtype, const Py_ssize_t *extent, int dims);
int dtype_of_array(PyObject *array);              /* adopt.c: NO_DTYPE for a type that is none of ours */
PyObject *bytes_of_array(PyObject *array, Py_ssize_t nbytes); /* NumPy's array on the memory of another */
PyObject *adopted(PyObject *array);               /* ours, of what NumPy has made and only the caller holds */
PyObject *taken_over(PyObject *array);            /* the same of a large one; of types without a row the array itself */
void set_adopt(PyObject *adopt);
PyObject *exact_function(PyObject *op, int dtype); /* unfused.c: NumPy's, borrowed, if it gives the bits of compiled code */
PyObject *errors_ignored(void);      /* unfused.c: from now on NumPy tells of no floating-point error; NULL: it will */
void errors_told(PyObject *before);  /* as before again; steals */
void drop_refusal(void);                        /* what the general way says better */
int is_refusal(void);                            /* an error of the operands, not of the machine */
PyObject *handle_shape(PyObject *handle); /* arrange.c: borrowed; NULL, without an error, of what is no plain array */
int handle_dtype(PyObject *handle);        /* of a plain one */
int64_t elements_of(PyObject *shape);
int is_reshape(PyObject *link);
int is_window(PyObject *link);                     /* parts.c */
Node *part_node(PyObject *link, Node *source);      /* NULL where Python has to look */
PyObject *part_view(PyObject *handle, int imaginary); /* NULL likewise */
PyObject *conjugates(PyObject *handle, PyObject *const *given, Py_ssize_t many);
Node *reshaped_leaf(PyObject *link, Node *source);  /* NULL where Python has to look */
Node *reshaped_value(PyObject *link, Node *source); /* the same of any value, recorded where elements move */
PyObject *under_reshape(PyObject *handle); /* of a plain handle: what a view in another shape is a view of, or itself */
PyObject *view_of_region(PyObject *handle, Region *region); /* views.c: NULL without an error likewise */
/* Elements of values in memory, of those that are about to be (or are one number), and of others; whether library
   steps may be among them. */
typedef struct {
    int64_t in_memory, held, computed;
    int steps;
} Light;

int is_light(Node *node, const Light *limits, int *seen); /* whether it is computed from few and small ones; `seen`: 0 */
int is_read_often(Node *node, int64_t cost); /* items.c */
int is_held(Node *node); /* moves.c: it is in memory, or will be, or is one number everywhere */
int were_small_writes(Node *node, int versions, int64_t most); /* moves.c: the last ones, of at most so many elements */
int is_listened_to(void); /* whether somebody wants to hear of library steps */
PyObject *product_now(PyObject *left, PyObject *right); /* of two vectors in memory; NULL: recorded */
PyObject *gather_now(PyObject *handle, PyObject *key);
int scatter_now(PyObject *handle, PyObject *key, PyObject *value); /* scatters.c */
/* picks.c: the same of arrays of 64-bit integers alone */
PyObject *picked(PyObject *handle, PyObject *key);
int put_picked(PyObject *handle, PyObject *key, PyObject *value);
PyObject *index_of(PyObject *key, int *arrays, int64_t masked); /* gathers.c: as NumPy takes it, masks of at most so many elements;
                                                                   NULL for what is no plain one */
int narrow(PyObject **array, PyObject **index, const Spot *spot); /* gathers.c: to a mask of a part, where they name one */
int64_t reach(PyObject *index, const Spot *spot); /* at most so many elements it names */
PyObject *sum_now(PyObject *left, PyObject *right, int is_mean); /* sums.c: of one or of products; NULL likewise */
PyObject *dot_now(PyObject *left, PyObject *right); /* sums.c: also of a vector and a number; NULL likewise */
PyObject *numpy_number(const char *at, int dtype); /* NULL without an error where NumPy's table is not known */
void spread_out(PyObject *const **given, Py_ssize_t *many);                 /* arrange.c: `f(a, b)` or `f((a, b))` */
PyObject *turned_view(PyObject *handle, PyObject *shape, const int *order); /* axes.c: a transposed view */
/* axes.c: methods and functions with their arguments; NULL, without an error, where Python has to look */
PyObject *transposed(PyObject *handle, PyObject *const *given, Py_ssize_t many);
PyObject *swapped(PyObject *handle, PyObject *const *given, Py_ssize_t many);
PyObject *flipped(PyObject *handle, PyObject *const *given, Py_ssize_t many);
PyObject *rows_new(PyObject *handle, Py_ssize_t count); /* rows.c: an iterator */
Memory *own_memory(Handle *root, int is_step); /* moves.c: that may be written in at once, by a library step; NULL: none */
Memory *shared_memory(Handle *root); /* the same of memory that others see, too */

#endif
