/*
 * The file behind code of this process. The loader's name of it may be relative to a folder that
 * the process has left, and another file may have the name by the time of a report: the system's
 * table of mappings has the path, and a build id in memory tells which file it was.
 */
#ifndef CX_LAYER_MODULE_FILE_H
#define CX_LAYER_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CX_MODULE_ID = 20 }; /* the longest build id that is kept */

/* Writes the absolute path of the file that has the address mapped. False: there is none, or it
 * does not fit. Asks the system; needs no lock, and is no cancellation point. */
bool cx_module_file_path(const void *address, char *path, size_t size);

/* True if both are libraries of one package: files of one folder, which is none of the system's. */
bool cx_module_file_same_package(const char *one, const char *other);

/* Writes the build id of the module whose first mapping begins at `begin`. Returns its bytes; 0: it
 * has none. Reads memory of the module, which stays loaded meanwhile. */
size_t cx_module_file_id(const void *begin, uint8_t out_id[CX_MODULE_ID]);

#endif
