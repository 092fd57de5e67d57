/*
 * Hash tables of uthash. Where memory runs out, uthash would end the process: here an addition that
 * fails leaves its element out of the table, and sets a variable of the caller, `bool added`, to
 * false.
 */
#ifndef CX_BASE_HASH_H
#define CX_BASE_HASH_H

#include <stdbool.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element), added = false)
#include <uthash.h>

#endif
