#include "layer/check/region.h"

#include "base/clock.h"
#include "base/log.h"
#include "layer/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

cx_region *cx_region_here;
atomic_bool cx_region_of_parent;

/* -1 with errno: there is no such file. */
static int make_file(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%ld.XXXXXX", folder, (long)getpid()) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0 && ftruncate(file, sizeof(cx_region)) != 0) {
        int error = errno;
        (void)unlink(path);
        (void)close(file);
        errno = error;
        return -1;
    }
    return file;
}

/* At `place` unless that is NULL. */
static cx_region *map_region(void *place)
{
    const char *folder = secure_getenv("CTXRT_CHECK_FOLDER");
    int fixed = place != NULL ? MAP_FIXED : 0;
    int file = folder != NULL ? make_file(folder) : -1;
    if (folder != NULL && file < 0)
        cx_log(CTXRT_LOG_WARNING, "check: no file in %s: %s", folder, strerror(errno));
    void *mapped = file >= 0 ? mmap(place, sizeof(cx_region), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | fixed, file, 0)
                             : mmap(place, sizeof(cx_region), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (file >= 0)
        (void)close(file);
    return mapped != MAP_FAILED ? mapped : NULL;
}

/* The magic number last: `ctxrt check` looks at it first. */
static void begin_region(cx_region *region, int32_t parent)
{
    region->begun = cx_clock_ns();
    region->version = CX_REGION_VERSION;
    region->pid = (int32_t)getpid();
    region->forked_from = parent;
    cx_layer_program(region->program, sizeof region->program);
    __atomic_store_n(&region->magic, CX_REGION_MAGIC, __ATOMIC_RELEASE);
}

bool cx_region_open(void)
{
    cx_region *region = map_region(NULL);
    if (region == NULL)
        return false;
    begin_region(region, 0);
    cx_region_here = region;
    return true;
}

/* A copy of the traces and modules that origins of before the fork name; NULL: no memory. */
static cx_region *copy_traces(const cx_region *region, unsigned traces)
{
    size_t bytes = offsetof(cx_region, all_traces) + (traces + 1) * sizeof(cx_region_trace);
    cx_region *copy = malloc(bytes);
    if (copy != NULL)
        memcpy((void *)copy, region, bytes);
    return copy;
}

bool cx_region_fork(void)
{
    cx_region *region = cx_region_here;
    int32_t parent = region->pid;
    unsigned traces = atomic_load(&region->traces), modules = atomic_load(&region->modules);
    cx_region *copy = copy_traces(region, traces);
    if (copy == NULL || map_region(region) == NULL) {
        free(copy);
        return false;
    }
    memcpy((void *)region->paths, copy->paths, modules * sizeof copy->paths[0]);
    memcpy((void *)region->all_traces, copy->all_traces, (traces + 1) * sizeof(cx_region_trace));
    atomic_store(&region->modules, modules);
    atomic_store(&region->traces, traces);
    free(copy);
    begin_region(region, parent);
    return true;
}
