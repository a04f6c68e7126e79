/* Values without elements. */

#include "dispatch.h"

/* A value without elements is known: nothing has to run for it.  0, or -1 for an error. */
int settle_empty(Node *node)
{
    if (node->kind > RESHAPE || node->kind == SCALAR || elements_of(node->shape) > 0)
        return 0;
    PyObject *memory = allocate(1), *strides = contiguous_strides(node->shape, dtypes[node->dtype].itemsize);
    int failed = memory == NULL || strides == NULL || node_become_leaf(node, memory, NULL, strides) < 0;
    Py_XDECREF(strides);
    Py_XDECREF(memory);
    return failed ? -1 : 0;
}
