/*
 * Textures and surfaces: what tex, tld4, txq, suld, sust, sured and suq read and write. The
 * launcher describes an object to the running grid, which keeps the description until the launch is
 * over.
 */
#ifndef CX_PTX_TEXTURE_H
#define CX_PTX_TEXTURE_H

#include "ptx/ptx.h"

typedef enum cx_ptx_channel {
    CX_PTX_CHANNEL_U8,
    CX_PTX_CHANNEL_U16,
    CX_PTX_CHANNEL_U32,
    CX_PTX_CHANNEL_S8,
    CX_PTX_CHANNEL_S16,
    CX_PTX_CHANNEL_S32,
    CX_PTX_CHANNEL_HALF,
    CX_PTX_CHANNEL_FLOAT
} cx_ptx_channel;

/* The mode tells which element a coordinate outside of the texture names. The numbers are the
 * driver's. */
typedef enum cx_ptx_address_mode {
    CX_PTX_ADDRESS_WRAP,
    CX_PTX_ADDRESS_CLAMP,
    CX_PTX_ADDRESS_MIRROR,
    CX_PTX_ADDRESS_BORDER
} cx_ptx_address_mode;

/* All sizes are of the whole array, levels and layers that the object leaves out included. */
struct cx_ptx_texture {
    unsigned char *memory; /* the first byte for the host */
    uint64_t address;      /* the same for kernels; 0: it is an array */
    uint64_t bytes;
    uint64_t pitch_bytes; /* of rows; levels of an array have tight ones */
    uint32_t width, height, depth; /* at least 1 */
    uint32_t layers;               /* at least 1 */
    uint32_t first_layer, last_layer;
    uint32_t first_level, last_level;
    cx_ptx_channel channel;
    uint8_t channels;
    bool layered, cube;
    bool is_linear;    /* memory of one row: it is not filtered, and is 0 outside */
    bool as_numbers;   /* integers become floats from 0 or -1 to 1 */
    bool srgb;         /* and then of a linear scale */
    bool normalized;   /* coordinates are from 0 to 1 */
    bool filters;      /* linearly; else the nearest */
    bool filters_mips; /* the same between levels */
    bool seamless;     /* filtering goes over the edges of a cube */
    uint8_t address_mode[3]; /* cx_ptx_address_mode */
    float level_bias, least_level, most_level;
    uint32_t border[4]; /* bits */
};

#define CX_PTX_CUBE_FACES 6

/* A side of that level of a texture with so many elements. */
static inline uint32_t cx_ptx_level_size(uint32_t size, uint32_t level)
{
    return level < 32 && size >> level ? size >> level : 1;
}

/* The bytes of an element; of a channel. */
unsigned cx_ptx_texture_element_bytes(const cx_ptx_texture *texture);

/* True if a fetch gives floats. */
static inline bool cx_ptx_texture_gives_floats(const cx_ptx_texture *texture)
{
    return texture->as_numbers || texture->channel >= CX_PTX_CHANNEL_HALF;
}

/* ---- instructions ---- */

typedef enum cx_ptx_texture_operation {
    CX_PTX_TEXTURE_FETCH,
    CX_PTX_TEXTURE_GATHER,
    CX_PTX_TEXTURE_QUERY,
    CX_PTX_TEXTURE_IS_TYPE,
    CX_PTX_SURFACE_LOAD,
    CX_PTX_SURFACE_STORE,
    CX_PTX_SURFACE_STORE_FORMATTED, /* sust.p */
    CX_PTX_SURFACE_REDUCE,
    CX_PTX_SURFACE_QUERY,
    CX_PTX_SURFACE_IS_TYPE
} cx_ptx_texture_operation;

typedef enum cx_ptx_level_mode {
    CX_PTX_LEVEL_BASE,
    CX_PTX_LEVEL_NAMED,
    CX_PTX_LEVEL_BY_GRADIENT
} cx_ptx_level_mode;

typedef enum cx_ptx_outside {
    CX_PTX_OUTSIDE_TRAPS,
    CX_PTX_OUTSIDE_CLAMPS,
    CX_PTX_OUTSIDE_IS_ZERO
} cx_ptx_outside;

/* The answer of txq and suq. */
typedef enum cx_ptx_texture_query {
    CX_PTX_QUERY_WIDTH,
    CX_PTX_QUERY_HEIGHT,
    CX_PTX_QUERY_DEPTH,
    CX_PTX_QUERY_CHANNEL_TYPE,
    CX_PTX_QUERY_CHANNEL_ORDER,
    CX_PTX_QUERY_NORMALIZED,
    CX_PTX_QUERY_UNNORMALIZED, /* forced */
    CX_PTX_QUERY_FILTER,
    CX_PTX_QUERY_ADDRESS_0,
    CX_PTX_QUERY_ADDRESS_1,
    CX_PTX_QUERY_ADDRESS_2,
    CX_PTX_QUERY_LAYERS,
    CX_PTX_QUERY_LEVELS,
    CX_PTX_QUERY_SAMPLES,
    CX_PTX_QUERY_LAYOUT
} cx_ptx_texture_query;

/*
 * The immediate of CX_PTX_TEXTURE, whose mode is the operation. `a` is the object; `b` is the first
 * of some words in a row: the layer, the coordinates, then the level or two gradients, then
 * offsets, or the values of a store. `d` is the first word of the result.
 */
typedef struct cx_ptx_texture_code {
    uint8_t coordinates; /* 1 to 3, without the layer */
    uint8_t flags;       /* cx_ptx_texture_flag */
    uint8_t level;       /* cx_ptx_level_mode */
    uint8_t part;        /* the channel of a gather, the query, the cx_ptx_atomic of a reduction */
    uint8_t outside;     /* cx_ptx_outside */
    uint8_t element_bytes, elements; /* of a surface access */
    uint8_t inputs;                  /* words */
} cx_ptx_texture_code;

enum cx_ptx_texture_flag {
    CX_PTX_TEXTURE_LAYERED = 1,
    CX_PTX_TEXTURE_CUBE = 2,
    CX_PTX_TEXTURE_INTEGERS = 4, /* coordinates are integers: elements */
    CX_PTX_TEXTURE_HALVES = 8,   /* the result is packed */
    CX_PTX_TEXTURE_OFFSETS = 16
};

enum { CX_PTX_TEXTURE_INPUTS_MAX = 16, CX_PTX_TEXTURE_RESULTS = 4 };

/* An element that a fetch reads, for a launcher that watches. */
typedef struct cx_ptx_texel_watch {
    void (*read)(void *self, const cx_ptx_texture *texture, const unsigned char *element,
                 unsigned bytes);
    void *self;
} cx_ptx_texel_watch;

/* Fetches or gathers; `watch` may be NULL. */
void cx_ptx_texture_fetch(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                          const uint32_t *inputs, const cx_ptx_texel_watch *watch,
                          uint32_t out[CX_PTX_TEXTURE_RESULTS]);
void cx_ptx_texture_gather(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                           const uint32_t *inputs, const cx_ptx_texel_watch *watch,
                           uint32_t out[CX_PTX_TEXTURE_RESULTS]);

uint32_t cx_ptx_texture_ask(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                            uint32_t level);

/* ---- surfaces ---- */

typedef enum cx_ptx_surface_place {
    CX_PTX_SURFACE_FOUND,
    CX_PTX_SURFACE_NOWHERE,    /* a load gives 0, a store does nothing */
    CX_PTX_SURFACE_OUTSIDE,    /* the access traps */
    CX_PTX_SURFACE_MISALIGNED
} cx_ptx_surface_place;

/* Finds the bytes of an access; x counts bytes, or elements if `formatted`. */
cx_ptx_surface_place cx_ptx_surface_find(const cx_ptx_texture *surface,
                                         const cx_ptx_texture_code *code, bool formatted,
                                         const uint32_t *inputs, unsigned char **out_memory);

/* Writes one element from values of 32 bits, as its format has them. */
void cx_ptx_surface_write(const cx_ptx_texture *surface, unsigned char *element,
                          const uint32_t *values, unsigned count);

#endif
