/* What pending groups of kernel calls are told by: the native forms of Shape and Group of
   kernels.groups, and how calls of one kind are deferred. */

#include "groups.h"
#include <structmember.h>

#define MOST_TURNS 256   /* of one shape; the rest is Python's */
#define MOST_PROGRAMS 16 /* of one shape */

static PyObject *nothing, *part;
static PyTypeObject *group_class;

PyObject *nothing_shape(void) { return nothing; }
PyTypeObject *group_type(void) { return group_class; }
PyObject *part_name(void) { return part; }

Group *group_of(Node *node)
{
    int is_group = node->kind == OPAQUE && group_class != NULL && Py_IS_TYPE(node->value, group_class);
    return is_group ? (Group *)node->value : NULL;
}

Shape *shape_of(Group *group)
{
    PyObject *shape = group->shape;
    return shape != NULL && PyObject_TypeCheck(shape, &ShapeType) ? (Shape *)shape : NULL;
}

static int wrong(const char *what)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, what);
    return -1;
}

/* ---- shapes ----------------------------------------------------------------------------------- */

static PyObject *shape_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)given, (void)names;
    return type->tp_alloc(type, 0);
}

/* Small integers of a tuple; NULL with an error. */
static int *integers(PyObject *tuple, int *count)
{
    *count = (int)PyTuple_GET_SIZE(tuple);
    int *found = PyMem_Malloc((size_t)*count * sizeof *found + 1);
    if (found == NULL)
        PyErr_NoMemory();
    for (int i = 0; found != NULL && i < *count; i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
        if ((number == -1 && PyErr_Occurred()) || number < -2 || number > 1 << 20) {
            wrong("numbers of arrays");
            PyMem_Free(found);
            return NULL;
        }
        found[i] = (int)number;
    }
    return found;
}

/* describe(open, keeps, forgettable, array of each output, array of each operand) */
static PyObject *shape_describe(PyObject *self, PyObject *given)
{
    Shape *shape = (Shape *)self;
    int open, keeps, outputs, operands;
    long long forgettable;
    PyObject *of_output, *of_operand;
    if (!PyArg_ParseTuple(given, "ppLO!O!", &open, &keeps, &forgettable, &PyTuple_Type, &of_output,
                          &PyTuple_Type, &of_operand))
        return NULL;
    int *by_output = integers(of_output, &outputs);
    int *by_operand = by_output == NULL ? NULL : integers(of_operand, &operands);
    if (by_operand == NULL) {
        PyMem_Free(by_output);
        return NULL;
    }
    PyMem_Free(shape->of_output);
    PyMem_Free(shape->of_operand);
    shape->of_output = by_output;
    shape->of_operand = by_operand;
    shape->outputs = outputs;
    shape->operands = operands;
    shape->open = open;
    shape->keeps = keeps;
    shape->forgettable = forgettable;
    Py_RETURN_NONE;
}

/* An int, None for what is not needed, or (number that it holds everywhere, dtype). */
static int take_relation(Relation *relation, PyObject *given)
{
    PyObject *number, *dtype;
    *relation = (Relation){NULL, FRESH};
    if (given == Py_None)
        return 0;
    if (PyLong_CheckExact(given)) {
        relation->number = PyLong_AsLongLong(given);
        return relation->number == -1 && PyErr_Occurred() ? -1 : 0;
    }
    if (!PyTuple_CheckExact(given) || !PyArg_ParseTuple(given, "OO", &number, &dtype))
        return wrong("a relation is a number, or one with its type");
    char bits[32] = {0};
    int known = dtype_index(dtype);
    if (known == NO_DTYPE || dtypes[known].itemsize > 8 || !write_number(bits, known, number))
        return wrong("not a number for the core");
    relation->type = Py_TYPE(number); /* of a number: a type that lives on */
    memcpy(&relation->number, bits, 8);
    return 0;
}

/* (output, number, is_result, dtype, shape) */
static int take_output(Output *output, PyObject *given)
{
    PyObject *dtype;
    if (!PyTuple_CheckExact(given)
        || !PyArg_ParseTuple(given, "iipOO!", &output->output, &output->number, &output->is_result,
                             &dtype, &PyTuple_Type, &output->shape))
        return wrong("what a call gives is a tuple");
    output->dtype = dtype_index(dtype);
    int right = output->dtype != NO_DTYPE && output->output >= 0 && output->number >= 0
                && (output->is_result || output->number < MOST_ARGUMENTS);
    return right ? 0 : wrong("not what a call gives");
}

static void drop_turn(Turn *turn)
{
    Py_XDECREF(turn->kind);
    Py_XDECREF(turn->next);
    Py_XDECREF(turn->parts);
    PyMem_Free(turn->relation);
    PyMem_Free(turn->output);
}

static int fill_turn(Turn *turn, PyObject *relations, PyObject *parts)
{
    turn->relations = (int)PyTuple_GET_SIZE(relations);
    turn->outputs = (int)PyTuple_GET_SIZE(parts);
    if (turn->relations > 2 * MOST_ARGUMENTS || turn->outputs > MOST_ARGUMENTS)
        return wrong("too large a call");
    turn->relation = PyMem_Calloc((size_t)turn->relations + 1, sizeof *turn->relation);
    turn->output = PyMem_Calloc((size_t)turn->outputs + 1, sizeof *turn->output);
    if (turn->relation == NULL || turn->output == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < turn->relations; i++)
        if (take_relation(&turn->relation[i], PyTuple_GET_ITEM(relations, i)) < 0)
            return -1;
    for (int i = 0; i < turn->outputs; i++)
        if (take_output(&turn->output[i], PyTuple_GET_ITEM(parts, i)) < 0)
            return -1;
    return 0;
}

/* learn(kind, relations, next, parts): what one more call makes of it; whether there was room */
static PyObject *shape_learn(PyObject *self, PyObject *given)
{
    Shape *shape = (Shape *)self;
    PyObject *kind, *relations, *next, *parts;
    if (!PyArg_ParseTuple(given, "OO!O!O!", &kind, &PyTuple_Type, &relations, &ShapeType, &next,
                          &PyTuple_Type, &parts))
        return NULL;
    if (shape->turns >= MOST_TURNS)
        Py_RETURN_FALSE;
    Turn turn = {Py_NewRef(kind), Py_NewRef(next), Py_NewRef(parts), 0, 0, NULL, NULL};
    Turn *grown = fill_turn(&turn, relations, parts) < 0
                      ? NULL
                      : PyMem_Realloc(shape->turn, (size_t)(shape->turns + 1) * sizeof *grown);
    if (grown == NULL) {
        drop_turn(&turn);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    shape->turn = grown;
    shape->turn[shape->turns++] = turn;
    Py_RETURN_TRUE;
}

/* keep(program, full): how groups of this shape run; whether no more sets of dead arrays are to be */
static PyObject *shape_keep(PyObject *self, PyObject *given)
{
    Shape *shape = (Shape *)self;
    PyObject *program;
    int full;
    if (!PyArg_ParseTuple(given, "O!p", &GroupProgramType, &program, &full))
        return NULL;
    shape->full = full;
    if (shape->programs >= MOST_PROGRAMS) {
        PyObject *oldest = shape->program[0];
        memmove(shape->program, shape->program + 1, (MOST_PROGRAMS - 1) * sizeof *shape->program);
        shape->programs--;
        Py_DECREF(oldest);
    }
    PyObject **grown = PyMem_Realloc(shape->program, (size_t)(shape->programs + 1) * sizeof *grown);
    if (grown == NULL)
        return PyErr_NoMemory();
    shape->program = grown;
    shape->program[shape->programs++] = Py_NewRef(program);
    Py_RETURN_NONE;
}

static int shape_traverse(PyObject *self, visitproc visit, void *arg)
{
    Shape *shape = (Shape *)self;
    for (int i = 0; i < shape->turns; i++) {
        Py_VISIT(shape->turn[i].kind);
        Py_VISIT(shape->turn[i].next);
        Py_VISIT(shape->turn[i].parts);
    }
    for (int i = 0; i < shape->programs; i++)
        Py_VISIT(shape->program[i]);
    return 0;
}

static int shape_clear(PyObject *self)
{
    Shape *shape = (Shape *)self;
    Turn *turn = shape->turn;
    PyObject **program = shape->program;
    int turns = shape->turns, programs = shape->programs;
    shape->turn = NULL;
    shape->program = NULL;
    shape->turns = shape->programs = 0;
    for (int i = 0; i < turns; i++)
        drop_turn(&turn[i]);
    for (int i = 0; i < programs; i++)
        Py_DECREF(program[i]);
    PyMem_Free(turn);
    PyMem_Free(program);
    return 0;
}

static void shape_dealloc(PyObject *self)
{
    Shape *shape = (Shape *)self;
    PyObject_GC_UnTrack(self);
    shape_clear(self);
    PyMem_Free(shape->of_output);
    PyMem_Free(shape->of_operand);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef shape_methods[] = {
    {"describe", shape_describe, METH_VARARGS, "What calls look at when they join."},
    {"learn", shape_learn, METH_VARARGS, "What one more call makes of it."},
    {"keep", shape_keep, METH_VARARGS, "How groups of this shape run."},
    {NULL},
};

PyTypeObject ShapeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Shape",
    .tp_basicsize = sizeof(Shape),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_new = shape_make,
    .tp_dealloc = shape_dealloc,
    .tp_traverse = shape_traverse,
    .tp_clear = shape_clear,
    .tp_methods = shape_methods,
    .tp_doc = "What groups of one history have in common.",
};

/* ---- groups ----------------------------------------------------------------------------------- */

static int group_traverse(PyObject *self, visitproc visit, void *arg)
{
    Group *group = (Group *)self;
    Py_VISIT(group->execute);
    Py_VISIT(group->shape);
    Py_VISIT(group->values);
    Py_VISIT(group->outcome);
    Py_VISIT(group->error);
    Py_VISIT(group->spare);
    return 0;
}

static int group_clear(PyObject *self)
{
    Group *group = (Group *)self;
    Py_CLEAR(group->execute);
    Py_CLEAR(group->shape);
    Py_CLEAR(group->values);
    Py_CLEAR(group->outcome);
    Py_CLEAR(group->error);
    Py_CLEAR(group->spare);
    return 0;
}

int64_t groups_alive;

static PyObject *group_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    PyObject *group = shape_make(type, given, names);
    groups_alive += group != NULL;
    return group;
}

static void group_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    groups_alive--;
    group_clear(self);
    Py_TYPE(self)->tp_free(self);
}

#define FIELD(name) {#name, T_OBJECT, offsetof(Group, name), 0, NULL}
static PyMemberDef group_members[] = {
    FIELD(execute), FIELD(shape), FIELD(values), FIELD(outcome), FIELD(error), FIELD(spare),
    {"dead", T_LONGLONG, offsetof(Group, dead), 0, NULL},
    {"runs", T_INT, offsetof(Group, runs), 0, NULL},
    {NULL},
};

PyTypeObject GroupType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Group",
    .tp_basicsize = sizeof(Group),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_new = group_make,
    .tp_dealloc = group_dealloc,
    .tp_traverse = group_traverse,
    .tp_clear = group_clear,
    .tp_members = group_members,
    .tp_doc = "Pending calls that run in turn.",
};

/* ---- how calls of one kind are deferred ------------------------------------------------------- */

static int small(PyObject *tuple, int *into, int limit)
{
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    if (count > MOST_ARGUMENTS)
        return wrong("too many arguments");
    for (Py_ssize_t i = 0; i < count; i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
        if ((number == -1 && PyErr_Occurred()) || number < 0 || number >= limit)
            return wrong("not an argument");
        into[i] = (int)number;
    }
    return (int)count;
}

static void flag(char *flags, const int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        flags[numbers[i]] = 1;
}

/* Deferral(kind, execute, name, joins, arrays, numbers, written, overwritten, results): positions of
   arguments, numbers of arrays; results are None, a buffer, or a tuple of buffers. */
static PyObject *deferral_make(PyTypeObject *type, PyObject *given, PyObject *names)
{
    (void)names;
    PyObject *kind, *execute, *name, *arrays, *numbers, *written, *overwritten, *results;
    int joins, chosen[MOST_ARGUMENTS];
    if (!PyArg_ParseTuple(given, "OOUpO!O!O!O!O", &kind, &execute, &name, &joins, &PyTuple_Type,
                          &arrays, &PyTuple_Type, &numbers, &PyTuple_Type, &written, &PyTuple_Type,
                          &overwritten, &results))
        return NULL;
    Deferral *deferral = (Deferral *)type->tp_alloc(type, 0);
    if (deferral == NULL)
        return NULL;
    deferral->kind = Py_NewRef(kind);
    deferral->execute = Py_NewRef(execute);
    deferral->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&deferral->name);
    deferral->joins = joins;
    int right = (deferral->arrays = small(arrays, deferral->array, MOST_ARGUMENTS)) > 0
                && (deferral->numbers = small(numbers, deferral->number, MOST_ARGUMENTS)) >= 0;
    int many = right ? small(written, chosen, deferral->arrays) : -1;
    if (many >= 0)
        flag(deferral->written, chosen, many);
    many = many >= 0 ? small(overwritten, chosen, deferral->arrays) : -1;
    if (many >= 0)
        flag(deferral->overwritten, chosen, many);
    deferral->results = -1;
    if (many >= 0 && PyTuple_CheckExact(results)) {
        deferral->results = -2;
        many = deferral->many = small(results, deferral->result, 1 << 20);
    }
    else if (many >= 0 && results != Py_None) {
        long number = PyLong_AsLong(results);
        deferral->results = 0;
        deferral->many = 1;
        deferral->result[0] = (int)number;
        many = number < 0 ? -1 : 1;
    }
    if (many < 0) {
        wrong("not a call the core can defer");
        Py_CLEAR(deferral);
    }
    return (PyObject *)deferral;
}

static int deferral_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Deferral *)self)->kind);
    Py_VISIT(((Deferral *)self)->execute);
    return 0;
}

static void deferral_dealloc(PyObject *self)
{
    Deferral *deferral = (Deferral *)self;
    PyObject_GC_UnTrack(self);
    Py_CLEAR(deferral->kind);
    Py_CLEAR(deferral->execute);
    Py_CLEAR(deferral->name);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject DeferralType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fusewright._core.Deferral",
    .tp_basicsize = sizeof(Deferral),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = deferral_make,
    .tp_dealloc = deferral_dealloc,
    .tp_traverse = deferral_traverse,
    .tp_doc = "How calls of one kind are deferred.",
};

/* set_groups(class of groups, the shape of one without calls) */
static PyObject *set_groups(PyObject *module, PyObject *given)
{
    (void)module;
    PyTypeObject *type;
    PyObject *shape;
    if (!PyArg_ParseTuple(given, "O!O!", &PyType_Type, &type, &ShapeType, &shape))
        return NULL;
    if (!PyType_IsSubtype(type, &GroupType) || type->tp_basicsize != sizeof(Group)) {
        PyErr_SetString(PyExc_TypeError, "groups have no fields of their own");
        return NULL;
    }
    Py_XSETREF(group_class, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(nothing, Py_NewRef(shape));
    Py_RETURN_NONE;
}

int groups_ready(void)
{
    part = PyUnicode_InternFromString("kernel");
    return part == NULL ? -1 : 0;
}

static PyObject *count_groups(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLongLong(groups_alive);
}

PyMethodDef group_methods[] = {
    {"groups_alive", count_groups, METH_NOARGS, "How many groups there are."},
    {"set_groups", set_groups, METH_VARARGS, "The class of groups; the shape of one without calls."},
    {NULL},
};
