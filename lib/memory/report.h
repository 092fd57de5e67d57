/*
 * The report of live memory: what the caller has not given back, by the place that it was allocated
 * in.
 */
#ifndef CX_MEMORY_REPORT_H
#define CX_MEMORY_REPORT_H

/* Says in the log what memory is left. */
void cx_report_log_left(void);

#endif
