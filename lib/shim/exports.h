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

/*
 * The export to use in place of a function of the library behind: among the ABIs of `name` that are
 * not newer than `version`, newest first, the first for which `is_it` says that it is the one, told
 * the version of that ABI. NULL: none is, or calls of it do not go through the driver table.
 */
typedef bool cx_shim_is_it(int since, const void *question);
typedef void (*cx_shim_function)(void);
cx_shim_function cx_shim_find_in_front(const char *name, int version, bool per_thread,
                                       cx_shim_is_it *is_it, const void *question);

#endif
