/*
 * Finds the other parts of this installation, or of this build tree.
 */
#ifndef CX_TOOLS_PLACE_H
#define CX_TOOLS_PLACE_H

#include <limits.h>
#include <stdbool.h>

/*
 * Finds the folder of `file` ("/libcuda.so.1"): `in_build`, below the top of the build tree that
 * this program is in; else `in_installed` below `installed`, a folder given to configure, which may
 * have been moved together with this program. False: not found.
 */
bool place_find(const char *in_build, const char *installed, const char *in_installed,
                const char *file, char folder[PATH_MAX]);

/* The same in a build tree alone. */
bool place_find_in_build(const char *in_build, const char *file, char folder[PATH_MAX]);

/* The first of `folders`, with ':' between them, that has `file` with that access (X_OK, R_OK); its
 * path is written. False: none has it; NULL has none. */
bool place_find_in_list(const char *folders, const char *file, int access_wanted,
                        char path[PATH_MAX]);

#endif
