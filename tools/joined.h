/*
 * A shared library without code that has the symbols of two others.
 */
#ifndef CX_TOOLS_JOINED_H
#define CX_TOOLS_JOINED_H

#include <stdbool.h>

/*
 * Writes it to `file`, under the name `soname`. Of a symbol that both libraries have, it has that
 * of `first`. Both are named by absolute paths, and are loaded with it. False with errno: it could
 * not be written.
 */
bool joined_write(const char *file, const char *soname, const char *first, const char *second);

#endif
