/* Small writes done at once: `a[i] = 2.0`, `a[1:-1, j] = b * c` into memory that nobody else sees.

   Recording such a write pays where a loop repeats it for long and is found; a move costs what it
   costs in NumPy, always.  What is written is computed first, so that whatever read the old content
   has read it. */

#include "dispatch.h"
#include "loops.h"

#define FILLED 8 /* writes after which an array that is not light is computed, to be filled in memory */
#define MOST (1 << 24) /* elements of an array that gets memory of its own to be written in: a bound on what one write does */

static int64_t size_of(Node *node) { return elements_of(node->shape); }

/* Whether a value is one number everywhere (`zeros`). */
static int is_constant(Node *node)
{
    return node->kind == VIEW && ((Node *)PyTuple_GET_ITEM(node->args, 0))->kind == SCALAR;
}

int is_held(Node *node) { return node->kind == LEAF || node->kind == ASSEMBLE || is_constant(node); }

/* What is computed from these is moved at once: nothing is gained by waiting. */
static const Light moved_at_once = {.in_memory = MOST, .held = MOST, .computed = KERNEL_ELEMENTS};
/* The same where NumPy writes in any case: to record that is to copy the array. */
static const Light read_before_steps = {.in_memory = MOST, .held = MOST, .computed = USED_ELEMENTS};

int were_small_writes(Node *node, int versions, int64_t most)
{
    for (; versions > 0; versions--, node = (Node *)PyTuple_GET_ITEM(node->args, 0))
        if (node->kind != ASSEMBLE || PyTuple_GET_SIZE(node->args) != 2
            || size_of((Node *)PyTuple_GET_ITEM(node->args, 1)) > most)
            return 0;
    return 1;
}

/* Whether the last versions were each made by a small write: the next ones will be, too. */
static int is_being_filled(Node *node)
{
    int64_t most = size_of(node) / FILLED;
    return were_small_writes(node, FILLED, most < KERNEL_ELEMENTS ? most : KERNEL_ELEMENTS);
}

/* The memory of a version that only its handle holds; NULL for any other. */
static Memory *owned(Node *base)
{
    Memory *memory = Py_REFCNT(base) == 1 ? writable_memory(base) : NULL;
    return memory != NULL && Py_REFCNT(memory) == 1 && !is_holding() ? memory : NULL;
}

/* The same once views of it have let it go, but for the one whose value is being used. */
static Memory *released(Handle *root, Node *used)
{
    Memory *memory = owned(root->node);
    if (memory != NULL || root->node->kind != LEAF || is_holding())
        return memory;
    looks_forget((PyObject *)root, used);
    return owned(root->node);
}

/* Whether a region is one of the array, as it is or in the shape it is seen in. */
static int is_region_of(Region *region, Node *base)
{
    PyObject *shape = region->seen_as ? PyTuple_GET_ITEM(region->seen_as, 0) : base->shape;
    return region->places == PyTuple_GET_SIZE(shape);
}

/* Where a region lies in a base's memory; NULL without an error where that is not known. */
static char *region_at(Memory *memory, Node *base, Region *region, Py_ssize_t *steps)
{
    if (region->seen_as != NULL) {
        Region plain = *region;
        Node *seen = reshaped_leaf(region->seen_as, base);
        plain.seen_as = NULL;
        char *at = seen ? region_at(memory, seen, &plain, steps) : NULL;
        Py_XDECREF(seen);
        return at;
    }
    Py_ssize_t offset = as_size(PyTuple_GET_ITEM(base->value, 1));
    memset(steps, 0, (size_t)region->dims * sizeof *steps);
    for (int i = 0; i < region->places; i++) {
        Place *place = &region->place[i];
        Py_ssize_t stride = as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(base->value, 2), i));
        offset += place->start * stride;
        if (place->out >= 0)
            steps[place->out] += place->step * stride;
    }
    return memory->at + offset;
}

/* A leaf with the same content in memory of its own. */
static Node *twin(Node *leaf)
{
    Region all = {.dims = (int)PyTuple_GET_SIZE(leaf->shape)};
    Py_ssize_t steps[MOST_DIMS], paces[MOST_DIMS], size = dtypes[leaf->dtype].itemsize;
    PyObject *strides = contiguous_strides(leaf->shape, size);
    PyObject *memory = allocate((Py_ssize_t)size_of(leaf) * size);
    Node *made = node_new(LEAF, no_name, Py_NewRef(no_args), leaf->dtype, leaf->shape);
    PyObject *value = strides && memory && made ? Py_BuildValue("(OiO)", memory, 0, strides) : NULL;
    for (int d = 0; value != NULL && d < all.dims; d++) {
        all.extent[d] = as_size(PyTuple_GET_ITEM(leaf->shape, d));
        steps[d] = as_size(PyTuple_GET_ITEM(strides, d));
        paces[d] = as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(leaf->value, 2), d));
    }
    Py_XDECREF(strides);
    Py_XDECREF(memory);
    if (value == NULL) {
        Py_XDECREF(made);
        return NULL;
    }
    copy_elements(((Memory *)memory)->at, steps,
         leaf_memory(leaf)->at + as_size(PyTuple_GET_ITEM(leaf->value, 1)), paces, all.extent,
         all.dims, (size_t)size);
    Py_SETREF(made->value, value);
    return made;
}

/* Compute the newest pending values, as far as little is to do for them, until none of them waits to
   read the array: an operand on Python's stack would have the whole of it copied. */
static int let_read(Handle *root, const Light *limits)
{
    Node *newest;
    for (int seen = 0; owned(root->node) == NULL && (newest = newest_pending()) != NULL;)
        if (!is_light(newest, limits, &seen))
            return 0;
        else if (evaluate(&newest, 1) < 0)
            return -1;
    return 0;
}

/* Memory that an array may be written in at once, if need be after computing or copying it; NULL, with
   or without an error, where there is none.  Of the value that is written nothing is let go. */
static Memory *own(Handle *root, Node *value, const Light *limits)
{
    Node *base = root->node;
    Memory *memory = released(root, value);
    int seen = 0;
    if (memory != NULL || !moves_at_once() || size_of(base) > MOST || size_of(base) == 0)
        return memory;
    if (base->kind != LEAF && !is_light(base, limits, &seen) && !is_being_filled(base))
        return NULL;
    if (base->kind != LEAF && evaluate(&base, 1) < 0)
        return NULL;
    if ((memory = leaf_memory(base = root->node)) == NULL || memory->external)
        return NULL;
    drop_tail(); /* dead nodes there keep what they would have read */
    if (size_of(base) > TINY_ELEMENTS && let_read(root, limits) < 0)
        return NULL;
    if (root->node == base && (memory = released(root, value)) != NULL)
        return memory;
    if ((base = root->node)->kind != LEAF || leaf_memory(base) == NULL || size_of(base) > KERNEL_ELEMENTS)
        return NULL;
    Py_INCREF(base); /* allocating may run Python */
    Node *fresh = twin(base);
    int same = root->node == base;
    Py_DECREF(base);
    if (fresh == NULL || !same) {
        Py_XDECREF(fresh);
        return NULL;
    }
    Py_SETREF(root->node, fresh);
    return root->node == fresh ? owned(fresh) : NULL;
}

static int64_t elements(Region *region)
{
    int64_t count = 1;
    for (int d = 0; d < region->dims; d++)
        count *= region->extent[d];
    return count;
}

/* Elements copied into a region, of which nothing is let go that `value` needs: 1 moved, 0 not, -1 an error. */
static int move_elements(Handle *root, Region *region, Node *value, const char *from, const Py_ssize_t *paces)
{
    Py_ssize_t steps[MOST_DIMS];
    Memory *memory = own(root, value, &moved_at_once);
    Node *base = root->node;
    char *to = memory ? region_at(memory, base, region, steps) : NULL;
    if (to == NULL)
        return PyErr_Occurred() ? -1 : 0;
    copy_elements(to, steps, from, paces, region->extent, region->dims, (size_t)dtypes[base->dtype].itemsize);
    return 1;
}

/* 1 moved, 0 not, -1 an error.  The value's holder keeps it.  `other` is what it was made of, if that
   is on Python's stack: pending, it would wait to read the array. */
int move_value(Handle *root, Region *region, Node *value, Node *other)
{
    Node *base = root->node;
    Py_ssize_t paces[MOST_DIMS];
    int seen = 0;
    if (value->dtype != base->dtype || value->kind == SCALAR
        || region->dims != PyTuple_GET_SIZE(value->shape) || elements(region) > KERNEL_ELEMENTS
        || !is_region_of(region, base) || !moves_at_once())
        return 0;
    for (int d = 0; d < region->dims; d++)
        if (as_size(PyTuple_GET_ITEM(value->shape, d)) != region->extent[d])
            return 0;
    if (value->kind != LEAF) {
        int filled = base->kind != LEAF && is_being_filled(base); /* then the array is computed, too */
        if (!is_light(value, &moved_at_once, &seen) && !filled)
            return 0;
        int waits = other != NULL && other->kind != LEAF && other->kind != SCALAR && is_light(other, &moved_at_once, &seen);
        Node *all[3] = {value, filled ? base : other, other};
        if (evaluate(all, 1 + filled + waits) < 0)
            return -1;
    }
    Memory *source = leaf_memory(value);
    if (root->node != base || source == NULL)
        return 0;
    for (int d = 0; d < region->dims; d++)
        paces[d] = as_size(PyTuple_GET_ITEM(PyTuple_GET_ITEM(value->value, 2), d));
    return move_elements(root, region, value, source->at + as_size(PyTuple_GET_ITEM(value->value, 1)), paces);
}

static char *staging(void) /* for as many elements as are moved at once, of the largest type */
{
    static char *room;
    if (room == NULL && (room = PyMem_Malloc(KERNEL_ELEMENTS * 16)) == NULL)
        PyErr_NoMemory();
    return room;
}

/* The first byte of a value in memory and the one behind the last. */
static void ends_of(const Spot *spot, char **first, char **last)
{
    *first = spot->at;
    *last = spot->at + dtypes[spot->dtype].itemsize;
    for (int d = 0; d < spot->dims; d++) {
        Py_ssize_t way = spot->stride[d] * (spot->extent[d] - 1);
        *(way < 0 ? first : last) += way;
    }
}

static int overlap(const Spot *one, const Spot *other)
{
    char *first[2], *last[2];
    ends_of(one, &first[0], &last[0]);
    ends_of(other, &first[1], &last[1]);
    return first[0] < last[1] && first[1] < last[0];
}

static int broadcasts(const Spot *value, const Spot *target)
{
    int lead = target->dims - value->dims;
    for (int d = 0; d < value->dims; d++)
        if (lead < 0 || (value->extent[d] != 1 && value->extent[d] != target->extent[lead + d]))
            return 0;
    return 1;
}

/* `a[1:] += b` where both are in memory and small: 1 done, 0 not, -1 an error. */
int move_update(PyObject *view, PyObject *op, PyObject *other)
{
    char word[16];
    Spot target, value = {.at = word};
    PyObject *base = view_base_of(view), *function = exact_function(op, handle_dtype(view));
    if (function == NULL || base == NULL || !Py_IS_TYPE(base, array_class) || !spot_in_memory(view, &target)
        || elements_at(&target) > KERNEL_ELEMENTS || !moves_at_once())
        return 0;
    value.dtype = target.dtype; /* a number of another type of NumPy's may widen the result, or be refused */
    if (!((scalar_dtype(other) == target.dtype || !is_numpy_number(other)) && write_number(word, target.dtype, other))
        && !(is_plain(other) && spot_in_memory(other, &value) && broadcasts(&value, &target)))
        return 0;
    view_forget(view); /* it holds the old version */
    if (Py_TYPE(other) == view_class)
        view_forget(other);
    if (released((Handle *)base, NULL) == NULL)
        return 0;
    if (value.memory == target.memory && value.dtype == target.dtype && overlap(&value, &target)) {
        Spot copy = value;
        if ((copy.at = staging()) == NULL)
            return -1;
        pack(copy.stride, copy.extent, copy.dims, dtypes[copy.dtype].itemsize);
        copy_elements(copy.at, copy.stride, value.at, value.stride, value.extent, value.dims,
                      (size_t)dtypes[copy.dtype].itemsize);
        value = copy;
    }
    const Spot *spots[] = {&target, &value, &target};
    return loop_over(function, spots, 2);
}

/* The same of another region of the array: `a[0, :] = a[1, :]`.  Nothing is made that would see the
   old content, so that large arrays are written in place too. */
int move_within(Handle *root, Region *region, PyObject *view)
{
    Region other;
    Py_ssize_t steps[MOST_DIMS], paces[MOST_DIMS], packed[MOST_DIMS];
    if (Py_TYPE(view) != view_class || view_base_of(view) != (PyObject *)root
        || !region_of_link(view_link_of(view), &other) || other.dims != region->dims
        || memcmp(other.extent, region->extent, (size_t)other.dims * sizeof *other.extent) != 0
        || elements(region) > KERNEL_ELEMENTS || !moves_at_once())
        return 0;
    view_forget(view);
    Memory *memory = own(root, NULL, &moved_at_once);
    Node *base = root->node;
    Py_ssize_t rank = PyTuple_GET_SIZE(base->shape), size = dtypes[base->dtype].itemsize;
    if (memory == NULL || other.places != rank || region->places != rank)
        return PyErr_Occurred() ? -1 : 0;
    char *staged = staging();
    if (staged == NULL)
        return -1;
    pack(packed, region->extent, region->dims, size);
    char *from = region_at(memory, base, &other, paces), *to = region_at(memory, base, region, steps);
    copy_elements(staged, packed, from, paces, region->extent, region->dims, (size_t)size);
    copy_elements(to, steps, staged, packed, region->extent, region->dims, (size_t)size);
    return 1;
}

/* The same of one number, for every element of the region. */
int move_number(Handle *root, Region *region, PyObject *number)
{
    char word[16];
    const Py_ssize_t paces[MOST_DIMS] = {0};
    if (!is_region_of(region, root->node) || elements(region) > KERNEL_ELEMENTS
        || !write_number(word, root->node->dtype, number))
        return 0;
    return move_elements(root, region, NULL, word, paces);
}

/* The same of an array of NumPy's, of the array's own type: it cannot lie in memory that nobody else sees. */
int move_array(Handle *root, Region *region, PyObject *object)
{
    NumpyArray *array = (NumpyArray *)object;
    Py_ssize_t paces[MOST_DIMS] = {0};
    int lead = region->dims - array->dims;
    if (lead < 0 || dtype_of_array(object) != root->node->dtype || !is_region_of(region, root->node)
        || elements(region) > KERNEL_ELEMENTS)
        return 0;
    for (int d = 0; d < array->dims; d++)
        if (array->extent[d] == region->extent[lead + d])
            paces[lead + d] = array->stride[d];
        else if (array->extent[d] != 1)
            return 0;
    return move_elements(root, region, NULL, array->at, paces);
}

/* The same of one element that integers name, of the array or of a basic view of it. */
int move_item(Handle *root, PyObject *link, PyObject *key, PyObject *number)
{
    char *at = released(root, NULL) ? place_of_item(root->node, link, key) : NULL;
    return at != NULL && write_number(at, root->node->dtype, number);
}

/* What one number is, where little has to be computed for it. */
PyObject *number_now(Node *node)
{
    int seen = 0;
    if (!runs_at_once() || !is_light(node, &moved_at_once, &seen) || dtypes[node->dtype].scalar == NULL
        || evaluate(&node, 1) < 0)
        return NULL;
    Memory *memory = leaf_memory(node);
    return memory ? read_scalar(memory->at + as_size(PyTuple_GET_ITEM(node->value, 1)), node->dtype)
                  : NULL;
}

Memory *own_memory(Handle *root, int is_step)
{
    return own(root, NULL, is_step ? &read_before_steps : &moved_at_once);
}

/* Memory that others see, too, which a statement writes into at once; NULL, with or without an error, where it may not.
   What reads it is complete when its statement returns, but for what was recorded before others saw it. */
Memory *shared_memory(Handle *root)
{
    Node *base = root->node;
    Memory *memory = base != NULL ? external_memory(base) : NULL;
    if (memory == NULL || !memory->writable || is_in_lazy_block() || !moves_at_once()
        || (Py_REFCNT(base) > 1 && let_read(root, &moved_at_once) < 0))
        return NULL;
    base = root->node;
    memory = Py_REFCNT(base) == 1 ? external_memory(base) : NULL;
    return memory != NULL && memory->writable ? memory : NULL;
}
