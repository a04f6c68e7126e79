/* Values of a request that runs operation by operation (cells.c). */

#ifndef FUSEWRIGHT_CELLS_H
#define FUSEWRIGHT_CELLS_H

#include "library.h"

/* Where a region is written: in new memory, in that of a value of this request, or in that of the program's array. */
enum { NOT, TEMPORARY, LASTING };

/* A node of the request and its value; `first` is where the slots of its operands begin in the list of all. */
typedef struct {
    Node *node;
    PyObject *memory; /* that the value is in; NULL of a number, which is the word */
    PyObject *array;  /* NumPy's array (or number) of it, where one has been asked for */
    Spot spot;
    char word[16];
    int first, uses;
    int source; /* of a view: the slot whose memory it is on; else its own */
    int views;  /* on its memory that are still to be read */
    char in_place, kept, needed, is_own; /* memory of its own: no view, no number */
    char may_replace; /* its base, for all that others hold (reuse.c) */
} Cell;

int be_quiet(void); /* before NumPy is called: it tells of no floating-point error until the request ends */
PyObject *begin_quiet(void);
void end_quiet(PyObject *outer);

void let_go(Cell *cell);
int hold_leaf(Cell *cell, Node *leaf);  /* what is in memory already */
int hold_number(Cell *cell);
int hold_view(Cell *cell, Cell *source);
void hold_memory_of(Cell *cell, Cell *old); /* to write in it */
int give_room(Cell *cell);              /* a new block of the pool, in C order */
int settle_value(Cell *cell);           /* in memory of its own */
int move_in(Cell *cell, PyObject *value); /* NumPy's result, into the cell's memory or a new block; steals it */
int copy_value(Spot *to, PyObject *memory, Cell *from); /* the elements, converted if need be */
PyObject *array_of(Cell *cell);         /* borrowed */
Node *leaf_of(Cell *cell, int dtype, PyObject *whole, PyObject *shape); /* in C order, in a type, broadcast; `shape` says how it is seen */
int become(Cell *cell);                 /* the node is a leaf from now on */
int keep_ahead(Cell *cell);
void set_copy_into(int (*copy)(PyObject *, PyObject *));

#endif
