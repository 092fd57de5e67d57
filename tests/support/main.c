/*
 * The main of the programs of Check's tests whose files have none: it runs the files that its
 * arguments or its own name say.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { SUITES_MOST = 256 };
static cx_test_file *first_file, **last_file = &first_file;

void cx_test_register(cx_test_file *file)
{
    *last_file = file;
    last_file = &file->next;
}

/* "event" of "../tests/emu/check_event.c", "tests/emu/check_event" and "event". */
static size_t short_name(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');

    *name = slash == NULL ? path : slash + 1;
    if (strncmp(*name, "check_", 6) == 0)
        *name += 6;
    return strcspn(*name, ".");
}

static cx_test_file *find(const char *path)
{
    const char *wanted, *name;
    const size_t length = short_name(path, &wanted);

    for (cx_test_file *file = first_file; file != NULL; file = file->next)
        if (short_name(file->path, &name) == length && strncmp(name, wanted, length) == 0)
            return file;
    return NULL;
}

static int run_alone(const cx_test_file *file)
{
    const char *lack = file->lack == NULL ? NULL : file->lack();

    return lack == NULL ? file->run(file->suites) : cx_test_skip(lack);
}

static int run_chosen(void)
{
    Suite *(*suites[SUITES_MOST + 1])(void) = {NULL};
    size_t count = 0;

    for (const cx_test_file *file = first_file; file != NULL; file = file->next) {
        const char *lack = file->lack == NULL || !file->chosen ? NULL : file->lack();

        if (lack != NULL)
            printf("# %s is skipped: %s\n", file->path, lack);
        for (size_t i = 0; file->chosen && lack == NULL && file->suites[i] != NULL; i++)
            if (count < SUITES_MOST)
                suites[count++] = file->suites[i];
    }
    return count == 0 ? cx_test_skip("nothing of it can run here") : cx_test_run(suites);
}

/*
 * A link by the name of a file (check_event) runs that file alone, in the file's own manner.
 * Arguments name files, too. Without either all files run.
 */
int main(int argc, char **argv)
{
    cx_test_file *named = find(argv[0]), *alone = NULL;
    size_t chosen = 0;

    for (int i = 1; i < argc; i++) {
        named = find(argv[i]);
        if (named == NULL) {
            fprintf(stderr, "%s: there is no test file %s\n", argv[0], argv[i]);
            return 2;
        }
        named->chosen = true;
    }
    for (cx_test_file *file = first_file; file != NULL; file = file->next) {
        file->chosen |= argc == 1 && (named == NULL || named == file);
        if (file->chosen)
            alone = ++chosen == 1 ? file : NULL;
    }
    return alone != NULL ? run_alone(alone) : run_chosen();
}
