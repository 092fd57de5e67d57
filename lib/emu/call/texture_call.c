/* Calls on texture and surface objects. */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/memory/texture.h"

static cxu_result create_object(const char *call, unsigned long long *out_object,
                                const cx_emu_texture_request *request)
{
    cx_emu_context *context;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS && (out_object == NULL || request->resource == NULL))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        result = cx_emu_texture_create(call, context, request, out_object);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result destroy_object(unsigned long long object, bool is_surface)
{
    cx_emu_texture *texture;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_texture_find(object, is_surface, &texture);
    if (result == CXU_SUCCESS)
        cx_emu_texture_destroy(texture);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Copies an object, as it is now. */
static cxu_result read_object(unsigned long long object, bool is_surface, const void *out,
                              cx_emu_texture *out_copy)
{
    cx_emu_texture *texture;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_texture_find(object, is_surface, &texture);
    if (result == CXU_SUCCESS)
        *out_copy = *texture;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_tex_object_create(cxu_texture_object *out_object,
                                         const cxu_resource_descriptor *resource,
                                         const cxu_texture_descriptor *texture,
                                         const cxu_resource_view_descriptor *view)
{
    const cx_emu_texture_request request = {resource, texture, view};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return texture != NULL ? create_object("cuTexObjectCreate", out_object, &request)
                           : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_tex_object_destroy(cxu_texture_object object)
{
    return destroy_object(object, false);
}

cxu_result cx_emu_call_tex_object_get_resource_desc(cxu_resource_descriptor *out_resource,
                                                    cxu_texture_object object)
{
    cx_emu_texture found;
    cxu_result result = read_object(object, false, out_resource, &found);

    if (result == CXU_SUCCESS)
        *out_resource = found.resource;
    return result;
}

cxu_result cx_emu_call_tex_object_get_texture_desc(cxu_texture_descriptor *out_texture,
                                                   cxu_texture_object object)
{
    cx_emu_texture found;
    cxu_result result = read_object(object, false, out_texture, &found);

    if (result == CXU_SUCCESS)
        *out_texture = found.texture;
    return result;
}

/* An object without a view has none to tell. */
cxu_result cx_emu_call_tex_object_get_resource_view_desc(cxu_resource_view_descriptor *out_view,
                                                         cxu_texture_object object)
{
    cx_emu_texture found;
    cxu_result result = read_object(object, false, out_view, &found);

    if (result == CXU_SUCCESS && !found.has_view)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_view = found.view;
    return result;
}

cxu_result cx_emu_call_surf_object_create(cxu_surface_object *out_object,
                                          const cxu_resource_descriptor *resource)
{
    const cx_emu_texture_request request = {.resource = resource};
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? create_object("cuSurfObjectCreate", out_object, &request)
                                 : result;
}

cxu_result cx_emu_call_surf_object_destroy(cxu_surface_object object)
{
    return destroy_object(object, true);
}

cxu_result cx_emu_call_surf_object_get_resource_desc(cxu_resource_descriptor *out_resource,
                                                     cxu_surface_object object)
{
    cx_emu_texture found;
    cxu_result result = read_object(object, true, out_resource, &found);

    if (result == CXU_SUCCESS)
        *out_resource = found.resource;
    return result;
}
