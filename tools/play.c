#include "command.h"
#include "place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The player is a program of its own: see local.mk. It gets the arguments unchanged, with its
 * name. */
int play_command(int argc, char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    (void)argc;
    if (!place_find("", CTXRT_PKGLIBEXECDIR, "", "/ctxrt-play", folder))
        return command_error(argv[0], COMMAND_FAILED,
                             "ctxrt-play is not in %s: install ctxrt again, whole",
                             CTXRT_PKGLIBEXECDIR);
    snprintf(path, sizeof path, "%s/ctxrt-play", folder);
    execv(path, argv);
    return command_error(argv[0], COMMAND_FAILED, "cannot run %s: %s", path, strerror(errno));
}
