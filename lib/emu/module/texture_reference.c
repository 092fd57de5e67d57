#include "emu/module/texture_reference.h"

#include "emu/device/sticky.h"
#include <stdlib.h>
#include <string.h>

static cx_emu_handles references = {.slot_bytes = sizeof(cx_emu_texture_reference)};

/* ---- making and destroying ---- */

static cx_emu_bindings *new_bindings(size_t count)
{
    cx_emu_bindings *made = calloc(1, sizeof *made + count * sizeof made->each[0]);

    if (made == NULL)
        return NULL;
    made->references = 1;
    made->count = count;
    return made;
}

void cx_emu_bindings_retain(cx_emu_bindings *bindings)
{
    if (bindings != NULL)
        bindings->references++;
}

void cx_emu_bindings_drop(cx_emu_bindings *bindings)
{
    if (bindings != NULL && --bindings->references == 0)
        free(bindings);
}

void cx_emu_texture_references_free(cx_emu_module *module)
{
    if (module->texture_references == NULL)
        return;
    for (size_t i = 0; i < module->bindings->count; i++)
        if (module->texture_references[i] != NULL)
            cx_emu_handle_return(&references, module->texture_references[i]);
    free(module->texture_references);
    cx_emu_bindings_drop(module->bindings);
    module->texture_references = NULL;
    module->bindings = NULL;
}

/* The documentation names no first values: one float, clamped, as nvcc's references begin. */
static cx_emu_binding first_binding(bool is_surface)
{
    return (cx_emu_binding){.is_surface = is_surface,
                            .format = CXU_AD_FORMAT_FLOAT,
                            .channels = 1,
                            .texture = {.address_mode = {CXU_TR_ADDRESS_MODE_CLAMP,
                                                         CXU_TR_ADDRESS_MODE_CLAMP,
                                                         CXU_TR_ADDRESS_MODE_CLAMP}}};
}

bool cx_emu_texture_references_make(cx_emu_module *module)
{
    const cx_ptx_module *ptx = module->code->ptx;
    size_t count = cx_ptx_reference_count(ptx);

    if (count == 0)
        return true;
    module->bindings = new_bindings(count);
    module->texture_references = calloc(count, sizeof(cx_emu_texture_reference *));
    if (module->bindings == NULL || module->texture_references == NULL) {
        cx_emu_bindings_drop(module->bindings);
        free(module->texture_references);
        module->texture_references = NULL;
        module->bindings = NULL;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        cx_emu_texture_reference *made = cx_emu_handle_take(&references);

        if (made == NULL) {
            cx_emu_texture_references_free(module);
            return false;
        }
        made->module = module;
        made->index = i;
        module->texture_references[i] = made;
        module->bindings->each[i] = first_binding(cx_ptx_reference_at(ptx, i)->is_surface);
    }
    return true;
}

/* ---- finding ---- */

cxu_result cx_emu_texture_reference_named(const cx_emu_module *module, const char *name,
                                          bool is_surface, cx_emu_texture_reference **out_found)
{
    for (size_t i = 0; i < cx_ptx_reference_count(module->code->ptx); i++) {
        const cx_ptx_reference *each = cx_ptx_reference_at(module->code->ptx, i);

        if (each->is_surface == is_surface && strcmp(each->name, name) == 0) {
            *out_found = module->texture_references[i];
            return CXU_SUCCESS;
        }
    }
    return CXU_NOT_FOUND;
}

const cx_emu_binding *cx_emu_texture_reference_binding(const cx_emu_texture_reference *reference)
{
    return &reference->module->bindings->each[reference->index];
}

cxu_result cx_emu_texture_reference_find(const void *handle, bool is_surface,
                                         cx_emu_texture_reference **out_found)
{
    cx_emu_texture_reference *found = (cx_emu_texture_reference *)(uintptr_t)handle;

    if (!cx_emu_handle_live(&references, found) ||
        cx_emu_texture_reference_binding(found)->is_surface != is_surface)
        return CXU_INVALID_VALUE;
    *out_found = found;
    return cx_emu_context_error(found->module->context);
}

/* ---- bindings ---- */

cx_emu_binding *cx_emu_texture_reference_change(cx_emu_texture_reference *reference)
{
    cx_emu_bindings *old = reference->module->bindings, *copy;

    if (old->references > 1) {
        copy = new_bindings(old->count);
        if (copy == NULL)
            return NULL;
        memcpy(copy->each, old->each, old->count * sizeof old->each[0]);
        cx_emu_bindings_drop(old);
        reference->module->bindings = copy;
    }
    return &reference->module->bindings->each[reference->index];
}

cxu_resource_descriptor cx_emu_binding_resource(const cx_emu_binding *binding)
{
    cxu_resource_descriptor resource = binding->resource;

    if (resource.type == CXU_RESOURCE_TYPE_LINEAR) {
        resource.of.linear.format = binding->format;
        resource.of.linear.channels = binding->channels;
    }
    return resource;
}

bool cx_emu_binding_describe(const cx_emu_bindings *bindings, size_t index, bool is_surface,
                             const cx_emu_context *context, cx_ptx_texture *out_description,
                             cx_emu_use *out_memory)
{
    const cx_emu_binding *binding;
    cxu_resource_descriptor resource;

    if (bindings == NULL || index >= bindings->count)
        return false;
    binding = &bindings->each[index];
    if (!binding->is_bound || binding->is_surface != is_surface)
        return false;
    resource = cx_emu_binding_resource(binding);
    if (!cx_emu_texture_describe_parts(&resource, is_surface ? NULL : &binding->texture, context,
                                       out_description, out_memory))
        return false;
    /* No call has seen the format and the filter together. */
    if (!cx_ptx_texture_gives_floats(out_description))
        out_description->filters = out_description->filters_mips = false;
    return true;
}
