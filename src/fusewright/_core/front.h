/* Functions of the core that stand in front of Python's (front.c). */

#ifndef FUSEWRIGHT_FRONT_H
#define FUSEWRIGHT_FRONT_H

#include "core.h"

/* What each begins with.  A class of them names FrontType as its base, has FRONT_FLAGS, and visits and clears
   what it holds besides. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *general, *dict;
    PyObject *before; /* the last one made that stands in front of this one; borrowed, or NULL */
} Front;

#define FRONT_FLAGS \
    (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_HAVE_GC)

PyObject *front_new(PyTypeObject *type, vectorcallfunc call, PyObject *general);
PyObject *front_general(PyObject *self, PyObject *const *given, size_t flags, PyObject *names); /* the general form */
/* listener([first,] arguments, names): a call told as a tuple and a dictionary */
PyObject *front_told(PyObject *listener, PyObject *first, PyObject *const *given, Py_ssize_t many, PyObject *names);
PyObject *front_first(PyObject *self); /* the one that a program calls; borrowed */
int front_traverse(PyObject *self, visitproc visit, void *arg);
int front_clear(PyObject *self);

#endif
