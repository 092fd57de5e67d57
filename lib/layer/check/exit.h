/*
 * The beginning of exit(), which the check layer sees before any exit handler runs.
 */
#ifndef CX_LAYER_CHECK_EXIT_H
#define CX_LAYER_CHECK_EXIT_H

/* The number and the name of the thread that exits; 0: unknown. They are written before the
 * region's `exiting` is. */
extern int cx_check_exit_thread;
extern char cx_check_exit_thread_name[16];

/* Before every call, without the lock "check": notes that exit() has begun, or has the end of the
 * thread's objects note it. */
void cx_check_watch_exit(void);

/* Without the lock "check": exit() has begun, on the calling thread. */
void cx_check_note_exit(void);

#endif
