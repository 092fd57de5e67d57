/*
 * Comes to a driver as large programs do: loads NAME (libcuda.so.1) for all to see, looks up every
 * symbol and every name of a list, and forks children that do the same. It prints what it found, so
 * that two drivers can be compared.
 *
 * The list (standard input) has the lines "symbol SYMBOL", "name NAME" and "version NUMBER".
 */
#include "larger.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SYMBOLS = 1024, VERSIONS = 96 };

typedef int (*proc_address_v1)(const char *name, void **out_function, int version, uint64_t flags);
typedef int (*proc_address_v2)(const char *name, void **out_function, int version, uint64_t flags,
                               int *out_status);

typedef int (*start_call)(unsigned int flags);
typedef int (*count_call)(int *out_count);

typedef struct list {
    char *symbols[SYMBOLS], *names[SYMBOLS];
    int versions[VERSIONS];
    size_t symbol_count, name_count, version_count;
} list;

static void *library;

static void *must_find(const char *symbol)
{
    void *found = dlsym(library, symbol);
    if (found == NULL) {
        printf("%s is not there\n", symbol);
        exit(1);
    }
    return found;
}

/* A function of this type. */
#define FIND(type, symbol) (*(type *)&(void *){must_find(symbol)})

static bool read_list(list *self)
{
    char line[256], word[16], value[200];
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%15s %199s", word, value) != 2)
            return false;
        if (strcmp(word, "symbol") == 0 && self->symbol_count < SYMBOLS)
            self->symbols[self->symbol_count++] = strdup(value);
        else if (strcmp(word, "name") == 0 && self->name_count < SYMBOLS)
            self->names[self->name_count++] = strdup(value);
        else if (strcmp(word, "version") == 0 && self->version_count < VERSIONS)
            self->versions[self->version_count++] = atoi(value);
        else
            return false;
    }
    return self->symbol_count > 0 && self->name_count > 0 && self->version_count > 0;
}

/* ---- symbols ---- */

static size_t look_up_symbols(const list *self, bool print)
{
    size_t count = 0;
    for (size_t i = 0; i < self->symbol_count; i++) {
        bool here = dlsym(library, self->symbols[i]) != NULL;
        bool anywhere = dlsym(RTLD_DEFAULT, self->symbols[i]) != NULL;
        count += here;
        if (print)
            printf("symbol %s: %d %d\n", self->symbols[i], here, anywhere);
    }
    return count;
}

/* ---- names ---- */

/* The symbol at this address, in whatever library. */
static const char *symbol_at(void *function)
{
    Dl_info info;
    if (function == NULL)
        return "nothing";
    if (dladdr(function, &info) == 0 || info.dli_sname == NULL || info.dli_saddr != function)
        return "no symbol";
    return info.dli_sname;
}

/* Prints what is found of a name, where that changes from one version to the next. */
static void look_up_name(const list *self, const char *name, uint64_t flags)
{
    static int mark;
    proc_address_v1 ask_v1 = FIND(proc_address_v1, "cuGetProcAddress");
    proc_address_v2 ask_v2 = FIND(proc_address_v2, "cuGetProcAddress_v2");
    char before[512] = "";
    for (size_t i = 0; i < self->version_count; i++) {
        char now[512];
        void *one = &mark, *two = &mark, *three = &mark;
        int status = -1, version = self->versions[i];
        int first = ask_v1(name, &one, version, flags);
        int second = ask_v2(name, &two, version, flags, &status);
        int third = ask_v2(name, &three, version, flags, NULL);
        snprintf(now, sizeof now, "%d %s, %d %d %s, %d %s", first,
                 one == &mark ? "untouched" : symbol_at(one), second, status,
                 two == &mark ? "untouched" : symbol_at(two), third,
                 three == &mark ? "untouched" : symbol_at(three));
        if (strcmp(now, before) != 0)
            printf("name %s, flags %d, from %d: %s\n", name, (int)flags, version, now);
        memcpy(before, now, sizeof before);
    }
}

static void look_up_names(const list *self)
{
    for (size_t i = 0; i < self->name_count; i++)
        for (uint64_t flags = 0; flags <= 3; flags++)
            look_up_name(self, self->names[i], flags);
    void *function = NULL;
    printf("no name: %d, nowhere: %d\n",
           FIND(proc_address_v1, "cuGetProcAddress")(NULL, &function, 12000, 0),
           FIND(proc_address_v1, "cuGetProcAddress")("cuInit", NULL, 12000, 0));
}

static void look_up_tables(void)
{
    typedef int (*get_table)(const void **out_table, const void *id);
    get_table ask = FIND(get_table, "cuGetExportTable");
    const unsigned char ids[3][16] = {{0}, {1, 2, 3}, {0xff, 0xee}};
    for (int i = 0; i < 3; i++) {
        const void *table = NULL;
        int result = ask(&table, ids[i]);
        printf("table %d: %d %s\n", i, result, table != NULL ? "found" : "nothing");
    }
}

/* ---- exports that nobody knows ---- */

static int one_more(int number)
{
    return number + 1;
}

static void call_unknown_exports(void)
{
    printf("flag: %d\n", *(int *)must_find("cuOfNobodyFlag"));
    printf("sum: %ld\n", FIND(larger_sum *, "cuOfNobodySum")(1, 2, 3, 4, 5, 6, .5, 1.5, 2.5, 3.5,
                                                             4.5, 5.5, 6.5, 7.5, 8.5, 9, "last"));
    larger_parts swapped = FIND(larger_swap *, "cuOfNobodySwap")(
        (larger_parts){.first = 1, .middle = {2, 3, 4, 5}, .last = 6});
    printf("swapped: %ld %g %ld\n", swapped.first, swapped.middle[3], swapped.last);
    printf("called back: %d\n", FIND(larger_call *, "cuOfNobodyCall_v3")(one_more, 40));
}

/* ---- children ---- */

static int use_driver(void)
{
    int count = -1;
    int init = FIND(start_call, "cuInit")(0);
    int counted = FIND(count_call, "cuDeviceGetCount")(&count);
    printf("init %d, devices %d: %d\n", init, counted, count);
    return init;
}

/* As the workers of a data loader: each finds all symbols, and some use the driver. */
static void fork_workers(const list *self, const char *when)
{
    size_t mine = look_up_symbols(self, false);
    for (int worker = 0; worker < 4; worker++) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            bool same = look_up_symbols(self, false) == mine;
            if (worker % 2 == 1) {
                printf("worker %d %s: ", worker, when);
                (void)use_driver();
                fflush(stdout);
            }
            if (worker == 2)
                exit(same ? 0 : 1); /* runs what runs at the end of a process */
            _exit(same ? 0 : 1);
        }
        (void)waitpid(child, &status, 0);
        printf("worker %d %s ended with %d\n", worker, when, status);
    }
}

int main(int argc, char **argv)
{
    static list all;
    library = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL || !read_list(&all)) {
        printf("%s\n", library == NULL ? dlerror() : "the list is malformed");
        return 1;
    }
    (void)look_up_symbols(&all, true);
    look_up_names(&all);
    look_up_tables();
    fork_workers(&all, "before");
    (void)use_driver();
    look_up_tables();
    fork_workers(&all, "after");
    call_unknown_exports();
    printf("at the end: ");
    return use_driver();
}
