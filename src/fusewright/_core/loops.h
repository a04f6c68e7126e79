/* Loops over the elements of values in memory (loops.c). */

#ifndef FUSEWRIGHT_LOOPS_H
#define FUSEWRIGHT_LOOPS_H

#include "library.h"

#define MOST_SPOTS 4 /* of a loop: three operands and a result */

int loop_over(PyObject *function, const Spot *const *spot, int many); /* the last of them is the result: 1 done, 0 not */
int choose_over(const Spot *const *spot); /* condition, value, other value, result; likewise */
int set_loops(PyObject *ufunc_class, PyObject *numbers); /* NumPy's class of functions, its number of each of our types */

#endif
