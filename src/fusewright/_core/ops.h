/* An operation of arrays: the class (ops.c), what it records (recorded.c), arrays that do not lie in C order (turned.c),
   and Python's operators (operators.c).

   The rules of types are Python's (frontends.arrays.dtypes): whatever an operation meets for the first time goes to its
   `general` function, which fills in the tables below. */

#ifndef FUSEWRIGHT_OPS_H
#define FUSEWRIGHT_OPS_H

#include "dispatch.h"

#define UNKNOWN 0xFF
enum { WEAK_BOOL, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX, WEAK_FLOAT64, WEAK_KINDS };
extern PyTypeObject *weak_types[WEAK_KINDS];

/* An array and a Python number: the result's type, the number's, how it is converted (or NULL). */
typedef struct {
    uint8_t result, scalar;
    PyObject *convert;
} Weak;

typedef struct {
    PyObject_HEAD
    PyObject *name;
    PyObject *general; /* (left, right, reflected), or (operand) */
    PyObject *meaning; /* NumPy's function, or NULL */
    uint8_t one[DTYPES], two[DTYPES][DTYPES];
    Weak weak[2][DTYPES][WEAK_KINDS]; /* [reflected] */
} Op;

/* ops.c */
PyObject *general_two(Op *op, PyObject *left, PyObject *right);

/* recorded.c: a new handle; NULL without an error where Python has to look.  `of_nodes` and `with_number` take over the
   references to nodes: what a record may flush is found by counting them. */
PyObject *quick_one(Op *op, PyObject *operand);
PyObject *quick_two(Op *op, PyObject *left, PyObject *right);
PyObject *of_one(Op *op, Node *node);
PyObject *of_nodes(Op *op, Node *a, Node *b);
PyObject *with_number(Op *op, Node *node, PyObject *number, int left_is);

int weak_kind(PyObject *number); /* of Python's; -1 of any other object */

/* eager.c: the same of small values in memory */
PyObject *one_eagerly(Op *op, PyObject *operand);
PyObject *two_eagerly(Op *op, PyObject *left, PyObject *right);

/* turned.c */
static inline int is_turned(PyObject *plain)
{
    PyObject *link = ((Handle *)plain)->flags & TURNED ? view_link_of(plain) : NULL;
    return link != NULL && is_slice(link);
}
PyObject *hidden(PyObject *handle);
int are_turned_alike(PyObject *left, PyObject *right);
PyObject *turned(PyObject *result, PyObject *like);
PyObject *turned_two(Op *op, PyObject *left, PyObject *right);

/* operators.c */
Op *square_instead(Op *op, Node *node, PyObject *exponent);

#endif
