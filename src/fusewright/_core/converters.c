/* NumPy's scalar types as programs use them: `np.float32(image)` converts an array.

   The types are NumPy's own, for they are what dtypes are compared with.  Called with an array of
   ours they would make NumPy's from memory that it may only read; so what makes their objects is
   taken over, and asks first whether the one argument is ours.  For everything else, and in
   classes derived from them, NumPy's own function answers. */

#include "core.h"
#include "library.h"

static struct {
    PyTypeObject *type;
    newfunc own;
} converter[DTYPES];

/* The row of a type, or of the one that it is derived from. */
static int row_of_type(PyTypeObject *type)
{
    for (; type != NULL; type = type->tp_base)
        for (int i = 0; i < DTYPES && converter[i].type != NULL; i++)
            if (converter[i].type == type)
                return i;
    return -1;
}

static int is_several(PyObject *object)
{
    PyObject *shape = is_plain(object) && !Py_IS_TYPE(object, scalar_class) ? handle_shape(object) : NULL;
    return shape != NULL && elements_of(shape) != 1;
}

static PyObject *converted(PyTypeObject *type, PyObject *given, PyObject *names)
{
    int row = row_of_type(type);
    if (row < 0)
        return PyErr_Format(PyExc_TypeError, "%s is no scalar type", type->tp_name), NULL;
    int is_alone = converter[row].type == type && PyTuple_GET_SIZE(given) == 1 && (names == NULL || PyDict_GET_SIZE(names) == 0);
    if (!is_alone || !is_several(PyTuple_GET_ITEM(given, 0)))
        return converter[row].own(type, given, names);
    /* dtype, order, casting, subok, copy: the array itself where it has the type */
    return PyObject_CallMethod(PyTuple_GET_ITEM(given, 0), "astype", "OssOO", type, "K", "unsafe", Py_True, Py_False);
}

/* set_converters(scalar types) */
static PyObject *set_converters(PyObject *module, PyObject *types)
{
    (void)module;
    int many = 0;
    while (many < DTYPES && converter[many].type != NULL)
        many++;
    for (Py_ssize_t i = 0; PyTuple_Check(types) && i < PyTuple_GET_SIZE(types); i++) {
        PyTypeObject *type = (PyTypeObject *)PyTuple_GET_ITEM(types, i);
        if (many == DTYPES || !PyType_Check(type) || type->tp_new == NULL || type->tp_new == converted
            || type->tp_vectorcall != NULL)
            continue; /* it converts as NumPy has it */
        converter[many].type = (PyTypeObject *)Py_NewRef(type);
        converter[many++].own = type->tp_new;
        type->tp_new = converted;
    }
    Py_RETURN_NONE;
}

PyMethodDef converter_methods[] = {
    {"set_converters", set_converters, METH_O, "Scalar types that convert arrays of ours: (types)."},
    {NULL, NULL, 0, NULL},
};
