#include "memory/pointer.h"

#include "base/error.h"
#include "memory/cache.h"
#include <stdio.h>

static cxu_result ask(const cx_driver *driver, cxu_pointer_attribute attribute, const void *pointer,
                      void *out_value)
{
    return driver->table.pointer_get_attribute(out_value, attribute, (uintptr_t)pointer);
}

/* Attributes that an older driver lacks, or that this memory has not, keep the value they are
 * given. */
static void describe(cx_driver *driver, const void *pointer, unsigned int type,
                     cx_pointer_view *out_view)
{
    unsigned int managed = 0;
    int ordinal = -1;
    CUcontext owner = NULL;
    (void)ask(driver, CXU_POINTER_IS_MANAGED, pointer, &managed);
    (void)ask(driver, CXU_POINTER_DEVICE_ORDINAL, pointer, &ordinal);
    (void)ask(driver, CXU_POINTER_CONTEXT, pointer, &owner);
    *out_view = (cx_pointer_view){
        .driver = driver,
        .kind = managed                       ? CTXRT_MEMORY_MANAGED
                : type == CXU_MEMORYTYPE_HOST ? CTXRT_MEMORY_PINNED
                                              : CTXRT_MEMORY_DEVICE,
        .device = cx_device_of_native(driver, ordinal),
        .owner = owner,
    };
}

ctxrt_status cx_pointer_look(const void *pointer, cx_pointer_view *out_view)
{
    *out_view = (cx_pointer_view){0};
    if (pointer == NULL)
        return CTXRT_SUCCESS;
    for (int i = cx_driver_count() - 1; i >= 0; i--) {
        unsigned int type = 0;
        cx_driver *driver = &cx_drivers[i];
        if (!driver->loaded)
            continue;
        cxu_result result = ask(driver, CXU_POINTER_MEMORY_TYPE, pointer, &type);
        if (result == CXU_SUCCESS && type != 0) {
            describe(driver, pointer, type, out_view);
            return CTXRT_SUCCESS;
        }
        if (result != CXU_SUCCESS && result != CXU_INVALID_VALUE)
            return cx_driver_error(driver, CX_SLOT_pointer_get_attribute, result);
    }
    return CTXRT_SUCCESS;
}

const char *cx_pointer_text(const cx_pointer_view *view)
{
    static _Thread_local char text[64];
    if (view->driver == NULL)
        return "known to no driver";
    if (view->kind == CTXRT_MEMORY_PINNED)
        return "pinned host memory";
    if (view->kind == CTXRT_MEMORY_MANAGED)
        return "managed memory";
    snprintf(text, sizeof text, "memory of %s",
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

ctxrt_status ctxrt_pointer_query(const void *pointer, ctxrt_pointer_info *out_info)
{
    cx_pointer_view view;
    CUdeviceptr base = 0;
    size_t size_bytes = 0;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_pointer_query: out_info is NULL");
    status = cx_pointer_look(pointer, &view);
    if (status != CTXRT_SUCCESS)
        return status;
    if (view.driver == NULL) {
        *out_info = (ctxrt_pointer_info){0};
        return CTXRT_SUCCESS;
    }
    void *piece;
    if (!cx_caches_find(pointer, &piece, &size_bytes)) {
        (void)ask(view.driver, CXU_POINTER_RANGE_START_ADDR, pointer, &base);
        (void)ask(view.driver, CXU_POINTER_RANGE_SIZE, pointer, &size_bytes);
    } else if (size_bytes != 0) {
        base = (uintptr_t)piece;
    } else {
        *out_info = (ctxrt_pointer_info){0};
        return CTXRT_SUCCESS;
    }
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
