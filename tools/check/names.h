/*
 * The names of kinds, calls, results and objects, by the numbers that the layer writes.
 */
#ifndef CX_TOOLS_CHECK_NAMES_H
#define CX_TOOLS_CHECK_NAMES_H

#include "layer/check/finding.h"

/* The facts of a kind below CX_KIND_COUNT. */
const cx_kind_row *kind_row(uint32_t kind);

/* Its title and advice; `runtime`: for a call of the CUDA Runtime API. */
cx_kind_words kind_words(uint32_t kind, bool runtime);

bool kind_find(const char *name, cx_check_kind *out_kind);

/* "note", "warning" or "error" */
const char *severity_name(uint32_t kind);

/* NULL: no such number. */
const char *call_name(int slot);
const char *result_name(int result, bool runtime);

/* "object" for an unknown kind. */
const char *object_name(uint32_t kind);

#endif
