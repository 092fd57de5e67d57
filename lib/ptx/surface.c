/* Accesses to surfaces: from coordinates to bytes, and values in the surface's format. */
#include "ptx/texture.h"

#include "ptx/minifloat.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* ---- places ---- */

/* Moves a coordinate into the surface. False: it is outside, and does not count as the edge. */
static bool settle(int64_t *at, int64_t size, uint8_t outside)
{
    if (*at >= 0 && *at < size)
        return true;
    *at = *at < 0 ? 0 : size - 1;
    return outside == CX_PTX_OUTSIDE_CLAMPS;
}

cx_ptx_surface_place cx_ptx_surface_find(const cx_ptx_texture *surface,
                                         const cx_ptx_texture_code *code, bool formatted,
                                         const uint32_t *inputs, unsigned char **out_memory)
{
    const unsigned element = cx_ptx_texture_element_bytes(surface);
    const unsigned access = formatted ? element : (unsigned)code->element_bytes * code->elements;
    const int64_t last = ((int64_t)surface->width * element - access) / access * access;
    bool layered = code->flags & CX_PTX_TEXTURE_LAYERED, found;
    int64_t layer = layered ? (int32_t)*inputs++ : 0, at[3] = {0, 0, 0};

    for (unsigned i = 0; i < code->coordinates; i++)
        at[i] = (int32_t)inputs[i];
    if (formatted)
        at[0] *= element;
    if (at[0] % access != 0)
        return CX_PTX_SURFACE_MISALIGNED;
    found = last >= 0 && settle(&at[0], last + access, code->outside);
    at[0] = at[0] > last ? last : at[0];
    found = settle(&at[1], surface->height, code->outside) && found;
    found = settle(&at[2], surface->depth, code->outside) && found;
    found = settle(&layer, surface->layers, code->outside) && found;
    if (!found)
        return code->outside == CX_PTX_OUTSIDE_IS_ZERO ? CX_PTX_SURFACE_NOWHERE
                                                       : CX_PTX_SURFACE_OUTSIDE;
    *out_memory = surface->memory +
                  ((uint64_t)(layer * surface->depth + at[2]) * surface->height + (uint64_t)at[1]) *
                      surface->pitch_bytes +
                  (uint64_t)at[0];
    return CX_PTX_SURFACE_FOUND;
}

/* ---- formats ---- */

static int64_t between(double value, double least, double most)
{
    return value != value ? 0 : (int64_t)(value < least ? least : value > most ? most : value);
}

static uint32_t number_as(const cx_ptx_texture *surface, float value)
{
    static const double mosts[] = {[CX_PTX_CHANNEL_U8] = 255,
                                   [CX_PTX_CHANNEL_U16] = 65535,
                                   [CX_PTX_CHANNEL_S8] = 127,
                                   [CX_PTX_CHANNEL_S16] = 32767};
    double most = mosts[surface->channel];
    bool is_signed = surface->channel >= CX_PTX_CHANNEL_S8;

    return (uint32_t)between(rint(value * most), is_signed ? -most : 0, most);
}

static uint32_t channel_of(const cx_ptx_texture *surface, uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    if (surface->as_numbers)
        return number_as(surface, value);
    switch (surface->channel) {
    case CX_PTX_CHANNEL_U8:
        return bits < 255 ? bits : 255;
    case CX_PTX_CHANNEL_U16:
        return bits < 65535 ? bits : 65535;
    case CX_PTX_CHANNEL_S8:
        return (uint32_t)between((int32_t)bits, -128, 127);
    case CX_PTX_CHANNEL_S16:
        return (uint32_t)between((int32_t)bits, -32768, 32767);
    case CX_PTX_CHANNEL_HALF:
        return cx_ptx_minifloat_of(&cx_ptx_f16, value, FE_TONEAREST);
    default:
        return bits;
    }
}

void cx_ptx_surface_write(const cx_ptx_texture *surface, unsigned char *element,
                          const uint32_t *values, unsigned count)
{
    const unsigned bytes = cx_ptx_texture_element_bytes(surface) / surface->channels;

    for (unsigned i = 0; i < surface->channels && i < count; i++) {
        uint32_t bits = channel_of(surface, values[i]);
        unsigned char *to = element + i * bytes;

        if (bytes == 1)
            __atomic_store_n(to, (uint8_t)bits, __ATOMIC_RELAXED);
        else if (bytes == 2)
            __atomic_store_n((uint16_t *)(void *)to, (uint16_t)bits, __ATOMIC_RELAXED);
        else
            __atomic_store_n((uint32_t *)(void *)to, bits, __ATOMIC_RELAXED);
    }
}
