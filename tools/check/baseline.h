/*
 * Baselines: findings that are known. A file has a line for each, "FINGERPRINT KIND place"; the
 * fingerprint rests on the kind, the call, and the functions and files of the places, so that lines
 * may move.
 */
#ifndef CX_TOOLS_CHECK_BASELINE_H
#define CX_TOOLS_CHECK_BASELINE_H

#include "check/report.h"

enum { BASELINE_FINGERPRINT = 17 };

/* 16 hexadecimal digits. */
void baseline_fingerprint(const report_process *process, const cx_region_finding *finding,
                          char out_text[BASELINE_FINGERPRINT]);

/* Reads a baseline; prints what is wrong with the file. */
bool baseline_read(report_options *self, const char *path);

/* True if the finding is in one that was read. */
bool baseline_has(const report_options *self, const report_process *process,
                  const cx_region_finding *finding);

/* Writes all findings that are told as a baseline. False with errno: it cannot be written. */
bool baseline_write(const report *self, const char *path);

#endif
