/*
 * The library to which an interposing stand-in passes calls: a real libcuda, or another stand-in.
 */
#ifndef CX_SHIM_REAL_DRIVER_H
#define CX_SHIM_REAL_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Opens the library, once for the life of the process. Its own references to its exports stay
 * within it: they would else find the stand-in's, which come first in the program's search order.
 * False: it cannot be opened, is no libcuda, or is this stand-in itself; `reason` says which.
 */
bool cx_real_driver_open(const char *path, char *reason, size_t size);

/* The address of its symbol; NULL if it has none, or if the dynamic linker finds the stand-in's. */
void *cx_real_driver_symbol(const char *symbol);

/* The file, as the dynamic linker names it; "" before it is open. */
const char *cx_real_driver_path(void);

/* True if it is another stand-in. */
bool cx_real_driver_is_stand_in(void);

/* True if an ELF file that the host can load refers to calls of the driver that it exports itself,
 * by relocations that other libraries' symbols may satisfy. */
bool cx_real_driver_refers_to_itself(const char *path);

#endif
