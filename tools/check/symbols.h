/*
 * Places made readable: function, file and line of an offset in a module, by elfutils' libdw where
 * ctxrt is built with it.
 */
#ifndef CX_TOOLS_CHECK_SYMBOLS_H
#define CX_TOOLS_CHECK_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYMBOLS_NAME = 240, SYMBOLS_PATH = 512, SYMBOLS_INLINED = 8 };

typedef struct place_name {
    char function[SYMBOLS_NAME]; /* as the compiler names it; empty: unknown */
    char readable[SYMBOLS_NAME]; /* as the source does: names of C++ with their scopes and types */
    char path[SYMBOLS_PATH];     /* of the source; empty: unknown */
    int line;                    /* 0: unknown */
    bool inlined;                /* in the next one of the same place */
} place_name;

/* The file of a module, and the build id that it had in the process; `id` may be NULL. */
typedef struct symbols_module {
    const char *path;
    const uint8_t *id;
    size_t id_bytes;
} symbols_module;

/* The source's name without folders. */
const char *place_file(const place_name *name);

/* Writes a name of C++ as in the source; others as they are. */
void symbols_readable(const char *name, char *text, size_t size);

/* "()", unless the readable name ends with its types already. */
const char *place_parentheses(const place_name *name);

/* True if functions and lines can be named at all. */
bool symbols_available(void);

/* The functions of a place, the innermost first: those that the compiler has inlined there, and
 * then the one that has the place. Returns their number, at least 1; a place without a name has one
 * that is empty, and so has each place in a file with another build id. In the C library only
 * functions that it exports are named. */
int symbols_find_all(symbols_module module, uint64_t offset, place_name out_names[SYMBOLS_INLINED]);

/* The innermost one alone. */
void symbols_find(symbols_module module, uint64_t offset, place_name *out_name);

/* Whether a module is the C library, or one of those that come with it. */
bool symbols_in_c_library(const char *module);

/* Frees what symbols_find keeps. */
void symbols_close(void);

#endif
