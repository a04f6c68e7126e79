/* Compiled code is called: argument words, and threads (targets.cpu.threads). */

#include "launch.h"


static PyObject *launch, *own_scratch, *default_threads, *take_team, *give_team;
static int is_set;

/* ---- words ------------------------------------------------------------------------------------ */

static int64_t count_of(const Sources *from, int64_t what)
{
    return what == ADDRESS_WORD ? from->places : what == VALUE_WORD ? from->values : from->objects;
}

int sound_word(const Word *word, const Sources *most)
{
    if (word->what == CONSTANT_WORD)
        return 1;
    return word->what > 0 && word->what < WORDS && word->number >= 0 && word->number < count_of(most, word->what)
           && word->part >= (word->what < EXTENT_WORD ? -1 : 0)
           && (word->what != NUMBER_WORD || (word->dtype >= 0 && word->dtype < NO_DTYPE && word->part <= 1));
}

/* Of NumPy's array; 0 where it is none. */
static int array_word(const Word *word, PyObject *object, int64_t *filled)
{
    NumpyArray *array = (NumpyArray *)object;
    if (!Py_IS_TYPE(object, numpy_array) || (word->what != ARRAY_WORD && word->part >= array->dims))
        return 0;
    *filled = word->what == ARRAY_WORD    ? (int64_t)(intptr_t)array->at
              : word->what == EXTENT_WORD ? array->extent[word->part]
                                          : array->stride[word->part];
    return 1;
}

int fill_words(const Word *word, int64_t count, const Sources *from, int64_t *words)
{
    int done = 1;
    for (; count-- > 0 && done > 0; word++, words++)
        switch (word->what) {
        case CONSTANT_WORD: *words = word->number; break;
        case ADDRESS_WORD: *words = (int64_t)(intptr_t)address_at(&from->place[word->number]); break;
        case VALUE_WORD: *words = from->value[word->number]; break;
        default: /* how many objects there are is known by now only */
            if (word->number >= from->objects)
                return 0;
            PyObject *object = from->object[word->number];
            done = word->what == NUMBER_WORD ? number_word(object, (int)word->dtype, word->part, words)
                                             : array_word(word, object, words);
        }
    return done;
}

/* ---- threads ---------------------------------------------------------------------------------- */

int count_threads(int chosen)
{
    if (chosen > 0)
        return chosen;
    PyObject *found = PyObject_CallNoArgs(default_threads);
    int count = found == NULL ? -1 : (int)PyLong_AsLong(found);
    Py_XDECREF(found);
    return count;
}

int launch_units(Kernel *kernel, int64_t *words, int64_t units, int64_t grain, int64_t scratch, int threads)
{
    if (threads > 1) {
        PyObject *done = PyObject_CallFunction(launch, "LLLLLi", (long long)(intptr_t)kernel, (long long)(intptr_t)words,
                                               (long long)units, (long long)grain, (long long)scratch, threads);
        Py_XDECREF(done);
        return done == NULL ? -1 : 0;
    }
    void *room = NULL;
    if (scratch > 0) {
        PyObject *address = PyObject_CallFunction(own_scratch, "L", (long long)scratch);
        if (address == NULL)
            return -1;
        room = PyLong_AsVoidPtr(address);
        Py_DECREF(address);
    }
    kernel(words, 0, units, room);
    return 0;
}

/* The same of long work: other threads of Python's run meanwhile. */
int launch_apart(Kernel *kernel, int64_t *words, int64_t units, int64_t grain, int64_t scratch, int threads)
{
    if (threads > 1 && units > grain)
        return launch_units(kernel, words, units, grain, scratch, threads);
    PyObject *address = PyObject_CallFunction(own_scratch, "L", (long long)scratch);
    void *room = address == NULL ? NULL : PyLong_AsVoidPtr(address);
    Py_XDECREF(address);
    if (address == NULL)
        return -1;
    Py_BEGIN_ALLOW_THREADS
    kernel(words, 0, units, room);
    Py_END_ALLOW_THREADS
    return 0;
}

int launch_loops(const Loops *loops, int64_t *words, int64_t nbytes)
{
    int64_t taken = 0;
    if (loops->team >= 0) {
        PyObject *team = PyObject_CallFunction(take_team, "i", loops->threads);
        taken = words[loops->team] = team == NULL ? 0 : PyLong_AsLongLong(team);
        Py_XDECREF(team);
        if (PyErr_Occurred())
            return -1;
    }
    if (nbytes > machine.unlocked || loops->team >= 0) {
        Py_BEGIN_ALLOW_THREADS
        loops->address(words, 0, 1, NULL);
        Py_END_ALLOW_THREADS
    }
    else
        loops->address(words, 0, 1, NULL);
    PyObject *given = taken ? PyObject_CallNoArgs(give_team) : Py_NewRef(Py_None);
    Py_XDECREF(given);
    return given == NULL ? -1 : 0;
}

int can_launch(void) { return is_set; }

/* set_threads(launch, own_scratch, default_threads, take_team, give_team) */
static PyObject *set_threads(PyObject *module, PyObject *given)
{
    (void)module;
    PyObject **kept[] = {&launch, &own_scratch, &default_threads, &take_team, &give_team};
    PyObject *function[5];
    if (!PyArg_ParseTuple(given, "OOOOO", &function[0], &function[1], &function[2], &function[3], &function[4]))
        return NULL;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        Py_XSETREF(*kept[i], Py_NewRef(function[i]));
    is_set = 1;
    Py_RETURN_NONE;
}

int launch_ready(PyObject *unset)
{
    PyObject **kept[] = {&launch, &own_scratch, &default_threads, &take_team, &give_team};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        *kept[i] = Py_NewRef(unset);
    return 0;
}

PyMethodDef launch_methods[] = {
    {"set_threads", set_threads, METH_VARARGS, "launch, own_scratch, default_threads, take_team and give_team."},
    {NULL},
};
