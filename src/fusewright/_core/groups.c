/* Calls of kernels that are no array statements (fusewright.kernels.deferred), added to a pending
   group without Python.

   A Shape knows what one more call makes of it, once Python has found that out: a Turn for each way
   the call's arrays relate to the group.  What has not been met before is left to Python. */

#include "groups.h"

#define RECENT 64 /* as in frontends.arrays.survivors */

/* ---- how a call relates to a group -------------------------------------------------------------- */

/* The number that a fresh array holds everywhere; NULL. */
PyObject *constant_of(Node *node)
{
    if (node->kind != VIEW || !PyTuple_CheckExact(node->attr) || PyTuple_GET_SIZE(node->attr) > 0
        || PyTuple_GET_SIZE(node->args) != 1 || operand(node, 0)->kind != SCALAR)
        return NULL;
    return operand(node, 0)->value;
}

/* The array of a group that a value is now, or -1. */
int number_of(Node *node, Node *whole, Shape *shape)
{
    if (node->kind == PART && PyTuple_GET_SIZE(node->args) == 1 && operand(node, 0) == whole) {
        Py_ssize_t output = as_size(node->attr);
        return output >= 0 && output < shape->outputs ? shape->of_output[output] : -1;
    }
    Py_ssize_t known = PyTuple_GET_SIZE(whole->args);
    for (Py_ssize_t i = 0; i < known && i < shape->operands; i++)
        if (operand(whole, i) == node && shape->of_operand[i] != -2)
            return shape->of_operand[i];
    return -1;
}

static int64_t operand_number(Operands *operands, Node *node)
{
    for (Py_ssize_t i = 0; i < operands->count; i++)
        if (operands->node[i] == node)
            return -1 - i;
    operands->node[operands->count] = node;
    return -1 - operands->count++;
}

/* 0 where Python has to look. */
int relate(Deferral *deferral, Node **nodes, Node **lazy, int lazies, Node *whole,
                  Shape *shape, Operands *operands, Relation *relation)
{
    operands->known = operands->count = whole == NULL ? 0 : PyTuple_GET_SIZE(whole->args);
    if (operands->known + deferral->arrays + lazies > MOST_OPERANDS)
        return 0;
    for (Py_ssize_t i = 0; i < operands->known; i++)
        operands->node[i] = operand(whole, i);
    for (int i = 0; i < deferral->arrays; i++) {
        int number = whole == NULL ? -1 : number_of(nodes[i], whole, shape);
        for (int k = 0; k < i && number >= 0; k++)
            if (relation[k].type == NULL && relation[k].number == number)
                number = -1;
        relation[i] = (Relation){NULL, number};
        if (number >= 0)
            continue;
        PyObject *constant = constant_of(nodes[i]);
        if (deferral->overwritten[i] && nodes[i]->kind != LEAF)
            relation[i].number = FRESH;
        else if (constant == NULL)
            relation[i].number = operand_number(operands, nodes[i]);
        else {
            char bits[32] = {0};
            relation[i].type = Py_TYPE(constant);
            if (dtypes[nodes[i]->dtype].itemsize > 8 || !write_number(bits, nodes[i]->dtype, constant))
                return 0;
            memcpy(&relation[i].number, bits, 8);
        }
    }
    for (int i = 0; i < lazies; i++)
        relation[deferral->arrays + i] = (Relation){NULL, operand_number(operands, lazy[i])};
    return 1;
}

static int is_recent(Node *node)
{
    PyObject *list = pending_list();
    Py_ssize_t count = PyList_GET_SIZE(list);
    for (Py_ssize_t i = count - 1; i >= 0 && i >= count - RECENT; i--)
        if (PyList_GET_ITEM(list, i) == (PyObject *)node)
            return 1;
    return 0;
}

static int may_join(Deferral *deferral, int array, Node *node, Node *whole, Shape *shape)
{
    if (number_of(node, whole, shape) < 0) /* it must not depend on the group */
        return deferral->overwritten[array] || node->kind == LEAF || constant_of(node) != NULL;
    if (!deferral->written[array] || node->kind != PART)
        return 1;
    /* What the group has given is overwritten: only the handle, and the list, may hold it. */
    return Py_REFCNT(node) <= 1 + is_recent(node);
}

int takes_calls(Group *group)
{
    Shape *shape = shape_of(group);
    return shape != NULL && shape->open && group->runs == 0 && is_none(group->outcome)
           && is_none(group->error);
}

/* The pending group that a call may join: the only one it depends on. */
static Node *open_group(Deferral *deferral, Node **nodes, Node **lazy, int lazies)
{
    Node *whole = NULL;
    for (int i = 0; i < deferral->arrays; i++) {
        Node *node = nodes[i];
        int is_part = node->kind == PART && PyTuple_GET_SIZE(node->args) == 1;
        Group *group = is_part ? group_of(operand(node, 0)) : NULL;
        if (group != NULL && takes_calls(group))
            whole = operand(node, 0);
        else if (group != NULL && !deferral->overwritten[i])
            return NULL; /* it has to run first */
    }
    if (whole == NULL || is_holding() || !deferral->joins)
        return NULL;
    Shape *shape = shape_of(group_of(whole));
    for (int i = 0; i < lazies; i++)
        if (lazy[i]->kind != LEAF && lazy[i]->kind != SCALAR)
            return NULL;
    for (int i = 0; i < deferral->arrays; i++)
        for (int k = 0; k < i; k++)
            if (nodes[i] == nodes[k])
                return NULL;
    for (int i = 0; i < deferral->arrays; i++)
        if (!may_join(deferral, i, nodes[i], whole, shape))
            return NULL;
    return whole;
}

Turn *find_turn(Shape *shape, Deferral *deferral, const Relation *relation, int count)
{
    for (int i = shape->turns - 1; i >= 0; i--) {
        Turn *turn = &shape->turn[i];
        int same = turn->kind == deferral->kind && turn->relations == count;
        for (int k = 0; k < count && same; k++)
            same = turn->relation[k].type == relation[k].type
                   && turn->relation[k].number == relation[k].number;
        if (same)
            return turn;
    }
    return NULL;
}

/* ---- adding it ----------------------------------------------------------------------------------- */

Node *new_group(Deferral *deferral, int dtype)
{
    PyTypeObject *type = group_type();
    Group *group = (Group *)type->tp_alloc(type, 0);
    if (group == NULL)
        return NULL;
    groups_alive++;
    group->execute = Py_NewRef(deferral->execute);
    group->shape = Py_NewRef(nothing_shape());
    group->values = PyList_New(0);
    group->spare = PyFrozenSet_New(NULL);
    group->dead = -1;
    Node *whole = NULL;
    if (group->values != NULL && group->spare != NULL)
        whole = node_new(OPAQUE, deferral->name, Py_NewRef(no_args), dtype, no_args);
    if (whole != NULL)
        Py_SETREF(whole->value, Py_NewRef(group));
    Py_DECREF(group);
    return whole;
}

int take_operands(Node *whole, Operands *operands)
{
    if (operands->count == operands->known)
        return 0;
    PyObject *args = PyTuple_New(operands->count);
    if (args == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < operands->count; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(operands->node[i]));
    PyObject_GC_UnTrack(args); /* nodes form no cycles */
    Py_SETREF(whole->args, args);
    return 0;
}

static int take_numbers(Group *group, Deferral *deferral, Argument *arguments, PyObject *const *given)
{
    if (group->values == NULL || !PyList_CheckExact(group->values)) {
        PyErr_SetString(PyExc_TypeError, "a group's values are a list");
        return -1;
    }
    PyObject *numbers = PyTuple_New(deferral->numbers);
    if (numbers == NULL)
        return -1;
    for (int i = 0; i < deferral->numbers; i++) {
        int at = deferral->number[i];
        PyObject *number = arguments[at].form == LAZY ? Py_None : given[at];
        PyTuple_SET_ITEM(numbers, i, Py_NewRef(number));
    }
    int failed = PyList_Append(group->values, numbers) < 0;
    Py_DECREF(numbers);
    return failed ? -1 : 0;
}

static PyObject *results_of(Deferral *deferral, Turn *turn, Node **made)
{
    if (deferral->results == -1)
        return Py_NewRef(Py_None);
    PyObject *found[MOST_ARGUMENTS];
    for (int k = 0; k < deferral->many; k++) {
        found[k] = NULL;
        for (int i = 0; i < turn->outputs; i++)
            if (turn->output[i].is_result && turn->output[i].number == deferral->result[k])
                found[k] = handle_new((Node *)Py_NewRef(made[i]));
        if (found[k] == NULL) {
            while (k > 0)
                Py_DECREF(found[--k]);
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_RuntimeError, "a result that no call gives");
            return NULL;
        }
    }
    if (deferral->results != -2)
        return found[0];
    PyObject *tuple = PyTuple_New(deferral->many);
    for (int k = 0; k < deferral->many; k++)
        if (tuple != NULL)
            PyTuple_SET_ITEM(tuple, k, found[k]);
        else
            Py_DECREF(found[k]);
    return tuple;
}

/* The nodes of what a call gives, pending; the handles have them then. */
static PyObject *hand_out(Deferral *deferral, Turn *turn, Node *whole, PyObject *const *given)
{
    Node *made[MOST_ARGUMENTS];
    int count = 0, failed = 0;
    for (; count < turn->outputs && !failed; count++) {
        Output *output = &turn->output[count];
        PyObject *args = PyTuple_Pack(1, whole), *attr = PyLong_FromLong(output->output);
        if (args != NULL)
            PyObject_GC_UnTrack(args);
        made[count] = args && attr ? node_new(PART, part_name(), Py_NewRef(args), output->dtype, output->shape)
                                   : NULL;
        Py_XDECREF(args);
        if ((failed = made[count] == NULL)) {
            Py_XDECREF(attr);
            break;
        }
        Py_SETREF(made[count]->attr, attr);
    }
    for (int i = 0; i < count && !failed; i++) /* a long list may be computed here */
        failed = record(made[i]) < 0;
    PyObject *results = failed ? NULL : results_of(deferral, turn, made);
    for (int i = 0; i < count; i++) {
        Output *output = &turn->output[i];
        if (results != NULL && !output->is_result
            && handle_write((Handle *)given[deferral->array[output->number]], made[i]) < 0)
            Py_CLEAR(results);
        Py_DECREF(made[i]);
    }
    return results;
}

/* Add the call to a group that has found out what that means. */
static PyObject *add(Deferral *deferral, Argument *arguments, PyObject *const *given, Node *whole,
                     Turn *turn, Operands *operands)
{
    Group *group = group_of(whole);
    PyObject *before = Py_NewRef(group->shape); /* it keeps the turn */
    PyObject *results = NULL;
    if (take_operands(whole, operands) == 0 && take_numbers(group, deferral, arguments, given) == 0) {
        Py_SETREF(group->shape, Py_NewRef(turn->next));
        results = hand_out(deferral, turn, whole, given);
    }
    Py_DECREF(before);
    return results;
}

static PyObject *defer_locked(Deferral *deferral, Argument *arguments, PyObject *const *given)
{
    Node *nodes[MOST_ARGUMENTS], *lazy[MOST_ARGUMENTS];
    Relation relation[2 * MOST_ARGUMENTS];
    Operands operands;
    int lazies = 0;
    for (int i = 0; i < deferral->arrays; i++)
        nodes[i] = ((Handle *)given[deferral->array[i]])->node;
    for (int i = 0; i < deferral->numbers; i++)
        if (arguments[deferral->number[i]].form == LAZY)
            lazy[lazies++] = ((Handle *)given[deferral->number[i]])->node;
    if (join_operands(deferral, nodes, lazies) <= 0)
        return NULL; /* statements that may join: kernels.statements */
    Node *whole = open_group(deferral, nodes, lazy, lazies);
    Shape *shape = whole == NULL ? (Shape *)nothing_shape() : shape_of(group_of(whole));
    if (shape == NULL || !relate(deferral, nodes, lazy, lazies, whole, shape, &operands, relation))
        return NULL;
    Turn *turn = find_turn(shape, deferral, relation, deferral->arrays + lazies);
    if (turn == NULL)
        return NULL;
    whole = whole != NULL ? (Node *)Py_NewRef(whole) : new_group(deferral, nodes[0]->dtype);
    if (whole == NULL)
        return NULL;
    PyObject *results = add(deferral, arguments, given, whole, turn, &operands);
    Py_DECREF(whole);
    return results;
}

/* The arguments fit: what the call returns; NULL, without an error, where Python has to look. */
PyObject *defer_call(Deferral *deferral, Argument *arguments, PyObject *const *given)
{
    if (nothing_shape() == NULL || group_type() == NULL)
        return NULL;
    Lock *lock = evaluation_begins();
    PyObject *results = defer_locked(deferral, arguments, given);
    evaluation_ends(lock);
    return results;
}
