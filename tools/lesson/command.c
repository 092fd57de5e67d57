/* ctxrt lesson: the list, a copy of an exercise, and its check. */
#include "command.h"
#include "lesson/checks.h"
#include "lesson/compile.h"
#include "lesson/copy.h"
#include "lesson/language.h"
#include "lesson/solved.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_CHECK = 300, KEY_BUILD, KEY_LIMIT, KEY_LANGUAGE, SECONDS = 60 };

typedef struct request {
    int number; /* 0: list them */
    bool check, build;
    int seconds;
    const char *file;
} request;

static error_t take_number(request *self, struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1 || number > LESSONS_MOST)
        return command_wrong_use(state, "'%s' is no number of a lesson: ctxrt lesson lists them",
                                 text);
    self->number = (int)number;
    return 0;
}

static error_t take_limit(request *self, struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1 || number > 3600)
        return command_wrong_use(state, "--limit %s: it is a number of seconds, 1 to 3600", text);
    self->seconds = (int)number;
    return 0;
}

static error_t take_argument(request *self, struct argp_state *state, const char *text)
{
    if (self->number == 0)
        return take_number(self, state, text);
    if (self->file != NULL)
        return command_wrong_use(state, "'%s' is one argument too many", text);
    self->file = text;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case KEY_CHECK:
        self->check = true;
        return 0;
    case KEY_BUILD:
        self->build = true;
        return 0;
    case KEY_LIMIT:
        return take_limit(self, state, argument);
    case KEY_LANGUAGE:
        return language_choose(argument)
                   ? 0
                   : command_wrong_use(state, "--lang %s: the lessons are there in en and zh",
                                       argument);
    case ARGP_KEY_ARG:
        return take_argument(self, state, argument);
    case ARGP_KEY_END:
        if ((self->check || self->build) && self->number == 0)
            return command_wrong_use(state, "name the lesson: ctxrt lesson lists them");
        if (self->check && self->build)
            return command_wrong_use(state, "choose one of --check and --build");
        if (self->file != NULL && !self->check && !self->build)
            return command_wrong_use(state, "a file is for --check and --build");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the list ---- */

static int print_list(const lessons *all)
{
    solved before = solved_read();
    int done = 0;
    for (int i = 0; i < all->count; i++) {
        const lesson *one = &all->all[i];
        bool program = before.program[one->number], scenario = before.scenario[one->number];
        done += program && scenario;
        printf("%3d  %s  %s%s\n", one->number,
               program && scenario   ? "[x]"
               : program || scenario ? "[/]"
                                     : "[ ]",
               one->title,
               program == scenario ? ""
               : program           ? lesson_tr("  (the scenario is open)")
                                   : lesson_tr("  (the program is open)"));
    }
    printf(lesson_tr("%d of %d solved. `ctxrt lesson N' begins one.\n"), done, all->count);
    return fflush(stdout) == 0 ? COMMAND_GOOD : COMMAND_FAILED;
}

/* ---- the check ---- */

int check_not_yet(const check *self, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, lesson_tr("Lesson %d, %s: not yet: "), self->lesson->number, self->file);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    return COMMAND_FAILED;
}

void check_hint(const char *hint)
{
    enum { COLUMNS = 96 };
    while (hint != NULL && *hint != '\0') {
        size_t length = language_line(hint, COLUMNS);
        fprintf(stderr, "  %.*s\n", (int)length, hint);
        hint += length + (hint[length] == ' ');
    }
}

bool check_read(const check *self, const char *exercise, char **out_exercise, char **out_student)
{
    char path[PATH_MAX];
    *out_student = lesson_read(self->file);
    if (*out_student == NULL) {
        bool missing = errno == ENOENT;
        command_error(self->command, COMMAND_FAILED, lesson_tr("%s cannot be read: %s%s"),
                      self->file, strerror(errno),
                      missing ? lesson_tr("; `ctxrt lesson N' makes a copy of the exercise") : "");
        return false;
    }
    *out_exercise = lesson_path(self->all, self->lesson, exercise, path) ? lesson_read(path) : NULL;
    if (*out_exercise != NULL)
        return true;
    free(*out_student);
    command_error(self->command, COMMAND_FAILED, lesson_tr("the lesson's %s cannot be read: %s"),
                  exercise, strerror(errno));
    return false;
}

static bool is_scenario(const char *file)
{
    size_t length = strlen(file);
    return length >= 4 && strcmp(file + length - 4, ".scn") == 0;
}

/* Checks one file and remembers it if it is solved. */
static int check_file(const check *self)
{
    char path[PATH_MAX];
    bool scenario = is_scenario(self->file);
    int status = scenario ? check_scenario(self) : check_program(self);
    if (status != COMMAND_GOOD)
        return status;
    printf(lesson_tr("Lesson %d, %s: solved.\n"), self->lesson->number, self->file);
    if (lesson_path(self->all, self->lesson, scenario ? "solution.scn" : "solution.c", path))
        printf(lesson_tr("  Another solution: %s\n"), path);
    fflush(stdout);
    return solved_add(self->command, self->lesson->number, scenario ? "scenario" : "program")
               ? COMMAND_GOOD
               : COMMAND_FAILED;
}

static void remove_files(const lesson *of, const char *folder)
{
    static const char *const files[] = {"out", "errors", "exercise", "report.json"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (snprintf(path, sizeof path, "%s/%s", folder, files[i]) < (int)sizeof path)
            (void)unlink(path);
    if (of->module != NULL &&
        snprintf(path, sizeof path, "%s/exercise-%s.so", folder, of->module) < (int)sizeof path)
        (void)unlink(path);
    (void)rmdir(folder);
}

/* A folder for what a check compiles and writes; false after an error was printed. */
static bool make_folder(const char *command, char folder[PATH_MAX])
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%s/ctxrt-lesson.XXXXXX",
             place != NULL && *place == '/' ? place : "/tmp");
    return mkdtemp(folder) != NULL ||
           command_error(command, COMMAND_FAILED, lesson_tr("%s cannot be made: %s"), folder,
                         strerror(errno)) == COMMAND_GOOD;
}

static int check_all(const char *command, const request *self, const lessons *all,
                     const lesson *one)
{
    static const char *const files[] = {"exercise.c", "exercise.scn"};
    char folder[PATH_MAX], path[PATH_MAX];
    int worst = COMMAND_GOOD;
    if (!make_folder(command, folder))
        return COMMAND_FAILED;
    for (int i = 0; i < (self->file != NULL ? 1 : 2); i++) {
        if (self->file == NULL)
            (void)copy_path(one, files[i], path);
        check of = {.command = command,
                    .all = all,
                    .lesson = one,
                    .file = self->file != NULL ? self->file : path,
                    .folder = folder,
                    .seconds = self->seconds};
        int status = check_file(&of);
        worst = status != COMMAND_GOOD ? status : worst;
    }
    remove_files(one, folder);
    if (worst == COMMAND_GOOD && self->file == NULL && one->number < all->count)
        printf(lesson_tr("Next: ctxrt lesson %d\n"), one->number + 1);
    return worst;
}

/* ---- programs to look at ---- */

static int build_program(const char *command, const request *self, const lessons *all,
                         const lesson *one)
{
    char folder[PATH_MAX], source[PATH_MAX], program[PATH_MAX];
    job compiler = {.folder = folder, .seconds = self->seconds};
    if (self->file != NULL)
        snprintf(source, sizeof source, "%s", self->file);
    else
        (void)copy_path(one, "mistake.c", source);
    size_t length = strlen(source);
    if (length < 3 || strcmp(source + length - 2, ".c") != 0)
        return command_error(command, COMMAND_WRONG_USE,
                             lesson_tr("%s is no C file: its name ends with .c"), source);
    if (access(source, R_OK) != 0)
        return command_error(command, COMMAND_FAILED, lesson_tr("%s cannot be read: %s"), source,
                             strerror(errno));
    if (!make_folder(command, folder))
        return COMMAND_FAILED;
    snprintf(program, sizeof program, "%.*s", (int)length - 2, source);
    int status = compile_program(command, &compiler, all, one->module, source, program);
    remove_files(one, folder);
    if (status == COMMAND_GOOD) {
        const char *here = strchr(program, '/') != NULL ? "" : "./";
        printf(lesson_tr("Built %s. Run it: ctxrt run %s%s\n"), program, here, program);
    }
    return status;
}

static const char doc[] =
    "Lists the lessons about contexts, with a mark at each that you have solved; or copies lesson "
    "N "
    "into the folder lesson-NN; or checks what you made of its exercises."
    "\vA lesson has a page, a program with a mistake, and two exercises: a program to complete and "
    "a scenario to answer. The check compiles the program with $CC or cc, runs it under ctxrt "
    "check, and compares what it prints. Without FILE it checks both exercises of lesson-NN.\n"
    "Example: ctxrt lesson";

int lesson_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"check", KEY_CHECK, NULL, 0, "Check an exercise, and remember it if it is solved", 0},
        {"build", KEY_BUILD, NULL, 0, "Compile FILE, or mistake.c, for ctxrt run and ctxrt check",
         0},
        {"lang", KEY_LANGUAGE, "LANG", 0, "Show the lessons in en or zh (as LC_ALL or LANG says)",
         0},
        {"limit", KEY_LIMIT, "SECONDS", 0, "Stop a program that runs longer (60)", 0},
        {0},
    };
    static const struct argp argp = {options, parse_option, "[N [FILE]]", doc, NULL, NULL, NULL};
    static lessons all;
    request self = {.seconds = SECONDS};
    int status;
    language_from_environment();
    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    if (!lessons_find(argv[0], &all))
        return COMMAND_FAILED;
    const lesson *one = NULL;
    for (int i = 0; i < all.count; i++)
        if (all.all[i].number == self.number)
            one = &all.all[i];
    if (self.number == 0)
        status = print_list(&all);
    else if (one == NULL)
        status = command_error(argv[0], COMMAND_WRONG_USE,
                               lesson_tr("there is no lesson %d: the last is %d"), self.number,
                               all.all[all.count - 1].number);
    else if (self.check)
        status = check_all(argv[0], &self, &all, one);
    else if (self.build)
        status = build_program(argv[0], &self, &all, one);
    else
        status = copy_lesson(argv[0], &all, one);
    lessons_free(&all);
    return status;
}
