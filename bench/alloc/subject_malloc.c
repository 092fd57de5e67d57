/* Malloc of the C library and of others where they are installed; each keeps to itself, nothing is
 * replaced. */
#include "subject.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define REPLACED "a sanitizer has put its own malloc in place"
#else
#define REPLACED NULL
#endif

typedef struct library {
    const char *name;
    const char *files[2];
    const char *alloc, *free;
} library;

static const library libraries[] = {
    {"mimalloc", {"libmimalloc.so.2", "libmimalloc.so.3"}, "mi_malloc", "mi_free"},
    {"jemalloc", {"libjemalloc.so.2"}, "malloc", "free"},
    {"tcmalloc", {"libtcmalloc_minimal.so.4"}, "tc_malloc", "tc_free"},
};

static void *open_library(const library *wanted)
{
    for (int i = 0; i < 2 && wanted->files[i] != NULL; i++) {
        void *handle = dlopen(wanted->files[i], RTLD_NOW | RTLD_LOCAL);
        if (handle != NULL)
            return handle;
    }
    return NULL;
}

static void add_library(bench_field *field, const library *wanted)
{
    bench_subject *subject = &field->subject[field->count++];
    *subject = (bench_subject){.name = wanted->name, .shift = 8};
    if (REPLACED != NULL) {
        subject->missing = REPLACED;
        return;
    }
    void *handle = open_library(wanted);
    if (handle == NULL) {
        subject->missing = strdup(dlerror()); /* the next call frees the original */
        return;
    }
    *(void **)&subject->alloc = dlsym(handle, wanted->alloc);
    *(void **)&subject->free = dlsym(handle, wanted->free);
    if (subject->alloc == NULL || subject->free == NULL)
        subject->missing = "it lacks the two calls";
}

void bench_add_mallocs(bench_field *field)
{
    field->subject[field->count++] = (bench_subject){
        .name = "glibc malloc", .shift = 8, .alloc = malloc, .free = free, .missing = REPLACED};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        add_library(field, &libraries[i]);
}
