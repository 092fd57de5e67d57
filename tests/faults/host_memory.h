/*
 * Makes an allocation of host memory fail on demand, and counts what is not freed: stands in the
 * place of the C library's malloc and its kin, in the whole program. Nothing of it is there under a
 * sanitizer, which stands in that place itself.
 */
#ifndef CX_TEST_HOST_MEMORY_H
#define CX_TEST_HOST_MEMORY_H

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define HOST_MEMORY_IS_OURS 0
#else
#define HOST_MEMORY_IS_OURS 1
#endif

/* The calling thread's allocation number `number` from now (1: the next) finds no memory. */
void host_memory_arm(long number);

/* Takes that back. Returns the allocations since. */
long host_memory_disarm(void);

/* Allocations that are not freed, of all threads. */
long host_memory_live(void);

#endif
