#include "lesson/compile.h"

#include "command.h"
#include "cudart.h"
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
                             "there is no C compiler '%s': install one (on Debian: apt install "
                             "gcc libc6-dev), or name it in the variable CC",
                             arguments[0]);
    char *said = job_read(self, "errors");
    command_error(command, COMMAND_FAILED, "the compiler does not take %s; it says:", source);
    print_lines(said != NULL ? said : "nothing\n");
    free(said);
    return COMMAND_FAILED;
}

int compile_program(const char *command, const job *self, const lessons *all, const char *source,
                    const char *program)
{
    char headers[PATH_MAX + 16], standin[PATH_MAX], library[PATH_MAX + 16], runtime[CUDART_PATH];
    const char *named = getenv("CC");
    char *cc = strdup(named != NULL && *named != '\0' ? named : "cc"), *rest = NULL;
    char *arguments[WORDS_OF_CC + 16];
    int count = 0;
    if (cc == NULL || !standin_find(COMPILE_CUDA, standin)) {
        free(cc);
        return command_error(command, COMMAND_FAILED,
                             "the stand-in cuda-" COMPILE_CUDA
                             "/libcuda.so.1 is not in %s: install ctxrt again, whole",
                             CTXRT_PKGLIBDIR);
    }
    snprintf(headers, sizeof headers, "-I%s/lessons", all->folder);
    snprintf(library, sizeof library, "%s/libcuda.so.1", standin);
    for (char *word = strtok_r(cc, " ", &rest); word != NULL && count < WORDS_OF_CC;
         word = strtok_r(NULL, " ", &rest))
        arguments[count++] = word;
    /* Few lessons use the runtime library. An installation may leave it out. */
    bool has_runtime = cudart_find_newest(runtime);
    const char *const options[] = {
        "-std=gnu11", "-g",    "-O0",   "-Wall", headers,    source,
        "-o",         program, library, "-ldl",  "-pthread", has_runtime ? "-Wl,--as-needed" : NULL,
        runtime};
    for (size_t i = 0; i < sizeof options / sizeof *options && options[i] != NULL; i++)
        arguments[count++] = (char *)options[i];
    arguments[count] = NULL;
    int status = run_compiler(command, self, arguments, source);
    free(cc);
    return status;
}
