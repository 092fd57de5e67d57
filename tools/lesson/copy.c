#include "lesson/copy.h"

#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void copy_name(const lesson *self, char name[32])
{
    snprintf(name, 32, "lesson-%02d", self->number);
}

static bool copy_file(const char *from, const char *to)
{
    char *text = lesson_read(from);
    FILE *file = text != NULL ? fopen(to, "wxe") : NULL;
    bool written = file != NULL && fputs(text, file) >= 0;
    int error = errno;
    if (file != NULL && fclose(file) != 0)
        written = false, error = errno;
    free(text);
    errno = error;
    return written;
}

static int copy_files(const char *command, const lessons *all, const lesson *self,
                      const char *folder)
{
    static const char *const files[] = {"README.md",   "mistake.c",       "mended.c",
                                        "exercise.c",  "exercise.scn",    "picture.scn",
                                        "../lesson.h", "../lesson_cuda.h"};
    char from[PATH_MAX], to[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *slash = strrchr(files[i], '/');
        snprintf(to, sizeof to, "%s/%s", folder, slash != NULL ? slash + 1 : files[i]);
        if (!lesson_path(all, self, files[i], from) || !copy_file(from, to))
            return command_error(command, COMMAND_FAILED, "%s cannot be copied to %s: %s", from, to,
                                 strerror(errno));
    }
    return COMMAND_GOOD;
}

int copy_lesson(const char *command, const lessons *all, const lesson *self)
{
    char folder[32];
    copy_name(self, folder);
    if (mkdir(folder, 0777) != 0)
        return command_error(command, COMMAND_FAILED, "%s cannot be made: %s%s", folder,
                             strerror(errno),
                             errno == EEXIST ? "; move it away to begin anew" : "");
    int status = copy_files(command, all, self, folder);
    if (status != COMMAND_GOOD)
        return status;
    printf("Lesson %d: %s\n"
           "  1. Read %s/README.md. Say what mistake.c prints; then build it and see:\n"
           "       ctxrt lesson %d --build\n"
           "  2. Complete the program %s/exercise.c: write between its two comments.\n"
           "  3. Answer the scenario %s/exercise.scn: one word for each ?.\n"
           "Then: ctxrt lesson %d --check\n",
           self->number, self->title, folder, self->number, folder, folder, self->number);
    return fflush(stdout) == 0 ? COMMAND_GOOD : COMMAND_FAILED;
}
