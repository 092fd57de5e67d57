/*
 * The environment variables that ctxrt reads: variables.def.
 */
#ifndef CX_BASE_VARIABLE_H
#define CX_BASE_VARIABLE_H

/* Warns in the log, once in a process, about each variable whose name is nearly that of one of
 * ctxrt's. Other names that begin with CTXRT_ may be the program's own. */
void cx_variables_check(void);

#endif
