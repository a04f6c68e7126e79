/* NumPy's loops over elements, without NumPy's way to them: of `add` of two rows of 200 doubles, which takes 0.45 us, the
   loop is 0.03.

   They are the loops that a ufunc chooses between by the types of its operands (`np.add.types`). */

#include "loops.h"

#define KNOWN 256       /* loops that are remembered: a power of two */
#define NEAR 8          /* places where one may be: two in turn must not drive each other out */
#define LONG 64         /* elements of a row that is worth a call */

typedef void (*Loop)(char **, const Py_ssize_t *, const Py_ssize_t *, void *);

/* The fields of a function of NumPy's (numpy/ufuncobject.h). */
typedef struct {
    PyObject_HEAD
    int operands, results, all, identity;
    Loop *loop;
    void *const *data;
    int many, reserved;
    const char *name, *types;
} NumpyFunction;

typedef struct {
    PyObject *function;
    char type[MOST_SPOTS];
    Loop loop; /* NULL: there is none */
    void *data;
} Known;

static PyTypeObject *numpy_function;
static char number_of_type[DTYPES];
static Known known[KNOWN];

int set_loops(PyObject *ufunc_class, PyObject *numbers)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers) && i < DTYPES; i++)
        number_of_type[i] = (char)as_size(PyTuple_GET_ITEM(numbers, i));
    numpy_function = (PyTypeObject *)Py_NewRef(ufunc_class);
    return PyErr_Occurred() ? -1 : 0;
}

static int has_number(PyObject *object, const char *name, int wanted)
{
    PyObject *number = PyObject_GetAttrString(object, name);
    int same = number != NULL && PyLong_CheckExact(number) && as_size(number) == wanted;
    Py_XDECREF(number);
    forgive();
    return same;
}

/* Whether the fields lie where they are looked for. */
static int is_as_described(NumpyFunction *function)
{
    PyObject *object = (PyObject *)function;
    return has_number(object, "nin", function->operands) && has_number(object, "nout", function->results)
           && has_number(object, "ntypes", function->many);
}

static void look_up(Known *found, int many)
{
    NumpyFunction *function = (NumpyFunction *)found->function;
    found->loop = NULL;
    if (!Py_IS_TYPE(function, numpy_function) || !is_as_described(function) || function->results != 1
        || function->operands != many || function->loop == NULL || function->types == NULL)
        return;
    for (int i = 0; i < function->many; i++)
        if (memcmp(function->types + i * (many + 1), found->type, (size_t)many + 1) == 0) {
            found->loop = function->loop[i];
            found->data = function->data ? function->data[i] : NULL;
            return;
        }
}

static const Known *known_loop(PyObject *function, const Spot *const *spot, int many)
{
    char type[MOST_SPOTS] = {0};
    uint32_t word;
    for (int k = 0; k <= many; k++)
        type[k] = number_of_type[spot[k]->dtype];
    memcpy(&word, type, sizeof word);
    uint32_t first = ((uint32_t)((uintptr_t)function >> 4) * 0x9E3779B1u ^ word * 0x85EBCA6Bu) >> 16;
    Known *found = NULL;
    for (uint32_t k = 0; k < NEAR; k++) {
        found = &known[(first + k) % KNOWN];
        if (found->function == function && memcmp(found->type, type, sizeof type) == 0)
            return found;
        if (found->function == NULL)
            break;
    }
    found->function = function;
    memcpy(found->type, type, sizeof type);
    look_up(found, many);
    return found;
}

/* ---- the elements of several values, side by side ------------------------------------------------ */

typedef struct {
    int dims, many;
    int64_t elements;
    char *at[MOST_SPOTS];
    Py_ssize_t extent[MOST_DIMS], step[MOST_DIMS][MOST_SPOTS];
} Walk;

/* The step of a value along a dim of the result, to which it is broadcast. */
static Py_ssize_t step_along(const Spot *spot, const Spot *result, int dim)
{
    int own = dim - (result->dims - spot->dims);
    return own < 0 || spot->extent[own] == 1 ? 0 : spot->stride[own];
}

/* Dims that lie one after the other in all values count as one. */
static void begin(Walk *walk, const Spot *const *spot, int many)
{
    const Spot *result = spot[many - 1];
    walk->dims = 0;
    walk->many = many;
    walk->elements = 1;
    for (int k = 0; k < many; k++)
        walk->at[k] = spot[k]->at;
    for (int d = 0; d < result->dims; d++) {
        Py_ssize_t extent = result->extent[d];
        walk->elements *= extent;
        if (extent == 1)
            continue;
        Py_ssize_t *step = walk->step[walk->dims];
        int follows = walk->dims > 0;
        for (int k = 0; k < many; k++) {
            step[k] = step_along(spot[k], result, d);
            follows = follows && walk->step[walk->dims - 1][k] == step[k] * extent;
        }
        if (follows) {
            walk->extent[walk->dims - 1] *= extent;
            memcpy(walk->step[walk->dims - 1], step, (size_t)many * sizeof *step);
        }
        else
            walk->extent[walk->dims++] = extent;
    }
    if (walk->dims == 0) {
        walk->extent[walk->dims++] = 1;
        for (int k = 0; k < many; k++) /* a step of 0 would say that this is a sum */
            walk->step[0][k] = dtypes[spot[k]->dtype].itemsize;
    }
}

/* Whether the loops may run so: elements where the machine reads them, and rows that are worth the calls. */
static int is_plain_walk(const Walk *walk, const Spot *const *spot)
{
    const Py_ssize_t *inner = walk->step[walk->dims - 1];
    int few = walk->dims == 1 || walk->elements <= FEW_ELEMENTS, dense = 1;
    for (int k = 0; k < walk->many; k++) {
        Py_ssize_t size = dtypes[spot[k]->dtype].itemsize;
        uintptr_t bits = (uintptr_t)walk->at[k];
        for (int d = 0; d < walk->dims; d++)
            bits |= (uintptr_t)walk->step[d][k];
        if (bits % (uintptr_t)(size < 8 ? size : 8))
            return 0;
        dense = dense && (inner[k] == 0 || inner[k] == size);
    }
    return few || (dense && walk->extent[walk->dims - 1] >= LONG);
}

static void run_rows(const Walk *walk, int dim, char *const *from, Loop loop, void *data)
{
    char *at[MOST_SPOTS];
    memcpy(at, from, (size_t)walk->many * sizeof *at);
    if (dim == walk->dims - 1) {
        loop(at, &walk->extent[dim], walk->step[dim], data);
        return;
    }
    for (Py_ssize_t i = 0; i < walk->extent[dim]; i++) {
        run_rows(walk, dim + 1, at, loop, data);
        for (int k = 0; k < walk->many; k++)
            at[k] += walk->step[dim][k];
    }
}

static int run(const Spot *const *spot, int many, Loop loop, void *data)
{
    Walk walk;
    begin(&walk, spot, many);
    if (walk.elements == 0)
        return 1;
    if (!is_plain_walk(&walk, spot))
        return 0;
    PyThreadState *state = walk.elements * (8 * MOST_SPOTS) > machine.unlocked ? PyEval_SaveThread() : NULL;
    run_rows(&walk, 0, walk.at, loop, data);
    if (state != NULL)
        PyEval_RestoreThread(state);
    return 1;
}

int loop_over(PyObject *function, const Spot *const *spot, int many)
{
    if (many + 1 > MOST_SPOTS || numpy_function == NULL)
        return 0;
    const Known *found = known_loop(function, spot, many);
    return found->loop != NULL && run(spot, many + 1, found->loop, found->data);
}

/* Of rows whose elements lie side by side the compiler makes vectors. */
#define CHOOSE(name, type) \
    static void name(char **at, const Py_ssize_t *extent, const Py_ssize_t *step, void *data) \
    { \
        (void)data; \
        const char *condition = at[0], *yes = at[1], *no = at[2]; \
        char *to = at[3]; \
        const Py_ssize_t size = sizeof(type); \
        if (step[0] == 1 && step[1] == size && step[2] == size && step[3] == size) \
            for (Py_ssize_t i = 0; i < *extent; i++) \
                ((type *)to)[i] = condition[i] ? ((const type *)yes)[i] : ((const type *)no)[i]; \
        else \
            for (Py_ssize_t i = 0; i < *extent; i++) \
                *(type *)(to + i * step[3]) = condition[i * step[0]] ? *(const type *)(yes + i * step[1]) \
                                                                     : *(const type *)(no + i * step[2]); \
    }
typedef struct {
    int64_t part[2];
} Pair;
CHOOSE(choose_1, int8_t)
CHOOSE(choose_2, int16_t)
CHOOSE(choose_4, int32_t)
CHOOSE(choose_8, int64_t)
CHOOSE(choose_16, Pair)

int choose_over(const Spot *const *spot)
{
    static const Loop loops[] = {[1] = choose_1, [2] = choose_2, [4] = choose_4, [8] = choose_8, [16] = choose_16};
    int same = spot[1]->dtype == spot[3]->dtype && spot[2]->dtype == spot[3]->dtype;
    return same && dtypes[spot[0]->dtype].kind == 'b' && run(spot, 4, loops[dtypes[spot[3]->dtype].itemsize], NULL);
}
