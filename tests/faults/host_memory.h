/*
 * Makes an allocation of host memory fail on demand, and counts what is not freed: stands in the
 * place of the C library's malloc and its kin, in the whole program. A mapping, a file in memory
 * and a thread are allocations too. Under AddressSanitizer the sanitizer's own malloc is beneath,
 * and the sanitizer looks for leaks; ThreadSanitizer leaves no room for it.
 */
#ifndef CX_TEST_HOST_MEMORY_H
#define CX_TEST_HOST_MEMORY_H

#include <stdbool.h>

#if defined __SANITIZE_THREAD__
#define HOST_MEMORY_IS_OURS 0
#else
#define HOST_MEMORY_IS_OURS 1
#endif

/* The calling thread's allocation number `number` from now (1: the next) finds no memory. */
void host_memory_arm(long number);

/* Takes that back. Returns the allocations since. */
long host_memory_disarm(void);

/* True if the allocation that is to fail has failed since it was armed. */
bool host_memory_struck(void);

/* Neither counts nor refuses allocations of the calling thread until the matching resume. */
void host_memory_pause(void);
void host_memory_resume(void);

/* Allocations that are not freed, of all threads; 0 under a sanitizer, which counts them itself. */
long host_memory_live(void);

#endif
