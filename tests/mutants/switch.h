/*
 * Begins every file that holds its mutants, where each place that one changes asks; see
 * make_mutants. Each file has its own copy of what stands here, so that nothing is linked.
 */
#ifndef CX_MUTANTS_SWITCH_H
#define CX_MUTANTS_SWITCH_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Not from unistd.h, which declares what files have functions of their own by the name of. */
int close(int file);
int ftruncate(int file, off_t bytes);

#define CX_MUTANTS_MOST 65536

/* The mutant that runs, from CTXRT_MUTANT; none: -1. */
static int cx_mutant_chosen = -1;

/* One byte for each mutant whose place was reached; the file CTXRT_MUTANT_REACHED, if there is
 * one. */
static unsigned char cx_mutant_nowhere[CX_MUTANTS_MOST];
static unsigned char *cx_mutant_reached = cx_mutant_nowhere;

/* A file that is mapped is shared with the processes that are forked, and outlives one that is
 * killed. */
__attribute__((constructor(101))) static void cx_mutant_choose(void)
{
    const char *chosen = getenv("CTXRT_MUTANT"), *reached = getenv("CTXRT_MUTANT_REACHED");
    if (chosen)
        cx_mutant_chosen = atoi(chosen);
    if (!reached)
        return;
    int file = open(reached, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *mapped = MAP_FAILED;
    if (file >= 0 && ftruncate(file, CX_MUTANTS_MOST) == 0)
        mapped = mmap(NULL, CX_MUTANTS_MOST, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        _Exit(99);
    cx_mutant_reached = mapped;
    close(file);
}

static inline int cx_mutant(int number)
{
    __atomic_store_n(&cx_mutant_reached[number], 1, __ATOMIC_RELAXED);
    return cx_mutant_chosen == number;
}

#endif
