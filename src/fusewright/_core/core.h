/* What the parts of the native core share.

   The core holds what runs for every recorded operation and every evaluation that has run before:
   values (`Node`), memory, array handles with their operators, the pending list, the look-up of
   compiled code and its launch.  Everything that happens once for a structure stays in Python, and
   so does everything unusual: each function here either does its work or leaves it, untouched, to
   the Python function that means the same.  All state is guarded by the GIL. */

#ifndef FUSEWRIGHT_CORE_H
#define FUSEWRIGHT_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "machine.h"

/* An int that is an extent, a stride or a place: mostly of one digit, read without a call. */
static inline Py_ssize_t as_size(PyObject *number)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (PyLong_CheckExact(number) && PyUnstable_Long_IsCompact((PyLongObject *)number))
        return PyUnstable_Long_CompactValue((PyLongObject *)number);
#else
    if (PyLong_CheckExact(number) && Py_SIZE(number) == 1)
        return (Py_ssize_t)((PyLongObject *)number)->ob_digit[0];
#endif
    return PyLong_AsSsize_t(number);
}

/* Append where the list has room, without a call; else 0. */
static inline int append_in_place(PyObject *list, PyObject *item)
{
    Py_ssize_t size = PyList_GET_SIZE(list);
    if (size >= ((PyListObject *)list)->allocated)
        return 0;
    ((PyListObject *)list)->ob_item[size] = Py_NewRef(item);
    Py_SET_SIZE(list, size + 1);
    return 1;
}

enum { LEAF, SCALAR, MAP, VIEW, REDUCE, SCAN, ASSEMBLE, GATHER, IOTA, RESHAPE, OPAQUE, PART, PRODUCT }; /* as in ir.graph */

#define DTYPES 16
#define NO_DTYPE (DTYPES - 1)

typedef struct {
    PyObject *object;   /* the row of ir.dtypes */
    PyObject *straight; /* (itemsize,): the strides of a contiguous row */
    PyObject *scalar;   /* NumPy's class of single numbers */
    Py_ssize_t itemsize;
    char kind;          /* NumPy's letter */
} DType;

extern DType dtypes[DTYPES];
extern int dtype_float64, dtype_float32, dtype_int64, dtype_bool, dtype_bfloat16;

/* A root allocation; see ir.graph.Memory.  A pooled block has no owner until somebody asks, and goes
   back to `home` (the pool's list of free addresses, or its `give_back`) when it dies. */
typedef struct {
    PyObject_HEAD
    PyObject *address; /* an int; `at` is its value */
    char *at;
    Py_ssize_t nbytes;
    Py_ssize_t size; /* of a large block: its size class */
    PyObject *owner;
    PyObject *home;
    char external, writable; /* `external`: shared with others for good, or lent to `readers` */
    char is_shared;
    int readers;
    PyObject *weak;
} Memory;

/* An array-level value; see ir.graph.Node. */
typedef struct {
    PyObject_HEAD
    PyObject *op, *args, *shape, *attr, *value, *line;
    PyObject *layout; /* NumPy's strides of it where they are not in C order; else NULL */
    PyObject *ahead; /* a leaf with its value, computed for a request that did not have to store it; else NULL */
    uint64_t mark; /* the walk that met it last */
    int slot;      /* its number in that walk */
    int demands;
    uint8_t kind, dtype;
} Node;

/* A handle's flags: OWNS is the only view of a hidden array, of what does not lie in C order; TURNED a view of a whole
   array, its dims in another order. */
enum { READ_ONLY = 1, OWNS = 2, TURNED = 4 }; /* as in frontends.arrays.core */

/* A mutable name for a value: the base of the public array classes. */
typedef struct {
    PyObject_HEAD
    Node *node;
    int flags;
    PyObject *weak;
} Handle;

extern PyTypeObject NodeType, MemoryType, HandleType, OperatorsType, OpType, FunctionType, FrontType,
    ProgramType, LockType, ReplayType, ReplayerType, EvaluatorType, ReductionType, RecorderType,
    StepType, DispatchType, ArrangementType, AttributeType, AgreedType, WriterType, RowsType, OverrideType, BorderType,
    ShapeType, GroupType, DeferralType, GroupProgramType, CallCacheType, BoundCallType, ScheduleType;

/* node.c */
extern PyObject *no_args, *no_name;
int node_ready(void);
Node *node_new(int kind, PyObject *op, PyObject *args, int dtype, PyObject *shape);
int same_shape(PyObject *a, PyObject *b);
int node_become_leaf(Node *node, PyObject *memory, PyObject *offset, PyObject *strides); /* NULL: 0 */
Node *node_in_memory(PyObject *memory, PyObject *offset, int dtype, PyObject *shape); /* in C order */
Node *leaf_as(Node *leaf, PyObject *shape); /* its memory with other extents, in C order */
Node *leaf_with(Node *leaf, PyObject *shape, PyObject *strides);
int all_nodes(PyObject *tuple_or_list); /* else a TypeError */
void leaf_layout(Node *leaf);           /* by its strides */
int view_turns(PyObject *places);       /* whether a view of a C-ordered value is in another order */
int derive_layout(Node *node);          /* of what is recorded, where `is_laid_out`; -1: an error */

/* Whether what is recorded may have to lie in another order than C's. */
static inline int is_laid_out(Node *node)
{
    if (node->kind == VIEW && view_turns(node->attr))
        return 1;
    PyObject **args = ((PyTupleObject *)node->args)->ob_item;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->args); i++)
        if (((Node *)args[i])->layout != NULL)
            return 1;
    return 0;
}
PyObject *laid_out(Node *node);         /* a new array whose elements lie so; takes over the reference */
Memory *leaf_memory(Node *node); /* NULL, without an error, where the node is no leaf, or no sound one */

/* Whether somebody outside can write to, or see, the memory of a value (`ir.graph.is_shared`). */
static inline int is_seen_by_others(Node *node)
{
    Memory *memory = leaf_memory(node);
    return node->kind == LEAF && (memory == NULL || memory->external);
}

/* The memory of a value that others see, too; NULL where it has none, or its own. */
static inline Memory *external_memory(Node *node)
{
    Memory *memory = leaf_memory(node);
    return memory != NULL && memory->external ? memory : NULL;
}

/* The memory of a value that may be written where nothing else needs it; NULL where it has none. */
static inline Memory *writable_memory(Node *node)
{
    Memory *memory = leaf_memory(node);
    return memory != NULL && !memory->external && memory->writable ? memory : NULL;
}

PyObject *contiguous_strides(PyObject *shape, Py_ssize_t itemsize);
PyObject *known_dtype(int dtype);
int dtype_index(PyObject *object);

/* interruptions.c */
void forgive(void);
void last_call(PyObject *function, PyObject *given);

/* memory.c */
PyObject *allocate(Py_ssize_t nbytes);
PyObject *load_module(const char *name);
PyObject *memory_on(char *at, Py_ssize_t nbytes, PyObject *owner, int writable); /* what `owner` keeps */
int64_t allocations(void);
int64_t fresh_bytes(void);

/* handle.c */
extern PyTypeObject *array_class, *scalar_class, *view_class;
int is_repetition(PyObject *left, PyObject *right); /* numbers.c: a sequence by one of our numbers, Python's own operation */
extern PyBufferProcs handle_buffer; /* buffers.c */
int buffers_ready(PyObject *unset);
int crossing_ready(PyObject *unset);
int is_plain(PyObject *object);    /* exactly one of the three classes */
Node *handle_node(PyObject *handle); /* borrowed; of a plain handle */
PyObject *handle_new(Node *node);  /* steals the node */
PyObject *handles_of(Node *const *nodes, Py_ssize_t many, char form); /* a tuple ('t') or list of new ones; else the first */
PyObject *array_new(Node *node);   /* likewise; an array in any case */

PyObject *view_link_of(PyObject *handle); /* borrowed; NULL for what is no view */
PyObject *view_base_of(PyObject *view);
void view_forget(PyObject *view); /* its base has another value */
int view_holds(PyObject *view, Node *value); /* whether it is what the view found */
PyObject *view_new(PyObject *base, PyObject *link, int flags);

/* looks.c */
void look_note(PyObject *view); /* it has found a value */
void look_end(PyObject *view);
void looks_forget(PyObject *root, Node *used);

/* views.c */
PyObject *handle_getitem(PyObject *handle, PyObject *key);
int handle_setitem(PyObject *handle, PyObject *key, PyObject *value);
int is_slice(PyObject *link); /* a tuple of places and shape, both tuples */
char *place_of_item(Node *leaf, PyObject *link, PyObject *key); /* items.c */
int quick_setitem(PyObject *handle, PyObject *key, PyObject *value); /* writes.c */
int quick_choice(PyObject *handle, PyObject *key, PyObject *value); /* writes.c */
int quick_view_write(PyObject *view, Node *value, PyObject *other);
Node *chosen(Node *mask, Node *value, Node *old); /* recorded: where(mask, value, old) */
PyObject *read_scalar(const char *at, int dtype); /* NumPy's number; NULL likewise */
int is_vast(PyObject *object); /* a number, or one of a few, that no extent reaches */
int write_number(char *at, int dtype, PyObject *number); /* 0: Python has to look */
int moves_at_once(void); /* options.c: whether small content is moved as a statement says it */
int runs_at_once(void);  /* whether small work need not be recorded: nobody listens */
int steps_at_once(void); /* the same of what NumPy runs on memory: the runtime need not be loaded for it */
int is_strict(void);     /* options.c: whether what has no compiled form is refused */
PyObject *number_now(Node *node); /* moves.c: of light work; NULL, without an error: not */
int is_holding(void); /* whether a function is being recorded for replay */
int is_numpy_integer(PyObject *object);
int is_numpy_number(PyObject *object);
int scalar_dtype(PyObject *number); /* of NumPy's; NO_DTYPE of any other object */
PyObject *operator_result(PyObject *op, PyObject *left, PyObject *right); /* as of Python's operators */
PyObject *read_number(const char *at, int dtype); /* NULL without an error: not known */
PyObject *quick_product(PyObject *op, PyObject *left, PyObject *right); /* recorded.c; NULL likewise */
PyObject *quick_of(PyObject *op, PyObject *const *given, Py_ssize_t count); /* one, two, or `where`; NULL likewise */
int is_known_number(PyObject *object);                     /* Python's or NumPy's */
int replaced(PyObject *array, PyObject *result);     /* its value, by a new one; 0: Python has to look */
Node *slice_node(PyObject *link, Node *source); /* a new reference */

/* trace.c */
int record(Node *node);
int record_straight(Node *node); /* the same of what is to lie in C order, whatever its operands do */
int evaluate(Node **nodes, Py_ssize_t count);
int left_to_python(Node **nodes, Py_ssize_t count); /* a request; 0, -1 */
Node *newest_pending(void);
void change_readings(int change); /* so many more buffers of arrays are being read */
void drop_tail(void); /* what is computed or dead at the list's end is forgotten */
int count_bytes(int64_t nbytes);
typedef struct Lock Lock;
void lock_take(Lock *lock);
void lock_leave(Lock *lock);
int lock_depth(Lock *lock);
int is_nested(void); /* whether a write or an evaluation goes on within another */
Lock *evaluation_begins(void); /* a new reference to the lock that is held now */
void evaluation_ends(Lock *lock);
Lock *request_begins(Lock *lock);
void request_ends(Lock *around);
PyObject *pending_list(void);
PyObject *left_list(void);
int is_native(void); /* whether requests go to our own driver */

/* slice.c and program.c: 1 done, 0 left to Python, -1 an error */
int run_slice(Node **wanted, Py_ssize_t count);
uint64_t next_walk(void);

/* The structure that a walk has written; valid until the next walk. */
#define MOST_STRUCTURE_NODES 2048
typedef struct {
    uint64_t hash;
    uint64_t *words;
    Node **order;
    int length, count;
} Structure;
int structure_usable(void); /* whether compiled code may run under the options in force */
void structure_begin(void);
int structure_count(void); /* nodes so far */
PyObject *structure_options(void); /* those in force; borrowed */
int structure_knows(Node *node);   /* whether this walk has met it */
int structure_add_edge(Node *node); /* as a value of which only type and rank matter */
int structure_add_tree(Node *node); /* with its operands, where those are leaves or known */
void structure_word(uint64_t word);
int structure_has_room(void); /* 0: it has become too long */
uint64_t canonical_word(PyObject *object); /* one for all that are equal; 0 for what has no equals */
int structure_end(Structure *found); /* of a list: not what is written in place */
int structure_reuse(Node **nodes, int count, uint64_t **words); /* how many; -1: none can be said */
PyObject *program_of(Node **wanted, Py_ssize_t count, Structure *found); /* borrowed, or NULL */
void note_computed(Node *node);
int program_compute(PyObject *program, Node **order, int count); /* a run, noted: as program_run */

/* Whether what was computed without being stored counts (runtime.trace.WORTH_KEEPING). */
static inline int is_worth_keeping(const Node *node)
{
    return node->kind == MAP || node->kind == REDUCE || node->kind == SCAN || node->kind == ASSEMBLE
           || node->kind == GATHER || node->kind == OPAQUE || node->kind == PRODUCT;
}

/* Whether an operand was computed before, and this reader is the first to ask for it again: then it is stored.  What
   the operand itself was made of is not asked for again. */
static inline int is_asked_again(const Node *reader, const Node *operand)
{
    return !reader->demands && operand->demands && is_worth_keeping(operand);
}

/* patches.c: words of views and of written regions */
int view_words(Node *node);
int assemble_words(Node *node); /* 0 left to Python, 2 may be written in place */
int is_patch(Node *node);

/* reuse.c: which regions are written in place */
void reuse_words(Node **order, int count);
int is_in_place(int slot); /* as answered last */
int is_endangered(int slot); /* likewise: held by others, and computed from what is overwritten */

/* groups.c, group_run.c: calls of kernels that are no array statements */
int run_groups(Node **wanted, Py_ssize_t count); /* as run_slice, of the groups a request needs */
int groups_ready(void);

/* lent.c: NumPy arrays inside `lazy()` */
int is_lending(void);
int is_in_lazy_block(void); /* of the thread that runs */
int is_numpy_array(PyObject *object);
PyObject *lend(PyObject *array); /* its handle, borrowed; NULL without an error: ask Python */
int handle_write(Handle *handle, Node *node); /* its new value; of a plain array */

/* calls.c: whether names and cells outside are what they were */
int guards_hold(PyObject *guards, PyObject *cells);

/* joins.c: statements that join groups */
void joins_forget(void);

/* places.c */
int places_pass(Py_ssize_t length); /* whether a record needs no look at the loop */
void places_note(void);
void places_forget(void);

/* steady.c */
int steady_passes(PyObject *pending, PyObject *left, Py_ssize_t gate);
void steady_forget(void);
PyObject *steady_memoise(PyObject *module, PyObject *given);
PyObject *steady_count(PyObject *module, PyObject *none);
PyObject *steady_set_turn(PyObject *module, PyObject *given);

int options_allow(PyObject *options, int *threads); /* whether exactly these are in force */
PyObject *options_in_force(void); /* borrowed; NULL where Python has to look */
int64_t program_slots(PyObject *program); /* as many nodes it runs on */
int program_run(PyObject *program, Node **order, int threads);
int program_is_affordable(PyObject *program, Node **order);
void program_compare(PyObject *program, double alone); /* its runs, with what the operations take one by one */
int program_is_slow(PyObject *program);                /* of any object: whether it was, and lost */
double seconds_now(void);

/* empty.c: a value without elements is known; 0, -1 */
int settle_empty(Node *node);

/* products.c: requests with products; 1 done, 0 left to Python, -1 an error */
int product_words(Node **order, int count, int threads, int eager);
int run_products(PyObject *known, const Structure *found, Node **pending, Py_ssize_t left);

/* options.c: whether what is done at once is what later steps do at once */
int is_past_first_steps(void);

/* recipes.c: whether a value is shown repeatedly along a dim: NumPy lays out differently what is made of it */
int is_spread(Node *node);

/* each part's state until Python has set it; `unset` is a function that raises */
int memory_ready(PyObject *unset);
int operators_ready(PyObject *unset);
int functions_ready(void);
int views_ready(PyObject *unset);
int reductions_ready(void);
int dispatch_ready(PyObject *unset);
int adopt_ready(PyObject *unset);
int trace_ready(PyObject *unset);
int structure_ready(void);
int program_ready(PyObject *unset);
int launch_ready(PyObject *unset);

/* each part's functions */
extern PyMethodDef survivor_methods[], view_methods[], operator_methods[], function_methods[], handle_methods[], buffer_methods[], trace_methods[], slice_methods[], options_methods[], machine_methods[], memory_methods[],
    node_methods[], program_methods[], tensor_methods[], call_methods[], library_methods[], arrange_methods[], part_methods[], group_methods[], dispatch_methods[], unfused_methods[], adopt_methods[], row_methods[],
    joins_methods[], product_methods[], group_run_methods[], launch_methods[], place_methods[],
    lent_methods[], crossing_methods[], timing_methods[], interruption_methods[], converter_methods[];

#include "timing.h"

#endif
