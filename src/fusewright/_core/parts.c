/* The real and the imaginary parts of complex numbers: views (views.Window), of pending values operations. */

#include "library.h"

static PyTypeObject *window_class; /* views.Window: (element type, shape, offset, last stride) */
static PyObject *part_names[2], *conjugate_name;

int is_window(PyObject *link) { return window_class != NULL && Py_IS_TYPE(link, window_class); }

/* The type of the parts of a complex type; NO_DTYPE of any other. */
static int dtype_of_part(int dtype)
{
    for (int i = 0; dtypes[dtype].kind == 'c' && i < NO_DTYPE; i++)
        if (dtypes[i].kind == 'f' && 2 * dtypes[i].itemsize == dtypes[dtype].itemsize)
            return i;
    return NO_DTYPE;
}

static int is_imaginary(PyObject *link) { return as_size(PyTuple_GET_ITEM(link, 2)) > 0; }

/* The parts of numbers in memory, as numbers of their own. */
static Node *part_of_leaf(PyObject *link, Node *source, int dtype)
{
    Memory *memory = leaf_memory(source);
    if (memory == NULL)
        return NULL;
    Py_ssize_t offset = as_size(PyTuple_GET_ITEM(source->value, 1));
    offset = elements_of(source->shape) == 0 ? 0 : offset + as_size(PyTuple_GET_ITEM(link, 2));
    Node *leaf = node_new(LEAF, no_name, Py_NewRef(no_args), dtype, source->shape);
    PyObject *value = leaf ? Py_BuildValue("(OnO)", memory, offset, PyTuple_GET_ITEM(source->value, 2)) : NULL;
    if (value == NULL)
        Py_CLEAR(leaf);
    else {
        Py_SETREF(leaf->value, value);
        leaf_layout(leaf);
    }
    return leaf;
}

/* What a Window makes of complex numbers; NULL, with or without an error, where Python has to look. */
Node *part_node(PyObject *link, Node *source)
{
    int dtype = dtype_of_part(source->dtype);
    if (dtype == NO_DTYPE || PyTuple_GET_ITEM(link, 0) != dtypes[dtype].object
        || !same_shape(PyTuple_GET_ITEM(link, 1), source->shape))
        return NULL;
    if (source->kind == LEAF)
        return part_of_leaf(link, source, dtype);
    Node *node = node_new(MAP, part_names[is_imaginary(link)], PyTuple_Pack(1, source), dtype, source->shape);
    if (node != NULL && record(node) < 0)
        Py_CLEAR(node);
    return node;
}

/* A view of one part, of real numbers the array itself; NULL where Python has to look. */
PyObject *part_view(PyObject *handle, int imaginary)
{
    int dtype = handle_dtype(handle);
    if (dtype == NO_DTYPE || Py_TYPE(handle) == scalar_class || window_class == NULL)
        return NULL;
    if (dtypes[dtype].kind != 'c')
        return imaginary ? NULL : Py_NewRef(handle);
    PyObject *shape = handle_shape(handle), *outer = view_link_of(handle);
    int part = dtype_of_part(dtype);
    if (part == NO_DTYPE || shape == NULL || (outer != NULL && !is_slice(outer) && !is_reshape(outer)))
        return NULL;
    PyObject *link = window_class->tp_alloc(window_class, 4), *view = NULL;
    PyObject *offset = PyLong_FromSsize_t(imaginary ? dtypes[part].itemsize : 0), *none = PyLong_FromLong(0);
    if (link != NULL && offset != NULL && none != NULL) {
        PyTuple_SET_ITEM(link, 0, Py_NewRef(dtypes[part].object));
        PyTuple_SET_ITEM(link, 1, Py_NewRef(shape));
        PyTuple_SET_ITEM(link, 2, Py_NewRef(offset));
        PyTuple_SET_ITEM(link, 3, Py_NewRef(none));
        view = view_new(handle, link, ((Handle *)handle)->flags & READ_ONLY);
    }
    Py_XDECREF(offset);
    Py_XDECREF(none);
    Py_XDECREF(link);
    return view;
}

/* The complex conjugates, of real numbers the array itself. */
PyObject *conjugates(PyObject *handle, PyObject *const *given, Py_ssize_t many)
{
    (void)given;
    int dtype = many == 0 ? handle_dtype(handle) : NO_DTYPE;
    if (dtype == NO_DTYPE || dtypes[dtype].kind != 'c' || window_class == NULL)
        return dtype == NO_DTYPE ? NULL : Py_NewRef(handle);
    Node *source = (Node *)Py_XNewRef(handle_node(handle));
    PyObject *args = source ? PyTuple_Pack(1, source) : NULL;
    Node *node = args ? node_new(MAP, conjugate_name, args, dtype, source->shape) : NULL;
    Py_XDECREF(source);
    if (node != NULL && record(node) < 0)
        Py_CLEAR(node);
    return handle_new(node);
}

/* set_window(Window) */
static PyObject *set_window(PyObject *module, PyObject *type)
{
    (void)module;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "a Window is a tuple");
        return NULL;
    }
    Py_XSETREF(window_class, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(part_names[0], PyUnicode_InternFromString("real"));
    Py_XSETREF(part_names[1], PyUnicode_InternFromString("imag"));
    Py_XSETREF(conjugate_name, PyUnicode_InternFromString("conjugate"));
    return part_names[0] && part_names[1] && conjugate_name ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef part_methods[] = {
    {"set_window", set_window, METH_O, "The class of views as another element type."},
    {NULL},
};
