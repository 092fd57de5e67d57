/* Random programs: their description. */
#include "../../support/random.h"
#include "program.h"

#include <string.h>

static const unsigned bits_of[RANDOM_CLASSES] = {1, 16, 32, 64, 32, 64, 16, 16, 32, 32};

unsigned random_bytes_of(random_class class)
{
    return class == P ? 4 : bits_of[class] / 8;
}

uint64_t random_mask_of(random_class class)
{
    return UINT64_MAX >> (64 - bits_of[class]);
}

/* ---- choices ---- */

typedef struct maker {
    random_program *program;
    uint64_t state;
    int function;
    int depth; /* of branches and loops */
} maker;

static unsigned pick(maker *self, unsigned below)
{
    return (unsigned)((next_random(&self->state) >> 16) % below);
}

static bool chance(maker *self, unsigned percent)
{
    return pick(self, 100) < percent;
}

static random_place pick_place(maker *self, random_class class)
{
    return (random_place){class, (int)pick(self, RANDOM_REGISTERS)};
}

static uint64_t pick_literal(maker *self, random_class class)
{
    static const uint64_t floats[] = {0, 0x3f800000, 0xbf800000, 0x40400000, 1, 0x7f800000};
    static const uint64_t doubles[] = {0, UINT64_C(0x3ff0000000000000),
                                       UINT64_C(0xbff8000000000000), 1};
    uint64_t value = next_random(&self->state);

    if (class == F)
        return chance(self, 70) ? floats[pick(self, 6)] : (uint32_t)value;
    if (class == G)
        return chance(self, 70) ? doubles[pick(self, 4)] : value;
    switch (pick(self, 4)) {
    case 0:
        return pick(self, 4);
    case 1:
        return random_mask_of(class) - pick(self, 3);
    case 2:
        return pick(self, 70);
    default:
        return value & random_mask_of(class);
    }
}

/* ---- steps ---- */

static random_step *add_step(maker *self, random_kind kind)
{
    random_step *step = &self->program->steps[self->program->count++];

    *step = (random_step){.kind = kind, .guard = -1};
    if (chance(self, 15)) {
        step->guard = (int)pick(self, RANDOM_REGISTERS);
        step->inverted = chance(self, 50);
    }
    return step;
}

static const random_row *pick_row(maker *self)
{
    const random_row *row;

    do
        row = random_row_at(pick(self, (unsigned)random_row_count()));
    while (strncmp(row->edge->text, "cvt", 3) == 0 && chance(self, 75));
    return row;
}

static void add_row(maker *self)
{
    const random_row *row = pick_row(self);
    random_step *step = add_step(self, DO_ROW);

    step->row = row;
    if (row->edge->text[0] == '@')
        step->guard = -1;
    step->to = pick_place(self, row->to);
    for (int i = 0; i < row->operands; i++) {
        step->from[i] = pick_place(self, row->from[i]);
        if (i > 0 && row->takes_literals && row->from[i] != P && chance(self, 15)) {
            step->is_literal[i] = true;
            step->literal[i] = pick_literal(self, row->from[i]);
        }
    }
}

static void add_access(maker *self)
{
    static const random_class classes[] = {W, W, W, D, F, F, G, H, X};
    random_class class = classes[pick(self, sizeof classes / sizeof classes[0])];
    unsigned most = random_bytes_of(class);
    bool store = chance(self, 40);
    random_step *step = add_step(self, store ? DO_STORE : DO_LOAD);

    step->to = pick_place(self, class);
    step->from[0] = pick_place(self, W);
    step->space = store ? pick(self, LOCAL + 1) : pick(self, PARAMETER + 1);
    if (self->function < RANDOM_FUNCTIONS)
        step->space = store || step->space < TABLE ? LOCAL : TABLE;
    step->pattern = pick(self, UNIFORM);
    if (step->space >= LOCAL)
        step->pattern = step->space == PARAMETER ? UNIFORM : UNIFORM + pick(self, 2);
    step->bytes = most;
    if (chance(self, 35) && class != F && class != G && class != X)
        step->bytes = 1u << pick(self, class == H ? 2 : class == W ? 3 : 4);
    step->is_signed = chance(self, 40);
    step->count = 1;
    if (step->bytes == most && chance(self, 25))
        step->count = most == 8 ? 2 : 2u << pick(self, 2);
    step->slot = step->pattern + 3 * pick(self, RANDOM_SLOTS / 3);
    step->number = pick(self, 64);
    step->generic = chance(self, 20);
}

static void add_atom(maker *self)
{
    bool reduce = chance(self, 40);
    random_step *step = add_step(self, reduce ? DO_REDUCE : DO_ATOM);
    random_class class = chance(self, 70) ? W : D;

    step->number = pick(self, reduce ? RANDOM_REDUCTIONS : RANDOM_ATOMS);
    if (step->number >= ATOM_INC)
        class = W;
    step->is_signed = (step->number == ATOM_MIN || step->number == ATOM_MAX) && chance(self, 50);
    step->bytes = random_bytes_of(class);
    step->count = 1;
    step->space = !reduce && chance(self, 40) ? SHARED : GLOBAL;
    step->pattern = pick(self, UNIFORM);
    step->slot = step->pattern + 3 * pick(self, RANDOM_SLOTS / 3);
    step->to = pick_place(self, class);
    step->from[0] = pick_place(self, class);
    step->from[1] = pick_place(self, class);
    step->generic = chance(self, 20);
}

static void add_call(maker *self)
{
    random_step *step;

    if (self->function == 0)
        return add_row(self);
    step = add_step(self, DO_CALL);
    step->number = pick(self, (unsigned)self->function);
    step->generic = step->number + 1 < (unsigned)self->function && chance(self, 50);
    step->to = pick_place(self, W);
    step->from[0] = pick_place(self, W);
    step->from[1] = pick_place(self, D);
}

static void add_special(maker *self)
{
    random_step *step = add_step(self, DO_SPECIAL);

    step->number = pick(self, RANDOM_SPECIALS);
    step->to = pick_place(self, W);
}

static void add_failure(maker *self)
{
    random_step *step = add_step(self, DO_FAIL);

    self->program->fails = true;
    step->to = pick_place(self, W);
    step->from[0] = pick_place(self, W);
    step->generic = chance(self, 30);
    step->number = pick(self, 2);
}

static void add_joint(maker *self)
{
    random_program *program = self->program;
    random_step *step = add_step(self, DO_EXCHANGE);
    bool whole = program->threads % 32 == 0;
    static const unsigned widths[] = {1, 2, 4, 8, 16, 32};

    step->guard = -1;
    step->to = pick_place(self, W);
    step->from[0] = pick_place(self, W);
    step->from[1] = pick_place(self, W);
    switch (pick(self, 4)) {
    case 0:
        step->kind = DO_VOTE;
        step->number = pick(self, RANDOM_VOTES);
        if (step->number < VOTE_BALLOT)
            step->to.class = P;
        if (step->number < VOTE_MATCH)
            step->from[0].class = P;
        break;
    case 1:
    case 2:
        step->kind = DO_SHUFFLE;
        step->number = whole ? pick(self, RANDOM_SHUFFLES) : chance(self, 50) ? SHUFFLE_UP
                                                                             : SHUFFLE_IDX;
        step->slot = step->number == SHUFFLE_IDX && !whole ? 32 : widths[pick(self, 6)];
        step->is_literal[1] = step->number != SHUFFLE_IDX;
        step->literal[1] = pick(self, 33);
        if (chance(self, 30))
            step->to.class = step->from[0].class = F;
        break;
    default:
        step->to.class = step->from[0].class = D;
        step->pattern = pick(self, UNIFORM);
        step->number = pick(self, RANDOM_THREADS);
    }
}

static void add_steps(maker *self, unsigned count);

static void add_branch(maker *self)
{
    int at = self->program->count;
    random_step *step = add_step(self, DO_IF);

    step->guard = (int)pick(self, RANDOM_REGISTERS);
    step->inverted = chance(self, 50);
    step->generic = chance(self, 15);
    self->depth++;
    add_steps(self, 1 + pick(self, 4));
    self->program->steps[at].middle = self->program->count;
    if (chance(self, 50))
        add_steps(self, 1 + pick(self, 4));
    self->program->steps[at].end = self->program->count;
    self->depth--;
}

static void add_loop(maker *self)
{
    int at = self->program->count;
    random_step *step = add_step(self, DO_LOOP);

    if (chance(self, 60))
        step->guard = -1;
    step->from[0] = pick_place(self, W);
    step->is_literal[0] = chance(self, 30);
    step->literal[0] = pick(self, 4);
    self->depth++;
    add_steps(self, 1 + pick(self, 4));
    self->program->steps[at].end = self->program->count;
    self->depth--;
}

static void add_one(maker *self)
{
    bool kernel = self->function == RANDOM_FUNCTIONS, nests = self->depth < 3;
    unsigned choice = pick(self, 100);

    if (kernel && self->program->seed % 16 == 3 && !self->program->fails && choice < 6)
        add_failure(self);
    else if (choice < 55)
        add_row(self);
    else if (choice < 73)
        add_access(self);
    else if (choice < 78 && kernel)
        add_atom(self);
    else if (choice < 81)
        add_special(self);
    else if (choice < 84)
        add_call(self);
    else if (choice < 89 && nests)
        add_branch(self);
    else if (choice < 93 && nests)
        add_loop(self);
    else if (kernel && self->depth == 0)
        add_joint(self);
    else
        add_row(self);
}

static void add_steps(maker *self, unsigned count)
{
    for (; count > 0 && self->program->count < RANDOM_STEPS - 32; count--)
        add_one(self);
}

void random_make(random_program *self, uint64_t seed)
{
    static const unsigned threads[] = {1, 5, 32, 45, 64}, widths[] = {1, 5, 8, 9, 4};
    static const unsigned heights[] = {1, 1, 2, 5, 4};
    maker choices = {.program = self, .state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1};

    memset(self, 0, sizeof *self);
    for (int i = 0; i < 4; i++)
        next_random(&choices.state);
    self->seed = seed;
    self->threads = threads[seed % 5];
    self->width = seed / 15 % 2 ? widths[seed % 5] : self->threads;
    self->height = seed / 15 % 2 ? heights[seed % 5] : 1;
    self->blocks = 1 + (unsigned)(seed / 5 % RANDOM_BLOCKS);
    random_row_count();
    for (; choices.function <= RANDOM_FUNCTIONS; choices.function++) {
        self->first[choices.function] = self->count;
        add_steps(&choices, choices.function < RANDOM_FUNCTIONS ? 1 + pick(&choices, 5)
                                                            : 4 + pick(&choices, 28));
    }
    self->first[RANDOM_FUNCTIONS + 1] = self->count;
    random_find_used(self);
}

/* ---- registers of the kernel ---- */

unsigned random_common_of(const random_step *step)
{
    return step->number * 4 + (step->bytes == 8) * 2 + step->is_signed;
}

bool random_has_result(const random_step *step)
{
    return step->kind != DO_IF && step->kind != DO_LOOP && step->kind != DO_STORE &&
           step->kind != DO_REDUCE;
}

static void mark(random_program *self, int function, random_place place)
{
    self->used[function][place.class][place.number] = true;
}

static void mark_step(random_program *self, int function, const random_step *step)
{
    int operands = step->kind == DO_ROW ? step->row->operands : 2;

    if (step->guard >= 0)
        mark(self, function, (random_place){P, step->guard});
    if (random_has_result(step) || step->kind == DO_STORE)
        for (unsigned i = 0; i < (step->count ? step->count : 1); i++)
            mark(self, function, random_next_place(step->to, i));
    for (int i = 0; i < operands; i++)
        if (!step->is_literal[i])
            mark(self, function, step->from[i]);
    if (step->kind == DO_CALL)
        self->called[step->number] = self->called[step->number + step->generic] = true;
}

static int step_after(const random_step *step, int at)
{
    return step->kind == DO_IF || step->kind == DO_LOOP ? step->end : at + 1;
}

void random_find_used(random_program *self)
{
    memset(self->used, 0, sizeof self->used);
    memset(self->called, 0, sizeof self->called);
    for (int function = RANDOM_FUNCTIONS; function >= 0; function--) {
        if (function < RANDOM_FUNCTIONS && !self->called[function])
            continue;
        for (int i = self->first[function]; i < self->first[function + 1];) {
            const random_step *step = &self->steps[i];

            if (!step->off)
                mark_step(self, function, step);
            i = step->off ? step_after(step, i) : i + 1;
        }
        if (function < RANDOM_FUNCTIONS) {
            mark(self, function, (random_place){W, 0});
            mark(self, function, (random_place){W, 1});
            mark(self, function, (random_place){D, 0});
        }
    }
}

uint64_t random_failing_address(bool odd, unsigned thread)
{
    return odd ? RANDOM_ADDRESS + 4 * thread + 1 : 64 + 64 * thread;
}

random_place random_next_place(random_place place, unsigned by)
{
    return (random_place){place.class, (place.number + (int)by) % RANDOM_REGISTERS};
}

uint64_t random_initial(random_place place)
{
    static const uint64_t floats[] = {0x3f800000, UINT64_C(0x3ff0000000000000), 0x3c00, 0x3f80,
                                      0xbc003c00, 0xbf803f80};

    if (place.class == P)
        return place.number & 1;
    if (place.class >= F)
        return floats[place.class - F] + (uint64_t)place.number * 3;
    return UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(place.number + 1) &
           random_mask_of(place.class);
}

/* ---- memory ---- */

static uint64_t take(uint64_t *at, uint64_t bytes)
{
    uint64_t here = *at;

    *at = (here + bytes + 15) & ~UINT64_C(15);
    return here;
}

static int used_count(const random_program *self)
{
    int count = 0;

    for (int c = 0; c < RANDOM_CLASSES; c++)
        for (int i = 0; i < RANDOM_REGISTERS; i++)
            count += self->used[RANDOM_FUNCTIONS][c][i];
    return count;
}

random_layout random_layout_of(const random_program *self)
{
    random_layout layout = {.threads = (uint64_t)self->threads * self->blocks};
    uint64_t registers = (uint64_t)used_count(self) * layout.threads * 8;

    layout.table = take(&layout.bytes, RANDOM_TABLE);
    layout.constant = take(&layout.bytes, RANDOM_TABLE);
    layout.parameter = take(&layout.bytes, 64);
    layout.common = take(&layout.bytes, RANDOM_COMMON * 8);
    for (int i = 0; i < 5; i++) {
        layout.own[i] = take(&layout.bytes, (layout.threads << i) * RANDOM_SLOTS);
        layout.shared[i] =
            take(&layout.shared_bytes, ((uint64_t)self->threads << i) * RANDOM_SLOTS);
    }
    layout.exchanged = take(&layout.shared_bytes, (uint64_t)self->threads * 8);
    layout.in = take(&layout.bytes, registers);
    layout.out = take(&layout.bytes, registers);
    return layout;
}

static uint64_t register_index(const random_program *self, random_place place)
{
    uint64_t index = 0;

    for (int c = 0; c <= (int)place.class; c++)
        for (int i = 0; i < (c == (int)place.class ? place.number : RANDOM_REGISTERS); i++)
            index += self->used[RANDOM_FUNCTIONS][c][i];
    return index;
}

uint64_t random_register_at(const random_program *self, random_place place)
{
    return register_index(self, place) * self->threads * self->blocks * 8;
}

static uint64_t float_value(maker *self, random_class class)
{
    static const unsigned fractions[] = {23, 52, 10, 7}, exponents[] = {8, 11, 5, 8};
    int which = class == F ? 0 : class == G ? 1 : class == X || class == V ? 2 : 3;
    uint64_t bits = next_random(&self->state), one;
    uint64_t sign = bits >> 63 << (fractions[which] + exponents[which]);
    uint64_t top = (UINT64_C(1) << exponents[which]) - 1;

    one = top >> 1;
    switch (pick(self, 8)) {
    case 0:
        return bits & random_mask_of(class == V ? X : class == Z ? Y : class);
    case 1:
        return sign;
    case 2:
        return sign | top << fractions[which] | (pick(self, 3) == 0);
    case 3:
        return sign | pick(self, 4);
    case 4:
        return sign | one << fractions[which];
    default:
        return sign | (one - 4 + pick(self, 9)) << fractions[which] |
               (bits & ((UINT64_C(1) << fractions[which]) - 1) &
                (chance(self, 50) ? UINT64_MAX : UINT64_MAX << (fractions[which] - 3)));
    }
}

static uint64_t any_value(maker *self, random_class class)
{
    uint64_t mask = random_mask_of(class);

    if (class == V || class == Z)
        return float_value(self, class) | float_value(self, class) << 16;
    if (class >= F)
        return float_value(self, class);
    return class == P ? pick(self, 2) : pick_literal(self, class) & mask;
}

static void fill_register(maker *self, random_place place, unsigned char *memory)
{
    uint64_t value = any_value(self, place.class), step = 0;
    unsigned manner = pick(self, 4); /* the same, linear, or each another one */

    if (manner == 1 && place.class < F)
        step = place.class == P ? 1 : chance(self, 70) ? 1 + pick(self, 4)
                                                       : next_random(&self->state);
    for (uint64_t i = 0; i < (uint64_t)self->program->threads * self->program->blocks; i++) {
        if (manner > 1)
            value = any_value(self, place.class);
        memcpy(memory + 8 * i, &value, sizeof value);
        value = (value + step) & random_mask_of(place.class);
    }
}

void random_fill(random_program *self, unsigned char *memory)
{
    maker choices = {.program = self, .state = self->seed * 3 + 12345};
    random_layout layout = random_layout_of(self);

    memset(memory, 0, layout.bytes);
    for (uint64_t i = 0; i < layout.in / 8; i++) {
        uint64_t value = next_random(&choices.state);

        memcpy(memory + 8 * i, &value, sizeof value);
    }
    for (int c = 0; c < RANDOM_CLASSES; c++)
        for (int i = 0; i < RANDOM_REGISTERS; i++) {
            random_place place = {(random_class)c, i};

            /* The same numbers, whichever registers are used. */
            choices.state = (self->seed * 64 + (uint64_t)(c * RANDOM_REGISTERS + i)) *
                              UINT64_C(0x9e3779b97f4a7c15) | 1;
            next_random(&choices.state);
            if (self->used[RANDOM_FUNCTIONS][c][i])
                fill_register(&choices, place,
                              memory + layout.in + random_register_at(self, place));
        }
}
