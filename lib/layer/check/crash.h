/* The host touches memory that only a device has, or that was freed, and crashes. */
#ifndef CX_LAYER_CHECK_CRASH_H
#define CX_LAYER_CHECK_CRASH_H

/* Watches SIGSEGV from now on. A fault at memory that a call allocated is a finding; then whoever
 * handled the signal before has it, so that the program ends, or goes on, as it would without. */
void cx_check_watch_crashes(void);

#endif
