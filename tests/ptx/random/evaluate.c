/* Random programs: what they compute, one thread at a time from the description. */
#include "program.h"

#include <string.h>

typedef struct frame {
    uint64_t values[RANDOM_CLASSES][RANDOM_REGISTERS];
    unsigned char local[RANDOM_LOCAL];
} frame;

typedef struct world {
    const random_program *program;
    random_layout layout;
    unsigned char *memory;
    unsigned char shared[RANDOM_THREADS * (31 * RANDOM_SLOTS + 16) + 256];
    unsigned block;
    random_failures *failures;
    frame frames[RANDOM_THREADS];
} world;

static uint64_t value_of(const frame *self, const random_step *step, int i)
{
    return step->is_literal[i] ? step->literal[i]
                               : self->values[step->from[i].class][step->from[i].number];
}

static void set(frame *self, random_place place, uint64_t value)
{
    self->values[place.class][place.number] = value & random_mask_of(place.class);
}

static bool is_guarded_out(const frame *self, const random_step *step)
{
    return step->guard >= 0 && (self->values[P][step->guard] != 0) == step->inverted;
}

/* ---- rows ---- */

static void run_row(frame *self, const random_step *step)
{
    uint64_t values[3] = {0}, *result = &self->values[step->to.class][step->to.number];

    for (int i = 0; i < step->row->operands; i++)
        values[i] = value_of(self, step, i);
    if (!is_guarded_out(self, step))
        set(self, step->to, step->row->edge->expected(values[0], values[1], values[2]));
    /* The text makes all NaNs of f64 the same. */
    if (step->to.class == G && (*result & INT64_MAX) > UINT64_C(0x7ff0000000000000))
        *result = UINT64_C(0xfff8000000000000);
}

/* ---- memory ---- */

static unsigned index_in_block(const world *self, random_pattern pattern, unsigned thread)
{
    unsigned threads = self->program->threads;

    return pattern == UNIT       ? thread
           : pattern == REVERSED ? threads - 1 - thread
                                 : (thread * 7 + 3) % threads;
}

static unsigned char *slot_of(world *self, const random_step *step, unsigned thread)
{
    unsigned size = step->bytes * step->count, log = 0;
    uint64_t threads = self->program->threads;
    uint64_t index = index_in_block(self, step->pattern, thread);

    while (1u << log < size)
        log++;
    if (step->space == SHARED)
        return self->shared + self->layout.shared[log] + (step->slot * threads + index) * size;
    return self->memory + self->layout.own[log] +
           (step->slot * self->layout.threads + self->block * threads + index) * size;
}

static unsigned char *element_of(world *self, frame *regs, const random_step *step)
{
    unsigned size = step->bytes * step->count;
    unsigned limit = step->space == LOCAL || step->space == PARAMETER ? 64 : RANDOM_TABLE;
    uint64_t index = step->pattern == SCATTERED ? value_of(regs, step, 0) : step->number;
    uint64_t offset = index % (limit / size) * size;

    switch (step->space) {
    case LOCAL:
        return regs->local + offset;
    case TABLE:
        return self->memory + self->layout.table + offset;
    case CONSTANT:
        return self->memory + self->layout.constant + offset;
    default:
        return self->memory + self->layout.parameter + offset;
    }
}

static uint64_t read_bytes(const unsigned char *from, unsigned bytes, bool is_signed)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value += (uint64_t)from[i] << (8 * i);
    if (is_signed && bytes < 8 && from[bytes - 1] > 127)
        value -= UINT64_C(1) << (8 * bytes);
    return value;
}

static void write_bytes(unsigned char *to, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static void run_access(world *self, frame *regs, const random_step *step, unsigned thread)
{
    unsigned char *at = step->space <= SHARED ? slot_of(self, step, thread)
                                              : element_of(self, regs, step);

    for (unsigned i = 0; i < step->count; i++, at += step->bytes) {
        random_place place = random_next_place(step->to, i);

        if (step->kind == DO_LOAD)
            set(regs, place, read_bytes(at, step->bytes, step->is_signed));
        else
            write_bytes(at, step->bytes, regs->values[place.class][place.number]);
    }
}

static int64_t signed_of(uint64_t value, unsigned bytes)
{
    return bytes == 4 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
}

static bool is_less(const random_step *step, uint64_t a, uint64_t b)
{
    return step->is_signed ? signed_of(a, step->bytes) < signed_of(b, step->bytes) : a < b;
}

static uint64_t changed(const random_step *step, uint64_t old, uint64_t b, uint64_t c)
{
    switch (step->number) {
    case ATOM_ADD:
        return old + b;
    case ATOM_MIN:
        return is_less(step, old, b) ? old : b;
    case ATOM_MAX:
        return is_less(step, old, b) ? b : old;
    case ATOM_AND:
        return old & b;
    case ATOM_OR:
        return old | b;
    case ATOM_XOR:
        return old ^ b;
    case ATOM_EXCH:
        return b;
    case ATOM_CAS:
        return old == b ? c : old;
    case ATOM_INC:
        return old >= b ? 0 : old + 1;
    default:
        return old == 0 || old > b ? b : old - 1;
    }
}

static void run_atom(world *self, frame *regs, const random_step *step, unsigned thread)
{
    uint64_t old;
    unsigned char *at =
        step->kind == DO_REDUCE
            ? self->memory + self->layout.common + random_common_of(step) * UINT64_C(8)
            : slot_of(self, step, thread);

    old = read_bytes(at, step->bytes, false);
    write_bytes(at, step->bytes,
                changed(step, old, value_of(regs, step, 0), value_of(regs, step, 1)));
    if (step->kind == DO_ATOM)
        set(regs, step->to, old);
}

static void run_failure(world *self, frame *regs, const random_step *step, unsigned thread)
{
    if (value_of(regs, step, 0) % 4 == 0) {
        self->failures->any = true;
        self->failures->odd = step->number;
        self->failures->at[self->block][thread] = true;
    }
    set(regs, step->to, read_bytes(self->memory + self->layout.table, 4, false));
}

static void run_special(world *self, frame *regs, const random_step *step, unsigned thread)
{
    unsigned lane = thread % 32;
    unsigned width = self->program->width, height = self->program->height;
    const uint64_t values[] = {[TID] = thread % width,
                               [TID_Y] = thread / width % height,
                               [TID_Z] = thread / width / height,
                               [NTID] = width,
                               [CTAID] = self->block,
                               [NCTAID] = self->program->blocks,
                               [LANEID] = lane,
                               [LANEMASK_LT] = (UINT64_C(1) << lane) - 1,
                               [LANEMASK_GE] = UINT64_MAX << lane};

    set(regs, step->to, values[step->number]);
}

/* ---- control ---- */

static void run_steps(world *self, frame *regs, unsigned thread, int from, int to);

static void run_call(world *self, frame *caller, const random_step *step, unsigned thread)
{
    const random_program *program = self->program;
    unsigned function = step->number + (step->generic && value_of(caller, step, 0) % 2);
    frame callee = {.local = {0}};

    for (int c = 0; c < RANDOM_CLASSES; c++)
        for (int i = 0; i < RANDOM_REGISTERS; i++)
            callee.values[c][i] = random_initial((random_place){(random_class)c, i});
    callee.values[W][0] = value_of(caller, step, 0);
    callee.values[D][0] = value_of(caller, step, 1);
    run_steps(self, &callee, thread, program->first[function], program->first[function + 1]);
    set(caller, step->to, callee.values[W][1]);
}

static void run_loop(world *self, frame *regs, const random_step *step, unsigned thread, int at)
{
    for (uint64_t left = value_of(regs, step, 0) % 4; left > 0; left--) {
        run_steps(self, regs, thread, at + 1, step->end);
        if (step->guard >= 0 && !is_guarded_out(regs, step))
            break;
    }
}

static void run_step(world *self, frame *regs, unsigned thread, int at)
{
    const random_step *step = &self->program->steps[at];

    if (step->kind == DO_ROW) {
        run_row(regs, step);
    } else if (step->kind == DO_LOOP) {
        run_loop(self, regs, step, thread, at);
    } else if (step->kind == DO_IF) {
        if (is_guarded_out(regs, step))
            run_steps(self, regs, thread, step->middle, step->end);
        else
            run_steps(self, regs, thread, at + 1, step->middle);
    } else if (!is_guarded_out(regs, step)) {
        if (step->kind == DO_LOAD || step->kind == DO_STORE)
            run_access(self, regs, step, thread);
        else if (step->kind == DO_CALL)
            run_call(self, regs, step, thread);
        else if (step->kind == DO_FAIL)
            run_failure(self, regs, step, thread);
        else if (step->kind == DO_SPECIAL)
            run_special(self, regs, step, thread);
        else
            run_atom(self, regs, step, thread);
    }
}

static int step_behind(const random_step *step, int at)
{
    return step->kind == DO_IF || step->kind == DO_LOOP ? step->end : at + 1;
}

static void run_steps(world *self, frame *regs, unsigned thread, int from, int to)
{
    const random_step *steps = self->program->steps;

    for (int i = from; i < to; i = step_behind(&steps[i], i))
        if (!steps[i].off)
            run_step(self, regs, thread, i);
}

/* ---- what lanes do together ---- */

static unsigned lanes_of(const world *self, unsigned thread)
{
    unsigned left = self->program->threads - thread / 32 * 32;

    return left < 32 ? left : 32;
}

/* As the PTX ISA writes it down; returns the lane, or -1. */
static int source_lane(const random_step *step, unsigned lane, unsigned by)
{
    unsigned segment = 32 - step->slot, clamp = step->number == SHUFFLE_UP ? 0 : 31;
    int least = (int)(lane & segment), most = (int)((lane & segment) | (clamp & ~segment & 31));
    int from;

    by %= 32;
    switch (step->number) {
    case SHUFFLE_UP:
        from = (int)lane - (int)by;
        return from >= most ? from : -1;
    case SHUFFLE_DOWN:
        from = (int)lane + (int)by;
        break;
    case SHUFFLE_BFLY:
        from = (int)(lane ^ by);
        break;
    default:
        from = least | (int)(by & ~segment & 31);
    }
    return from <= most ? from : -1;
}

static uint64_t shuffled(const world *self, const random_step *step, const uint64_t *given,
                         unsigned thread)
{
    unsigned first = thread / 32 * 32;
    uint64_t by = value_of(&self->frames[thread], step, 1);
    int from;

    if (step->number == SHUFFLE_IDX && self->program->threads % 32 != 0)
        by %= lanes_of(self, thread);
    from = source_lane(step, thread - first, (unsigned)by);
    if (from < 0)
        return step->is_signed ? 0 : given[thread];
    return given[first + (unsigned)from];
}

static uint64_t voted(const world *self, const random_step *step, const uint64_t *given,
                      unsigned thread)
{
    unsigned first = thread / 32 * 32, lanes = lanes_of(self, thread);
    uint64_t ballot = 0, same = 0, sum = 0, all = UINT32_MAX >> (32 - lanes);

    for (unsigned i = 0; i < lanes; i++) {
        ballot |= (uint64_t)(given[first + i] != 0) << i;
        same |= (uint64_t)(given[first + i] == given[thread]) << i;
        sum += given[first + i];
    }
    switch (step->number) {
    case VOTE_ALL:
        return ballot == all;
    case VOTE_ANY:
        return ballot != 0;
    case VOTE_UNI:
        return ballot == all || ballot == 0;
    case VOTE_BALLOT:
        return ballot;
    case VOTE_MATCH:
        return same;
    default:
        return sum;
    }
}

static uint64_t exchanged(const world *self, const random_step *step, const uint64_t *given,
                          unsigned thread)
{
    unsigned threads = self->program->threads, wanted = (thread + step->number) % threads;

    for (unsigned i = 0; i < threads; i++)
        if (index_in_block(self, step->pattern, i) == wanted)
            return given[i];
    return 0;
}

static void run_joint(world *self, const random_step *step)
{
    uint64_t given[RANDOM_THREADS], results[RANDOM_THREADS];
    unsigned threads = self->program->threads;

    for (unsigned t = 0; t < threads; t++)
        given[t] = value_of(&self->frames[t], step, 0);
    for (unsigned t = 0; t < threads; t++)
        results[t] = step->kind == DO_SHUFFLE ? shuffled(self, step, given, t)
                     : step->kind == DO_VOTE  ? voted(self, step, given, t)
                                              : exchanged(self, step, given, t);
    for (unsigned t = 0; t < threads; t++)
        set(&self->frames[t], step->to, results[t]);
}

/* ---- the kernel ---- */

static void copy_registers(world *self, unsigned thread, bool out)
{
    const random_program *program = self->program;
    uint64_t at = 8 * (self->block * program->threads + thread);

    for (int c = 0; c < RANDOM_CLASSES; c++)
        for (int i = 0; i < RANDOM_REGISTERS; i++) {
            random_place place = {(random_class)c, i};
            unsigned bytes = random_bytes_of(place.class);
            unsigned char *memory = self->memory + at;

            if (!program->used[RANDOM_FUNCTIONS][c][i])
                continue;
            memory += random_register_at(program, place);
            if (out)
                write_bytes(memory + self->layout.out, bytes, self->frames[thread].values[c][i]);
            else
                set(&self->frames[thread], place,
                    read_bytes(memory + self->layout.in, bytes, false));
        }
}

static void run_block(world *self)
{
    const random_program *program = self->program;
    const random_step *steps = program->steps;

    memset(self->shared, 0, sizeof self->shared);
    memset(self->frames, 0, sizeof self->frames);
    for (unsigned t = 0; t < program->threads; t++)
        copy_registers(self, t, false);
    for (int i = program->first[RANDOM_FUNCTIONS]; i < program->count;
         i = step_behind(&steps[i], i)) {
        if (steps[i].off)
            continue;
        if (steps[i].kind >= DO_SHUFFLE) {
            run_joint(self, &steps[i]);
            continue;
        }
        for (unsigned t = 0; t < program->threads; t++)
            run_step(self, &self->frames[t], t, i);
    }
    for (unsigned t = 0; t < program->threads; t++)
        copy_registers(self, t, true);
}

void random_evaluate(const random_program *self, unsigned char *memory,
                     random_failures *out_failures)
{
    static world all;

    all.program = self;
    all.layout = random_layout_of(self);
    all.memory = memory;
    all.failures = out_failures;
    memset(out_failures, 0, sizeof *out_failures);
    for (all.block = 0; all.block < self->blocks; all.block++)
        run_block(&all);
}
