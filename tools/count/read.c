#include "count/count.h"

#include "check/names.h"
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_region(const cx_count_region *region)
{
    return region->magic == CX_COUNT_MAGIC && region->version == CX_COUNT_VERSION &&
           region->slots == CX_SLOT_COUNT;
}

/* NULL: it is none, or was never filled. */
static const cx_count_region *map_region(const char *path)
{
    struct stat status;
    const cx_count_region *region = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && (size_t)status.st_size == sizeof *region) {
        void *mapped = mmap(NULL, sizeof *region, PROT_READ, MAP_SHARED, file, 0);
        region = mapped != MAP_FAILED ? mapped : NULL;
    }
    (void)close(file);
    if (region != NULL && !is_region(region)) {
        (void)munmap((void *)(uintptr_t)region, sizeof *region);
        region = NULL;
    }
    return region;
}

/* ---- calls ---- */

static void add_call(count_call *to, const count_call *more)
{
    to->calls += more->calls;
    to->failed += more->failed;
    to->unsupported += more->unsupported;
    to->ns += more->ns;
}

static count_call sum_shares(const cx_count_region *region, int slot)
{
    count_call sum = {.slot = (cx_slot)slot};
    for (int i = 0; i < CX_COUNT_SHARES; i++) {
        const cx_count_row *row = &region->rows[i][slot];
        const count_call share = {.calls = row->calls, .failed = row->failed,
                                  .unsupported = row->unsupported, .ns = row->ns};
        add_call(&sum, &share);
    }
    return sum;
}

static int by_time(const void *one, const void *other)
{
    const count_call *a = one, *b = other;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

static bool find_calls(count_process *self)
{
    self->calls = calloc(CX_SLOT_COUNT, sizeof *self->calls);
    if (self->calls == NULL)
        return false;
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        const count_call call = sum_shares(self->region, slot);
        if (call.calls == 0)
            continue;
        self->calls[self->call_count++] = call;
        add_call(&self->all, &call);
    }
    qsort(self->calls, self->call_count, sizeof *self->calls, by_time);
    return true;
}

/* ---- processes ---- */

static void forget_process(count_process *self)
{
    free(self->calls);
    (void)munmap((void *)(uintptr_t)self->region, sizeof *self->region);
}

/* False with errno: there is no memory. */
static bool add_process(counts *self, const char *path)
{
    count_process process = {.region = map_region(path)};
    if (process.region == NULL)
        return true;
    count_process *more = find_calls(&process) ? realloc(self->processes, (self->count + 1) *
                                                                              sizeof *more)
                                               : NULL;
    if (more != NULL)
        self->processes = more;
    if (more == NULL || (process.call_count == 0 && process.region->absent[0].state == 0)) {
        forget_process(&process);
        return more != NULL;
    }
    self->processes[self->count++] = process;
    return true;
}

static int by_begin(const void *one, const void *other)
{
    uint64_t a = ((const count_process *)one)->region->begun;
    uint64_t b = ((const count_process *)other)->region->begun;
    return (a > b) - (a < b);
}

bool counts_read(const char *folder, counts *out_counts)
{
    char path[1024];
    bool good = true;
    DIR *all = opendir(folder);
    *out_counts = (counts){.count = 0};
    if (all == NULL)
        return false;
    for (const struct dirent *one = readdir(all); one != NULL && good; one = readdir(all))
        if (one->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", folder, one->d_name) < (int)sizeof path)
            good = add_process(out_counts, path);
    (void)closedir(all);
    out_counts->lost = child_count_empty_files(folder, "");
    if (good && out_counts->count > 0)
        qsort(out_counts->processes, out_counts->count, sizeof *out_counts->processes, by_begin);
    if (!good)
        counts_free(out_counts);
    return good;
}

void counts_free(counts *self)
{
    for (size_t i = 0; i < self->count; i++)
        forget_process(&self->processes[i]);
    free(self->processes);
    *self = (counts){.count = 0};
}

/* ---- names ---- */

void count_name_device(const count_process *process, int device, char text[16])
{
    int first = process->region->host_devices;
    if (device < first)
        snprintf(text, 16, "CPU");
    else
        snprintf(text, 16, "GPU %d", device - first);
}

bool count_used_device(const cx_count_device *device)
{
    return (device->contexts | device->green_contexts | device->primary_retains |
            device->peak_bytes) != 0;
}

const char *count_failed_call(uint64_t key)
{
    const char *name = call_name((int)(key >> 32) - 1);
    return name != NULL ? name : "an unknown call";
}

const char *count_failed_result(uint64_t key)
{
    const char *name = result_name((int)(uint32_t)key, false);
    return name != NULL ? name : "an unknown result";
}
