#include "lesson/copy.h"

#include "command.h"
#include "lesson/language.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void copy_name(const lesson *self, char name[32])
{
    snprintf(name, 32, "lesson-%02d", self->number);
}

bool copy_path(const lesson *self, const char *file, char path[PATH_MAX])
{
    char here[PATH_MAX], folder[32];
    copy_name(self, folder);
    const char *end = getcwd(here, sizeof here) != NULL ? strrchr(here, '/') : NULL;
    bool inside = end != NULL && strcmp(end + 1, folder) == 0 && access(file, F_OK) == 0;
    snprintf(path, PATH_MAX, "%s%s%s", inside ? "" : folder, inside ? "" : "/", file);
    return inside;
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

/* The page up to its answer, and the rest; without the comments that tell where blocks are from. */
static bool copy_page(const char *from, const char *folder)
{
    char page[PATH_MAX], answer[PATH_MAX];
    snprintf(page, sizeof page, "%s/README.md", folder);
    snprintf(answer, sizeof answer, "%s/answer.md", folder);
    char *text = lesson_read(from), *rest = text;
    FILE *to = text != NULL ? fopen(page, "wxe") : NULL;
    while (to != NULL && *rest != '\0') {
        size_t length = strcspn(rest, "\n");
        length += rest[length] == '\n';
        if (strncmp(rest, "<!-- prints mistake.c", 21) == 0) {
            fputs(lesson_tr("The answer, the report of ctxrt check and the exercises are in "
                            "answer.md.\n"),
                  to);
            to = fclose(to) == 0 ? fopen(answer, "wxe") : NULL;
        } else if (strncmp(rest, "<!--", 4) != 0) {
            fwrite(rest, 1, length, to);
        }
        rest += length;
    }
    free(text);
    return to != NULL && fclose(to) == 0;
}

/* The path of the file, or of the one beside it in the language of the lessons: README.zh.md. */
static bool path_in_language(const lessons *all, const lesson *self, const char *name,
                             char path[PATH_MAX])
{
    char translated[64];
    const char *end = strrchr(name, '.');
    snprintf(translated, sizeof translated, "%.*s%s%s", (int)(end - name), name, language_infix(),
             end);
    return (lesson_path(all, self, translated, path) && access(path, F_OK) == 0) ||
           lesson_path(all, self, name, path);
}

static int copy_one(const char *command, const lessons *all, const lesson *self, const char *name,
                    const char *folder)
{
    char from[PATH_MAX], to[PATH_MAX];
    const char *slash = strrchr(name, '/');
    snprintf(to, sizeof to, "%s/%s", folder, slash != NULL ? slash + 1 : name);
    bool page = strcmp(name, "README.md") == 0;
    if (path_in_language(all, self, name, from) &&
        (page ? copy_page(from, folder) : copy_file(from, to)))
        return COMMAND_GOOD;
    return command_error(command, COMMAND_FAILED, lesson_tr("%s cannot be copied to %s: %s"), from,
                         to, strerror(errno));
}

static bool has_file(const lessons *all, const lesson *self, const char *name)
{
    char path[PATH_MAX];
    return lesson_path(all, self, name, path) && access(path, F_OK) == 0;
}

static int copy_files(const char *command, const lessons *all, const lesson *self,
                      const char *folder)
{
    static const struct {
        const char *name;
        bool of_some; /* some lessons lack it */
    } files[] = {{"README.md", false},   {"mistake.c", false},        {"fixed.c", false},
                 {"exercise.c", false},  {"exercise.scn", false},     {"picture.scn", false},
                 {"../lesson.h", false}, {"../lesson_cuda.h", false}, {"../lesson_cudart.h", false},
                 {"picture.svg", true},  {"kernel.c", true},          {"kernel.cu", true},
                 {"kernel.ptx", true}};
    int status = COMMAND_GOOD;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == COMMAND_GOOD; i++)
        if (!files[i].of_some || has_file(all, self, files[i].name))
            status = copy_one(command, all, self, files[i].name, folder);
    return status;
}

/* `inside`: the folder is the current one. */
static int print_steps(const lesson *self, const char *folder, bool inside, bool is_new)
{
    char prefix[40] = "";
    if (!inside)
        snprintf(prefix, sizeof prefix, "%s/", folder);
    printf(lesson_tr("Lesson %d: %s\n"
                     "  1. Read %sREADME.md. Say what mistake.c prints; then build it and see:\n"
                     "       ctxrt lesson %d --build && ctxrt run %s%smistake\n"
                     "     Then read %sanswer.md.\n"
                     "  2. Complete the program %sexercise.c: write between its comments only.\n"
                     "  3. Answer the scenario %sexercise.scn: one word for each ?.\n"
                     "Then: ctxrt lesson %d --check\n"),
           self->number, self->title, prefix, self->number, inside ? "./" : "", prefix, prefix,
           prefix, prefix, self->number);
    if (!is_new)
        printf(lesson_tr("%s is as you left it; move it away to begin anew.\n"), folder);
    return fflush(stdout) == 0 ? COMMAND_GOOD : COMMAND_FAILED;
}

int copy_lesson(const char *command, const lessons *all, const lesson *self)
{
    char folder[32], exercise[PATH_MAX];
    copy_name(self, folder);
    bool inside = copy_path(self, "exercise.c", exercise);
    if (access(exercise, F_OK) == 0)
        return print_steps(self, folder, inside, false);
    if (mkdir(folder, 0777) != 0)
        return command_error(command, COMMAND_FAILED, lesson_tr("%s cannot be made: %s%s"), folder,
                             strerror(errno),
                             errno == EEXIST ? lesson_tr("; move it away to begin anew") : "");
    int status = copy_files(command, all, self, folder);
    return status == COMMAND_GOOD ? print_steps(self, folder, false, true) : status;
}
