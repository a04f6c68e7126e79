/* Array statements that join a group of calls (fusewright.kernels.statements), without Python.

   Python makes a kernel of a statement, once for each structure and extents, and says which of the
   statement's nodes are the arrays and the numbers of its call.  Here it is found again: one walk,
   one look-up, one more call of the group.  Statements that are not large join once they have come
   often: what they save is less than what making code takes. */

#include "groups.h"
#include "library.h"

#define MOST_NODES 64 /* as in kernels.statements */
#define RECENT 64     /* as in frontends.arrays.survivors */
#define PLACES 512
#define OFTEN 8 /* times that a statement has come when Python makes a kernel of it */
#define PATIENCE 64 /* times that Python is asked for one */

enum { EXTENT, NUMBER, PLACE, PIECE };

typedef struct {
    int what, slot, dim, position;
    char kind;
} Number;

typedef struct {
    uint64_t hash;
    uint64_t *words;
    int length, came, asked, refused;
    PyObject *options;  /* their address is one of the words */
    Deferral *deferral; /* NULL: not known; the result is the buffer with its value */
    int edges, numbers;
    int edge[MOST_ARGUMENTS]; /* slots; the call's other arrays are fresh */
    Number number[MOST_ARGUMENTS];
} Statement;

static Statement table[PLACES];
static int64_t least = INT64_MAX, at_once = INT64_MAX; /* kernels.statements.LEAST, AT_ONCE */
static PyObject *tombstone;                            /* survivors.TOMBSTONE */

/* The statement that was walked last. */
static Node *inner[MOST_NODES], *edge[MOST_NODES];
static int inners, edges;

/* Elements that a statement goes over. */
static int64_t size_of(Node *node)
{
    int folds = (node->kind == REDUCE || node->kind == SCAN) && PyTuple_GET_SIZE(node->args) > 0;
    PyObject *shape = folds ? operand(node, 0)->shape : node->shape;
    return elements_of(shape);
}

/* Whether a node is a pending statement on so many elements that it may join a group. */
static int is_large_statement(Node *node)
{
    if (node->kind != MAP && node->kind != VIEW && node->kind != ASSEMBLE && node->kind != REDUCE
        && node->kind != SCAN)
        return 0;
    return size_of(node) >= least && constant_of(node) == NULL;
}

/* ---- the structure of a statement -------------------------------------------------------------- */

/* As kernels.statements._is_inner; what was computed once is stored when it is needed again. */
static int is_inner(Node *node)
{
    switch (node->kind) {
    case VIEW: case SCALAR: case IOTA: return 1;
    case MAP: case GATHER: case ASSEMBLE: return !node->demands;
    case REDUCE: /* that of floats has an order of its own */
        return !node->demands && dtypes[node->dtype].kind != 'f' && dtypes[node->dtype].kind != 'c';
    }
    return 0;
}

/* What the versions of an array start from. */
static Node *bottom_of(Node *node)
{
    while (node->kind == ASSEMBLE && PyTuple_GET_SIZE(node->args) > 0)
        node = operand(node, 0);
    return node;
}

static int is_recent(Node *node, Py_ssize_t *at)
{
    PyObject *list = pending_list();
    Py_ssize_t end = PyList_GET_SIZE(list);
    for (*at = end - 1; *at >= 0 && *at >= end - RECENT; --*at)
        if (PyList_GET_ITEM(list, *at) == (PyObject *)node)
            return 1;
    return 0;
}

/* Whether only the statement, and the list, hold a value. */
static int is_unseen(Node *node)
{
    Py_ssize_t at, uses = is_recent(node, &at);
    for (int i = 0; i < inners; i++)
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(inner[i]->args); k++)
            uses += operand(inner[i], k) == node;
    return Py_REFCNT(node) == uses;
}

/* Whether nobody else sees the versions below an array, nor the group's array they start from. */
static int are_unseen(Node *root)
{
    Node *node = root;
    int unseen = 1;
    while (node->kind == ASSEMBLE && unseen) {
        node = operand(node, 0);
        if (node->kind == ASSEMBLE || node->kind == PART)
            unseen = is_unseen(node);
    }
    return unseen;
}

/* Where regions lie decides what may be written in place. */
static void add_places(Node *node)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->attr); i++) {
        PyObject *entry = PyTuple_GET_ITEM(node->attr, i), *number;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(entry); k++) {
            number = PyTuple_GET_ITEM(entry, k);
            for (Py_ssize_t n = 0; n < (PyTuple_Check(number) ? 2 : 1); n++)
                structure_word((uint64_t)as_size(
                    PyTuple_Check(number) ? PyTuple_GET_ITEM(number, n) : number));
        }
    }
}

static int add(Node *node, int is_inside)
{
    if (structure_count() == MOST_NODES)
        return 0;
    if (is_inside)
        inner[inners++] = node;
    else
        edge[edges++] = node;
    return is_inside ? structure_add_tree(node) : structure_add_edge(node);
}

/* Walk what is pending below a value; 0 where Python has to.  `unseen` says whether nobody else sees
   the versions of its array; -1: look. */
static int walk(Node *root, int unseen, Structure *found)
{
    Node *stack[MOST_NODES], *bottom = bottom_of(root);
    int depth = 1, regions = 0;
    stack[0] = root;
    inners = edges = 0;
    structure_begin();
    while (depth > 0) {
        Node *node = stack[depth - 1], *missing = NULL;
        int inside = node == root || (is_inner(node) && !(node == bottom && node->kind == VIEW));
        for (Py_ssize_t i = 0; inside && i < PyTuple_GET_SIZE(node->args) && missing == NULL; i++)
            if (!structure_knows(operand(node, i)))
                missing = operand(node, i);
        if (missing != NULL && depth == MOST_NODES)
            return 0;
        if (missing != NULL)
            stack[depth++] = missing;
        else if (--depth >= 0 && !structure_knows(node) && !add(node, inside))
            return 0;
    }
    for (int i = 0; i < inners + edges; i++) {
        PyObject *shape = (i < inners ? inner[i] : edge[i - inners])->shape;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(shape); k++)
            structure_word((uint64_t)as_size(PyTuple_GET_ITEM(shape, k)));
        regions += i < inners && inner[i]->kind == ASSEMBLE;
    }
    for (int i = 0; i < inners && regions > 0; i++)
        if (inner[i]->kind == ASSEMBLE || inner[i]->kind == VIEW)
            add_places(inner[i]);
    structure_word((uint64_t)(regions == 0 || (unseen < 0 ? are_unseen(root) : unseen)));
    structure_word((uint64_t)(uintptr_t)structure_options());
    return structure_end(found);
}

static void drop(Statement *statement)
{
    PyObject *options = statement->options, *deferral = (PyObject *)statement->deferral;
    PyMem_Free(statement->words);
    memset(statement, 0, sizeof *statement);
    Py_XDECREF(options);
    Py_XDECREF(deferral);
}

void joins_forget(void)
{
    for (int i = 0; i < PLACES; i++)
        drop(&table[i]);
}

static int is(const Statement *statement, const Structure *found)
{
    return statement->words != NULL && statement->hash == found->hash
           && statement->length == found->length
           && memcmp(statement->words, found->words, (size_t)found->length * sizeof(uint64_t)) == 0;
}

/* What is known of a structure, in one of two places; one that is new takes the place of that which
   came less often.  NULL: no memory. */
static Statement *look_up(const Structure *found)
{
    Statement *first = &table[found->hash % PLACES], *second = &table[(found->hash ^ 1) % PLACES];
    if (is(first, found) || is(second, found))
        return is(first, found) ? first : second;
    Statement *statement = first->came > second->came ? second : first;
    (statement == first ? second : first)->came /= 2; /* what comes no more gives way to two that take turns */
    size_t bytes = (size_t)found->length * sizeof(uint64_t);
    uint64_t *words = PyMem_Malloc(bytes + 1);
    if (words == NULL)
        return (Statement *)PyErr_NoMemory();
    memcpy(words, found->words, bytes);
    drop(statement);
    statement->words = words;
    statement->hash = found->hash, statement->length = found->length;
    statement->options = Py_XNewRef(structure_options());
    return statement;
}

enum { APART, KNOWN, ASK };

/* Python is asked about what is not large for a while only. */
static int ask(Statement *statement, Node *root)
{
    return size_of(root) >= at_once || statement->asked++ < PATIENCE ? ASK : APART;
}

/* Whether a statement is known (and where its nodes are), stays apart, or Python is to be asked. */
static int find(Node *root, Structure *found, Statement **statement)
{
    int large = size_of(root) >= at_once;
    if (structure_usable() <= 0 || !walk(root, -1, found))
        return large ? ASK : APART;
    if ((*statement = look_up(found)) == NULL)
        return forgive(), APART;
    if ((*statement)->came < INT32_MAX)
        (*statement)->came++;
    if ((*statement)->deferral != NULL)
        return KNOWN;
    int rare = !large && (*statement)->came < OFTEN;
    return (*statement)->refused || rare ? APART : ask(*statement, root);
}

/* ---- joining ------------------------------------------------------------------------------------ */

/* Whether a value depends on another one, or on too much to say. */
static int depends(Node *node, Node *other)
{
    Node *seen[MOST_NODES];
    int count = 1;
    seen[0] = node;
    for (int next = 0; next < count; next++)
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(seen[next]->args); i++) {
            Node *arg = operand(seen[next], i);
            int known = 0;
            for (int k = 0; k < count && !known; k++)
                known = seen[k] == arg;
            if (arg == other || (!known && count == MOST_NODES))
                return 1;
            if (!known)
                seen[count++] = arg;
        }
    return 0;
}

/* As kernels.statements._may_join. */
static int may_join(Node *root, Node **nodes, int count, Node *whole, Shape *shape)
{
    if (whole == NULL)
        return 1;
    if (depends(whole, root))
        return 0;
    for (int i = 0; i < count; i++)
        if (nodes[i]->kind != LEAF && number_of(nodes[i], whole, shape) < 0
            && depends(nodes[i], whole))
            return 0;
    return 1;
}

/* A number of the statement, as the kernel takes it; a new reference. */
static PyObject *fetch(const Number *number, Node **order)
{
    Node *node = order[number->slot];
    if (number->what == EXTENT)
        return Py_NewRef(PyTuple_GET_ITEM(node->shape, number->dim));
    if (number->what == PLACE || number->what == PIECE) {
        PyObject *entries = node->attr;
        if (number->what == PIECE)
            entries = PyTuple_GET_ITEM(entries, number->position / 2);
        PyObject *entry = PyTuple_GET_ITEM(entries, number->dim);
        int at = number->what == PIECE ? number->position % 2 : number->position;
        return Py_NewRef(PyTuple_GET_ITEM(entry, at));
    }
    if (number->kind != 'f')
        return PyNumber_Long(node->value);
    double real = PyFloat_AsDouble(node->value);
    if (real == -1.0 && PyErr_Occurred())
        return NULL;
    return PyFloat_FromDouble(dtypes[node->dtype].itemsize == 4 ? (double)(float)real : real);
}

static PyObject *numbers_of(const Statement *statement, Node **order)
{
    PyObject *number[MOST_ARGUMENTS];
    int count = 0, all = statement->numbers;
    while (count < all && (number[count] = fetch(&statement->number[count], order)) != NULL)
        count++;
    PyObject *numbers = count == all ? PyTuple_New(all) : NULL; /* only now: it may run Python */
    for (int i = 0; i < count; i++)
        if (numbers != NULL)
            PyTuple_SET_ITEM(numbers, i, number[i]);
        else
            Py_DECREF(number[i]);
    return numbers;
}

/* As survivors.bury, of nodes with one reference of the caller's, which go. */
static void bury(Node *root, Node **nodes, int count, int joined)
{
    for (int i = 0; i < count && joined; i++)
        nodes[i]->demands += nodes[i] != root && is_worth_keeping(nodes[i]);
    for (int i = count - 1; i >= 0; i--) {
        Py_ssize_t at;
        if (joined && is_recent(nodes[i], &at) && Py_REFCNT(nodes[i]) == 2)
            PyList_SetItem(pending_list(), at, Py_NewRef(tombstone));
        Py_DECREF(nodes[i]);
    }
}

/* Make a pending value a part of a group. */
static int become_part(Node *root, Node *whole, int output)
{
    PyObject *args = PyTuple_Pack(1, whole), *attr = PyLong_FromLong(output);
    if (args == NULL || attr == NULL) {
        Py_XDECREF(args);
        Py_XDECREF(attr);
        return -1;
    }
    PyObject_GC_UnTrack(args); /* nodes form no cycles */
    PyObject *operands = root->args;
    root->args = args;
    root->kind = PART;
    Py_XSETREF(root->attr, attr);
    Py_XSETREF(root->value, Py_NewRef(Py_None));
    Py_XSETREF(root->op, Py_NewRef(part_name()));
    Py_DECREF(operands);
    return 0;
}

/* What a group is going to be; APART or ASK where it is not. */
static int plan(Node *root, const Structure *found, Statement *statement, Node *whole, Shape *shape,
                Operands *operands, Turn **turn)
{
    Deferral *deferral = statement->deferral;
    Node *nodes[MOST_ARGUMENTS];
    Relation relation[MOST_ARGUMENTS];
    for (int i = 0; i < deferral->arrays; i++) /* what is fresh is nothing of before */
        nodes[i] = i < statement->edges ? found->order[statement->edge[i]] : root;
    if (!may_join(root, nodes, statement->edges, whole, shape))
        return APART;
    if (!relate(deferral, nodes, NULL, 0, whole, shape, operands, relation))
        return ask(statement, root);
    *turn = find_turn(shape, deferral, relation, deferral->arrays);
    return *turn == NULL ? ask(statement, root) : KNOWN;
}

static int output_of(const Turn *turn, int number)
{
    for (int i = 0; i < turn->outputs; i++)
        if (turn->output[i].number == number)
            return turn->output[i].output;
    return -1;
}

/* Let a known statement join a group (NULL: a new one, then `*whole`, a new reference). */
static int join(Node *root, const Structure *found, Statement *statement, Node **whole)
{
    Shape *shape = *whole == NULL ? (Shape *)nothing_shape() : shape_of(group_of(*whole));
    Operands operands;
    Turn *turn;
    int count = inners, done = plan(root, found, statement, *whole, shape, &operands, &turn);
    if (done != KNOWN)
        return done;
    PyObject *args = root->args, *numbers;
    Deferral *deferral = (Deferral *)Py_NewRef(statement->deferral);
    Node *nodes[MOST_NODES];
    for (int i = 0; i < count; i++)
        nodes[i] = (Node *)Py_NewRef(inner[i]);
    Py_INCREF(shape); /* it keeps the turn */
    int output = output_of(turn, deferral->result[0]);
    done = ASK;
    if (output >= 0 && (numbers = numbers_of(statement, found->order)) != NULL) {
        if (*whole == NULL)
            *whole = new_group(deferral, root->dtype);
        /* what has run meanwhile, a finaliser, has left them as they were? */
        if (*whole != NULL && root->args == args && shape == shape_of(group_of(*whole))
            && group_of(*whole)->runs == 0 && is_none(group_of(*whole)->outcome)
            && take_operands(*whole, &operands) == 0
            && PyList_Append(group_of(*whole)->values, numbers) == 0) {
            Py_SETREF(group_of(*whole)->shape, Py_NewRef(turn->next));
            done = become_part(root, *whole, output) == 0 ? KNOWN : -1;
        }
        Py_DECREF(numbers);
    }
    if (done == ASK)
        forgive();
    bury(root, nodes, count, done == KNOWN);
    Py_DECREF(shape);
    Py_DECREF(deferral);
    return done;
}

/* The one pending group that values are parts of, so far; 0: another one, or one that is closed. */
static int meet(Node *node, Node **whole)
{
    int is_part = node->kind == PART && PyTuple_GET_SIZE(node->args) == 1;
    Group *group = is_part ? group_of(operand(node, 0)) : NULL;
    if (group == NULL)
        return 1;
    if (!takes_calls(group) || (*whole != NULL && *whole != operand(node, 0)))
        return 0;
    *whole = operand(node, 0);
    return 1;
}

/* Let statements join the group that they and `others` are parts of, or a new one: as
   kernels.statements.join_operands.  1 done, or they stay apart; 0 Python has to look. */
static int join_all(Node **roots, int count, Node **others, int plain)
{
    Structure found;
    Statement *statement;
    Node *whole = NULL;
    int one = 1;
    for (int i = 0; i < plain && one; i++)
        one = meet(others[i], &whole)
              && (others[i]->kind == LEAF || others[i]->kind == PART || constant_of(others[i]));
    for (int i = 0; i < count && one; i++) {
        int known = find(roots[i], &found, &statement);
        if (known != KNOWN)
            return known == APART;
        for (int k = 0; k < edges && one; k++)
            one = meet(edge[k], &whole);
    }
    if (!one)
        return 1;
    Py_XINCREF(whole);
    int done = KNOWN;
    for (int i = 0; i < count && done == KNOWN; i++) /* the same one twice is a part by now */
        if (roots[i]->kind != PART && (done = find(roots[i], &found, &statement)) == KNOWN)
            done = join(roots[i], &found, statement, &whole);
    Py_XDECREF(whole);
    return done < 0 ? -1 : done != ASK;
}

int join_operands(Deferral *deferral, Node **nodes, int lazies)
{
    Node *roots[MOST_ARGUMENTS], *others[MOST_ARGUMENTS];
    int count = 0, plain = 0;
    if (!deferral->joins || lazies > 0 || is_holding())
        return 1;
    for (int i = 0; i < deferral->arrays; i++)
        if (!deferral->overwritten[i] && is_large_statement(nodes[i]))
            roots[count++] = nodes[i];
        else if (!deferral->overwritten[i])
            others[plain++] = nodes[i];
    return count == 0 ? 1 : join_all(roots, count, others, plain);
}

int join_requested(Node **wanted, Py_ssize_t count)
{
    Structure found;
    Statement *statement;
    for (Py_ssize_t i = 0; i < count && !is_holding(); i++) {
        if (!is_large_statement(wanted[i]))
            continue;
        int known = find(wanted[i], &found, &statement);
        if (known == ASK)
            return 0;
        Node *whole = NULL;
        int one = known == KNOWN;
        for (int k = 0; k < edges && one; k++)
            one = meet(edge[k], &whole);
        if (!one || whole == NULL)
            continue;
        Py_INCREF(whole);
        int done = join(wanted[i], &found, statement, &whole);
        Py_DECREF(whole);
        if (done < 0 || done == ASK)
            return done < 0 ? -1 : 0;
    }
    return 1;
}

/* ---- what Python says --------------------------------------------------------------------------- */

static PyObject *set_joining(PyObject *module, PyObject *given)
{
    (void)module;
    long long all, now, again;
    PyObject *stone;
    if (!PyArg_ParseTuple(given, "LLO!L", &all, &now, &NodeType, &stone, &again))
        return NULL;
    least = all, at_once = now;
    if (again)
        joins_forget();
    Py_XSETREF(tombstone, Py_NewRef(stone));
    Py_RETURN_NONE;
}

/* comes_often(node): whether Python is to make a kernel of a statement that is not large, or has */
static PyObject *comes_often(PyObject *module, PyObject *node)
{
    (void)module;
    Structure found;
    if (!Py_IS_TYPE(node, &NodeType)) {
        PyErr_SetString(PyExc_TypeError, "a statement is a Node");
        return NULL;
    }
    if (structure_usable() <= 0 || !walk((Node *)node, -1, &found))
        Py_RETURN_FALSE;
    Statement *statement = look_up(&found);
    if (statement == NULL)
        return NULL;
    return PyBool_FromLong(!statement->refused && statement->came >= OFTEN);
}

/* (what, dim, position, node): where the walk has met the node */
static int take_number(Number *number, PyObject *given)
{
    Node *node;
    if (!PyTuple_CheckExact(given)
        || !PyArg_ParseTuple(given, "iiiO!", &number->what, &number->dim, &number->position,
                             &NodeType, &node))
        return 0;
    number->slot = node->slot;
    number->kind = dtypes[node->dtype].kind;
    int at = number->position, fits = number->dim >= 0 && at >= 0;
    switch (number->what) {
    case EXTENT: fits = fits && number->dim < PyTuple_GET_SIZE(node->shape); break;
    case NUMBER: fits = node->kind == SCALAR; break;
    case PLACE: fits = fits && node->kind == VIEW && at < 3
                       && number->dim < PyTuple_GET_SIZE(node->attr); break;
    case PIECE: fits = fits && node->kind == ASSEMBLE && at / 2 < PyTuple_GET_SIZE(node->args)
                       && number->dim < PyTuple_GET_SIZE(node->shape); break;
    default: fits = 0;
    }
    return fits && structure_knows(node);
}

/* teach_statement(root, deferral or None, edge nodes, numbers, unseen): its call, where nobody else
   sees the versions of its array, or where somebody may; None: it is none. */
static PyObject *teach(PyObject *module, PyObject *given)
{
    (void)module;
    Structure found;
    Node *root;
    PyObject *deferral, *nodes, *numbers;
    int unseen;
    if (!PyArg_ParseTuple(given, "O!OO!O!p", &NodeType, &root, &deferral, &PyTuple_Type, &nodes,
                          &PyTuple_Type, &numbers, &unseen))
        return NULL;
    Statement *statement = NULL;
    if (structure_usable() > 0 && walk(root, unseen, &found) && (statement = look_up(&found)) == NULL)
        return NULL;
    Py_ssize_t arrays = PyTuple_GET_SIZE(nodes), count = PyTuple_GET_SIZE(numbers);
    if (statement == NULL)
        Py_RETURN_FALSE;
    int fits = Py_IS_TYPE(deferral, &DeferralType) && arrays <= ((Deferral *)deferral)->arrays
               && count <= MOST_ARGUMENTS && ((Deferral *)deferral)->results == 0;
    for (Py_ssize_t i = 0; i < arrays && fits; i++) {
        Node *node = (Node *)PyTuple_GET_ITEM(nodes, i);
        fits = Py_IS_TYPE(node, &NodeType) && structure_knows(node);
        statement->edge[i] = fits ? node->slot : 0;
    }
    for (Py_ssize_t i = 0; i < count && fits; i++)
        fits = take_number(&statement->number[i], PyTuple_GET_ITEM(numbers, i));
    forgive();
    statement->edges = (int)arrays;
    statement->numbers = (int)count;
    statement->refused = !fits;
    Py_XSETREF(statement->deferral, (Deferral *)(fits ? Py_NewRef(deferral) : NULL));
    return PyBool_FromLong(fits);
}

PyMethodDef joins_methods[] = {
    {"set_joining", set_joining, METH_VARARGS, "Least elements of statements; what is let go; whether all is forgotten."},
    {"comes_often", comes_often, METH_O, "Whether a statement is worth a kernel of its own."},
    {"teach_statement", teach, METH_VARARGS, "How a statement joins a group; None: never."},
    {NULL},
};
