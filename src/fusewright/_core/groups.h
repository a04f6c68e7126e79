/* What calls.c, groups.c and group_run.c share: calls of kernels that are recorded or deferred. */

#ifndef FUSEWRIGHT_GROUPS_H
#define FUSEWRIGHT_GROUPS_H

#include "core.h"

#define MOST_ARGUMENTS 32

enum { ARRAY, FLOAT, INTEGER, FIXED, LAZY, FORMS };

typedef struct {
    int form, slot; /* where its value stands, or -1 where it is not needed */
    int dtype, flags;
    PyObject *shape; /* of a fixed integer its value; borrowed */
} Argument;

/* How a call is deferred: kernels.recorders.deferral. */
typedef struct {
    PyObject_HEAD
    PyObject *kind, *execute, *name;
    int arrays, numbers, results; /* results: -1 for none, -2 for a tuple of `many` */
    int many, joins;
    int array[MOST_ARGUMENTS], number[MOST_ARGUMENTS], result[MOST_ARGUMENTS];
    char written[MOST_ARGUMENTS];
    char overwritten[MOST_ARGUMENTS]; /* arrays whose content nobody reads before it is gone */
} Deferral;

/* kernels.groups.Group: pending calls that run as one. */
typedef struct {
    PyObject_HEAD
    PyObject *execute, *shape, *values, *outcome, *error, *spare;
    long long dead; /* the arrays that need not be stored, as counted for this run; -1: not yet */
    int runs;
} Group;

#define MOST_OPERANDS 128 /* of a group, that the core handles */

/* One way an array of a call relates to the group it is added to. */
typedef struct {
    PyTypeObject *type; /* of a number that it holds everywhere; NULL: `number` says */
    int64_t number;     /* an array of the group; -1 less an operand; or the number's bits */
} Relation;
#define FRESH INT64_MIN /* as a number: nothing of before is needed */

typedef struct {
    int output, number, is_result, dtype;
    PyObject *shape; /* borrowed */
} Output;

/* What one more call of a kind makes of a group. */
typedef struct {
    PyObject *kind, *next, *parts;
    int relations, outputs;
    Relation *relation;
    Output *output;
} Turn;

/* kernels.groups.Shape: what groups of one history have in common. */
typedef struct {
    PyObject_HEAD
    int open, full, outputs, operands, turns, programs;
    int keeps; /* whether it may run again: it overwrites nothing that it reads */
    int64_t forgettable; /* the arrays whose content of before nobody reads */
    int *of_output, *of_operand; /* the array it is now, or -1 */
    Turn *turn;
    PyObject **program;
} Shape;

typedef struct {
    Node *node[MOST_OPERANDS];
    Py_ssize_t known, count;
} Operands;

/* groups.c */
PyObject *constant_of(Node *node);
int number_of(Node *node, Node *whole, Shape *shape);
int relate(Deferral *deferral, Node **nodes, Node **lazy, int lazies, Node *whole, Shape *shape,
           Operands *operands, Relation *relation); /* 0 where Python has to look */
Turn *find_turn(Shape *shape, Deferral *deferral, const Relation *relation, int count);
Node *new_group(Deferral *deferral, int dtype);
int take_operands(Node *whole, Operands *operands);
int takes_calls(Group *group);
PyObject *defer_call(Deferral *deferral, Argument *arguments, PyObject *const *given);

/* calls.c: whether guards are tuples of such entries */
int sound_guards(PyObject *guards, PyTypeObject *type, Py_ssize_t least, Py_ssize_t most);

/* shapes.c */
PyObject *nothing_shape(void);     /* of a group without calls; NULL before there is one */
PyTypeObject *group_type(void);    /* kernels.groups.Group; NULL likewise */
PyObject *part_name(void);
extern int64_t groups_alive; /* all there are */
Group *group_of(Node *node); /* what an OPAQUE node stands for; NULL */
Shape *shape_of(Group *group);

static inline int is_none(PyObject *object) { return object == NULL || object == Py_None; }
static inline Node *operand(Node *node, Py_ssize_t at)
{
    return (Node *)PyTuple_GET_ITEM(node->args, at);
}

/* joins.c: statements that join the group of what they read; 1 done, 0 Python has to look */
int join_operands(Deferral *deferral, Node **nodes, int lazies);
int join_requested(Node **wanted, Py_ssize_t count);

/* group_run.c */
typedef struct GroupProgram GroupProgram;

#endif
