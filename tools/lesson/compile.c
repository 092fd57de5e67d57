#include "lesson/compile.h"

#include "command.h"
#include "cudart.h"
#include "lesson/language.h"
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_OF_CC = 16, LINES_SHOWN = 24, SECONDS_MOST = 600 };

/* Prints the first lines of a text, each indented. */
static void print_lines(const char *text)
{
    for (int line = 0; *text != '\0' && line < LINES_SHOWN; line++) {
        int length = (int)strcspn(text, "\n");
        fprintf(stderr, "  %.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
    if (*text != '\0')
        fprintf(stderr, "  ...\n");
}

static int run_compiler(const char *command, const job *self, char **arguments, const char *source)
{
    job compiler = *self;
    compiler.arguments = arguments;
    compiler.run = NULL;
    compiler.seconds = SECONDS_MOST;
    int status = job_run(&compiler);
    if (status == 0)
        return COMMAND_GOOD;
    if (status == JOB_NOT_FOUND)
        return command_error(command, COMMAND_FAILED,
                             lesson_tr("there is no C compiler '%s': install one (on Debian: apt "
                                       "install gcc libc6-dev), or name it in the variable CC"),
                             arguments[0]);
    char *said = job_read(self, "errors");
    command_error(command, COMMAND_FAILED, lesson_tr("the compiler does not take %s; it says:"),
                  source);
    print_lines(said != NULL ? said : lesson_tr("nothing\n"));
    free(said);
    return COMMAND_FAILED;
}

/* Both modules of a program need these. */
typedef struct libraries {
    char headers[PATH_MAX + 16], driver[PATH_MAX + 16], runtime[CUDART_PATH];
    bool has_runtime; /* few lessons use it, and an installation may leave it out */
} libraries;

static bool find_libraries(const lessons *all, libraries *self)
{
    char standin[PATH_MAX];
    self->has_runtime = cudart_find_version(13, self->runtime);
    if (!standin_find(COMPILE_CUDA, standin))
        return false;
    snprintf(self->headers, sizeof self->headers, "-I%s/lessons", all->folder);
    snprintf(self->driver, sizeof self->driver, "%s/libcuda.so.1", standin);
    return true;
}

/* The options of one module end with NULL. */
static int compile_module(const char *command, const job *self, const libraries *with,
                          const char *source, const char *const *options)
{
    const char *named = getenv("CC");
    char *cc = strdup(named != NULL && *named != '\0' ? named : "cc"), *rest = NULL;
    char *arguments[WORDS_OF_CC + 24];
    int count = 0;
    if (cc == NULL)
        return command_error(command, COMMAND_FAILED, "%s", lesson_tr("no memory"));
    for (char *word = strtok_r(cc, " ", &rest); word != NULL && count < WORDS_OF_CC;
         word = strtok_r(NULL, " ", &rest))
        arguments[count++] = word;
    const char *const common[] = {"-std=gnu11", "-g", "-O0", "-Wall", with->headers, source};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        arguments[count++] = (char *)common[i];
    while (*options != NULL)
        arguments[count++] = (char *)*options++;
    arguments[count++] = (char *)with->driver;
    if (with->has_runtime) {
        arguments[count++] = (char *)"-Wl,--as-needed";
        arguments[count++] = (char *)with->runtime;
    }
    arguments[count] = NULL;
    int status = run_compiler(command, self, arguments, source);
    free(cc);
    return status;
}

int compile_program(const char *command, const job *self, const lessons *all, const char *module,
                    const char *source, const char *program)
{
    libraries with;
    char library[PATH_MAX + 32], soname[PATH_MAX + 32];
    if (!find_libraries(all, &with))
        return command_error(command, COMMAND_FAILED,
                             lesson_tr("the stand-in %s is not in %s: install ctxrt again, whole"),
                             "cuda-" COMPILE_CUDA "/libcuda.so.1", CTXRT_PKGLIBDIR);
    if (module == NULL) {
        const char *const options[] = {"-o", program, "-pthread", "-ldl", NULL};
        return compile_module(command, self, &with, source, options);
    }
    const char *slash = strrchr(program, '/');
    snprintf(library, sizeof library, "%s-%s.so", program, module);
    snprintf(soname, sizeof soname, "-Wl,-soname,%s-%s.so", slash != NULL ? slash + 1 : program,
             module);
    const char *const of_library[] = {"-DMODULE", "-shared", "-fPIC", soname, "-o", library, NULL};
    const char *const of_program[] = {"-o",       program, library, "-Wl,-rpath,$ORIGIN",
                                      "-pthread", "-ldl",  NULL};
    int status = compile_module(command, self, &with, source, of_library);
    return status == COMMAND_GOOD ? compile_module(command, self, &with, source, of_program)
                                  : status;
}
