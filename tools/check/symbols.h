/*
 * Places made readable: function, file and line of an offset in a module, by elfutils' libdw where
 * ctxrt is built with it.
 */
#ifndef CX_TOOLS_CHECK_SYMBOLS_H
#define CX_TOOLS_CHECK_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct place_name {
    char function[160]; /* empty: unknown */
    char file[256];     /* without folders; empty: unknown */
    int line;           /* 0: unknown */
} place_name;

/* True if functions and lines can be named at all. */
bool symbols_available(void);

/* In the C library only functions that it exports are named. */
void symbols_find(const char *module, uint64_t offset, place_name *out_name);

/* Whether a module is the C library, or one of those that come with it. */
bool symbols_in_c_library(const char *module);

/* Frees what symbols_find keeps. */
void symbols_close(void);

#endif
