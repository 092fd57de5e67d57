#include "memory/pointer.h"

#include "base/error.h"
#include "memory/diagnosis.h"
#include "memory/address_index.h"
#include <stdio.h>

_Atomic bool cx_diagnosis_narrows;

static cxu_result ask_attribute(const cx_driver *driver, cxu_pointer_attribute attribute,
                                const void *pointer, void *out_value)
{
    return driver->table.pointer_get_attribute(out_value, attribute, (uintptr_t)pointer);
}

/* An attribute that the driver or this memory lacks keeps its initial value. */
static ctxrt_status ask(const cx_driver *driver, cxu_pointer_attribute attribute,
                        const void *pointer, void *out_value)
{
    cxu_result result = ask_attribute(driver, attribute, pointer, out_value);
    return result == CXU_SUCCESS || result == CXU_INVALID_VALUE || result == CXU_NOT_SUPPORTED
               ? CTXRT_SUCCESS
               : cx_driver_error(driver, CX_SLOT_pointer_get_attribute, result);
}

static ctxrt_status describe_pointer(cx_driver *driver, const void *pointer, unsigned int type,
                                     cx_pointer_view *out_view)
{
    unsigned int managed = 0;
    int ordinal = -1;
    CUcontext owner = NULL;
    ctxrt_status status = ask(driver, CXU_POINTER_IS_MANAGED, pointer, &managed);
    if (status == CTXRT_SUCCESS)
        status = ask(driver, CXU_POINTER_DEVICE_ORDINAL, pointer, &ordinal);
    if (status == CTXRT_SUCCESS)
        status = ask(driver, CXU_POINTER_CONTEXT, pointer, &owner);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_view = (cx_pointer_view){
        .driver = driver,
        .kind = managed                       ? CTXRT_MEMORY_MANAGED
                : type == CXU_MEMORYTYPE_HOST ? CTXRT_MEMORY_PINNED
                                              : CTXRT_MEMORY_DEVICE,
        .device = cx_device_of_native(driver, ordinal),
        .owner = owner,
    };
    return CTXRT_SUCCESS;
}

static void describe_own(cx_pointer_view *view)
{
    const cx_context *context = view->block.context;
    view->driver = context->driver;
    view->kind = view->block.kind;
    view->device = context->device;
    view->owner = context->native;
}

static ctxrt_status ask_drivers(const void *pointer, cx_pointer_view *out_view)
{
    for (int i = cx_driver_count() - 1; i >= 0; i--) {
        unsigned int type = 0;
        cx_driver *driver = &cx_drivers[i];
        if (!driver->loaded)
            continue;
        ctxrt_status status = ask(driver, CXU_POINTER_MEMORY_TYPE, pointer, &type);
        if (status != CTXRT_SUCCESS || type != 0)
            return status == CTXRT_SUCCESS ? describe_pointer(driver, pointer, type, out_view)
                                           : status;
    }
    return CTXRT_SUCCESS;
}

/* True if past memory was handed out again between the two lookups. */
static bool is_ours_by_now(const void *pointer)
{
    cx_pointer_block block;
    cx_pointers_find(pointer, &block);
    return block.state == CX_POINTER_LIVE || block.state == CX_POINTER_FREED;
}

ctxrt_status cx_pointer_look(const void *pointer, size_t bytes, cx_pointer_view *out_view)
{
    out_view->driver = NULL;
    out_view->device = NULL;
    out_view->owner = NULL;
    out_view->kind = CTXRT_MEMORY_DEVICE;
    if (pointer == NULL) {
        out_view->block = (cx_pointer_block){.state = CX_POINTER_UNKNOWN};
        return CTXRT_SUCCESS;
    }
    uint64_t changes = cx_ranges_changes();
    cx_pointers_find(pointer, &out_view->block);
    if (out_view->block.state == CX_POINTER_LIVE) {
        describe_own(out_view);
        if (__builtin_expect(atomic_load_explicit(&cx_diagnosis_narrows, memory_order_relaxed), 0))
            cx_diagnosis_hook.narrow(pointer, &out_view->block);
        return CTXRT_SUCCESS;
    }
    if (out_view->block.state == CX_POINTER_FREED)
        return CTXRT_SUCCESS;
    ctxrt_status status = ask_drivers(pointer, out_view);
    if (status != CTXRT_SUCCESS || out_view->driver != NULL)
        return status;
    if (cx_freed_ranges_find(pointer, bytes, &out_view->past))
        out_view->block.state = CX_POINTER_PAST;
    else if (cx_ranges_changes() != changes && is_ours_by_now(pointer))
        return cx_pointer_look(pointer, bytes, out_view);
    return status;
}

const char *cx_pointer_text(const cx_pointer_view *view)
{
    if (view->driver == NULL)
        return "known to no driver";
    if (view->kind == CTXRT_MEMORY_PINNED)
        return "pinned host memory";
    if (view->kind == CTXRT_MEMORY_MANAGED)
        return "managed memory";
    char *text = cx_thread_name_buffer();
    if (text == NULL)
        return "memory of a device";
    snprintf(text, CX_THREAD_NAME, "memory of %s",
             view->device != NULL ? cx_device_text(view->device->id) : "an unknown device");
    return text;
}

ctxrt_status cx_pointer_context(const cx_pointer_view *view, cx_context **out_context)
{
    ctxrt_context *handle;
    if (view->owner != NULL)
        return cx_context_adopt(view->driver, view->owner, out_context, &handle);
    if (view->device != NULL)
        return cx_context_primary(view->device, out_context);
    return cx_error(CTXRT_ERROR_INVALID_DEVICE,
                    "the memory is of a device that ctxrt does not list");
}

/* ---- refusing ---- */

static const char *kind_text(ctxrt_memory_kind kind, ctxrt_device device)
{
    const char *noun = kind == CTXRT_MEMORY_PINNED    ? "pinned memory"
                       : kind == CTXRT_MEMORY_MANAGED ? "managed memory"
                                                      : "memory";
    char *text = cx_thread_name_buffer();
    if (text == NULL)
        return noun;
    snprintf(text, CX_THREAD_NAME, "%s of %s", noun, cx_device_text(device));
    return text;
}

static ctxrt_device device_of(const cx_pointer_view *view)
{
    return cx_block_device(view->block.context);
}

static ctxrt_status refuse_past(const char *call, const char *noun, const void *pointer,
                                const cx_freed_range *past)
{
    static const char *const how[] = {
        [CX_FREED_BY_USER] = "which was freed",
        [CX_FREED_WHEN_UNUSED] = "which was freed and given back to the driver",
        [CX_FREED_BY_RESET] = "which went with a reset of the device",
    };
    if (past->how == CX_FREED_LONG_AGO)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: the %s %p is in no memory, and was perhaps in some that was freed",
                        call, noun, pointer);
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "%s: the %s %p was in %zu bytes of %s, %s", call, noun, pointer,
                    past->size_bytes, kind_text(past->kind, past->device), how[past->how]);
}

static ctxrt_status refuse_freed(const char *call, const char *noun, const void *pointer,
                                 const cx_pointer_view *view)
{
    const char *text = kind_text(view->block.kind, device_of(view));
    if (view->block.size_bytes == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the %s %p was %s, which was freed",
                        call, noun, pointer, text);
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "%s: the %s %p was %s, %zu bytes, which were freed", call, noun, pointer, text,
                    view->block.size_bytes);
}

static ctxrt_status refuse_beyond(const char *call, const char *noun, const void *pointer,
                                  size_t bytes, const cx_pointer_view *view)
{
    char place[256] = "";
    const cx_pointer_block *block = &view->block;
    if (block->cached != 0)
        cx_diagnosis_hook.origin_text(block->cached, place, sizeof place);
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "%s: %zu bytes at the %s %p are beyond its memory: %zu bytes of %s at %p%s%s",
                    call, bytes, noun, pointer, block->size_bytes,
                    cx_pointer_text(view), (void *)block->begin,
                    place[0] != '\0' ? ", allocated in " : "", place);
}

__attribute__((cold, noinline)) static ctxrt_status refuse_bytes(const char *call, const char *noun,
                                                                 const void *pointer, size_t bytes,
                                                                 const cx_pointer_view *view)
{
    if (view->block.state == CX_POINTER_FREED)
        return refuse_freed(call, noun, pointer, view);
    if (view->block.state == CX_POINTER_PAST)
        return refuse_past(call, noun, pointer, &view->past);
    return refuse_beyond(call, noun, pointer, bytes, view);
}

ctxrt_status cx_pointer_check(const char *call, const char *noun, const void *pointer, size_t bytes,
                              const cx_pointer_view *view)
{
    const cx_pointer_block *block = &view->block;
    uintptr_t offset = (uintptr_t)pointer - block->begin;
    bool live = block->state == CX_POINTER_LIVE || block->state == CX_POINTER_CUSTOM;
    bool fits = offset <= block->size_bytes && bytes <= block->size_bytes - offset;
    return block->state == CX_POINTER_UNKNOWN || (live && fits)
               ? CTXRT_SUCCESS
               : refuse_bytes(call, noun, pointer, bytes, view);
}

/* ---- asking the drivers ---- */

/* A block may be gone without ctxrt: other code may have destroyed or reset its context. */
static ctxrt_status ask_if_known(const void *pointer, const cx_pointer_view *view, bool *out_known)
{
    unsigned int type = 0;
    const cx_pointer_block *block = &view->block;
    *out_known = false;
    if (view->driver == NULL || (block->state != CX_POINTER_UNKNOWN &&
                                 (uintptr_t)pointer - block->begin >= block->size_bytes))
        return CTXRT_SUCCESS;
    ctxrt_status status = ask(view->driver, CXU_POINTER_MEMORY_TYPE, pointer, &type);
    *out_known = status == CTXRT_SUCCESS && type != 0;
    return status;
}

/* The allocation of an address that the driver knows. */
static ctxrt_status find_range(const void *pointer, const cx_pointer_view *view,
                               CUdeviceptr *out_base, size_t *out_bytes)
{
    *out_base = view->block.begin;
    *out_bytes = view->block.size_bytes;
    if (view->block.state != CX_POINTER_UNKNOWN)
        return CTXRT_SUCCESS;
    ctxrt_status status = ask(view->driver, CXU_POINTER_RANGE_START_ADDR, pointer, out_base);
    return status == CTXRT_SUCCESS
               ? ask(view->driver, CXU_POINTER_RANGE_SIZE, pointer, out_bytes)
               : status;
}

ctxrt_status ctxrt_pointer_query(const void *pointer, ctxrt_pointer_info *out_info)
{
    bool known;
    CUdeviceptr base;
    size_t size_bytes;
    cx_pointer_view view;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_pointer_query: out_info is NULL");
    status = cx_pointer_look(pointer, 1, &view);
    if (status == CTXRT_SUCCESS)
        status = ask_if_known(pointer, &view, &known);
    if (status == CTXRT_SUCCESS && !known) {
        *out_info = (ctxrt_pointer_info){0};
        return CTXRT_SUCCESS;
    }
    if (status == CTXRT_SUCCESS)
        status = find_range(pointer, &view, &base, &size_bytes);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_info = (ctxrt_pointer_info){
        .known = 1,
        .kind = view.kind,
        .device =
            view.device != NULL ? view.device->id : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .base = (void *)(uintptr_t)base,
        .size_bytes = size_bytes,
    };
    return CTXRT_SUCCESS;
}
