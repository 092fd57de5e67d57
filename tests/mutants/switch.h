/*
 * Asked by every place that a mutant changes, in the program that holds all mutants; see
 * make_mutants.
 */
#ifndef CX_MUTANTS_SWITCH_H
#define CX_MUTANTS_SWITCH_H

/* The mutant that runs, from CTXRT_MUTANT; none: -1. */
extern int cx_mutant_chosen;

/* One byte for each mutant whose place was reached; the file CTXRT_MUTANT_REACHED, if there is
 * one. */
extern unsigned char *cx_mutant_reached;

static inline int cx_mutant(int number)
{
    __atomic_store_n(&cx_mutant_reached[number], 1, __ATOMIC_RELAXED);
    return cx_mutant_chosen == number;
}

#endif
