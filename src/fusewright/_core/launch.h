/* How compiled code is called (launch.c): what its argument words are, how they are filled in, and how its units are
   given to threads.  Programs of array statements, groups and calls of kernels share it. */

#ifndef FUSEWRIGHT_LAUNCH_H
#define FUSEWRIGHT_LAUNCH_H

#include "library.h"

typedef void Kernel(int64_t *words, int64_t low, int64_t high, void *scratch);

enum { CONSTANT_WORD, ADDRESS_WORD, VALUE_WORD, NUMBER_WORD, ARRAY_WORD, EXTENT_WORD, STRIDE_WORD, WORDS }; /* as in runtime.arguments */

/* `number` is the word itself, or what it is taken from: a place, a value, or an object, which is a number (as `dtype`;
   with `part` 0 or 1 a part of a complex one), or NumPy's array (whose dim `part` says). */
typedef struct {
    int64_t what, number, dtype, part;
} Word;

typedef struct {
    Memory *memory;
    Py_ssize_t offset;
} Address;

typedef struct {
    int64_t places, values, objects;
    const Address *place;
    const int64_t *value;
    PyObject *const *object;
} Sources;

/* A kernel of loops: one unit, whose parts the kernel itself gives to threads. */
typedef struct {
    Kernel *address;
    int team; /* the place of the threads among its words; -1: it runs on one */
    int threads;
} Loops;

static inline char *address_at(const Address *place)
{
    return place->memory == NULL ? NULL : place->memory->at + place->offset;
}

int number_word(PyObject *number, int dtype, int64_t part, int64_t *word); /* numbers.c: 1; 0 where it is too large; -1 */
int64_t number_bits(const char *at, int dtype);                            /* numbers.c: of a number in memory */
int sound_word(const Word *word, const Sources *most); /* whether it names what there is */
int fill_words(const Word *word, int64_t count, const Sources *from, int64_t *words); /* 1; 0: Python has to look; -1 */
int can_launch(void); /* whether there are threads yet: Python sets them */
int count_threads(int chosen); /* 0 chosen: as many as there are; -1 an error */
int launch_units(Kernel *kernel, int64_t *words, int64_t units, int64_t grain, int64_t scratch, int threads); /* 0, -1 */
int launch_apart(Kernel *kernel, int64_t *words, int64_t units, int64_t grain, int64_t scratch, int threads); /* others run meanwhile */
int launch_loops(const Loops *loops, int64_t *words, int64_t nbytes); /* on arrays of so many bytes; 0, -1 */

#endif
