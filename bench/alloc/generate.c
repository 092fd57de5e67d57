#include "generate.h"

#include <math.h>
#include <stdlib.h>

#define SMALLEST_BYTES 256
#define LAYERS 96
#define PARAMETERS 300

const bench_recipe bench_gpu = {"gpu", (uint64_t)64 << 20};
const bench_recipe bench_small = {"small", (uint64_t)1 << 20};
const bench_recipe bench_train = {"train", 0};

/* A trace in the making. Slots are handed out last in, first out, and then in order. */
typedef struct making {
    allocation_trace *trace;
    uint64_t random;
    uint32_t *idle;
    uint32_t idle_count, slots_used;
    bool whole; /* until memory runs out */
} making;

/* Marsaglia's xorshift with the shifts 13, 7, 17, its output scrambled by Vigna's multiplier. */
static uint64_t draw(making *m)
{
    uint64_t x = m->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    m->random = x;
    return x * UINT64_C(0x2545F4914F6CDD1D);
}

static double draw_fraction(making *m)
{
    return ldexp((double)(draw(m) >> 11), -53);
}

static uint64_t draw_size(making *m, double low, double high)
{
    return (uint64_t)exp(log(low) + draw_fraction(m) * (log(high) - log(low)));
}

static uint32_t take_slot(making *m)
{
    return m->idle_count != 0 ? m->idle[--m->idle_count] : m->slots_used++;
}

static void give_slot(making *m, uint32_t slot)
{
    m->idle[m->idle_count++] = slot;
}

static void add(making *m, uint32_t slot, uint64_t bytes)
{
    m->whole = m->whole && allocation_trace_add(m->trace, slot, bytes) == ALLOCATION_GOOD;
}

/* ---- random order ---- */

static bool next_allocates(making *m, uint32_t live, uint32_t wanted_live)
{
    if (live < wanted_live * 3 / 4)
        return true;
    if (m->idle_count == 0)
        return false;
    return draw_fraction(m) < (live < wanted_live ? 0.55 : 0.45);
}

static void churn(making *m, uint64_t operations, uint32_t wanted_live, uint64_t largest)
{
    uint32_t slots = wanted_live + wanted_live / 4 + 16, live_count = 0;
    uint64_t emptying =
        operations > 2 * (uint64_t)wanted_live ? operations - wanted_live : wanted_live;
    uint32_t *live = calloc(slots, sizeof *live);
    m->whole = live != NULL;
    for (uint32_t slot = slots; slot-- > 0;)
        give_slot(m, slot);
    while (m->whole && (m->trace->count < emptying || live_count > 0)) {
        if (m->trace->count < emptying && next_allocates(m, live_count, wanted_live)) {
            live[live_count] = take_slot(m);
            add(m, live[live_count++], draw_size(m, SMALLEST_BYTES, (double)largest));
            continue;
        }
        uint32_t victim = (uint32_t)(draw(m) % live_count), slot = live[victim];
        live[victim] = live[--live_count];
        give_slot(m, slot);
        add(m, slot, 0);
    }
    free(live);
}

/* ---- training ---- */

typedef struct layers {
    uint64_t activation[LAYERS], workspace[LAYERS];
    uint32_t slot[LAYERS]; /* of the activation that the backward pass needs */
} layers;

static void pass_forward(making *m, layers *l, double scale)
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        uint32_t activation = take_slot(m), workspace = take_slot(m), vector = take_slot(m);
        add(m, activation, (uint64_t)((double)l->activation[i] * scale));
        add(m, workspace, l->workspace[i]);
        add(m, vector, 512 + 64 * (uint64_t)i);
        add(m, workspace, 0);
        add(m, vector, 0);
        give_slot(m, vector);
        give_slot(m, workspace);
        l->slot[i] = activation;
    }
}

static void pass_backward(making *m, layers *l, double scale)
{
    for (uint32_t i = LAYERS; i-- > 0;) {
        uint32_t gradient = take_slot(m), workspace = take_slot(m);
        add(m, gradient, (uint64_t)((double)l->activation[i] * scale));
        add(m, workspace, l->workspace[i]);
        add(m, l->slot[i], 0);
        add(m, workspace, 0);
        add(m, gradient, 0);
        give_slot(m, l->slot[i]);
        give_slot(m, workspace);
        give_slot(m, gradient);
    }
}

static void train(making *m, uint64_t operations)
{
    layers l;
    for (int i = 0; i < LAYERS; i++) {
        l.activation[i] = draw_size(m, 4 << 10, 32 << 20);
        l.workspace[i] = draw_size(m, 512, 8 << 20);
    }
    for (int i = 0; i < PARAMETERS; i++)
        add(m, take_slot(m), draw_size(m, 1 << 10, 16 << 20));
    for (int step = 0; m->whole && m->trace->count < operations; step++) {
        double scale = step % 8 == 7 ? 0.95 : 1.0;
        pass_forward(m, &l, scale);
        pass_backward(m, &l, scale);
    }
    for (uint32_t slot = 0; slot < PARAMETERS; slot++)
        add(m, slot, 0);
}

bool bench_generate(const bench_recipe *recipe, uint64_t operations, uint32_t live, uint64_t seed,
                    allocation_trace *out_trace)
{
    *out_trace = (allocation_trace){0};
    making m = {
        .trace = out_trace, .random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1, .whole = true};
    m.idle = calloc((size_t)live * 2 + 4096, sizeof *m.idle);
    if (m.idle == NULL)
        return false;
    for (int i = 0; i < 16; i++)
        (void)draw(&m);
    if (recipe->largest_bytes == 0)
        train(&m, operations);
    else
        churn(&m, operations, live, recipe->largest_bytes);
    free(m.idle);
    if (!m.whole)
        allocation_trace_clear(out_trace);
    return m.whole;
}
