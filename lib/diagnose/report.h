/*
 * The report of live memory: blocks that the caller has not freed, by the place of their
 * allocation.
 */
#ifndef CX_DIAGNOSE_REPORT_H
#define CX_DIAGNOSE_REPORT_H

/* Logs the memory that is left. */
void cx_report_log_left(void);

#endif
