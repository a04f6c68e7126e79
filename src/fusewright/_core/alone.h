/* Compiled code of one operation of a request (alone.c). */

#ifndef FUSEWRIGHT_ALONE_H
#define FUSEWRIGHT_ALONE_H

#include "cells.h"

static inline char kind_of(Node *node) { return dtypes[node->dtype].kind; }

int run_alone(Cell *cells, Cell *cell, const int *slots, Py_ssize_t many); /* on values in memory */
int is_plain_operation(Node *node); /* as `run_alone` makes them: it would only make the same one again */

#endif
