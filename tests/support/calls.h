/*
 * Counts driver calls: replaces the tables of all drivers, and passes every call on. For tests that
 * link the rooms.
 */
#ifndef CX_TEST_CALLS_H
#define CX_TEST_CALLS_H

/* Installs the counting tables in all loaded drivers, and removes them. */
void calls_install(void);
void calls_remove(void);

/* Counts the calls of the calling thread from now on; or those of all threads. */
void calls_count_mine(void);
void calls_count_all(void);

/* The number of counted calls to this driver (0: the embedded one, 1: libcuda). */
long calls_seen(int driver);

#endif
