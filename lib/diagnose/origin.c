#include "diagnose/origin.h"

#include "context/thread.h"
#include "memory/address_index.h"

#include <ctxrt/memory.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

#define BUCKETS 1024u

typedef struct origin {
    struct origin *next;
    int line;
    char file[];
} origin;

/* Copies of the texts, which stay: the caller's go when its code is unloaded. */
static origin *_Atomic buckets[BUCKETS];

static origin *_Atomic *bucket_of(const char *file, int line)
{
    uint32_t hash = (uint32_t)line * 0x9e3779b1u;
    for (; *file != '\0'; file++)
        hash = (hash ^ (unsigned char)*file) * 0x01000193u;
    return &buckets[hash % BUCKETS];
}

/* Of a bucket's first origin and those behind it. */
static origin *find_from(origin *first, const char *file, int line)
{
    while (first != NULL && (first->line != line || strcmp(first->file, file) != 0))
        first = first->next;
    return first;
}

/* NULL: out of memory. */
static origin *add_origin(origin *_Atomic *bucket, const char *file, int line)
{
    size_t length = strlen(file) + 1;
    origin *made = malloc(sizeof *made + length);
    if (made == NULL)
        return NULL;
    made->line = line;
    memcpy(made->file, file, length);
    made->next = atomic_load(bucket);
    do {
        origin *found = find_from(made->next, file, line);
        if (found != NULL) {
            free(made);
            return found;
        }
    } while (!atomic_compare_exchange_weak(bucket, &made->next, made));
    return made;
}

/* NULL: out of memory, or no file. */
static const void *place_of(const char *file, int line)
{
    if (file == NULL)
        return NULL;
    origin *_Atomic *bucket = bucket_of(file, line);
    origin *found = find_from(atomic_load(bucket), file, line);
    if (found == NULL)
        found = add_origin(bucket, file, line);
    return found != NULL ? (const void *)((uintptr_t)found | CX_ORIGIN_BIT) : NULL;
}

/* The address is behind the call. */
static void describe_code(const void *place, char *text, size_t size)
{
    Dl_info info;
    if (dladdr((const char *)place - 1, &info) == 0 || info.dli_fname == NULL) {
        snprintf(text, size, "%p", place);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash != NULL ? slash + 1 : info.dli_fname;
    if (info.dli_sname != NULL)
        snprintf(text, size, "%s+%#zx (%s)", info.dli_sname,
                 (size_t)((const char *)place - (const char *)info.dli_saddr), name);
    else
        snprintf(text, size, "%s+%#zx", name,
                 (size_t)((const char *)place - (const char *)info.dli_fbase));
}

void cx_place_text(const void *place, char *text, size_t size)
{
    const origin *self = (const origin *)((uintptr_t)place & ~CX_ORIGIN_BIT);
    text[0] = '\0';
    if (cx_origin_is_one(place))
        snprintf(text, size, "%s:%d", self->file, self->line);
    else if (place != NULL)
        describe_code(place, text, size);
}

/* ---- callers ---- */

/* The linker's: where the program or library that has this code begins and ends. */
__attribute__((visibility("hidden"))) extern const char __ehdr_start[], _end[];

static bool is_own(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)__ehdr_start && (uintptr_t)address < (uintptr_t)_end;
}

/* A sanitizer's frame may come before ours. */
const void *cx_place_here(void)
{
    void *frames[24];
    if (cx_thread_current != NULL && cx_thread_current->origin != NULL)
        return cx_thread_current->origin;
    int count = backtrace(frames, sizeof frames / sizeof *frames);
    int i = 0;
    while (i < count && !is_own(frames[i]))
        i++;
    while (i < count && is_own(frames[i]))
        i++;
    return i < count ? frames[i] : NULL;
}

/* ---- origins of blocks ---- */

/* The origin of a block; of an older generation if the numbers differ. */
typedef struct note {
    _Atomic uint32_t generation;
    _Atomic(const void *) place;
} note;

/* One array for each chunk of blocks, made with its first note. */
static _Atomic(note *) notes[CX_FIT_CHUNKS_MAX];

static note *note_of(uint32_t cached)
{
    note *chunk = atomic_load(&notes[cached >> CX_FIT_CHUNK_BITS]);
    return chunk != NULL ? &chunk[cached & (CX_FIT_CHUNK_NODES - 1)] : NULL;
}

static note *make_note_of(uint32_t cached)
{
    note *none = NULL, *made = calloc(CX_FIT_CHUNK_NODES, sizeof *made);
    if (made != NULL &&
        !atomic_compare_exchange_strong(&notes[cached >> CX_FIT_CHUNK_BITS], &none, made))
        free(made);
    return note_of(cached);
}

static void keep_origin(uint32_t cached, const void *place)
{
    note *own = note_of(cached);
    if (own == NULL)
        own = make_note_of(cached);
    if (own == NULL)
        return;
    atomic_store(&own->place, place);
    atomic_store(&own->generation, cx_cache_block_generation(cx_cache_block_at(cached)));
}

const void *cx_origin_of(uint32_t cached)
{
    const note *own = note_of(cached);
    uint32_t generation = cx_cache_block_generation(cx_cache_block_at(cached));
    if (own == NULL || atomic_load(&own->generation) != generation)
        return NULL;
    const void *place = atomic_load(&own->place);
    return atomic_load(&own->generation) == generation ? place : NULL;
}

/* ---- allocating ---- */

/* Traces and debug mode read it from the thread. */
static const void *enter_origin(const char *file, int line)
{
    const void *place = place_of(file, line);
    if (cx_thread_current != NULL)
        cx_thread_current->origin = place;
    return place;
}

static void leave_origin(void)
{
    if (cx_thread_current != NULL)
        cx_thread_current->origin = NULL;
}

static void keep_of_handle(const ctxrt_memory *memory, const void *place)
{
    if (place != NULL && cx_cache_block_of(memory) != NULL)
        keep_origin(cx_cache_block_index(memory), place);
}

ctxrt_status ctxrt_memory_alloc_at(size_t size_bytes, const char *file, int line,
                                   ctxrt_memory **out_memory)
{
    const void *place = enter_origin(file, line);
    ctxrt_status status = ctxrt_memory_alloc(size_bytes, out_memory);
    leave_origin();
    if (status == CTXRT_SUCCESS)
        keep_of_handle(*out_memory, place);
    return status;
}

ctxrt_status ctxrt_memory_alloc_pinned_at(size_t size_bytes, const char *file, int line,
                                          ctxrt_memory **out_memory)
{
    const void *place = enter_origin(file, line);
    ctxrt_status status = ctxrt_memory_alloc_pinned(size_bytes, out_memory);
    leave_origin();
    if (status == CTXRT_SUCCESS)
        keep_of_handle(*out_memory, place);
    return status;
}

ctxrt_status ctxrt_alloc_at(size_t size_bytes, const char *file, int line, void **out_pointer)
{
    const void *place = enter_origin(file, line);
    ctxrt_status status = ctxrt_alloc(size_bytes, out_pointer);
    leave_origin();
    bool placed = status == CTXRT_SUCCESS && place != NULL;
    uint32_t cached = placed ? cx_pointers_cached_at(*out_pointer) : 0;
    if (cached != 0)
        keep_origin(cached, place);
    return status;
}
