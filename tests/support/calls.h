/*
 * Counts driver calls: stands in the place of the tables of all drivers, and lets everything
 * through. For tests that link the rooms.
 */
#ifndef CX_TEST_CALLS_H
#define CX_TEST_CALLS_H

/* Puts the counting tables into all loaded drivers, and takes them out again. */
void calls_install(void);
void calls_remove(void);

/* From now on the calls of the calling thread count; or those of all threads. */
void calls_count_mine(void);
void calls_count_all(void);

/* Calls that counted, to this driver (0: the embedded one, 1: libcuda). */
long calls_seen(int driver);

#endif
