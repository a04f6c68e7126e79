/* The time that the program spends in the front ends, while a profile listens (timing.c).  Part of core.h. */

#ifndef FUSEWRIGHT_TIMING_H
#define FUSEWRIGHT_TIMING_H

extern int timed; /* whether anybody listens */
void timing_enters(void);
void timing_leaves(void);
PyObject *timed_getitem(PyObject *handle, PyObject *key);
int timed_setitem(PyObject *handle, PyObject *key, PyObject *value);

/* A statement whose time is recording. */
#define TIME(statement)      \
    do {                     \
        int timed_ = timed;  \
        if (timed_)          \
            timing_enters(); \
        statement;           \
        if (timed_)          \
            timing_leaves(); \
    } while (0)

/* Return what a call gives; its time is recording. */
#define TIMED(type, call)      \
    do {                       \
        type result_;          \
        TIME(result_ = call);  \
        return result_;        \
    } while (0)

#endif
