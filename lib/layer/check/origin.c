#include "layer/check/origin.h"

#include "base/hash.h"
#include "config.h"
#include "driver/entry.h"
#include "layer/module_file.h"
#include "layer/names.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 24, EXIT_DEPTH = 64 };

typedef struct trace_key {
    void *frames[CX_REGION_FRAMES]; /* return addresses; NULL behind the last one */
    const char *api;                /* of cx_entry_origin_now; NULL: none */
} trace_key;

typedef struct known_trace {
    trace_key key;
    cx_origin number;
    UT_hash_handle hh;
} known_trace;

/* The traces, which stay; lock "check", like the modules. */
static known_trace *by_frames;

/* The addresses of this library, and its number among the modules. */
static uintptr_t own_begin, own_end;
static uint32_t own_module;
static bool keeps_own; /* origins begin with a frame of this library */

/* The code of exit(). */
static uintptr_t exit_begin, exit_end;

static int find_own(struct dl_phdr_info *info, size_t size, void *argument)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        begin = first < begin ? first : begin;
        end = first + header->p_memsz > end ? first + header->p_memsz : end;
    }
    uintptr_t here = (uintptr_t)argument;
    if (here < begin || here >= end)
        return 0;
    own_begin = begin;
    own_end = end;
    return 1;
}

/* A place in a module, as the loader knows it. */
typedef struct resolved_frame {
    char path[CX_REGION_PATH]; /* empty: no module has the place */
    cx_region_id id;
    uint64_t offset;
} resolved_frame;

static bool same_id(const cx_region_id *one, const cx_region_id *other)
{
    return one->count == other->count && memcmp(one->bytes, other->bytes, one->count) == 0;
}

/* The number of the module of this path and build id, entered if it is new. Lock held. */
static uint32_t module_of(const resolved_frame *frame)
{
    cx_region *region = cx_region_here;
    uint32_t count = atomic_load(&region->modules);
    if (frame->path[0] == '\0')
        return CX_REGION_MODULES;
    for (uint32_t i = 0; i < count; i++)
        if (strncmp(region->paths[i], frame->path, CX_REGION_PATH - 1) == 0 &&
            same_id(&region->ids[i], &frame->id))
            return i;
    if (!cx_region_has_room(CX_REGION_ALL_PATHS, count))
        return CX_REGION_MODULES;
    snprintf(region->paths[count], CX_REGION_PATH, "%s", frame->path);
    region->ids[count] = frame->id;
    atomic_store(&region->modules, count + 1);
    return count;
}

/* The loader's name of the module that has the place, and where it begins; NULL: none. Takes no
 * lock where the system allows: in the child of a fork the loader's may be held by a thread that is
 * not there. */
static const char *loader_name(char *place, const char **out_begin)
{
#ifdef HAVE__DL_FIND_OBJECT
    struct dl_find_object found;
    if (_dl_find_object(place, &found) != 0)
        return NULL;
    *out_begin = found.dlfo_map_start;
    return found.dlfo_link_map->l_name;
#else
    Dl_info info;
    if (dladdr(place, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    *out_begin = info.dli_fbase;
    return info.dli_fname;
#endif
}

/* The loader has no name for the program, and for others what dlopen was given: that may be
 * relative to a folder which is not the present one. */
static void resolve(const void *frame, resolved_frame *out)
{
    char *place = (char *)(uintptr_t)frame - 1; /* a return address is behind the call */
    const char *begin = NULL, *name = loader_name(place, &begin);
    *out = (resolved_frame){.offset = (uint64_t)(uintptr_t)place};
    if (name == NULL)
        return;
    out->offset = (uint64_t)(place - begin);
    out->id.count = (uint8_t)cx_module_file_id(begin, out->id.bytes);
    if (*name == '\0')
        name = cx_region_here->program;
    if (*name == '/' || !cx_module_file_path(place, out->path, sizeof out->path))
        snprintf(out->path, sizeof out->path, "%s", name);
}

/* In the library itself: in a program its address may be that of a stub. */
static void find_exit(void)
{
    const ElfW(Sym) * symbol;
    Dl_info info;
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *code = libc != NULL ? dlsym(libc, "exit") : NULL;
    if (code != NULL && dladdr1(code, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
        symbol != NULL) {
        exit_begin = (uintptr_t)code;
        exit_end = exit_begin + symbol->st_size;
    }
    if (libc != NULL)
        (void)dlclose(libc);
}

void cx_origin_prepare(bool keeps_function)
{
    void *frame;
    keeps_own = keeps_function;
    (void)backtrace(&frame, 1);
    (void)dl_iterate_phdr(find_own, (void *)(uintptr_t)cx_origin_prepare);
    resolved_frame own;
    resolve((const char *)(uintptr_t)cx_origin_prepare + 1, &own);
    own_module = module_of(&own);
    find_exit();
}

static bool is_own(const void *frame)
{
    return (uintptr_t)frame >= own_begin && (uintptr_t)frame < own_end;
}

/* The answers for each frame: the loader is asked without the lock, which is inside its own. */
typedef struct resolved_frames {
    resolved_frame all[CX_REGION_FRAMES];
    uint32_t count;
} resolved_frames;

static void resolve_frames(const trace_key *key, resolved_frames *out)
{
    void *const *frames = key->frames;
    for (out->count = 0; out->count < CX_REGION_FRAMES && frames[out->count] != NULL; out->count++)
        resolve(frames[out->count], &out->all[out->count]);
}

/* The number of a name, entered if it is new. Lock held. 0: none, or there is no room. */
static uint32_t api_of(const char *name)
{
    char(*apis)[CX_REGION_API] = cx_region_here->apis;
    for (uint32_t i = 1; name != NULL && i < CX_REGION_APIS; i++) {
        if (apis[i][0] == '\0')
            snprintf(apis[i], sizeof apis[i], "%s", name);
        if (strncmp(apis[i], name, CX_REGION_API - 1) == 0)
            return i;
    }
    return 0;
}

/* Lock held. Allocates nothing. 0: there is no room. */
static cx_origin number_trace(const trace_key *key, const resolved_frames *resolved)
{
    cx_region *region = cx_region_here;
    uint32_t number = atomic_load(&region->traces) + 1;
    if (!cx_region_has_room(CX_REGION_ALL_TRACES, number))
        return 0;
    cx_region_trace *trace = &region->all_traces[number];
    for (uint32_t i = 0; i < resolved->count; i++)
        trace->frames[i] =
            (cx_region_frame){module_of(&resolved->all[i]), 0, resolved->all[i].offset};
    trace->count = resolved->count;
    trace->api = api_of(key->api);
    atomic_store(&region->traces, number);
    return number;
}

/* Lock held. 0: there is no room. */
static cx_origin enter_trace(const trace_key *key, const resolved_frames *resolved)
{
    known_trace *made = calloc(1, sizeof *made);
    cx_origin number = made != NULL ? number_trace(key, resolved) : 0;
    bool added = number != 0;
    if (added) {
        made->key = *key;
        made->number = number;
        HASH_ADD(hh, by_frames, key, sizeof made->key, made);
    }
    if (!added) {
        atomic_fetch_add(&cx_region_here->untraced, 1);
        free(made);
        return 0;
    }
    return number;
}

static cx_origin find_trace(const trace_key *key, const resolved_frames *resolved)
{
    known_trace *found;
    cx_lock_enter(&cx_check_lock);
    HASH_FIND(hh, by_frames, key, sizeof *key, found);
    cx_origin origin = found != NULL      ? found->number
                       : resolved != NULL ? enter_trace(key, resolved)
                                          : 0;
    cx_lock_leave(&cx_check_lock);
    return origin;
}

/* Frames of this library are at the top, or below one or two of a sanitizer's backtrace(). */
static int skip_own(void *const all[DEPTH], int number)
{
    int first = 0;
    while (first < number && first < 3 && !is_own(all[first]))
        first++;
    if (first == number || !is_own(all[first]))
        first = 0;
    while (first < number && is_own(all[first]))
        first++;
    return first;
}

static bool is_in_exit(void *const *all, int number)
{
    for (int i = 0; i < number; i++)
        if ((uintptr_t)all[i] > exit_begin && (uintptr_t)all[i] <= exit_end)
            return true;
    return false;
}

/* Past the frames of the library that makes the call for the program, too. */
static int skip_library(void *const all[DEPTH], int number, int first)
{
    const cx_entry_origin *origin = cx_entry_origin_now;
    for (int i = first; origin != NULL && i < number; i++)
        if (all[i] == origin->caller)
            return i;
    return first;
}

cx_origin cx_origin_here(bool *out_exits)
{
    void *all[DEPTH];
    trace_key key = {.api = cx_entry_origin_now != NULL ? cx_entry_origin_now->name : NULL};
    resolved_frames resolved;
    int number = backtrace(all, DEPTH), first = skip_own(all, number), last = 0;
    *out_exits = is_in_exit(all, number);
    first -= keeps_own && first > 0;
    first = skip_library(all, number, first);
    while (first < number && last < CX_REGION_FRAMES)
        key.frames[last++] = all[first++];
    cx_origin origin = find_trace(&key, NULL);
    if (origin != 0)
        return origin;
    resolve_frames(&key, &resolved);
    return find_trace(&key, &resolved);
}

/* The instruction itself is no return address: the one behind it stands for that. The caller is a
 * handler of a signal, which may have come within malloc: the trace is not looked for, nor entered
 * into the table. */
cx_origin cx_origin_of_fault(void *instruction)
{
    void *all[DEPTH];
    trace_key key = {.api = NULL};
    resolved_frames resolved;
    int number = backtrace(all, DEPTH), first = 0, last = 0;
    while (first < number && all[first] != instruction)
        first++;
    if (first == number)
        return 0;
    key.frames[last++] = (char *)instruction + 1;
    while (++first < number && last < CX_REGION_FRAMES)
        key.frames[last++] = all[first];
    resolve_frames(&key, &resolved);
    cx_lock_enter(&cx_check_lock);
    cx_origin origin = number_trace(&key, &resolved);
    if (origin == 0)
        atomic_fetch_add(&cx_region_here->untraced, 1);
    cx_lock_leave(&cx_check_lock);
    return origin;
}

static const cx_region_trace *trace_of(cx_origin origin)
{
    return &cx_region_here->all_traces[origin];
}

const char *cx_origin_file_name(uint32_t module)
{
    if (module >= CX_REGION_MODULES)
        return NULL;
    const char *path = cx_region_here->paths[module], *name = strrchr(path, '/');
    return name != NULL ? name + 1 : path;
}

bool cx_origin_same_package(int one, int other)
{
    return one == other ||
           (one >= 0 && other >= 0 && one < CX_REGION_MODULES && other < CX_REGION_MODULES &&
            cx_module_file_same_package(cx_region_here->paths[one],
                                        cx_region_here->paths[other]));
}

const char *cx_origin_call(cx_origin origin, cx_slot slot)
{
    uint32_t api = origin != 0 ? trace_of(origin)->api : 0;
    return api != 0 ? cx_region_here->apis[api] : cx_symbols[slot].symbol;
}

bool cx_origin_is_of_library(cx_origin origin)
{
    return origin != 0 && trace_of(origin)->api != 0;
}

/* The CUDA runtime library, which makes calls of the driver on behalf of its callers. */
static bool is_runtime(uint32_t module)
{
    const char *name = cx_origin_file_name(module);
    return name != NULL && strncmp(name, "libcudart.so", 12) == 0;
}

int cx_origin_module(cx_origin origin)
{
    const cx_region_trace *trace = trace_of(origin);
    uint32_t i = 0;
    while (i + 1 < trace->count && is_runtime(trace->frames[i].module))
        i++;
    if (trace->count == 0 || trace->frames[i].module == CX_REGION_MODULES)
        return -1;
    return (int)trace->frames[i].module;
}

const char *cx_origin_module_name(cx_origin origin)
{
    int module = cx_origin_module(origin);
    return module < 0 ? "an unknown module" : cx_origin_file_name((uint32_t)module);
}

/* The module that has the list of names, which seldom changes. Lock held. */
static uint32_t runtime_module(void)
{
    static const cx_layer_names_list *asked;
    static uint32_t module;
    const cx_layer_names_list *list = cx_layer_names_in_use();
    resolved_frame place;
    if (list != asked) {
        resolve((const char *)list + 1, &place);
        module = module_of(&place);
        asked = list;
    }
    return module;
}

bool cx_origin_in_runtime(cx_origin origin)
{
    const cx_region_trace *trace = trace_of(origin);
    uint32_t module = trace->count != 0 ? runtime_module() : CX_REGION_MODULES;
    return module != CX_REGION_MODULES && trace->frames[0].module == module;
}

static bool same_frame(const cx_region_frame *one, const cx_region_frame *other)
{
    return one->module == other->module && one->offset == other->offset;
}

bool cx_origin_follows(cx_origin one, cx_origin other)
{
    const cx_region_trace *first = trace_of(one), *second = trace_of(other);
    if (first->count < 2 || first->count != second->count ||
        (keeps_own && first->frames[0].module == own_module) ||
        first->frames[0].module != second->frames[0].module ||
        first->frames[0].offset >= second->frames[0].offset)
        return false;
    for (uint32_t i = 1; i < first->count; i++)
        if (!same_frame(&first->frames[i], &second->frames[i]))
            return false;
    return true;
}

bool cx_origin_in_exit(void)
{
    void *all[EXIT_DEPTH];
    return is_in_exit(all, backtrace(all, EXIT_DEPTH));
}

bool cx_origin_in_callback(cx_origin origin)
{
    const cx_region_trace *trace = trace_of(origin);
    for (uint32_t i = keeps_own; i < trace->count; i++) {
        const cx_region_frame *frame = &trace->frames[i];
        if (frame->module == own_module)
            return true;
        if (frame->module < CX_REGION_MODULES &&
            strstr(cx_region_here->paths[frame->module], "libcuda.so") != NULL)
            return true;
    }
    return false;
}
