/* What a request needs, as numbered nodes and words (structure.c), and the options it runs under (options.c). */

#ifndef FUSEWRIGHT_STRUCTURE_H
#define FUSEWRIGHT_STRUCTURE_H

#include "dispatch.h"
#include "launch.h"

#define MOST_NODES MOST_STRUCTURE_NODES
#define MOST_WORDS (1 << 15)

/* What the last walk has found.  The GIL is held while it is in use. */
typedef struct {
    Node *order[MOST_NODES];
    uint64_t words[MOST_WORDS];
    int count, length;
    int groups;   /* whether there are pending calls of kernels */
    int patches;  /* regions that may be written in place */
    int products;
} Taken;
extern Taken taken;

int take_slice(Node **wanted, Py_ssize_t many); /* what they need; 0: Python has to look, -1 an error */
uint64_t hash_words(void);
void structure_forget(void); /* nothing holds words of objects */
void programs_forget(void);  /* slice.c */

/* The options that were read last. */
typedef struct {
    PyObject *options, *features;
    int usable, fuse, threads, eager, strict, exact; /* exact: nothing may change bits */
    int64_t small;
} InForce;
extern InForce in_force;

#endif
