/*
 * The exports by name, for cuGetProcAddress.
 */
#ifndef CX_SHIM_EXPORTS_H
#define CX_SHIM_EXPORTS_H

#include <stdbool.h>

/* Their values are those of CUdriverProcAddressQueryResult. */
typedef enum cx_shim_query {
    CX_SHIM_FOUND = 0,
    CX_SHIM_SYMBOL_NOT_FOUND = 1,
    CX_SHIM_VERSION_NOT_SUFFICIENT = 2
} cx_shim_query;

/* Finds the newest ABI of a name that is not newer than `version`; its per-thread symbol, if asked
 * for and present. Symbols newer than this export set are not found. */
cx_shim_query cx_shim_find(const char *name, int version, bool per_thread,
                           void (**out_function)(void));

#endif
