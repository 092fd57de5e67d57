/*
 * Options from the environment, and the parsing of their values.
 */
#ifndef CX_BASE_OPTION_H
#define CX_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

/* The value of an environment variable; NULL if it is unset or empty, or in a set-user-id
 * program. */
const char *cx_option(const char *name);

/* A whole decimal number in [low, high]. */
bool cx_parse_int(const char *text, int low, int high, int *out_value);

/* A number of bytes: 4096, 64K, 512M, 4G, 4GiB (all powers of 1024). No overflow, no sign. */
bool cx_parse_size(const char *text, size_t *out_bytes);

#endif
