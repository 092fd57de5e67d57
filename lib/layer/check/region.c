#include "layer/check/region.h"

#include "base/clock.h"
#include "base/log.h"
#include "layer/process_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

cx_lock cx_check_lock = CX_LOCK_INIT(CHECK);
cx_region *cx_region_here;
atomic_bool cx_region_of_parent;

bool cx_region_in_file;

/* ---- room ---- */

enum { STEP_BYTES = 1 << 16 };

static const struct {
    size_t begin, bytes; /* of the array, of a record */
    uint32_t count;
} arrays[CX_REGION_ARRAYS] = {
    [CX_REGION_ALL_PATHS] = {offsetof(cx_region, paths), CX_REGION_PATH, CX_REGION_MODULES},
    [CX_REGION_ALL_TRACES] = {offsetof(cx_region, all_traces), sizeof(cx_region_trace),
                              CX_REGION_TRACES},
    [CX_REGION_ALL_FINDINGS] = {offsetof(cx_region, all_findings), sizeof(cx_region_finding),
                                CX_REGION_FINDINGS},
    [CX_REGION_ALL_OBJECTS] = {offsetof(cx_region, all_objects), sizeof(cx_region_object),
                               CX_REGION_OBJECTS},
};

static cx_process_file file;

/* Each under the lock of its array. */
static struct {
    uint32_t records; /* that may be written */
    bool full;        /* there was no room for more */
} room[CX_REGION_ARRAYS];

/* Reserves room for records up to this one, and those behind it up to the end of a step. Returns 0
 * or an errno. */
static int reach(cx_region_array array, uint32_t index)
{
    const uint32_t step = (uint32_t)(STEP_BYTES / arrays[array].bytes);
    uint32_t records = (index / step + 1) * step;
    if (records > arrays[array].count)
        records = arrays[array].count;
    int error = cx_process_file_reserve(
        &file, arrays[array].begin + room[array].records * arrays[array].bytes,
        (records - room[array].records) * arrays[array].bytes);
    if (error == 0)
        room[array].records = records;
    return error;
}

bool cx_region_has_room(cx_region_array array, uint32_t index)
{
    if (index >= arrays[array].count || room[array].full)
        return index < room[array].records;
    if (index >= room[array].records)
        room[array].full = reach(array, index) != 0;
    return index < room[array].records;
}

static atomic_bool gave_up;

void cx_region_give_up(void)
{
    if (atomic_exchange(&gave_up, true))
        return;
    if (!atomic_load(&cx_region_of_parent))
        atomic_store(&cx_region_here->gave_up, 1);
    cx_log(CTXRT_LOG_WARNING, "check: no memory for what is kept of process %ld: what it does from "
           "now on is not checked", (long)getpid());
}

bool cx_region_gave_up(void)
{
    return atomic_load_explicit(&gave_up, memory_order_relaxed);
}

static void have_all_room(void)
{
    for (int i = 0; i < CX_REGION_ARRAYS; i++)
        room[i].records = arrays[i].count;
}

/* ---- making ---- */

/* The head, and room for so many traces and modules. Returns 0 or an errno. */
static int reserve_first(uint32_t traces, uint32_t modules)
{
    const uint32_t last[CX_REGION_ARRAYS] = {[CX_REGION_ALL_PATHS] = modules,
                                             [CX_REGION_ALL_TRACES] = traces};
    int error = cx_process_file_reserve(&file, 0, offsetof(cx_region, paths));
    for (int i = 0; i < CX_REGION_ARRAYS && error == 0; i++) {
        room[i].records = 0;
        room[i].full = false;
        error = reach((cx_region_array)i, last[i]);
    }
    return error;
}

/* NULL: there is no file; what is missing is logged. */
static cx_region *map_file(const char *folder, void *place, uint32_t traces, uint32_t modules)
{
    cx_region *mapped = NULL;
    bool made = cx_process_file_make(&file, folder, "");
    int error = made ? reserve_first(traces, modules) : errno;
    if (error == 0) {
        mapped = cx_process_file_map(&file, 0, sizeof *mapped, place);
        error = errno;
    }
    if (mapped == NULL && made)
        cx_process_file_empty(&file);
    if (mapped == NULL)
        cx_log(CTXRT_LOG_WARNING, "check: no file in %s: %s: what this process does wrong is in "
               "its log only", folder, strerror(error));
    return mapped;
}

static cx_region *map_memory(void *place)
{
    void *mapped = mmap(place, sizeof(cx_region), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                            (place != NULL ? MAP_FIXED : 0),
                        -1, 0);
    have_all_room();
    return mapped != MAP_FAILED ? mapped : NULL;
}

/* At `place` unless that is NULL, with room for so many traces and modules. */
static cx_region *map_region(void *place, uint32_t traces, uint32_t modules)
{
    const char *folder = secure_getenv("CTXRT_CHECK_FOLDER");
    cx_region *mapped = folder != NULL ? map_file(folder, place, traces, modules) : NULL;
    cx_region_in_file = mapped != NULL;
    return mapped != NULL ? mapped : map_memory(place);
}

/* The magic number last: `ctxrt check` looks at it first. */
static void begin_region(cx_region *region, int32_t parent)
{
    region->begun = cx_clock_ns();
    region->version = CX_REGION_VERSION;
    region->pid = (int32_t)getpid();
    region->forked_from = parent;
    atomic_store(&region->gave_up, cx_region_gave_up());
    cx_process_file_program(region->program, sizeof region->program);
    __atomic_store_n(&region->magic, CX_REGION_MAGIC, __ATOMIC_RELEASE);
}

bool cx_region_open(void)
{
    cx_region *region = map_region(NULL, 0, 0);
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

/* The command counts the process as one for whose file there was no room. */
static void leave_empty_file(void)
{
    const char *folder = secure_getenv("CTXRT_CHECK_FOLDER");
    if (folder != NULL)
        (void)cx_process_file_make(&file, folder, "");
}

bool cx_region_fork(void)
{
    cx_region *region = cx_region_here;
    int32_t parent = region->pid;
    unsigned traces = atomic_load(&region->traces), modules = atomic_load(&region->modules);
    cx_region *copy = copy_traces(region, traces);
    if (copy == NULL)
        leave_empty_file();
    if (copy == NULL || map_region(region, traces, modules) == NULL) {
        free(copy);
        return false;
    }
    memcpy((void *)region->apis, copy->apis, sizeof copy->apis);
    memcpy((void *)region->ids, copy->ids, modules * sizeof copy->ids[0]);
    memcpy((void *)region->paths, copy->paths, modules * sizeof copy->paths[0]);
    memcpy((void *)region->all_traces, copy->all_traces, (traces + 1) * sizeof(cx_region_trace));
    atomic_store(&region->modules, modules);
    atomic_store(&region->traces, traces);
    free(copy);
    begin_region(region, parent);
    return true;
}
