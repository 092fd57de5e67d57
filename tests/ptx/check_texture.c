/*
 * Fetches of random textures at random places, compared with a plain reading of the rules: an
 * endless texture that repeats, reflects or ends, and weights of 8 bits between its elements.
 * CX_TEST_ROUNDS: how many thousand fetches, 200 if it is not set.
 */
#include "ptx/texture.h"
#include "../support/random.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 7, LAYERS = 12, BYTES = SIDE * SIDE * SIDE * LAYERS * 16 * 2 };

static _Alignas(16) unsigned char memory[BYTES];
static uint64_t state = 20;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(next_random(&state) >> 33) % limit;
}

static uint32_t word_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- elements, as numbers ---- */

static double half_value(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31), sign = bits >> 15 ? -1 : 1;
    double fraction = bits & 1023;

    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static double srgb_to_linear(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* A channel of an element: a float, or the integer's value. */
static double channel_value(const cx_ptx_texture *t, const unsigned char *at, unsigned channel)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    double most;

    switch (t->channel) {
    case CX_PTX_CHANNEL_U8:
    case CX_PTX_CHANNEL_S8:
        u8 = at[channel];
        if (t->channel == CX_PTX_CHANNEL_U8) {
            most = t->as_numbers ? u8 / 255.0 : u8;
            return t->as_numbers && t->srgb && channel < 3 ? srgb_to_linear(most) : most;
        }
        return t->as_numbers ? fmax((int8_t)u8 / 127.0, -1) : (int8_t)u8;
    case CX_PTX_CHANNEL_U16:
    case CX_PTX_CHANNEL_S16:
    case CX_PTX_CHANNEL_HALF:
        memcpy(&u16, at + 2 * channel, 2);
        if (t->channel == CX_PTX_CHANNEL_HALF)
            return half_value(u16);
        if (t->channel == CX_PTX_CHANNEL_U16)
            return t->as_numbers ? u16 / 65535.0 : u16;
        return t->as_numbers ? fmax((int16_t)u16 / 32767.0, -1) : (int16_t)u16;
    default:
        memcpy(&u32, at + 4 * channel, 4);
        return t->channel == CX_PTX_CHANNEL_FLOAT ? (double)float_of(u32)
               : t->channel == CX_PTX_CHANNEL_S32 ? (double)(int32_t)u32
                                                  : (double)u32;
    }
}

/* ---- the endless texture ---- */

/* An index of the endless texture as one of N; -1: the border. */
static long place_in(long i, long n, int mode)
{
    if (mode == CX_PTX_ADDRESS_WRAP) {
        while (i < 0)
            i += n;
        while (i >= n)
            i -= n;
    } else if (mode == CX_PTX_ADDRESS_MIRROR) {
        while (i < 0 || i >= n)
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
    } else if (mode == CX_PTX_ADDRESS_CLAMP) {
        i = i < 0 ? 0 : i >= n ? n - 1 : i;
    } else if (i < 0 || i >= n) {
        return -1;
    }
    return i;
}

typedef struct spot {
    const cx_ptx_texture *texture;
    unsigned dimensions;
    long layer;
    int modes[3];
} spot;

static double value_at(const spot *s, const long at[3], unsigned channel)
{
    const cx_ptx_texture *t = s->texture;
    const long sizes[3] = {t->width, t->height, t->depth};
    long in[3] = {0, 0, 0};

    for (unsigned i = 0; i < s->dimensions; i++) {
        in[i] = place_in(at[i], sizes[i], s->modes[i]);
        if (in[i] < 0)
            return !cx_ptx_texture_gives_floats(t) ? (double)t->border[channel]
                                                   : (double)float_of(t->border[channel]);
    }
    return channel_value(t,
                         t->memory + (((s->layer * t->depth + in[2]) * t->height + in[1]) *
                                          (long)t->pitch_bytes +
                                      in[0] * (long)cx_ptx_texture_element_bytes(t)),
                         channel);
}

static double interpolated(const spot *s, const double place[3], unsigned channel)
{
    double sum = 0;

    for (int corner = 0; corner < 1 << s->dimensions; corner++) {
        long at[3] = {0, 0, 0};
        double weight = 1;

        for (unsigned i = 0; i < s->dimensions; i++) {
            double shifted = place[i] - 0.5, low = floor(shifted);
            double fraction = floor((shifted - low) * 256 + 0.5) / 256;

            at[i] = (long)low + (corner >> i & 1);
            weight *= corner >> i & 1 ? fraction : 1 - fraction;
        }
        if (weight > 0)
            sum += weight * value_at(s, at, channel);
    }
    return sum;
}

static double nearest(const spot *s, const double place[3], unsigned channel)
{
    const long at[3] = {(long)floor(place[0]), (long)floor(place[1]), (long)floor(place[2])};

    return value_at(s, at, channel);
}

/* ---- random textures ---- */

static void fill_memory(void)
{
    for (size_t i = 0; i < BYTES; i++)
        memory[i] = (unsigned char)(next_random(&state) >> 40);
}

/* Floats and halves that are numbers of ordinary size. */
static void tame_floats(const cx_ptx_texture *t)
{
    for (size_t i = 0; i + 4 <= BYTES && t->channel == CX_PTX_CHANNEL_FLOAT; i += 4) {
        uint32_t bits = word_of((float)(int32_t)below(20001) / 100 - 100);

        memcpy(memory + i, &bits, 4);
    }
    for (size_t i = 1; i < BYTES && t->channel == CX_PTX_CHANNEL_HALF; i += 2)
        memory[i] = (unsigned char)((memory[i] & 0x83) | 0x30);
}

static cx_ptx_texture random_texture(unsigned dimensions, bool layered)
{
    static const uint8_t channels[] = {1, 2, 4};
    cx_ptx_texture t = {.memory = memory, .width = 1 + below(SIDE), .height = 1, .depth = 1,
                        .layers = 1};
    bool is_integer;

    t.channel = (cx_ptx_channel)below(8);
    t.channels = channels[below(3)];
    is_integer = t.channel < CX_PTX_CHANNEL_HALF;
    t.as_numbers = is_integer && t.channel != CX_PTX_CHANNEL_U32 &&
                   t.channel != CX_PTX_CHANNEL_S32 && below(2);
    t.srgb = below(4) == 0;
    if (dimensions > 1)
        t.height = 1 + below(SIDE);
    if (dimensions > 2)
        t.depth = 1 + below(SIDE);
    t.layered = layered;
    t.layers = layered ? 1 + below(LAYERS) : 1;
    t.last_layer = t.layers - 1;
    t.pitch_bytes = (uint64_t)t.width * cx_ptx_texture_element_bytes(&t);
    t.normalized = below(2);
    t.filters = cx_ptx_texture_gives_floats(&t) && below(2);
    for (int i = 0; i < 3; i++)
        t.address_mode[i] = (uint8_t)below(4);
    for (unsigned i = 0; i < t.channels; i++)
        t.border[i] = cx_ptx_texture_gives_floats(&t) ? word_of((float)below(9)) : below(9);
    tame_floats(&t);
    return t;
}

static void ck_close(double found, double expected)
{
    ck_assert_msg(fabs(found - expected) <= 4e-6 * (fabs(expected) + 100), "%.9g is not %.9g",
                  found, expected);
}

static double value_of(const cx_ptx_texture *t, uint32_t bits)
{
    if (cx_ptx_texture_gives_floats(t))
        return float_of(bits);
    return t->channel <= CX_PTX_CHANNEL_U32 ? (double)bits : (double)(int32_t)bits;
}

/* A coordinate and, in elements, where it is. Multiples of 1/4096: no weight is near a tie. */
static uint32_t random_place(const cx_ptx_texture *t, bool integers, uint32_t size, double *out)
{
    float value = ((float)below(8192 * 4) - 8192 * 2 + 0.5f) / 4096;

    if (integers) {
        int32_t index = (int32_t)below(4 * size) - (int32_t)(2 * size);

        *out = index + 0.25;
        return (uint32_t)index;
    }
    if (!t->normalized)
        value *= (float)size / 2;
    *out = t->normalized ? (double)value * size : (double)value;
    return word_of(value);
}

static void fetch_once(const cx_ptx_texture *t, unsigned dimensions, bool layered)
{
    const uint32_t sizes[3] = {t->width, t->height, t->depth};
    bool integers = below(4) == 0;
    cx_ptx_texture_code code = {
        .coordinates = (uint8_t)dimensions,
        .flags = (uint8_t)((layered ? CX_PTX_TEXTURE_LAYERED : 0) |
                           (integers ? CX_PTX_TEXTURE_INTEGERS : 0))};
    uint32_t inputs[CX_PTX_TEXTURE_INPUTS_MAX] = {0}, *next = inputs, found[4];
    double place[3] = {0, 0, 0};
    spot s = {.texture = t, .dimensions = dimensions};

    if (layered) {
        long layer = (long)below(LAYERS + 4) - 2;

        *next++ = (uint32_t)layer;
        s.layer = place_in(layer, t->layers, CX_PTX_ADDRESS_CLAMP);
    }
    for (unsigned i = 0; i < dimensions; i++) {
        *next++ = random_place(t, integers, sizes[i], &place[i]);
        s.modes[i] = t->address_mode[i];
        if ((integers || !t->normalized) && s.modes[i] != CX_PTX_ADDRESS_BORDER)
            s.modes[i] = CX_PTX_ADDRESS_CLAMP;
    }
    cx_ptx_texture_fetch(t, &code, inputs, NULL, found);
    for (unsigned i = 0; i < 4; i++) {
        double expected = i >= t->channels          ? 0
                          : t->filters && !integers ? interpolated(&s, place, i)
                                                    : nearest(&s, place, i);

        if (i >= t->channels)
            ck_assert_uint_eq(found[i], 0);
        else
            ck_close(value_of(t, found[i]), expected);
    }
}

START_TEST(a_fetch_is_what_the_endless_texture_says)
{
    const char *rounds = getenv("CX_TEST_ROUNDS");
    long count = rounds ? atol(rounds) : 200;

    fill_memory();
    for (long i = 0; i < count; i++) {
        unsigned dimensions = 1 + below(3);
        bool layered = dimensions < 3 && below(2);
        cx_ptx_texture t = random_texture(dimensions, layered);

        for (int fetch = 0; fetch < 1000; fetch++)
            fetch_once(&t, dimensions, layered);
    }
}
END_TEST

START_TEST(a_gather_gives_the_four_elements_against_the_clock)
{
    const cx_ptx_texture_code code = {.coordinates = 2, .part = 1};

    fill_memory();
    for (int i = 0; i < 20000; i++) {
        cx_ptx_texture t = random_texture(2, false);
        spot s = {.texture = &t, .dimensions = 2};
        static const int steps[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
        uint32_t inputs[2], found[4];
        double place[3] = {0, 0, 0};

        inputs[0] = random_place(&t, false, t.width, &place[0]);
        inputs[1] = random_place(&t, false, t.height, &place[1]);
        for (int k = 0; k < 2; k++)
            s.modes[k] = t.normalized || t.address_mode[k] == CX_PTX_ADDRESS_BORDER
                             ? t.address_mode[k]
                             : CX_PTX_ADDRESS_CLAMP;
        cx_ptx_texture_gather(&t, &code, inputs, NULL, found);
        for (int k = 0; k < 4; k++) {
            const long at[3] = {(long)floor(place[0] - 0.5) + steps[k][0],
                                (long)floor(place[1] - 0.5) + steps[k][1], 0};

            ck_close(value_of(&t, found[k]), t.channels > 1 ? value_at(&s, at, 1) : 0);
        }
    }
}
END_TEST

/* Each level is full of its own number. */
static cx_ptx_texture make_levels(uint32_t levels)
{
    cx_ptx_texture t = {.memory = memory, .width = 8, .height = 8, .depth = 1, .layers = 1,
                        .last_level = levels - 1, .channel = CX_PTX_CHANNEL_FLOAT, .channels = 1,
                        .pitch_bytes = 32, .normalized = true, .most_level = 100};
    unsigned char *at = memory;

    for (uint32_t level = 0; level < levels; level++)
        for (uint32_t i = 0; i < (8u >> level) * (8u >> level); i++, at += 4) {
            float value = (float)level * 10;

            memcpy(at, &value, 4);
        }
    return t;
}

static float at_level(const cx_ptx_texture *t, float level)
{
    const cx_ptx_texture_code code = {.coordinates = 2, .level = CX_PTX_LEVEL_NAMED};
    const uint32_t inputs[] = {word_of(0.3f), word_of(0.7f), word_of(level)};
    uint32_t found[4];

    cx_ptx_texture_fetch(t, &code, inputs, NULL, found);
    return float_of(found[0]);
}

START_TEST(levels_are_chosen_clamped_and_filtered)
{
    cx_ptx_texture t = make_levels(4);
    const cx_ptx_texture_code by_gradient = {.coordinates = 2, .level = CX_PTX_LEVEL_BY_GRADIENT};
    const uint32_t gradients[] = {word_of(0.3f), word_of(0.7f), word_of(0.5f), word_of(0),
                                  word_of(0),    word_of(0.25f)};
    uint32_t found[4];

    ck_assert_float_eq(at_level(&t, 1.4f), 10);
    ck_assert_float_eq(at_level(&t, 1.5f), 20);
    ck_assert_float_eq(at_level(&t, -3), 0);
    ck_assert_float_eq(at_level(&t, 9), 30);
    t.filters_mips = true;
    ck_assert_float_eq(at_level(&t, 1.25f), 12.5f);
    t.level_bias = 1;
    ck_assert_float_eq(at_level(&t, 1.25f), 22.5f);
    t.most_level = 1.5f;
    ck_assert_float_eq(at_level(&t, 1.25f), 15);
    t = make_levels(4);
    cx_ptx_texture_fetch(&t, &by_gradient, gradients, NULL, found);
    ck_assert_float_eq(float_of(found[0]), 20); /* 4 elements of the first level */
    t.first_level = 1;
    ck_assert_float_eq(at_level(&t, 0), 10);
    ck_assert_float_eq(at_level(&t, 9), 30);
}
END_TEST

static float on_cube(const cx_ptx_texture *t, float x, float y, float z)
{
    const cx_ptx_texture_code code = {.coordinates = 3, .flags = CX_PTX_TEXTURE_CUBE};
    const uint32_t inputs[] = {word_of(x), word_of(y), word_of(z)};
    uint32_t found[4];

    cx_ptx_texture_fetch(t, &code, inputs, NULL, found);
    return float_of(found[0]);
}

START_TEST(a_direction_finds_its_face_and_a_seamless_cube_has_no_edges)
{
    cx_ptx_texture t = {.memory = memory, .width = 4, .height = 4, .depth = 1, .layers = 6,
                        .last_layer = 5, .channel = CX_PTX_CHANNEL_FLOAT, .channels = 1,
                        .pitch_bytes = 16, .cube = true, .normalized = true};

    for (int face = 0; face < 6; face++)
        for (int i = 0; i < 16; i++) {
            float value = (float)(face * 100 + i);

            memcpy(memory + (face * 16 + i) * 4, &value, 4);
        }
    /* The place on a face: s = -z, t = -y for the first one, and so on. */
    ck_assert_float_eq(on_cube(&t, 2, -0.5f, 1.5f), 0 * 100 + 2 * 4 + 0);
    ck_assert_float_eq(on_cube(&t, -2, -0.5f, 1.5f), 100 + 2 * 4 + 3);
    ck_assert_float_eq(on_cube(&t, -1.5f, 2, 0.5f), 200 + 2 * 4 + 0);
    ck_assert_float_eq(on_cube(&t, -1.5f, -2, 0.5f), 300 + 1 * 4 + 0);
    ck_assert_float_eq(on_cube(&t, 0.5f, 0.5f, 2), 400 + 1 * 4 + 2);
    ck_assert_float_eq(on_cube(&t, 0.5f, 0.5f, -2), 500 + 1 * 4 + 1);
    t.filters = true;
    /* Between the right edge of the fifth face and the left one of the first: in the middle. */
    ck_assert_float_eq(on_cube(&t, 1, 0.25f, 1), 0 * 100 + 1 * 4 + 0);
    t.seamless = true;
    ck_assert_float_eq(on_cube(&t, 1, 0.25f, 1), (4 + 407) / 2.0f);
}
END_TEST

/* ---- surfaces ---- */

static cx_ptx_texture make_surface(void)
{
    return (cx_ptx_texture){.memory = memory, .width = 4, .height = 3, .depth = 1, .layers = 2,
                            .last_layer = 1, .layered = true, .channel = CX_PTX_CHANNEL_U8,
                            .channels = 4, .pitch_bytes = 16};
}

START_TEST(an_access_beyond_a_surface_traps_moves_to_its_edge_or_is_nowhere)
{
    const cx_ptx_texture t = make_surface();
    cx_ptx_texture_code code = {.coordinates = 2, .flags = CX_PTX_TEXTURE_LAYERED,
                                .element_bytes = 4, .elements = 1};
    const uint32_t inside[] = {1, 8, 2}, beyond[] = {1, 16, (uint32_t)-1}, odd[] = {0, 2, 0};
    unsigned char *at = NULL;

    ck_assert_int_eq(cx_ptx_surface_find(&t, &code, false, inside, &at), CX_PTX_SURFACE_FOUND);
    ck_assert_ptr_eq(at, memory + (3 + 2) * 16 + 8);
    ck_assert_int_eq(cx_ptx_surface_find(&t, &code, false, beyond, &at), CX_PTX_SURFACE_OUTSIDE);
    ck_assert_int_eq(cx_ptx_surface_find(&t, &code, false, odd, &at), CX_PTX_SURFACE_MISALIGNED);
    code.outside = CX_PTX_OUTSIDE_IS_ZERO;
    ck_assert_int_eq(cx_ptx_surface_find(&t, &code, false, beyond, &at), CX_PTX_SURFACE_NOWHERE);
    code.outside = CX_PTX_OUTSIDE_CLAMPS;
    ck_assert_int_eq(cx_ptx_surface_find(&t, &code, false, beyond, &at), CX_PTX_SURFACE_FOUND);
    ck_assert_ptr_eq(at, memory + 3 * 16 + 12);
}
END_TEST

START_TEST(a_formatted_store_fits_values_to_the_channels)
{
    cx_ptx_texture t = make_surface();
    const uint32_t integers[] = {5, 300, 255, 0}, floats[] = {word_of(0.5f), word_of(2),
                                                              word_of(-1), word_of(1)};
    static const unsigned char as_integers[] = {5, 255, 255, 0}, as_floats[] = {128, 255, 0, 255};

    cx_ptx_surface_write(&t, memory, integers, 4);
    ck_assert_mem_eq(memory, as_integers, 4);
    t.as_numbers = true;
    cx_ptx_surface_write(&t, memory, floats, 4);
    ck_assert_mem_eq(memory, as_floats, 4);
}
END_TEST

static Suite *texture_suite(void)
{
    Suite *suite = suite_create("texture");
    TCase *tcase = tcase_create("texture");

    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, a_fetch_is_what_the_endless_texture_says);
    tcase_add_test(tcase, a_gather_gives_the_four_elements_against_the_clock);
    tcase_add_test(tcase, levels_are_chosen_clamped_and_filtered);
    tcase_add_test(tcase, a_direction_finds_its_face_and_a_seamless_cube_has_no_edges);
    tcase_add_test(tcase, an_access_beyond_a_surface_traps_moves_to_its_edge_or_is_nowhere);
    tcase_add_test(tcase, a_formatted_store_fits_values_to_the_channels);
    return suite;
}

CX_TESTS(texture_suite);
