/* What does not lie in C order: views of arrays that do (frontends.arrays.layouts). */

#include "ops.h"

/* The array under a view of it whose dims are in another order, as it is or in another shape; NULL for any other plain
   handle. */
PyObject *hidden(PyObject *handle)
{
    if (!is_turned(handle))
        return NULL;
    PyObject *base = view_base_of(handle), *root = is_plain(base) ? under_reshape(base) : base;
    Node *node = Py_IS_TYPE(root, array_class) ? ((Handle *)root)->node : NULL;
    return node != NULL && node->layout == NULL ? base : NULL;
}

/* Whether two such views show their arrays in the same way. */
int are_turned_alike(PyObject *left, PyObject *right)
{
    PyObject *a = view_link_of(left), *b = view_link_of(right);
    if (a == b)
        return 1;
    if (!same_shape(PyTuple_GET_ITEM(a, 1), PyTuple_GET_ITEM(b, 1)))
        return 0;
    PyObject *ours = PyTuple_GET_ITEM(a, 0), *theirs = PyTuple_GET_ITEM(b, 0);
    int alike = PyTuple_GET_SIZE(ours) == PyTuple_GET_SIZE(theirs);
    for (Py_ssize_t i = 0; alike && i < PyTuple_GET_SIZE(ours); i++)
        alike = same_shape(PyTuple_GET_ITEM(ours, i), PyTuple_GET_ITEM(theirs, i));
    return alike;
}

/* A result of hidden arrays, shown as they are.  Takes over the reference. */
PyObject *turned(PyObject *result, PyObject *like)
{
    if (result == NULL || Py_TYPE(result) != array_class)
        return result;
    PyObject *view = view_new(result, view_link_of(like), OWNS | TURNED);
    Py_DECREF(result);
    return view;
}

/* An operation on such arrays, of which at least one is given; NULL without an error where Python has to look. */
PyObject *turned_two(Op *op, PyObject *left, PyObject *right)
{
    PyObject *a = is_plain(left) ? hidden(left) : NULL, *b = is_plain(right) ? hidden(right) : NULL;
    if (a == NULL && b == NULL)
        return NULL;
    PyObject *other = a ? right : left, *like = a ? left : right;
    if (a != NULL && b != NULL) {
        if (!are_turned_alike(left, right))
            return NULL;
        Node *first = (Node *)Py_XNewRef(handle_node(a));
        return turned(of_nodes(op, first, first ? (Node *)Py_XNewRef(handle_node(b)) : NULL), like);
    }
    if ((is_plain(other) && Py_TYPE(other) != scalar_class) || (numpy_array != NULL && Py_IS_TYPE(other, numpy_array)))
        return NULL;
    Node *node = (Node *)Py_XNewRef(handle_node(a ? a : b));
    if (Py_TYPE(other) == scalar_class) {
        Node *number = node ? (Node *)Py_XNewRef(handle_node(other)) : NULL;
        return turned(of_nodes(op, a ? node : number, a ? number : node), like);
    }
    return node ? turned(with_number(op, node, other, a != NULL), like) : NULL;
}
