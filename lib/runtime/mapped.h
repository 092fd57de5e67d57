/*
 * Whether memory that host code registers is there. A fat binary, a name or a pointer variable that
 * host code tells wrongly is an error of its use and not the end of the process.
 */
#ifndef CX_RUNTIME_MAPPED_H
#define CX_RUNTIME_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

/* True if the bytes may be read: they are within one segment of a loaded object, or, since host
 * code may build its tables elsewhere, all of their pages are mapped. */
bool cx_cudart_is_readable(const void *at, size_t bytes);

/* As above, for writing; the access rights of memory outside of objects are not known. */
bool cx_cudart_is_writable(const void *at, size_t bytes);

/* True for text that ends, in readable memory. */
bool cx_cudart_is_text(const char *text);

#endif
