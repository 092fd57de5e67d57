/*
 * Where the other parts of this installation are, or of this build tree.
 */
#ifndef CX_TOOLS_PLACE_H
#define CX_TOOLS_PLACE_H

#include <limits.h>
#include <stdbool.h>

/*
 * The folder in which `file` ("/libcuda.so.1") is: of the build tree that this program lies in
 * (`in_build`, from its top); else `in_installed` below `installed`, a folder that configure was
 * given, which may have been moved together with this program. False: it is nowhere.
 */
bool place_find(const char *in_build, const char *installed, const char *in_installed,
                const char *file, char folder[PATH_MAX]);

#endif
