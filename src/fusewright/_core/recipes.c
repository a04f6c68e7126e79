/* What a function records, from a recipe (frontends.arrays.recipes): for a call with the same shapes, types and other
   arguments as before the same nodes are made again, without Python. */

#include "dispatch.h"
#include "front.h"
#include "recipes.h"

#define MOST_NODES 128
#define MOST_RECIPES 64 /* of one function; all go when there are more */

static PyObject *learn; /* of frontends.arrays.recipes, loaded when it is wanted first */

/* Python's answer to a call that came the second time: a recipe, or False. */
static PyObject *learnt(PyObject *function, PyObject *const *given, Py_ssize_t many, PyObject *names)
{
    if (learn == NULL) {
        PyObject *module = load_module("fusewright.frontends.arrays.recipes");
        learn = module ? PyObject_GetAttrString(module, "learn") : NULL;
        Py_XDECREF(module);
        if (learn == NULL)
            return NULL;
    }
    return front_told(learn, function, given, many, names);
}

/* ---- following one -------------------------------------------------------------------------------- */

static inline PyObject *item(PyObject *tuple, Py_ssize_t i) { return PyTuple_GET_ITEM(tuple, i); }

/* NULL, without an error, where the step does not fit these operands: memory that others see is not to be a new array's
   under another shape, Python copies it. */
static Node *node_of_step(PyObject *step, Node **made)
{
    PyObject *places = item(step, 2);
    Py_ssize_t many = PyTuple_GET_SIZE(places);
    if (as_size(item(step, 0)) == RESHAPE && is_seen_by_others(made[as_size(item(places, 0))]))
        return NULL;
    PyObject *args = many ? PyTuple_New(many) : Py_NewRef(no_args);
    for (Py_ssize_t i = 0; args != NULL && i < many; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef((PyObject *)made[as_size(item(places, i))]));
    if (args == NULL)
        return NULL;
    if (many)
        PyObject_GC_UnTrack(args); /* nodes form no cycles */
    Node *node = node_new((int)as_size(item(step, 0)), item(step, 1), args, (int)as_size(item(step, 3)), item(step, 4));
    if (node == NULL)
        return NULL;
    Py_SETREF(node->attr, Py_NewRef(item(step, 5)));
    Py_SETREF(node->value, Py_NewRef(item(step, 6)));
    if (item(step, 7) == Py_True && record(node) < 0)
        Py_CLEAR(node);
    return node;
}

/* The results, in the form the function gives them. */
static PyObject *results(PyObject *recipe, Node **made)
{
    PyObject *places = item(recipe, 1), *form = item(recipe, 2);
    Py_ssize_t many = PyTuple_GET_SIZE(places);
    Node *chosen[MOST_NODES];
    if (many > MOST_NODES)
        return NULL;
    for (Py_ssize_t i = 0; i < many; i++)
        chosen[i] = made[as_size(item(places, i))];
    return handles_of(chosen, many, PyUnicode_GET_LENGTH(form) ? (char)PyUnicode_READ_CHAR(form, 0) : 0);
}

static PyObject *followed(PyObject *recipe, Node **made, int count)
{
    PyObject *steps = item(recipe, 0), *result = NULL;
    Py_ssize_t many = PyTuple_GET_SIZE(steps);
    int failed = count + many > MOST_NODES;
    for (Py_ssize_t i = 0; i < many && !failed; i++)
        if (!(failed = (made[count] = node_of_step(item(steps, i), made)) == NULL))
            count++;
    if (!failed)
        result = results(recipe, made);
    while (count > 0)
        Py_DECREF(made[--count]);
    return result;
}

/* ---- calls ---------------------------------------------------------------------------------------- */

int is_spread(Node *node)
{
    int64_t named = 0;
    Py_ssize_t rank = PyTuple_GET_SIZE(node->shape);
    PyObject *places = node->kind == VIEW ? node->attr : node->kind == LEAF ? item(node->value, 2) : NULL;
    for (Py_ssize_t i = 0; places != NULL && i < PyTuple_GET_SIZE(places); i++) {
        PyObject *place = item(places, i);
        Py_ssize_t dim = node->kind == LEAF ? i : as_size(item(place, 0)), step = as_size(node->kind == LEAF ? place : item(place, 2));
        if (dim >= 0 && step != 0)
            named |= (int64_t)1 << dim;
    }
    for (Py_ssize_t d = 0; places != NULL && d < rank; d++)
        if (!(named >> d & 1) && as_size(item(node->shape, d)) > 1)
            return 1;
    return 0;
}

/* The values of the arrays among the arguments, in their order: how many; -1, with those found so far, where there are
   too many, or one lies in an order of its own. */
static int gather_nodes(PyObject *object, Node **found, int count)
{
    if (is_plain(object)) {
        int is_straight = !(((Handle *)object)->flags & (OWNS | TURNED));
        Node *node = is_straight && count < MOST_NODES / 2 ? handle_node(object) : NULL;
        if (node == NULL || node->layout != NULL || is_spread(node))
            return -1;
        found[count] = (Node *)Py_NewRef(node);
        return count + 1;
    }
    for (Py_ssize_t i = 0; is_sequence(object) && i < PySequence_Fast_GET_SIZE(object) && count >= 0; i++)
        count = gather_nodes(PySequence_Fast_GET_ITEM(object, i), found, count);
    return count;
}

static PyObject *follow(PyObject *recipe, PyObject *const *given, Py_ssize_t all)
{
    Node *made[MOST_NODES] = {NULL};
    int count = 0;
    for (Py_ssize_t i = 0; i < all && count >= 0; i++)
        count = gather_nodes(given[i], made, count);
    if (count >= 0)
        return followed(recipe, made, count);
    for (int i = 0; i < MOST_NODES / 2; i++)
        Py_XDECREF(made[i]);
    forgive();
    return NULL;
}

PyObject *recipe_call(PyObject *recipes, PyObject *form, PyObject *function, PyObject *const *given, Py_ssize_t many,
                      PyObject *names)
{
    Py_ssize_t all = many + (names ? PyTuple_GET_SIZE(names) : 0);
    /* Who listens hears of library steps, and `strict` refuses them, where Python records them. */
    int is_watched = is_listened_to() || is_strict();
    PyObject *found = is_holding() || is_in_lazy_block() || is_watched ? NULL : Py_XNewRef(PyDict_GetItemWithError(recipes, form));
    if (found == Py_None) {
        Py_SETREF(found, learnt(function, given, many, names));
        if (found != NULL && PyDict_SetItem(recipes, form, found) < 0)
            Py_CLEAR(found);
    }
    PyObject *result = found && PyTuple_CheckExact(found) ? follow(found, given, all) : NULL;
    Py_XDECREF(found);
    return result;
}

/* A call of this form has been made without a recipe: one that gives numbers at once is not to be recorded. */
int recipe_note(PyObject *recipes, PyObject *form, PyObject *result)
{
    int is_known = is_holding() || is_in_lazy_block() || PyDict_GetItemWithError(recipes, form) != NULL;
    if (is_known || (Py_TYPE(result) == scalar_class && !is_past_first_steps()))
        return PyErr_Occurred() ? -1 : 0;
    if (PyDict_GET_SIZE(recipes) >= MOST_RECIPES)
        PyDict_Clear(recipes);
    int is_recorded = is_plain(result) || (is_sequence(result) && PySequence_Fast_GET_SIZE(result) > 0);
    for (Py_ssize_t i = 0; is_sequence(result) && i < PySequence_Fast_GET_SIZE(result); i++)
        is_recorded &= is_plain(PySequence_Fast_GET_ITEM(result, i));
    return PyDict_SetItem(recipes, form, is_recorded ? Py_None : Py_False);
}
