/* Writes a trace as lines. */
#include "base/hash.h"
#include "diagnose/trace.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct address {
    void *pointer;
    bool seen;     /* by write_earlier */
    bool live;     /* at this point of the output */
    uint32_t slot; /* while it is live */
    UT_hash_handle hh;
} address;

typedef struct writing {
    FILE *file;
    address *table;
    uint32_t *idle; /* freed slots: the last one is reused first */
    size_t idle_count;
    uint32_t slots;
} writing;

static address *find_address(writing *w, void *pointer)
{
    address *found;
    bool added = true;
    HASH_FIND_PTR(w->table, &pointer, found);
    if (found != NULL)
        return found;
    found = calloc(1, sizeof *found);
    if (found == NULL)
        return NULL;
    found->pointer = pointer;
    HASH_ADD_PTR(w->table, pointer, found);
    if (!added)
        free(found);
    return added ? found : NULL;
}

static void write_alloc(writing *w, address *of, uint64_t bytes)
{
    of->slot = w->idle_count != 0 ? w->idle[--w->idle_count] : w->slots++;
    of->live = true;
    fprintf(w->file, "a,%" PRIu32 ",%" PRIu64 "\n", of->slot, bytes);
}

static void write_free(writing *w, address *of)
{
    fprintf(w->file, "f,%" PRIu32 "\n", of->slot);
    w->idle[w->idle_count++] = of->slot;
    of->live = false;
}

/* An address that is freed without having been seen was allocated earlier. */
static bool write_earlier(writing *w, const cx_trace_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const cx_trace_operation *operation = &operations[i];
        address *of = find_address(w, operation->pointer);
        if (of == NULL)
            return false;
        if (operation->is_free && !of->seen)
            write_alloc(w, of, operation->bytes);
        of->seen = true;
    }
    return true;
}

/* An address allocated while it is live has lost its free. An address freed while it is not live
 * has lost its allocation, and counts once. */
static void write_operations(writing *w, const cx_trace_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        address *of = find_address(w, operations[i].pointer);
        if (of->live)
            write_free(w, of);
        if (!operations[i].is_free)
            write_alloc(w, of, operations[i].bytes);
    }
}

bool cx_trace_write_lines(FILE *file, const cx_trace_operation *operations, size_t count)
{
    writing w = {.file = file, .idle = calloc(count + 1, sizeof *w.idle)};
    address *of, *next;
    bool whole = w.idle != NULL && write_earlier(&w, operations, count);
    if (whole)
        write_operations(&w, operations, count);
    HASH_ITER (hh, w.table, of, next) {
        HASH_DEL(w.table, of);
        free(of);
    }
    free(w.idle);
    if (!whole)
        errno = ENOMEM; /* the caller tells it from a file that is full */
    return whole && ferror(file) == 0;
}
