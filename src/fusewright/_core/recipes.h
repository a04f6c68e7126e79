/* Recipes of what functions record (recipes.c). */

#ifndef FUSEWRIGHT_RECIPES_H
#define FUSEWRIGHT_RECIPES_H

/* What the function gives for such a call, as it was learnt; NULL, without an error, where nothing was.  `recipes` are
   those of the function by the form of the call. */
PyObject *recipe_call(PyObject *recipes, PyObject *form, PyObject *function, PyObject *const *given, Py_ssize_t many,
                      PyObject *names);
int recipe_note(PyObject *recipes, PyObject *form, PyObject *result); /* after a call without one; -1: an error */

#endif
