/*
 * The report of `ctxrt run --report`: what the counted processes left in their files.
 */
#ifndef CX_TOOLS_COUNT_COUNT_H
#define CX_TOOLS_COUNT_COUNT_H

#include "layer/count/format.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct count_call {
    cx_slot slot;
    uint64_t calls, failed, unsupported, ns;
} count_call;

/* One process that called the driver. */
typedef struct count_process {
    const cx_count_region *region;
    count_call *calls; /* those that were made, the longest time first */
    size_t call_count;
    count_call all; /* their sums */
} count_process;

typedef struct counts {
    count_process *processes; /* in the order in which they began */
    size_t count;
    unsigned lost; /* processes that were not counted: there was no room for their files */
    uint64_t ns;   /* the run of the program */
} counts;

/* Reads the files of a folder. False with errno: it cannot be read, or there is no memory. */
bool counts_read(const char *folder, counts *out_counts);
void counts_free(counts *self);

/* False: it could not be written. */
bool counts_write_text(const counts *self, FILE *to);
bool counts_write_json(const counts *self, char **program, int status, FILE *to);

/* "GPU 0" or "CPU". */
void count_name_device(const count_process *process, int device, char text[16]);

/* True if the process used it. */
bool count_used_device(const cx_count_device *device);

/* The symbol of a key's call and the name of its result. */
const char *count_failed_call(uint64_t key);
const char *count_failed_result(uint64_t key);

#endif
