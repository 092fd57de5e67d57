/*
 * References to textures and surfaces: a module's .texref and .surfref. Calls bind memory to them,
 * and a launch reads by the bindings of its moment. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_TEXTURE_REFERENCE_H
#define CX_EMU_TEXTURE_REFERENCE_H

#include "emu/memory/texture.h"
#include "emu/module/module.h"

/* The object of a CUtexref, or of a CUsurfref. */
typedef struct cx_emu_texture_reference {
    cx_emu_handle_slot slot;
    cx_emu_module *module;
    size_t index; /* of its binding */
} cx_emu_texture_reference;

typedef struct cx_emu_binding {
    bool is_surface, is_bound;
    cxu_array_format format; /* of linear memory, whichever call comes first */
    unsigned int channels;
    cxu_resource_descriptor resource; /* where it is bound */
    cxu_texture_descriptor texture;
} cx_emu_binding;

/* The bindings of all references of a module: counted, as launches keep them, and constant while
 * there is more than one to keep them. */
struct cx_emu_bindings {
    int references;
    size_t count;
    cx_emu_binding each[];
};

/* False: out of memory; nothing is made. NULL is harmless for the other three. */
bool cx_emu_texture_references_make(cx_emu_module *module);
void cx_emu_texture_references_free(cx_emu_module *module);
void cx_emu_bindings_retain(cx_emu_bindings *bindings);
void cx_emu_bindings_drop(cx_emu_bindings *bindings);

/* CXU_NOT_FOUND. */
cxu_result cx_emu_texture_reference_named(const cx_emu_module *module, const char *name,
                                          bool is_surface, cx_emu_texture_reference **out_found);

/* CXU_INVALID_VALUE: there is none. Errors of its context. */
cxu_result cx_emu_texture_reference_find(const void *handle, bool is_surface,
                                         cx_emu_texture_reference **out_found);

const cx_emu_binding *cx_emu_texture_reference_binding(const cx_emu_texture_reference *reference);

/* A binding that may be changed: launches keep their own. NULL: out of memory. */
cx_emu_binding *cx_emu_texture_reference_change(cx_emu_texture_reference *reference);

/* What the binding names, with the format of linear memory. */
cxu_resource_descriptor cx_emu_binding_resource(const cx_emu_binding *binding);

/* As cx_emu_texture_describe. False: nothing is bound, too. `bindings` may be NULL. */
bool cx_emu_binding_describe(const cx_emu_bindings *bindings, size_t index, bool is_surface,
                             const cx_emu_context *context, cx_ptx_texture *out_description,
                             cx_emu_use *out_memory);

#endif
