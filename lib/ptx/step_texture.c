/* Runs instructions on textures and surfaces, lane by lane. */
#include "ptx/step.h"
#include "ptx/texture.h"

#include <string.h>

/* The lanes of an instruction share this. */
typedef struct access {
    const cx_ptx_step *run;
    const cx_ptx_instruction *at;
    cx_ptx_texture_code code;
    cx_ptx_texture_fault *fault;
    cx_ptx_texel_watch watch;
} access;

static bool is_of_surface(uint8_t operation)
{
    return operation >= CX_PTX_SURFACE_LOAD;
}

/* ---- objects ---- */

/* The description of an object, which the grid keeps; NULL: there is no such object. */
static const cx_ptx_texture *find_object(cx_ptx_grid *grid, uint64_t handle, bool is_surface)
{
    const cx_ptx_environment *environment = grid->environment;
    uint64_t number = handle >> 6 ^ handle >> 12;
    cx_ptx_object *kept = &grid->objects[(number + is_surface) % CX_PTX_OBJECTS];

    if (kept->known && kept->handle == handle && kept->is_surface == is_surface)
        return &kept->texture;
    if (!environment->find_texture ||
        !environment->find_texture(environment->self, handle, is_surface, &kept->texture)) {
        kept->known = false;
        return NULL;
    }
    kept->known = true;
    kept->handle = handle;
    kept->is_surface = is_surface;
    return &kept->texture;
}

/* ---- faults ---- */

static cx_ptx_outcome fail(access *self, cx_ptx_outcome outcome, uint64_t handle)
{
    uint8_t operation = self->at->mode;

    *self->fault = (cx_ptx_texture_fault){
        .handle = handle,
        .object = is_of_surface(operation) ? "surface" : "texture",
        .writes = operation == CX_PTX_SURFACE_STORE || operation == CX_PTX_SURFACE_STORE_FORMATTED,
        .atomic = operation == CX_PTX_SURFACE_REDUCE};
    return outcome;
}

/* An access beyond a surface, which exists. */
static cx_ptx_outcome fail_at(access *self, cx_ptx_outcome outcome, uint64_t handle,
                              const cx_ptx_texture *surface, const uint32_t *inputs)
{
    cx_ptx_texture_fault *fault = self->fault;

    (void)fail(self, outcome, handle);
    if (self->code.flags & CX_PTX_TEXTURE_LAYERED)
        fault->place[2] = (int32_t)*inputs++;
    for (unsigned i = 0; i < self->code.coordinates; i++)
        fault->place[i] = (int32_t)inputs[i];
    fault->bytes = self->at->mode == CX_PTX_SURFACE_STORE_FORMATTED
                       ? cx_ptx_texture_element_bytes(surface)
                       : (unsigned)self->code.element_bytes * self->code.elements;
    fault->extent[0] = surface->width * cx_ptx_texture_element_bytes(surface);
    fault->extent[1] = surface->height;
    fault->extent[2] = surface->layered ? surface->layers : surface->depth;
    return outcome;
}

/* ---- accesses ---- */

static void note_read(void *watcher, const cx_ptx_texture *texture, const unsigned char *element,
                      unsigned bytes)
{
    const cx_ptx_environment *environment = watcher;
    const cx_ptx_touch touch = {.address = texture->address +
                                           (uint64_t)(element - texture->memory),
                                .memory = element,
                                .bytes = bytes};

    if (texture->address)
        environment->touched(environment->self, &touch);
}

static void load_bytes(const unsigned char *memory, unsigned bytes, unsigned count, uint32_t *out)
{
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *from = memory + i * bytes;

        if (bytes == 1) {
            out[i] = __atomic_load_n(from, __ATOMIC_RELAXED);
        } else if (bytes == 2) {
            out[i] = __atomic_load_n((const uint16_t *)(const void *)from, __ATOMIC_RELAXED);
        } else if (bytes == 4) {
            out[i] = __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_RELAXED);
        } else {
            uint64_t value =
                __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);

            out[2 * i] = (uint32_t)value;
            out[2 * i + 1] = (uint32_t)(value >> 32);
        }
    }
}

static void store_bytes(unsigned char *memory, unsigned bytes, unsigned count,
                        const uint32_t *values)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned char *to = memory + i * bytes;

        if (bytes == 1)
            __atomic_store_n(to, (uint8_t)values[i], __ATOMIC_RELAXED);
        else if (bytes == 2)
            __atomic_store_n((uint16_t *)(void *)to, (uint16_t)values[i], __ATOMIC_RELAXED);
        else if (bytes == 4)
            __atomic_store_n((uint32_t *)(void *)to, values[i], __ATOMIC_RELAXED);
        else
            __atomic_store_n((uint64_t *)(void *)to,
                             values[2 * i] | (uint64_t)values[2 * i + 1] << 32, __ATOMIC_RELAXED);
    }
}

static void reduce(const access *self, unsigned char *memory, const uint32_t *value)
{
    cx_ptx_instruction what = *self->at;
    uint64_t operand = value[0];

    what.op = CX_PTX_ATOMIC;
    what.mode = self->code.part;
    if (self->code.element_bytes == 8)
        operand |= (uint64_t)value[1] << 32;
    (void)cx_ptx_atomic_do(&what, memory, operand, 0, false);
}

static cx_ptx_outcome access_surface(access *self, uint64_t handle,
                                     const cx_ptx_texture *surface, const uint32_t *inputs,
                                     uint32_t *out)
{
    const cx_ptx_texture_code *code = &self->code;
    bool formatted = self->at->mode == CX_PTX_SURFACE_STORE_FORMATTED;
    const uint32_t *values =
        inputs + code->coordinates + ((code->flags & CX_PTX_TEXTURE_LAYERED) != 0);
    unsigned char *memory = NULL;

    switch (cx_ptx_surface_find(surface, code, formatted, inputs, &memory)) {
    case CX_PTX_SURFACE_FOUND:
        break;
    case CX_PTX_SURFACE_NOWHERE:
        return CX_PTX_DONE;
    case CX_PTX_SURFACE_OUTSIDE:
        return fail_at(self, CX_PTX_ILLEGAL_ADDRESS, handle, surface, inputs);
    default:
        return fail_at(self, CX_PTX_MISALIGNED_ADDRESS, handle, surface, inputs);
    }
    switch ((cx_ptx_texture_operation)self->at->mode) {
    case CX_PTX_SURFACE_LOAD:
        load_bytes(memory, code->element_bytes, code->elements, out);
        break;
    case CX_PTX_SURFACE_STORE:
        store_bytes(memory, code->element_bytes, code->elements, values);
        break;
    case CX_PTX_SURFACE_STORE_FORMATTED:
        cx_ptx_surface_write(surface, memory, values, code->elements);
        break;
    default:
        reduce(self, memory, values);
    }
    return CX_PTX_DONE;
}

static cx_ptx_outcome access_object(access *self, uint64_t handle, const uint32_t *inputs,
                                    uint32_t *out)
{
    const cx_ptx_texel_watch *watch = self->watch.self ? &self->watch : NULL;
    const cx_ptx_texture *object =
        find_object(self->run->grid, handle, is_of_surface(self->at->mode));

    if (self->at->mode == CX_PTX_TEXTURE_IS_TYPE || self->at->mode == CX_PTX_SURFACE_IS_TYPE) {
        out[0] = object != NULL;
        return CX_PTX_DONE;
    }
    if (!object)
        return fail(self, CX_PTX_ILLEGAL_ADDRESS, handle);
    switch ((cx_ptx_texture_operation)self->at->mode) {
    case CX_PTX_TEXTURE_FETCH:
        cx_ptx_texture_fetch(object, &self->code, inputs, watch, out);
        return CX_PTX_DONE;
    case CX_PTX_TEXTURE_GATHER:
        cx_ptx_texture_gather(object, &self->code, inputs, watch, out);
        return CX_PTX_DONE;
    case CX_PTX_TEXTURE_QUERY:
    case CX_PTX_SURFACE_QUERY:
        out[0] = cx_ptx_texture_ask(object, &self->code, self->code.level ? inputs[0] : 0);
        return CX_PTX_DONE;
    default:
        return access_surface(self, handle, object, inputs, out);
    }
}

static cx_ptx_outcome access_lane(access *self, uint32_t lane)
{
    const cx_ptx_rows *rows = &self->run->rows;
    uint32_t inputs[CX_PTX_TEXTURE_INPUTS_MAX] = {0}, out[CX_PTX_TEXTURE_RESULTS] = {0};
    cx_ptx_outcome outcome;

    for (uint32_t i = 0; i < self->code.inputs; i++)
        inputs[i] = (uint32_t)cx_ptx_get(rows, self->at->b + i * CX_PTX_WORDS_BYTES, lane);
    outcome = access_object(self, cx_ptx_get(rows, self->at->a, lane), inputs, out);
    for (uint32_t i = 0; i < CX_PTX_TEXTURE_RESULTS && outcome == CX_PTX_DONE; i++)
        cx_ptx_put(rows, self->at->d + i * CX_PTX_WORDS_BYTES, lane, out[i]);
    return outcome;
}

cx_ptx_outcome cx_ptx_step_texture(const cx_ptx_step *run, const cx_ptx_instruction *at,
                                   uint32_t *out_lane, cx_ptx_texture_fault *out_fault)
{
    const cx_ptx_environment *environment = run->grid->environment;
    access self = {.run = run, .at = at, .fault = out_fault};
    cx_ptx_outcome outcome = CX_PTX_DONE;

    memcpy(&self.code, &at->immediate, sizeof self.code);
    if (environment->touched)
        self.watch = (cx_ptx_texel_watch){note_read, (void *)environment};
    for (uint32_t left = run->active; left && outcome == CX_PTX_DONE; left &= left - 1) {
        *out_lane = (uint32_t)__builtin_ctz(left);
        outcome = access_lane(&self, *out_lane);
    }
    return outcome;
}
