/* Fetches: from coordinates to elements, and from elements to values. */
#include "ptx/texture.h"

#include "ptx/bits.h"
#include "ptx/minifloat.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define WEIGHT_ONE 256 /* weights have 8 bits behind the point */
#define FAR 1e12       /* no texture has elements there */

typedef union texel {
    float f[CX_PTX_TEXTURE_RESULTS];
    uint32_t u[CX_PTX_TEXTURE_RESULTS];
} texel;

/* ---- levels ---- */

/* One level of a texture; memory is that of its first layer. */
typedef struct level {
    unsigned char *memory;
    uint32_t size[3];
    uint64_t pitch_bytes, slice_bytes, layer_bytes;
} level;

static void set_level(const cx_ptx_texture *texture, uint32_t number, level *out)
{
    out->size[0] = cx_ptx_level_size(texture->width, number);
    out->size[1] = cx_ptx_level_size(texture->height, number);
    out->size[2] = cx_ptx_level_size(texture->depth, number);
    out->pitch_bytes = number == 0 ? texture->pitch_bytes
                                   : (uint64_t)out->size[0] * cx_ptx_texture_element_bytes(texture);
    out->slice_bytes = out->pitch_bytes * out->size[1];
    out->layer_bytes = out->slice_bytes * out->size[2];
}

static void find_level(const cx_ptx_texture *texture, uint32_t number, level *out)
{
    unsigned char *memory = texture->memory;

    for (uint32_t i = 0;; i++) {
        set_level(texture, i, out);
        out->memory = memory;
        if (i == number)
            return;
        memory += out->layer_bytes * texture->layers;
    }
}

/* ---- elements ---- */

static unsigned channel_bytes(const cx_ptx_texture *texture)
{
    switch (texture->channel) {
    case CX_PTX_CHANNEL_U8:
    case CX_PTX_CHANNEL_S8:
        return 1;
    case CX_PTX_CHANNEL_U16:
    case CX_PTX_CHANNEL_S16:
    case CX_PTX_CHANNEL_HALF:
        return 2;
    default:
        return 4;
    }
}

unsigned cx_ptx_texture_element_bytes(const cx_ptx_texture *texture)
{
    return channel_bytes(texture) * texture->channels;
}

/* Other work may write the element meanwhile. */
static uint32_t read_channel(const unsigned char *memory, unsigned bytes)
{
    switch (bytes) {
    case 1:
        return __atomic_load_n(memory, __ATOMIC_RELAXED);
    case 2:
        return __atomic_load_n((const uint16_t *)(const void *)memory, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const uint32_t *)(const void *)memory, __ATOMIC_RELAXED);
    }
}

static float linear_of_srgb(float value)
{
    return value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
}

static float signed_number(int32_t value, float most)
{
    float number = (float)value / most;

    return number < -1.0f ? -1.0f : number;
}

static float number_of(const cx_ptx_texture *texture, uint32_t bits, unsigned channel)
{
    float number;

    switch (texture->channel) {
    case CX_PTX_CHANNEL_U8:
        number = (float)bits / 255.0f;
        return texture->srgb && channel < 3 ? linear_of_srgb(number) : number;
    case CX_PTX_CHANNEL_U16:
        return (float)bits / 65535.0f;
    case CX_PTX_CHANNEL_S8:
        return signed_number((int8_t)bits, 127.0f);
    case CX_PTX_CHANNEL_S16:
        return signed_number((int16_t)bits, 32767.0f);
    case CX_PTX_CHANNEL_HALF:
        return (float)cx_ptx_minifloat_value(&cx_ptx_f16, bits);
    default:
        return cx_ptx_f32_of(bits);
    }
}

static uint32_t integer_of(const cx_ptx_texture *texture, uint32_t bits)
{
    switch (texture->channel) {
    case CX_PTX_CHANNEL_S8:
        return (uint32_t)(int8_t)bits;
    case CX_PTX_CHANNEL_S16:
        return (uint32_t)(int16_t)bits;
    default:
        return bits;
    }
}

/* The channels that the texture does not have are 0. */
static texel read_element(const cx_ptx_texture *texture, const unsigned char *memory,
                          const cx_ptx_texel_watch *watch)
{
    const unsigned bytes = channel_bytes(texture);
    texel value = {.u = {0}};

    if (watch)
        watch->read(watch->self, texture, memory, bytes * texture->channels);
    for (unsigned i = 0; i < texture->channels; i++) {
        uint32_t bits = read_channel(memory + i * bytes, bytes);

        value.u[i] = cx_ptx_texture_gives_floats(texture)
                         ? cx_ptx_bits_f32(number_of(texture, bits, i))
                         : integer_of(texture, bits);
    }
    return value;
}

static texel border_of(const cx_ptx_texture *texture)
{
    texel value = {.u = {0}};

    for (unsigned i = 0; i < texture->channels && !texture->is_linear; i++)
        value.u[i] = texture->border[i];
    return value;
}

/* ---- coordinates ---- */

enum { AT_BORDER = -1 };

static cx_ptx_address_mode mode_of(const cx_ptx_texture *texture, unsigned dimension,
                                   bool is_normalized)
{
    cx_ptx_address_mode mode = (cx_ptx_address_mode)texture->address_mode[dimension];

    if (texture->is_linear || mode == CX_PTX_ADDRESS_BORDER)
        return CX_PTX_ADDRESS_BORDER;
    return is_normalized ? mode : CX_PTX_ADDRESS_CLAMP;
}

/* The index of an element, or AT_BORDER. */
static int64_t resolve(cx_ptx_address_mode mode, int64_t index, int64_t size)
{
    switch (mode) {
    case CX_PTX_ADDRESS_WRAP:
        index %= size;
        return index < 0 ? index + size : index;
    case CX_PTX_ADDRESS_MIRROR:
        index %= 2 * size;
        index = index < 0 ? index + 2 * size : index;
        return index < size ? index : 2 * size - 1 - index;
    case CX_PTX_ADDRESS_CLAMP:
        return index < 0 ? 0 : index < size ? index : size - 1;
    default:
        return index < 0 || index >= size ? AT_BORDER : index;
    }
}

/* One coordinate: the element at or before it, and the weight of the next one. */
typedef struct axis {
    int64_t index;
    int weight;
    cx_ptx_address_mode mode;
    int64_t size;
} axis;

static double bounded(double place, double period)
{
    if (place != place)
        return 0;
    if (fabs(place) < FAR)
        return place;
    return isinf(place) ? (place < 0 ? -FAR : FAR) : fmod(place, period);
}

/* The integer at or below a place that is less than FAR: floor() is a call where the processor's
 * rounding instruction may be missing. */
static int64_t floor_of(double place)
{
    int64_t whole = (int64_t)place;

    return whole - ((double)whole > place);
}

/* From 0 to WEIGHT_ONE: how far `place` is behind `whole`. */
static int weight_behind(double place, double whole)
{
    return (int)((place - whole) * WEIGHT_ONE + 0.5);
}

static void set_axis(axis *out, double place, int offset, bool between)
{
    place = bounded(place, 2.0 * (double)out->size) + offset;
    if (between)
        place -= 0.5;
    out->index = floor_of(place);
    out->weight = between ? weight_behind(place, (double)out->index) : 0;
}

/* The words of an instruction, one after the other. */
typedef struct inputs {
    uint32_t layer;
    const uint32_t *coordinates, *levels;
    int offsets[3];
} inputs;

/* Structures are filled in part by part: setting them to 0 takes longer than a fetch. */
static void read_inputs(const cx_ptx_texture_code *code, const uint32_t *words, inputs *out)
{
    const uint32_t *next = words;

    out->layer = code->flags & CX_PTX_TEXTURE_LAYERED ? *next++ : 0;
    out->coordinates = next;
    next += code->coordinates;
    out->levels = next;
    if (code->level == CX_PTX_LEVEL_NAMED)
        next++;
    if (code->level == CX_PTX_LEVEL_BY_GRADIENT)
        next += 2 * code->coordinates;
    for (unsigned i = 0; i < 3; i++)
        out->offsets[i] =
            i < code->coordinates && code->flags & CX_PTX_TEXTURE_OFFSETS ? (int32_t)next[i] : 0;
}

/* A layer that is not there is the nearest one. */
static uint32_t layer_of(const cx_ptx_texture *texture, uint32_t wanted, uint32_t each)
{
    uint32_t count = (texture->last_layer - texture->first_layer + 1) / each;
    int64_t layer = (int32_t)wanted;

    if (layer >= count)
        layer = (int64_t)count - 1;
    return texture->first_layer + (uint32_t)(layer < 0 ? 0 : layer) * each;
}

/* ---- cubes ---- */

/* A place on a face, s and t from 0 to 1. */
typedef struct cube_place {
    unsigned face;
    double s, t;
} cube_place;

typedef struct cube_axes {
    unsigned face;
    unsigned major, across, down; /* of x, y and z */
    int across_sign, down_sign;
} cube_axes;

static cube_axes cube_axes_of(const double direction[3])
{
    static const cube_axes faces[CX_PTX_CUBE_FACES] = {{0, 0, 2, 1, -1, -1}, {1, 0, 2, 1, 1, -1},
                                           {2, 1, 0, 2, 1, 1},   {3, 1, 0, 2, 1, -1},
                                           {4, 2, 0, 1, 1, -1},  {5, 2, 0, 1, -1, -1}};
    double x = fabs(direction[0]), y = fabs(direction[1]), z = fabs(direction[2]);
    unsigned major = x >= y && x >= z ? 0 : y >= z ? 1 : 2;

    return faces[2 * major + (direction[major] < 0)];
}

static cube_place cube_place_of(const double direction[3])
{
    const cube_axes axes = cube_axes_of(direction);
    double major = fabs(direction[axes.major]);

    if (major == 0)
        return (cube_place){axes.face, 0.5, 0.5};
    return (cube_place){axes.face, (axes.across_sign * direction[axes.across] / major + 1) / 2,
                        (axes.down_sign * direction[axes.down] / major + 1) / 2};
}

/* The place of an element beyond the edge of a face: it is on another one. */
static cube_place cube_beyond(unsigned face, int64_t x, int64_t y, int64_t size)
{
    static const double majors[CX_PTX_CUBE_FACES][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                            {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    const cube_axes axes = cube_axes_of(majors[face]);
    double direction[3] = {majors[face][0], majors[face][1], majors[face][2]};

    direction[axes.across] = axes.across_sign * ((2.0 * (double)x + 1) / (double)size - 1);
    direction[axes.down] = axes.down_sign * ((2.0 * (double)y + 1) / (double)size - 1);
    return cube_place_of(direction);
}

/* ---- between elements ---- */

/* Where a fetch of one level reads. */
typedef struct site {
    const cx_ptx_texture *texture;
    const cx_ptx_texel_watch *watch;
    level level;
    unsigned dimensions;
    uint32_t layer; /* of a cube: its first face */
    unsigned face;
    axis axes[3];
} site;

static texel read_at(const site *from, int64_t x, int64_t y, int64_t z, uint32_t layer)
{
    const level *at = &from->level;

    return read_element(from->texture,
                        at->memory + layer * at->layer_bytes + (uint64_t)z * at->slice_bytes +
                            (uint64_t)y * at->pitch_bytes +
                            (uint64_t)x * cx_ptx_texture_element_bytes(from->texture),
                        from->watch);
}

static texel read_on_cube(const site *from, int64_t x, int64_t y)
{
    int64_t size = from->axes[0].size;
    unsigned face = from->face;

    if (from->texture->seamless && (x < 0 || y < 0 || x >= size || y >= size)) {
        cube_place place = cube_beyond(face, x, y, size);

        face = place.face;
        x = (int64_t)floor(place.s * (double)size);
        y = (int64_t)floor(place.t * (double)size);
    }
    return read_at(from, resolve(CX_PTX_ADDRESS_CLAMP, x, size),
                   resolve(CX_PTX_ADDRESS_CLAMP, y, size), 0, from->layer + face);
}

/* The element `step` elements behind the first one. */
static texel read_neighbour(const site *from, const int step[3], bool is_cube)
{
    int64_t at[3] = {0, 0, 0};

    if (is_cube)
        return read_on_cube(from, from->axes[0].index + step[0], from->axes[1].index + step[1]);
    for (unsigned i = 0; i < from->dimensions; i++) {
        at[i] = resolve(from->axes[i].mode, from->axes[i].index + step[i], from->axes[i].size);
        if (at[i] == AT_BORDER)
            return border_of(from->texture);
    }
    return read_at(from, at[0], at[1], at[2], from->layer);
}

static float weight_of(const axis *along, int step)
{
    return (float)(step ? along->weight : WEIGHT_ONE - along->weight) / WEIGHT_ONE;
}

/* True if the first element has all the weight. */
static bool is_alone(const site *from)
{
    int weights = 0;

    for (unsigned i = 0; i < from->dimensions; i++)
        weights |= from->axes[i].weight;
    return weights == 0;
}

static texel sample(const site *from, bool is_cube)
{
    static const int here[3] = {0, 0, 0};
    texel sum = {.u = {0}};

    if (is_alone(from))
        return read_neighbour(from, here, is_cube);
    for (int corner = 0; corner < 1 << from->dimensions; corner++) {
        const int step[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        float weight = 1;
        texel value;

        for (unsigned i = 0; i < from->dimensions; i++)
            weight *= weight_of(&from->axes[i], step[i]);
        if (weight == 0)
            continue;
        value = read_neighbour(from, step, is_cube);
        if (weight == 1)
            return value;
        for (unsigned i = 0; i < CX_PTX_TEXTURE_RESULTS; i++)
            sum.f[i] += weight * value.f[i];
    }
    return sum;
}

static void find_site(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                      const inputs *given, uint32_t number, bool between,
                      const cx_ptx_texel_watch *watch, site *out)
{
    bool is_cube = code->flags & CX_PTX_TEXTURE_CUBE;
    bool integers = code->flags & CX_PTX_TEXTURE_INTEGERS;
    bool scaled = is_cube || (texture->normalized && !integers);
    double places[3];

    out->texture = texture;
    out->watch = watch;
    find_level(texture, number, &out->level);
    out->dimensions = is_cube ? 2 : code->coordinates;
    out->layer = layer_of(texture, given->layer, is_cube ? CX_PTX_CUBE_FACES : 1);
    for (unsigned i = 0; i < code->coordinates; i++)
        places[i] = integers ? (double)(int32_t)given->coordinates[i]
                             : (double)cx_ptx_f32_of(given->coordinates[i]);
    if (is_cube) {
        cube_place place = cube_place_of(places);

        out->face = texture->layers >= CX_PTX_CUBE_FACES ? place.face : 0;
        places[0] = place.s;
        places[1] = place.t;
    }
    for (unsigned i = 0; i < out->dimensions; i++) {
        axis *along = &out->axes[i];

        along->size = out->level.size[i];
        along->mode = mode_of(texture, i, scaled);
        set_axis(along, scaled ? places[i] * (double)along->size : places[i], given->offsets[i],
                 between && !integers);
    }
}

/* ---- which level ---- */

static double length_of(const double *parts, unsigned count)
{
    double sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += parts[i] * parts[i];
    return sqrt(sum);
}

/* The change of a place on a face as the direction changes. */
static void project_gradient(const double direction[3], double change[3])
{
    const cube_axes axes = cube_axes_of(direction);
    double major = fabs(direction[axes.major]), grows = change[axes.major];
    double across, down;

    if (direction[axes.major] < 0)
        grows = -grows;
    if (major == 0)
        return;
    across = axes.across_sign * direction[axes.across];
    down = axes.down_sign * direction[axes.down];
    across = (axes.across_sign * change[axes.across] * major - across * grows) / (major * major);
    down = (axes.down_sign * change[axes.down] * major - down * grows) / (major * major);
    change[0] = across / 2;
    change[1] = down / 2;
    change[2] = 0;
}

static double level_by_gradient(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                                const inputs *given)
{
    const uint32_t sizes[3] = {cx_ptx_level_size(texture->width, texture->first_level),
                               cx_ptx_level_size(texture->height, texture->first_level),
                               cx_ptx_level_size(texture->depth, texture->first_level)};
    bool is_cube = code->flags & CX_PTX_TEXTURE_CUBE;
    double most = 0;

    for (unsigned side = 0; side < 2; side++) {
        double change[3] = {0, 0, 0}, direction[3] = {0, 0, 0}, length;

        for (unsigned i = 0; i < code->coordinates; i++) {
            change[i] = cx_ptx_f32_of(given->levels[side * code->coordinates + i]);
            direction[i] = cx_ptx_f32_of(given->coordinates[i]);
        }
        if (is_cube)
            project_gradient(direction, change);
        for (unsigned i = 0; i < 3 && (is_cube || texture->normalized); i++)
            change[i] *= sizes[i];
        length = length_of(change, 3);
        most = length > most ? length : most;
    }
    return log2(most);
}

static double wanted_level(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                           const inputs *given)
{
    double last = texture->last_level - texture->first_level, wanted = 0;

    if (code->level == CX_PTX_LEVEL_NAMED)
        wanted = code->flags & CX_PTX_TEXTURE_INTEGERS ? (double)(int32_t)given->levels[0]
                                                       : (double)cx_ptx_f32_of(given->levels[0]);
    if (code->level == CX_PTX_LEVEL_BY_GRADIENT)
        wanted = level_by_gradient(texture, code, given);
    wanted += texture->level_bias;
    if (!(wanted >= texture->least_level))
        wanted = texture->least_level;
    if (wanted > texture->most_level)
        wanted = texture->most_level;
    return wanted < 0 ? 0 : wanted > last ? last : wanted;
}

/* ---- fetches ---- */

static texel fetch_level(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                         const inputs *given, uint32_t number, const cx_ptx_texel_watch *watch)
{
    site from;

    find_site(texture, code, given, texture->first_level + number,
              texture->filters && !texture->is_linear, watch, &from);
    return sample(&from, code->flags & CX_PTX_TEXTURE_CUBE);
}

/* Two floats as halves of a word. */
static uint32_t pair_of(float low, float high)
{
    return cx_ptx_minifloat_of(&cx_ptx_f16, low, FE_TONEAREST) |
           cx_ptx_minifloat_of(&cx_ptx_f16, high, FE_TONEAREST) << 16;
}

static void give(const cx_ptx_texture_code *code, const texel *value,
                 uint32_t out[CX_PTX_TEXTURE_RESULTS])
{
    memcpy(out, value->u, sizeof value->u);
    if (!(code->flags & CX_PTX_TEXTURE_HALVES))
        return;
    out[0] = pair_of(value->f[0], value->f[1]);
    out[1] = pair_of(value->f[2], value->f[3]);
}

void cx_ptx_texture_fetch(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                          const uint32_t *words, const cx_ptx_texel_watch *watch,
                          uint32_t out[CX_PTX_TEXTURE_RESULTS])
{
    inputs given;
    double wanted, whole;
    int weight;
    texel value, next;

    read_inputs(code, words, &given);
    if (texture->first_level == texture->last_level) {
        value = fetch_level(texture, code, &given, 0, watch);
        give(code, &value, out);
        return;
    }
    wanted = wanted_level(texture, code, &given);
    whole = floor(wanted);
    weight = weight_behind(wanted, whole);
    if (!texture->filters_mips || weight == 0) {
        value = fetch_level(texture, code, &given,
                            (uint32_t)(texture->filters_mips ? whole : floor(wanted + 0.5)), watch);
        give(code, &value, out);
        return;
    }
    value = fetch_level(texture, code, &given, (uint32_t)whole, watch);
    next = fetch_level(texture, code, &given, (uint32_t)whole + 1, watch);
    for (unsigned i = 0; i < CX_PTX_TEXTURE_RESULTS; i++)
        value.f[i] = value.f[i] * ((float)(WEIGHT_ONE - weight) / WEIGHT_ONE) +
                     next.f[i] * ((float)weight / WEIGHT_ONE);
    give(code, &value, out);
}

/* The four elements around the place, from the one below on the left against the clock. */
void cx_ptx_texture_gather(const cx_ptx_texture *texture, const cx_ptx_texture_code *code,
                           const uint32_t *words, const cx_ptx_texel_watch *watch,
                           uint32_t out[CX_PTX_TEXTURE_RESULTS])
{
    static const int steps[CX_PTX_TEXTURE_RESULTS][3] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    inputs given;
    site from;
    texel value;

    read_inputs(code, words, &given);
    find_site(texture, code, &given, texture->first_level, true, watch, &from);
    for (unsigned i = 0; i < CX_PTX_TEXTURE_RESULTS; i++)
        value.u[i] =
            read_neighbour(&from, steps[i], code->flags & CX_PTX_TEXTURE_CUBE).u[code->part];
    give(code, &value, out);
}
