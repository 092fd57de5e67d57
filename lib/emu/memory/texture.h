/*
 * Texture and surface objects: an array, or other memory, and how kernels read it. An object names
 * its memory and does not keep it. All functions: lock held.
 */
#ifndef CX_EMU_TEXTURE_H
#define CX_EMU_TEXTURE_H

#include "driver/cuda_abi_texture.h"
#include "emu/memory/array.h"
#include "ptx/texture.h"

/* A texture object, or a surface object, which has a resource only. */
typedef struct cx_emu_texture {
    cx_emu_handle_slot slot;
    bool is_surface;
    cx_emu_context *context;
    cxu_resource_descriptor resource;
    cxu_texture_descriptor texture;
    cxu_resource_view_descriptor view;
    bool has_view;
    uint64_t destroyed; /* users since then do not know it; 0: it lives */
    struct cx_emu_texture *previous, *next;
} cx_emu_texture;

/* Work that may use textures. An object that is destroyed serves the work that was there before, as
 * GPUs let it: FFmpeg destroys its objects right behind a launch. */
typedef struct cx_emu_texture_user {
    uint64_t since; /* 0: it is no user */
    struct cx_emu_texture_user *previous, *next;
} cx_emu_texture_user;

void cx_emu_texture_user_begin(cx_emu_texture_user *user);
void cx_emu_texture_user_end(cx_emu_texture_user *user);

/* A program gives these descriptors when it makes an object. */
typedef struct cx_emu_texture_request {
    const cxu_resource_descriptor *resource;
    const cxu_texture_descriptor *texture;    /* NULL: a surface */
    const cxu_resource_view_descriptor *view; /* or NULL */
} cx_emu_texture_request;

/* CXU_INVALID_VALUE; CXU_NOT_SUPPORTED, with a message that names `call`; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_texture_create(const char *call, cx_emu_context *context,
                                 const cx_emu_texture_request *request,
                                 unsigned long long *out_object);

/* CXU_INVALID_VALUE: there is none. */
cxu_result cx_emu_texture_find(unsigned long long object, bool is_surface,
                               cx_emu_texture **out_texture);
void cx_emu_texture_destroy(cx_emu_texture *texture);

/* Describes an object to a kernel of a context, and tells the memory that it reads. False: it is
 * none of the context's, or its memory is gone. */
bool cx_emu_texture_describe(unsigned long long object, bool is_surface,
                             const cx_emu_context *context, const cx_emu_texture_user *user,
                             cx_ptx_texture *out_description, cx_emu_use *out_memory);

/* The same of a resource and of how it is read; `texture` NULL: a surface. */
bool cx_emu_texture_describe_parts(const cxu_resource_descriptor *resource,
                                   const cxu_texture_descriptor *texture,
                                   const cx_emu_context *context,
                                   cx_ptx_texture *out_description, cx_emu_use *out_memory);

/* CXU_INVALID_VALUE: textures, or surfaces, of the context cannot have that resource. */
cxu_result cx_emu_texture_check_resource(const cx_emu_context *context,
                                         const cxu_resource_descriptor *resource,
                                         bool is_surface);

/* The objects of a context that is being closed become stale. */
void cx_emu_textures_release(const cx_emu_context *context);

#endif
