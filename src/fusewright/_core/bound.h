/* Calls of kernels that the core knows: what a walk through the arguments finds (walks.c), how one kind of call runs
   (bound.c), and the calls of one kernel (call_cache.c). */

#ifndef FUSEWRIGHT_BOUND_H
#define FUSEWRIGHT_BOUND_H

#include "groups.h"
#include "launch.h"

#define MOST_KEY 512
#define MOST_LEAVES 64
#define MOST_HELD 128
#define MOST_SLOTS 32
#define TABLE 512 /* places; a power of two */

/* The values of a call: where its report and its results are. */
enum { REPORT_VALUE, FIRST_RESULT };

typedef struct {
    int64_t a, b; /* leaves: arrays that must not overlap */
} CallPair;

typedef struct {
    PyObject_HEAD
    PyObject *options, *guards, *cells, *owner, *words, *pairs, *result, *make, *finish, *failed;
    PyObject *kept; /* what the key names by its address */
    Loops loops;
    Word *word;
    int64_t results;
    CallPair *pair;
    Py_ssize_t count, pair_count;
    uint64_t *key;
    Py_ssize_t length;
    uint64_t hash;
    long long calls;
} BoundCall;

typedef struct {
    PyObject_HEAD
    PyObject *names, *defaults, *missing, *fixed, *names_of, *outer;
    Py_ssize_t positional, only; /* parameters taken by position, and by nothing else */
    int exact;                   /* whether extents and strides are part of the key */
    BoundCall *table[TABLE];
    Py_ssize_t used;
} CallCache;

/* What a walk through the arguments finds. */
typedef struct {
    CallCache *cache;
    PyObject *keep; /* a list: what the key names by its address; or NULL */
    uint64_t key[MOST_KEY];
    Py_ssize_t length;
    PyObject *leaf[MOST_LEAVES]; /* borrowed */
    Py_ssize_t leaves;
    PyObject *held[MOST_HELD];
    Py_ssize_t helds;
    Py_ssize_t nbytes;
} Walk;

extern PyTypeObject BoundCallType;
int walk_all(CallCache *cache, PyObject *args, PyObject *named, Walk *walk); /* 0 where only Python knows */
void walk_ends(Walk *walk);
uint64_t walk_hash(const Walk *walk);
int walk_leaf(Walk *walk, PyObject *object);
int walk_hold(Walk *walk, PyObject *object); /* kept until the call has ended; steals */
PyObject *walk_leaves(Walk *walk);           /* as a tuple */
Py_ssize_t array_itemsize(NumpyArray *array); /* 0 of a type that is none of ours */
PyObject *bound_run(BoundCall *call, Walk *walk); /* NULL, without an error, for another kind of call */
int not_sound(const char *what); /* -1, with a ValueError where there is no other */

#endif
