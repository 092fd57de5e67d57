/* Operations that have to do with memory: allocating, allocators, copies, fills. */
#include "operations.h"

#include <stdlib.h>

/* ---- memory ---- */

static ctxrt_status alloc(stage *self)
{
    return ctxrt_memory_alloc(BYTES, &self->out.memory);
}

static ctxrt_status alloc_pinned(stage *self)
{
    return ctxrt_memory_alloc_pinned(BYTES, &self->out.memory);
}

static ctxrt_status alloc_on(stage *self)
{
    return ctxrt_memory_alloc_on(self->created, BYTES, &self->out.memory);
}

static ctxrt_status alloc_pinned_on(stage *self)
{
    return ctxrt_memory_alloc_pinned_on(self->created, BYTES, &self->out.memory);
}

/* The memory is not mapped. */
static ctxrt_status export_mapped(stage *self)
{
    int files[1];
    ctxrt_exported_mapping mapping;
    return ctxrt_memory_export_mapped(self->objects[THERE].memory, 1, files, &mapping) ==
                   CTXRT_ERROR_INVALID_ARGUMENT
               ? CTXRT_SUCCESS
               : CTXRT_ERROR_DRIVER;
}

/* The file is none of memory. */
static ctxrt_status import_mapped(stage *self)
{
    static const int files[1] = {-1};
    static const ctxrt_exported_mapping mapping = {BYTES, BYTES, 1};
    return ctxrt_memory_import_mapped(&mapping, files, &self->out.memory) == CTXRT_ERROR_DRIVER
               ? CTXRT_SUCCESS
               : CTXRT_ERROR_DRIVER;
}

static ctxrt_status alloc_raw_on(stage *self)
{
    return ctxrt_alloc_on(self->held, BYTES, &self->out.raw);
}

static ctxrt_status alloc_at(stage *self)
{
    return ctxrt_memory_alloc_at(BYTES, "x.c", 1, &self->out.memory);
}

static ctxrt_status alloc_pinned_at(stage *self)
{
    return ctxrt_memory_alloc_pinned_at(BYTES, "x.c", 2, &self->out.memory);
}

static ctxrt_status release_memory(stage *self)
{
    return ctxrt_memory_release(self->objects[THERE].memory);
}

static void memory_released(stage *self)
{
    self->objects[THERE].memory = NULL;
}

static ctxrt_status release_pinned(stage *self)
{
    return ctxrt_memory_release(self->pinned);
}

static void pinned_released(stage *self)
{
    self->pinned = NULL;
}

static ctxrt_status record_use(stage *self)
{
    return ctxrt_memory_record_stream(self->objects[THERE].memory, self->objects[HERE].stream);
}

static ctxrt_status export_memory(stage *self)
{
    ctxrt_exported_memory exported;
    ctxrt_status status = ctxrt_memory_export(self->objects[THERE].memory, &exported);
    bool refused = status == CTXRT_ERROR_NOT_SUPPORTED || status == CTXRT_ERROR_INVALID_ARGUMENT;
    return refused ? CTXRT_SUCCESS : status;
}

static ctxrt_status import_memory(stage *self)
{
    static const ctxrt_exported_memory exported = {.size_bytes = BYTES};
    /* No process exported this. */
    return ctxrt_memory_import(&exported, &self->out.memory) == CTXRT_ERROR_DRIVER &&
                   ctxrt_last_error()->driver_result == 400 /* INVALID_HANDLE */
               ? CTXRT_SUCCESS
               : CTXRT_ERROR_DRIVER;
}

static ctxrt_status import_from_pool(stage *self)
{
    static const ctxrt_exported_memory exported = {.size_bytes = BYTES};
    struct CUmemPoolHandle_st *none = (void *)self->host;
    return ctxrt_memory_import_from_pool(none, &exported, &self->out.memory) ==
                       CTXRT_ERROR_DRIVER &&
                   ctxrt_last_error()->driver_result == 1 /* INVALID_VALUE */
               ? CTXRT_SUCCESS
               : CTXRT_ERROR_DRIVER;
}

static ctxrt_status alloc_raw(stage *self)
{
    return ctxrt_alloc(BYTES, &self->out.raw);
}

static ctxrt_status alloc_raw_at(stage *self)
{
    return ctxrt_alloc_at(BYTES, "x.c", 3, &self->out.raw);
}

static ctxrt_status alloc_async(stage *self)
{
    return ctxrt_alloc_async(BYTES, NULL, &self->out.raw);
}

static ctxrt_status alloc_managed(stage *self)
{
    return ctxrt_alloc_managed(BYTES, &self->out.raw);
}

static ctxrt_status alloc_direct(stage *self)
{
    return ctxrt_alloc_direct(BYTES, &self->out.raw);
}

static ctxrt_status alloc_raw_pinned(stage *self)
{
    return ctxrt_alloc_pinned(BYTES, &self->out.raw);
}

static ctxrt_status free_raw(stage *self)
{
    return ctxrt_free(self->objects[THERE].raw);
}

static void raw_freed(stage *self)
{
    self->objects[THERE].raw = NULL;
}

static ctxrt_status free_async(stage *self)
{
    return ctxrt_free_async(self->objects[THERE].raw_async, self->objects[THERE].stream);
}

static ctxrt_status free_async_at_once(stage *self)
{
    return ctxrt_free(self->objects[THERE].raw_async);
}

/* What the driver refused to free would outlive its context, and the stage. */
static void raw_async_freed_at_once(stage *self)
{
    (void)faults_beneath()->mem_free((uintptr_t)self->objects[THERE].raw_async);
    self->objects[THERE].raw_async = NULL;
}

/* What the driver refused to free in the order of a stream can still be given up. */
static void raw_async_freed(stage *self)
{
    ctxrt_status gone = ctxrt_free(self->objects[THERE].raw_async);
    (void)gone;
    self->objects[THERE].raw_async = NULL;
}

static ctxrt_status register_host(stage *self)
{
    ctxrt_status status = ctxrt_host_register(self->more, BYTES);
    self->out.registered = status == CTXRT_SUCCESS;
    return status;
}

static ctxrt_status unregister_host(stage *self)
{
    return ctxrt_host_unregister(self->host);
}

static void host_unregistered(stage *self)
{
    self->registered = false;
}

static ctxrt_status query_pointer(stage *self)
{
    ctxrt_pointer_info info;
    return ctxrt_pointer_query(self->objects[THERE].raw, &info);
}

static ctxrt_status create_allocator(stage *self)
{
    return ctxrt_allocator_create(NULL, &self->out.allocator);
}

static ctxrt_status custom_alloc(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                                 void **out_pointer)
{
    (void)user_data, (void)stream, (void)size_bytes, (void)out_pointer;
    return CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status custom_free(void *user_data, void *pointer, size_t size_bytes)
{
    (void)user_data, (void)pointer, (void)size_bytes;
    return CTXRT_SUCCESS;
}

static ctxrt_status create_custom(stage *self)
{
    static const ctxrt_allocator_vtable vtable = {sizeof vtable, custom_alloc, custom_free, NULL};
    return ctxrt_allocator_create_custom(&vtable, NULL, &self->out.allocator);
}

static ctxrt_status destroy_allocator(stage *self)
{
    return ctxrt_allocator_destroy(self->objects[THERE].allocator);
}

static void allocator_destroyed(stage *self)
{
    self->objects[THERE].allocator = NULL;
}

static ctxrt_status trim(stage *self)
{
    uint64_t released;
    return ctxrt_allocator_trim(self->objects[THERE].allocator, &released);
}

/* An allocator in debug mode for the length of the operation. */
static ctxrt_status check_allocator(stage *self)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    (void)self;
    debug.flags = CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON;
    options.debug = &debug;
    ctxrt_status status = ctxrt_allocator_create(&options, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ctxrt_allocator_check(allocator);
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status ended = ctxrt_allocator_destroy(allocator);
    cx_error_restore(&saved);
    return status != CTXRT_SUCCESS ? status : ended;
}

static ctxrt_status set_debug(stage *self)
{
    const ctxrt_allocator_debug none = CTXRT_ALLOCATOR_DEBUG_INIT;
    return ctxrt_allocator_set_debug(self->guarded, &none);
}

static ctxrt_status current_allocator(stage *self)
{
    ctxrt_allocator *allocator;
    (void)self;
    return ctxrt_allocator_current(&allocator);
}

static ctxrt_status pinned_allocator(stage *self)
{
    ctxrt_allocator *allocator;
    (void)self;
    return ctxrt_allocator_pinned(&allocator);
}

static ctxrt_status direct_allocator(stage *self)
{
    ctxrt_allocator *allocator;
    (void)self;
    return ctxrt_allocator_direct(&allocator);
}

/* ---- copies and fills ---- */

static ctxrt_status copy_in(stage *self)
{
    return ctxrt_copy(self->objects[HERE].raw, self->host, BYTES, CTXRT_COPY_ANY);
}

static ctxrt_status copy_out(stage *self)
{
    return ctxrt_copy(self->host, self->objects[THERE].raw, BYTES, CTXRT_COPY_ANY);
}

static ctxrt_status copy_across(stage *self)
{
    return ctxrt_copy(self->objects[HERE].raw, self->objects[THERE].raw, BYTES,
                      CTXRT_COPY_DEVICE_TO_DEVICE);
}

static ctxrt_status copy_async(stage *self)
{
    return ctxrt_copy_async(self->objects[HERE].raw, self->host, BYTES, CTXRT_COPY_ANY,
                            self->objects[THERE].stream);
}

static ctxrt_status copy_peer(stage *self)
{
    return ctxrt_copy_peer(self->objects[HERE].raw, CTXRT_CUDA(HERE_DEVICE),
                           self->objects[THERE].raw, CTXRT_CUDA(THERE_DEVICE), BYTES, NULL);
}

static ctxrt_copy_region region_of(stage *self)
{
    return (ctxrt_copy_region){
        .destination = self->objects[HERE].raw,
        .destination_pitch_bytes = 64,
        .destination_slice_height = 8,
        .source = self->host,
        .source_pitch_bytes = 64,
        .source_slice_height = 8,
        .width_bytes = 32,
        .height = 8,
        .depth = 1,
    };
}

static ctxrt_status copy_2d(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_2d(&region);
}

static ctxrt_status copy_2d_async(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_2d_async(&region, self->objects[THERE].stream);
}

static ctxrt_status copy_3d(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_3d(&region);
}

static ctxrt_status copy_3d_async(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_3d_async(&region, self->objects[THERE].stream);
}

static ctxrt_status fill(stage *self)
{
    return ctxrt_fill(self->objects[THERE].raw, 7, BYTES);
}

static ctxrt_status fill_async(stage *self)
{
    return ctxrt_fill_async(self->objects[HERE].raw, 7, BYTES, self->objects[THERE].stream);
}

static ctxrt_status fill32(stage *self)
{
    return ctxrt_fill32(self->objects[THERE].raw, 7, BYTES / 4);
}

static ctxrt_status fill32_async(stage *self)
{
    return ctxrt_fill32_async(self->objects[HERE].raw, 7, BYTES / 4, self->objects[THERE].stream);
}

static ctxrt_status create_from_pool(stage *self)
{
    return ctxrt_allocator_create_from_pool(NULL, &self->out.allocator);
}

static const operation operations[] = {
    {"ctxrt_memory_alloc", ON_FRAMES, alloc, NULL, false, false},
    {"ctxrt_memory_alloc_pinned", ON_FRAMES, alloc_pinned, NULL, false, false},
    {"ctxrt_memory_alloc_on", ON_ANY, alloc_on, NULL, false, false},
    {"ctxrt_memory_alloc_pinned_on", ON_ANY, alloc_pinned_on, NULL, false, false},
    {"ctxrt_alloc_on", ON_ANY, alloc_raw_on, NULL, false, false},
    {"ctxrt_memory_alloc_at", ON_FRAMES, alloc_at, NULL, false, false},
    {"ctxrt_memory_alloc_pinned_at", ON_FRAMES, alloc_pinned_at, NULL, false, false},
    {"ctxrt_alloc_at", ON_FRAMES, alloc_raw_at, NULL, false, false},
    {"ctxrt_memory_release", ON_ANY, release_memory, memory_released, false, true},
    {"ctxrt_memory_release, pinned", ON_ANY, release_pinned, pinned_released, false, true},
    {"ctxrt_memory_record_stream", ON_ANY, record_use, NULL, false, false},
    {"ctxrt_memory_export", ON_ANY, export_memory, NULL, false, false},
    {"ctxrt_memory_import", ON_FRAMES, import_memory, NULL, false, false},
    {"ctxrt_memory_import_from_pool", ON_FRAMES, import_from_pool, NULL, false, false},
    {"ctxrt_memory_export_mapped", ON_ANY, export_mapped, NULL, false, false},
    {"ctxrt_memory_import_mapped", ON_FRAMES, import_mapped, NULL, false, false},
    {"ctxrt_alloc", ON_FRAMES, alloc_raw, NULL, false, false},
    {"ctxrt_alloc_async", ON_FRAMES, alloc_async, NULL, false, false},
    {"ctxrt_alloc_managed", ON_FRAMES, alloc_managed, NULL, false, false},
    {"ctxrt_alloc_direct", ON_FRAMES, alloc_direct, NULL, false, false},
    {"ctxrt_alloc_pinned", ON_FRAMES, alloc_raw_pinned, NULL, false, false},
    {"ctxrt_free", ON_ANY, free_raw, raw_freed, false, true},
    {"ctxrt_free, of stream-ordered memory", ON_ANY, free_async_at_once, raw_async_freed_at_once,
     false, true},
    {"ctxrt_free_async", ON_ANY, free_async, raw_async_freed, false, true},
    {"ctxrt_host_register", ON_FRAMES, register_host, NULL, false, false},
    {"ctxrt_host_unregister", ON_ANY, unregister_host, host_unregistered, false, true},
    {"ctxrt_pointer_query", ON_ANY, query_pointer, NULL, false, false},
    {"ctxrt_allocator_create", ON_FRAMES, create_allocator, NULL, false, false},
    {"ctxrt_allocator_create_custom", ON_FRAMES, create_custom, NULL, false, false},
    {"ctxrt_allocator_create_from_pool", ON_FRAMES, create_from_pool, NULL, false, false},
    {"ctxrt_allocator_destroy", ON_ANY, destroy_allocator, allocator_destroyed, false, true},
    {"ctxrt_allocator_trim", ON_ANY, trim, NULL, false, false},
    {"ctxrt_allocator_check", ON_FRAMES, check_allocator, NULL, false, false},
    {"ctxrt_allocator_set_debug", ON_ANY, set_debug, NULL, false, false},
    {"ctxrt_allocator_current", ON_FRAMES, current_allocator, NULL, false, false},
    {"ctxrt_allocator_pinned", ON_FRAMES, pinned_allocator, NULL, false, false},
    {"ctxrt_allocator_direct", ON_FRAMES, direct_allocator, NULL, false, false},
    {"ctxrt_copy, to the device", ON_FRAMES, copy_in, NULL, false, false},
    {"ctxrt_copy, from another device", ON_FRAMES, copy_out, NULL, false, false},
    {"ctxrt_copy, across devices", ON_FRAMES, copy_across, NULL, false, false},
    {"ctxrt_copy_async, in another context's stream", ON_ANY, copy_async, NULL, false, false},
    {"ctxrt_copy_peer", ON_FRAMES, copy_peer, NULL, false, false},
    {"ctxrt_copy_2d", ON_FRAMES, copy_2d, NULL, false, false},
    {"ctxrt_copy_2d_async", ON_ANY, copy_2d_async, NULL, false, false},
    {"ctxrt_copy_3d", ON_FRAMES, copy_3d, NULL, false, false},
    {"ctxrt_copy_3d_async", ON_ANY, copy_3d_async, NULL, false, false},
    {"ctxrt_fill", ON_FRAMES, fill, NULL, false, false},
    {"ctxrt_fill_async", ON_ANY, fill_async, NULL, false, false},
    {"ctxrt_fill32", ON_FRAMES, fill32, NULL, false, false},
    {"ctxrt_fill32_async", ON_ANY, fill32_async, NULL, false, false},
};

const operation_list memory_operations = {operations, sizeof operations / sizeof *operations};
