/* Who runs a call: NumPy or the recorder (dispatch.c), and what arrays of both kinds do together (border.c). */

#ifndef FUSEWRIGHT_DISPATCH_H
#define FUSEWRIGHT_DISPATCH_H

#include "library.h"

/* What is among the operands of a call; UNSEEN is what stands too deep in lists to be looked at. */
enum { SMALL_PLAIN = 1, LARGE_PLAIN = 2, NUMBER_OF_OURS = 4, SMALL_OURS = 8, LARGE_OURS = 16, UNSEEN = 32 };
enum { OURS = NUMBER_OF_OURS | SMALL_OURS | LARGE_OURS };

PyObject *numpys_own(PyObject *dispatch); /* the function of a Dispatch; borrowed */
extern _Thread_local int recording; /* general functions that run: what they make on the way is all recorded */
int64_t small_elements(void); /* options.c: of an array that is NumPy's own here and now; 0: none is */
int kind_of_operand(PyObject *object, int64_t small, int depth);
int kind_of_array(PyObject *object, int64_t small);    /* the same where lists of numbers are arrays: of a ufunc */
int is_numpys(int kinds, int is_ufunc);                /* whether NumPy computes with them */
PyObject *known_operand(PyObject *handle);             /* computed, as NumPy takes it; of a plain handle */
PyObject *plain_operand(PyObject *object, int depth);  /* the same of any operand */
PyObject *handed(PyObject *result, int64_t small);     /* what NumPy has made, as the program gets it; steals it */

/* NumPy's call where the operands are such; NULL, without an error, where the general function has to.  `operands`: of
   a ufunc, how many there are before its targets; 0 for any other function.  A function that KEEPS writes into operands or
   gives views of them; what an operator gives stays NumPy's at any size, as where no operand is ours. */
enum { KEEPS = 1, IS_OPERATOR = 2 };
PyObject *plain_call(PyObject *plain, PyObject *const *given, size_t flags, PyObject *names, int operands,
                     int how);
/* What a function makes of its arguments: how many elements are known before it is called? */
enum { MAKES_NOTHING, MAKES_SHAPE, MAKES_RANGE, MAKES_SPACED, MAKES_LIST, MAKES_SQUARE, MAKES_PRODUCT };
int64_t elements_made(int makes, PyObject *const *given, Py_ssize_t many, PyObject *names); /* steps.c; -1: unknown */

int put_into(PyObject *out, PyObject *value); /* functions.c: a value of the same type and shape: 1 done, 0 not, -1 an error */

/* border.c: NULL, without an error, where it is recorded */
Node *plain_leaf(PyObject *array); /* a copy of NumPy's array as a value */
PyObject *copy_of(const char *at, int dtype, const Py_ssize_t *extent, const Py_ssize_t *stride, int dims); /* a new array */
int writable_spot(PyObject *handle, int is_step, Spot *spot); /* of a handle's own memory that may be written in; 0, with or without an error, where it may not */
PyObject *writable_array(PyObject *handle, int is_step);     /* NumPy's array there; NULL likewise */
PyObject *border_in_place(PyObject *function, PyObject *self, PyObject *other);

/* moves.c */
void copy_elements(char *to, const Py_ssize_t *steps, const char *from, const Py_ssize_t *paces,
                   const Py_ssize_t *extent, int dims, size_t size);

/* unfused.c: a request that has no compiled code yet */
double unfused_seconds(Node **nodes, int count); /* about how long NumPy takes for it; negative: it cannot run there */
int run_unfused(Node **nodes, int count, Node **wanted, Py_ssize_t many); /* 1 done, -1 an error */

#endif
