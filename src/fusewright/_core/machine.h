/* The core's copy of what it reads of the machine's record; a test compares it with base/figures.py and machine/record.py,
   which say what each is and why. */

#ifndef FUSEWRIGHT_MACHINE_H
#define FUSEWRIGHT_MACHINE_H

#include <stdint.h>

/* The same on all machines: elements, and bytes. */
#define TINY_ELEMENTS (1 << 10)
#define FEW_ELEMENTS (1 << 11)
#define MOVED_ELEMENTS (1 << 12)
#define STARTED_ELEMENTS (1 << 14)
#define KERNEL_ELEMENTS (1 << 15)
#define COPIED_ELEMENTS (1 << 16)
#define USED_ELEMENTS (1 << 19)
#define COPIED_BYTES (1 << 12)
#define ROWS 4096, 32768, 131072

/* Those of the machine at hand: the record's defaults until `set_machine` says otherwise. */
typedef struct {
    int64_t past, past_in_loops, unlocked;                            /* bytes */
    double parallel, operation, element, dear_element;                /* nanoseconds */
    double look_up, look_up_node, load_finder;                        /* seconds */
    double compile_first, compile_node;                               /* seconds; `set_compiling` says otherwise, too */
} Machine;

extern Machine machine;
extern uint64_t machine_version; /* of the record in use */

#endif
