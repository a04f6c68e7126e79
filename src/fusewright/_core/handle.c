/* Handles: mutable names for values, the storage of the public array classes. */

#include "library.h"
#include <structmember.h>

PyTypeObject *array_class, *scalar_class, *view_class;

/* Where the fields of the Python class View stand in an instance. */
static Py_ssize_t view_base, view_cached, view_link, view_version;
static PyObject *get_name, *node_name; /* "get", "_node" */

#define SPARE 256 /* handles kept for reuse */
static Handle *spare[SPARE];
static int spares;

int is_plain(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    return type != NULL && (type == array_class || type == scalar_class || type == view_class);
}

static PyObject **field(PyObject *view, Py_ssize_t offset)
{
    return (PyObject **)((char *)view + offset);
}

/* Made by `__new__` alone: no value yet. */
static void *no_value(PyObject *handle)
{
    return PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s'",
                        Py_TYPE(handle)->tp_name, Py_TYPE(handle) == view_class ? "_base" : "_node");
}

/* A view's value: looked up again when its base has a new one.  A leaf's view is a leaf: it replaces
   the view recorded while the base was pending.  What is found is looked for again where it was replaced:
   letting the old ones go may run Python, and another thread may write meanwhile. */
static Node *view_node(PyObject *view)
{
    PyObject *base = *field(view, view_base), **cached = field(view, view_cached);
    if (base == NULL || *field(view, view_link) == NULL)
        return no_value(view);
    PyObject *now = is_plain(base) ? Py_XNewRef((PyObject *)handle_node(base))
                                   : PyObject_GetAttr(base, node_name);
    if (now == NULL)
        return NULL;
    PyObject **version = field(view, view_version);
    int stale = *version != now || *cached == NULL || *cached == Py_None;
    if (!stale && ((Node *)now)->kind == LEAF)
        stale = ((Node *)*cached)->kind != LEAF;
    if (!stale) {
        Py_DECREF(now); /* the view holds it */
        return (Node *)*cached;
    }
    PyObject *link = Py_NewRef(*field(view, view_link));
    PyObject *found = is_slice(link)     ? (PyObject *)slice_node(link, (Node *)now)
                      : is_reshape(link) ? (PyObject *)reshaped_value(link, (Node *)now)
                      : is_window(link)  ? (PyObject *)part_node(link, (Node *)now)
                                         : NULL;
    if (found == NULL && !PyErr_Occurred())
        found = PyObject_CallMethodOneArg(link, get_name, now);
    Py_DECREF(link);
    if (found == NULL) {
        Py_DECREF(now);
        return NULL;
    }
    PyObject *old_cached = *cached, *old_version = *version;
    *cached = found;
    *version = now;
    look_note(view);
    Py_XDECREF(old_cached);
    Py_XDECREF(old_version);
    return *cached == found ? (Node *)found : view_node(view);
}

PyObject *view_link_of(PyObject *handle)
{
    return Py_TYPE(handle) == view_class ? *field(handle, view_link) : NULL;
}

PyObject *view_base_of(PyObject *view) { return *field(view, view_base); }
int view_holds(PyObject *view, Node *value) { return *field(view, view_cached) == (PyObject *)value; }

void view_forget(PyObject *view)
{
    Py_XSETREF(*field(view, view_version), Py_NewRef(Py_None));
    Py_XSETREF(*field(view, view_cached), Py_NewRef(Py_None));
}

static PyObject *spare_view[SPARE];
static int spare_views;

/* Tracked, unlike arrays: who changes a shape looks for the views (frontends.arrays.shaping). */
PyObject *view_new(PyObject *base, PyObject *link, int flags)
{
    PyObject *view = spare_views > 0 ? PyObject_Init(spare_view[--spare_views], view_class)
                                     : (PyObject *)PyObject_GC_New(Handle, view_class);
    if (view != NULL) {
        *field(view, view_base) = Py_NewRef(base);
        *field(view, view_link) = Py_NewRef(link);
        *field(view, view_version) = Py_NewRef(Py_None);
        *field(view, view_cached) = Py_NewRef(Py_None);
        ((Handle *)view)->flags = flags;
        ((Handle *)view)->node = NULL;
        ((Handle *)view)->weak = NULL;
        PyObject_GC_Track(view);
    }
    return view;
}

/* As public_dealloc, with the fields of the Python class; of what derives from it CPython's is called. */
static destructor inherited_dealloc;
static void view_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (type != view_class) {
        inherited_dealloc(self);
        return;
    }
    if (PyObject_GC_IsTracked(self))
        PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, view_dealloc) /* views of views of views */
    Handle *handle = (Handle *)self;
    if (handle->weak != NULL)
        PyObject_ClearWeakRefs(self);
    look_end(self);
    Py_CLEAR(*field(self, view_cached));
    Py_CLEAR(*field(self, view_version));
    Py_CLEAR(*field(self, view_link));
    Py_CLEAR(*field(self, view_base));
    Py_CLEAR(handle->node);
    if (spare_views < SPARE)
        spare_view[spare_views++] = self;
    else
        type->tp_free(self);
    Py_DECREF(type);
    Py_TRASHCAN_END
}

Node *handle_node(PyObject *handle)
{
    if (Py_TYPE(handle) == view_class)
        return view_node(handle);
    Node *node = ((Handle *)handle)->node;
    return node != NULL ? node : no_value(handle);
}

static PyObject *handle_of_class(Node *node, PyTypeObject *type)
{
    if (node->layout != NULL)
        return laid_out(node);
    Handle *handle;
    /* A Python class is always the garbage collector's.  Handles stay untracked: they hold a node,
       and nodes hold no handles. */
    if (spares > 0)
        handle = (Handle *)PyObject_Init((PyObject *)spare[--spares], type);
    else if ((handle = PyObject_GC_New(Handle, type)) == NULL) {
        Py_DECREF(node);
        return NULL;
    }
    handle->node = node;
    handle->flags = 0;
    handle->weak = NULL;
    return (PyObject *)handle;
}

/* A new array on a value, or a lazy scalar where it has no dims; takes over the reference. */
PyObject *handle_new(Node *node)
{
    return node ? handle_of_class(node, PyTuple_GET_SIZE(node->shape) ? array_class : scalar_class) : NULL;
}

/* A new array on a value, also where it has no dims; takes over the reference. */
PyObject *array_new(Node *node) { return node ? handle_of_class(node, array_class) : NULL; }

static PyObject *handle_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)given, (void)names;
    return type->tp_alloc(type, 0);
}

static void handle_dealloc(Handle *handle)
{
    if (handle->weak != NULL)
        PyObject_ClearWeakRefs((PyObject *)handle);
    Py_CLEAR(handle->node);
    PyTypeObject *type = Py_TYPE(handle);
    if ((type == array_class || type == scalar_class) && spares < SPARE)
        spare[spares++] = handle;
    else
        type->tp_free(handle);
}

/* The same for the public classes and what derives from them: CPython's function for classes of
   Python would look for finalisers and slots first, and leaves the class's reference to us. */
static void public_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (PyObject_GC_IsTracked(self))
        PyObject_GC_UnTrack(self);
    handle_dealloc((Handle *)self);
    Py_DECREF(type);
}

static PyObject *get_node(PyObject *self, void *closure)
{
    (void)closure;
    Node *node = is_plain(self) ? handle_node(self) : ((Handle *)self)->node;
    if (node == NULL && !PyErr_Occurred())
        no_value(self);
    return (PyObject *)Py_XNewRef(node);
}

static int set_node(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    if (value == NULL || !Py_IS_TYPE(value, &NodeType)) {
        PyErr_SetString(PyExc_TypeError, "a handle's value is a Node");
        return -1;
    }
    Py_XSETREF(((Handle *)self)->node, (Node *)Py_NewRef(value));
    return 0;
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    (void)closure;
    Node *node = ((Handle *)self)->node;
    if (node == NULL)
        return no_value(self);
    return Py_NewRef(node->shape);
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    PyObject *node = get_node(self, NULL);
    if (node == NULL)
        return NULL;
    PyObject *dtype = known_dtype(((Node *)node)->dtype);
    Py_DECREF(node);
    return dtype;
}

static PyGetSetDef handle_fields[] = {
    {"_node", get_node, set_node, NULL, NULL},
    {"_shape", get_shape, NULL, NULL, NULL},
    {"_dtype", get_dtype, NULL, NULL, NULL},
    {NULL},
};

static PyMemberDef handle_members[] = {
    {"_flags", T_INT, offsetof(Handle, flags), 0, NULL},
    {NULL},
};

PyTypeObject HandleType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Handle",
    .tp_basicsize = sizeof(Handle),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = handle_make,
    .tp_dealloc = (destructor)handle_dealloc,
    .tp_weaklistoffset = offsetof(Handle, weak),
    .tp_getset = handle_fields,
    .tp_members = handle_members,
    .tp_as_buffer = &handle_buffer,
    .tp_doc = "A name for a value: the native form of fusewright.frontends.arrays.core.Handle.",
};

static Py_ssize_t offset_of(PyTypeObject *type, const char *name)
{
    PyObject *descriptor = PyDict_GetItemString(type->tp_dict, name);
    if (descriptor == NULL || !Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) {
        PyErr_Format(PyExc_TypeError, "%s has no slot %s", type->tp_name, name);
        return -1;
    }
    return ((PyMemberDescrObject *)descriptor)->d_member->offset;
}

static getattrofunc inherited_getattro;
static const char *const not_of_numbers[] = {"__len__", "__iter__", "__contains__", "__array_function__",
                                             "__array_ufunc__", "__dlpack__", "__dlpack_device__", NULL};

/* Programs tell arrays from numbers by `hasattr(x, "__len__")`: what NumPy's numbers lack is no attribute of a lazy
   number.  Python and NumPy look for these in the class. */
static PyObject *scalar_getattro(PyObject *scalar, PyObject *name)
{
    if (PyUnicode_GET_LENGTH(name) > 4 && PyUnicode_READ_CHAR(name, 0) == '_' && PyUnicode_READ_CHAR(name, 1) == '_')
        for (const char *const *each = not_of_numbers; *each != NULL; each++)
            if (PyUnicode_CompareWithASCIIString(name, *each) == 0) {
                PyErr_Format(PyExc_AttributeError, "a number has no attribute '%U'", name);
                return NULL;
            }
    return inherited_getattro(scalar, name);
}

/* set_classes(Array, Scalar, View) */
static PyObject *set_classes(PyObject *module, PyObject *given)
{
    (void)module;
    PyTypeObject *array, *scalar, *view;
    if (!PyArg_ParseTuple(given, "O!O!O!", &PyType_Type, &array, &PyType_Type, &scalar,
                          &PyType_Type, &view))
        return NULL;
    if (array->tp_basicsize != sizeof(Handle) || scalar->tp_basicsize != sizeof(Handle)) {
        PyErr_SetString(PyExc_TypeError, "arrays and scalars have no fields of their own");
        return NULL;
    }
    view_base = offset_of(view, "_base");
    view_cached = offset_of(view, "_cached");
    view_link = offset_of(view, "_link");
    view_version = offset_of(view, "_version");
    get_name = PyUnicode_InternFromString("get");
    node_name = PyUnicode_InternFromString("_node");
    if (PyErr_Occurred())
        return NULL;
    array_class = (PyTypeObject *)Py_NewRef(array);
    scalar_class = (PyTypeObject *)Py_NewRef(scalar);
    view_class = (PyTypeObject *)Py_NewRef(view);
    array->tp_dealloc = scalar->tp_dealloc = public_dealloc;
    if (view->tp_dealloc != view_dealloc)
        inherited_dealloc = view->tp_dealloc;
    view->tp_dealloc = view_dealloc;
    if (scalar->tp_getattro != scalar_getattro)
        inherited_getattro = scalar->tp_getattro;
    scalar->tp_getattro = scalar_getattro;
    Py_RETURN_NONE;
}

static PyObject *private_of;

/* set_private(function): what copies a value out of memory that others see */
static PyObject *set_private(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(private_of, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* wrap(node): a new array, or a lazy scalar */
static PyObject *wrap(PyObject *module, PyObject *node)
{
    (void)module;
    if (!Py_IS_TYPE(node, &NodeType)) {
        PyErr_SetString(PyExc_TypeError, "a handle's value is a Node");
        return NULL;
    }
    if (array_class == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "there are no classes of arrays yet");
        return NULL;
    }
    if (external_memory((Node *)node) != NULL && private_of != NULL) /* of an operand that a function gave back */
        return handle_new((Node *)PyObject_CallOneArg(private_of, node));
    return handle_new((Node *)Py_NewRef(node));
}

PyObject *handles_of(Node *const *nodes, Py_ssize_t many, char form)
{
    if (form == 0)
        return handle_new((Node *)Py_NewRef(nodes[0]));
    PyObject *list = PyList_New(many);
    for (Py_ssize_t i = 0; list != NULL && i < many; i++) {
        PyObject *handle = handle_new((Node *)Py_NewRef(nodes[i]));
        if (handle == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, handle);
    }
    if (list != NULL && form == 't')
        Py_SETREF(list, PyList_AsTuple(list));
    return list;
}

PyMethodDef handle_methods[] = {
    {"set_classes", set_classes, METH_VARARGS, "The public classes: arrays, scalars, views."},
    {"set_private", set_private, METH_O, "What copies a value out of memory that others see."},
    {"wrap", wrap, METH_O, "A new array on a value, or a lazy scalar where it has no dims."},
    {NULL},
};
