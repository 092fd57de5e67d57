/* The answers of txq and suq. */
#include "ptx/texture.h"

/* The numbers are those of OpenCL, which PTX takes. */
static uint32_t channel_type_of(const cx_ptx_texture *texture)
{
    static const uint32_t integers[] = {
        [CX_PTX_CHANNEL_U8] = 0x10da,   [CX_PTX_CHANNEL_U16] = 0x10db,
        [CX_PTX_CHANNEL_U32] = 0x10dc,  [CX_PTX_CHANNEL_S8] = 0x10d7,
        [CX_PTX_CHANNEL_S16] = 0x10d8,  [CX_PTX_CHANNEL_S32] = 0x10d9,
        [CX_PTX_CHANNEL_HALF] = 0x10dd, [CX_PTX_CHANNEL_FLOAT] = 0x10de};
    static const uint32_t numbers[] = {[CX_PTX_CHANNEL_U8] = 0x10d2,
                                       [CX_PTX_CHANNEL_U16] = 0x10d3,
                                       [CX_PTX_CHANNEL_S8] = 0x10d0,
                                       [CX_PTX_CHANNEL_S16] = 0x10d1};

    return texture->as_numbers ? numbers[texture->channel] : integers[texture->channel];
}

static uint32_t channel_order_of(const cx_ptx_texture *texture)
{
    return texture->channels == 1 ? 0x10b0 : texture->channels == 2 ? 0x10b2 : 0x10b5;
}

uint32_t cx_ptx_texture_ask(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                            uint32_t number)
{
    uint32_t from = texture->first_level + number;

    switch ((cx_ptx_texture_query)code->part) {
    case CX_PTX_QUERY_WIDTH:
        return cx_ptx_level_size(texture->width, from);
    case CX_PTX_QUERY_HEIGHT:
        return cx_ptx_level_size(texture->height, from);
    case CX_PTX_QUERY_DEPTH:
        return cx_ptx_level_size(texture->depth, from);
    case CX_PTX_QUERY_CHANNEL_TYPE:
        return channel_type_of(texture);
    case CX_PTX_QUERY_CHANNEL_ORDER:
        return channel_order_of(texture);
    case CX_PTX_QUERY_NORMALIZED:
        return texture->normalized;
    case CX_PTX_QUERY_FILTER:
        return texture->filters;
    case CX_PTX_QUERY_ADDRESS_0:
    case CX_PTX_QUERY_ADDRESS_1:
    case CX_PTX_QUERY_ADDRESS_2:
        return texture->address_mode[code->part - CX_PTX_QUERY_ADDRESS_0];
    case CX_PTX_QUERY_LAYERS:
        return texture->layered
                   ? (texture->last_layer - texture->first_layer + 1) /
                         (texture->cube ? CX_PTX_CUBE_FACES : 1)
                   : 0;
    case CX_PTX_QUERY_LEVELS:
        return texture->last_level - texture->first_level + 1;
    case CX_PTX_QUERY_SAMPLES:
        return 1;
    default:
        return 0;
    }
}
