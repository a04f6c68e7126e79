/* The views that looked up their value last: `q = a[k]; a[k + 1] = 2.0 * q`.

   A view keeps the value it found, and with it the array's memory.  To be written in place the array's memory has to be
   its own again: the views of it forget what they found, and look it up anew when they are asked.

   Functions of the core use a view's value without a reference of their own.  So nothing is forgotten by a write within
   another one or within an evaluation, or once two threads have looked: one may be in the middle of such a function. */

#include "core.h"

#define LOOKS 16 /* views that are remembered; of older ones the array's memory is copied, as before */

static PyObject *looked[LOOKS]; /* borrowed: a view that goes takes its name out */
static int newest;
static PyThreadState *thread; /* the one that looks */
static int are_several;

void look_note(PyObject *view)
{
    PyThreadState *now = PyThreadState_Get();
    are_several |= thread != NULL && thread != now;
    thread = now;
    if (looked[newest] != view)
        looked[newest = (newest + 1) % LOOKS] = view;
}

void look_end(PyObject *view)
{
    for (int i = 0; i < LOOKS; i++)
        if (looked[i] == view)
            looked[i] = NULL;
}

static PyObject *root_of(PyObject *handle)
{
    while (handle != NULL && Py_TYPE(handle) == view_class)
        handle = view_base_of(handle);
    return handle;
}

/* The views of an array forget their values, but for one that is being used. */
void looks_forget(PyObject *root, Node *used)
{
    if (are_several || is_nested())
        return;
    for (int i = 0; i < LOOKS; i++)
        if (looked[i] != NULL && root_of(looked[i]) == root && !view_holds(looked[i], used))
            view_forget(looked[i]);
}
