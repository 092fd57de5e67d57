/*
 * The resident memory of this process, and its averages over parts of a run: for programs that look
 * whether they grow.
 */
#ifndef TESTS_JOINTS_RESIDENT_H
#define TESTS_JOINTS_RESIDENT_H

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* Bytes; 0: the system does not tell. */
static inline size_t resident_now(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static inline double mib(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

typedef struct resident_average {
    size_t sum, count;
} resident_average;

static inline void resident_add(resident_average *self, size_t bytes)
{
    self->sum += bytes;
    self->count++;
}

static inline size_t resident_average_of(const resident_average *self)
{
    return self->count != 0 ? self->sum / self->count : 0;
}

#endif
