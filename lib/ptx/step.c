/* Instructions that go on with the next one. */
#include "ptx/step.h"

#include "base/clock.h"
#include "ptx/bits.h"
#include "ptx/bulk.h"
#include "ptx/cluster.h"
#include "ptx/shadow.h"
#include "ptx/video.h"
#include "ptx/wide.h"

#include <stdatomic.h>
#include <string.h>

static inline uint64_t get(const cx_ptx_step *run, uint32_t place, uint32_t lane)
{
    return cx_ptx_get(&run->rows, place, lane);
}

static inline void put(const cx_ptx_step *run, uint32_t place, uint32_t lane, uint64_t value)
{
    cx_ptx_put(&run->rows, place, lane, value);
}

static inline cx_ptx_thread *thread_of(const cx_ptx_step *run, uint32_t lane)
{
    return &run->warp->lanes[lane];
}

/* ---- operations of ops.def ---- */

static void compute_some(const cx_ptx_step *run, const cx_ptx_instruction *at, void *d,
                         const void *a, const void *b, const void *c)
{
    _Alignas(CX_PTX_ROW_ALIGN) uint64_t all[CX_PTX_WARP_SIZE];

    run->lanes->whole[at->op](all, a, b, c);
    if (cx_ptx_is_long(at->d))
        run->lanes->copy_longs(d, all, run->active);
    else
        run->lanes->copy_words(d, all, run->active);
}

static inline void compute(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    void *d = cx_ptx_row(&run->rows, at->d);
    const void *a = cx_ptx_row(&run->rows, at->a), *b = cx_ptx_row(&run->rows, at->b);
    const void *c = cx_ptx_row(&run->rows, at->c);

    if (run->whole)
        run->lanes->whole[at->op](d, a, b, c);
    else
        compute_some(run, at, d, a, b, c);
}

/* ---- moves ---- */

static void move(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    _Alignas(CX_PTX_ROW_ALIGN) uint64_t all[CX_PTX_WARP_SIZE];
    void *d = cx_ptx_row(&run->rows, at->d);

    run->lanes->move(all, &run->rows, at);
    if (cx_ptx_is_long(at->d))
        run->lanes->copy_longs(d, all, run->active | run->unused);
    else
        run->lanes->copy_halves(d, all, run->active | run->unused);
}

/* ---- sums that carry ---- */

static uint64_t add_with_carry(const cx_ptx_instruction *at, uint64_t a, uint64_t b,
                               uint64_t *carry)
{
    uint64_t in = at->mode & 1 ? *carry : 0, sum, out;

    if (at->op == CX_PTX_ADD_CARRY_32) {
        sum = (uint64_t)(uint32_t)a + (uint32_t)b + in;
        out = sum >> 32;
    } else {
        out = __builtin_add_overflow(a, b, &sum);
        out |= __builtin_add_overflow(sum, in, &sum);
    }
    *carry = out;
    return sum;
}

/* As on hardware: a + ~b + carry, so the carry means that nothing is borrowed. */
static uint64_t subtract_with_carry(const cx_ptx_instruction *at, uint64_t a, uint64_t b,
                                    uint64_t *carry)
{
    uint64_t in = at->mode & 1 ? *carry : 1, rest, out;

    if (at->op == CX_PTX_SUB_CARRY_32) {
        rest = (uint64_t)(uint32_t)a + (uint32_t)~b + in;
        out = rest >> 32;
    } else {
        out = __builtin_add_overflow(a, ~b, &rest);
        out |= __builtin_add_overflow(rest, in, &rest);
    }
    *carry = out;
    return rest;
}

static void sum_with_carry(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    const uint32_t place = cx_ptx_fixed_place(CX_PTX_SLOT_CARRY);
    bool plus = at->op == CX_PTX_ADD_CARRY_32 || at->op == CX_PTX_ADD_CARRY_64;

    CX_PTX_EACH_ACTIVE (run) {
        uint64_t carry = get(run, place, lane);
        uint64_t a = get(run, at->a, lane), b = get(run, at->b, lane);

        put(run, at->d, lane,
            plus ? add_with_carry(at, a, b, &carry) : subtract_with_carry(at, a, b, &carry));
        if (at->mode & 2)
            put(run, place, lane, carry);
    }
}

/* ---- loads and stores ---- */

#define READ(type) (uint64_t) __atomic_load_n((const type *)(const void *)memory, __ATOMIC_RELAXED)
#define WRITE(type) __atomic_store_n((type *)(void *)memory, (type)value, __ATOMIC_RELAXED)

static uint64_t load_value(uint16_t op, const unsigned char *memory)
{
    switch ((cx_ptx_op)op) {
    case CX_PTX_LOAD_U8:
        return READ(uint8_t);
    case CX_PTX_LOAD_S8:
        return READ(int8_t);
    case CX_PTX_LOAD_U16:
        return READ(uint16_t);
    case CX_PTX_LOAD_S16:
        return READ(int16_t);
    case CX_PTX_LOAD_U32:
        return READ(uint32_t);
    case CX_PTX_LOAD_S32:
        return READ(int32_t);
    default:
        return READ(uint64_t);
    }
}

static void store_value(uint16_t op, unsigned char *memory, uint64_t value)
{
    switch ((cx_ptx_op)op) {
    case CX_PTX_STORE_8:
        WRITE(uint8_t);
        break;
    case CX_PTX_STORE_16:
        WRITE(uint16_t);
        break;
    case CX_PTX_STORE_32:
        WRITE(uint32_t);
        break;
    default:
        WRITE(uint64_t);
    }
}

static inline unsigned char *reach(const cx_ptx_step *run, const cx_ptx_instruction *at,
                                   uint32_t lane, const void *value)
{
    return cx_ptx_resolve_lane(run->grid, run->block, thread_of(run, lane), at,
                               get(run, at->a, lane), value);
}

static bool load(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    if (!run->few && run->lanes->load(run->grid, run->block, run->warp->lanes, &run->rows, at,
                                      run->active))
        return true;
    CX_PTX_EACH_ACTIVE (run) {
        const unsigned char *memory = reach(run, at, lane, NULL);

        if (!memory)
            return false;
        put(run, at->d, lane, load_value(at->op, memory));
    }
    return true;
}

static bool store(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    if (!run->few && run->lanes->store(run->grid, run->block, run->warp->lanes, &run->rows, at,
                                       run->active))
        return true;
    CX_PTX_EACH_ACTIVE (run) {
        uint64_t value = get(run, at->d, lane);
        unsigned char *memory = reach(run, at, lane, &value);

        if (!memory)
            return false;
        store_value(at->op, memory, value);
    }
    return true;
}

static cx_ptx_wide get_pair(const cx_ptx_step *run, uint32_t place, uint32_t lane)
{
    return (cx_ptx_wide){get(run, place, lane), get(run, place + CX_PTX_LONGS_BYTES, lane)};
}

static bool access_128(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    const cx_ptx_wide_mode mode = (cx_ptx_wide_mode)at->mode;
    const cx_ptx_wide none = {0};

    CX_PTX_EACH_ACTIVE (run) {
        cx_ptx_wide b = mode != CX_PTX_WIDE_LOAD ? get_pair(run, at->b, lane) : none;
        cx_ptx_wide c = mode == CX_PTX_WIDE_SWAP ? get_pair(run, at->c, lane) : none, old;
        unsigned char *memory = reach(run, at, lane, mode != CX_PTX_WIDE_LOAD ? &b : NULL);

        if (!memory)
            return false;
        old = cx_ptx_wide_do(mode, memory, b, mode == CX_PTX_WIDE_SWAP ? c : b);
        if (mode == CX_PTX_WIDE_STORE)
            continue;
        put(run, at->d, lane, old.low);
        put(run, at->d + CX_PTX_LONGS_BYTES, lane, old.high);
    }
    return true;
}

static void show_copy(const cx_ptx_step *run, const cx_ptx_instruction *at,
                      const cx_ptx_thread *thread, cx_ptx_piece *piece)
{
    piece->at = at;
    piece->thread = thread;
    cx_ptx_shadow_piece(run->grid, run->block, piece);
}

static bool copy_async(const cx_ptx_step *run, const cx_ptx_instruction *at, uint32_t lane)
{
    cx_ptx_thread *thread = thread_of(run, lane);
    uint32_t bytes = (uint32_t)get(run, at->c, lane);
    cx_ptx_instruction source = *at;
    unsigned char *to, *from = NULL, value[16] = {0};

    source.space = CX_PTX_GLOBAL;
    thread->next = at;
    to = cx_ptx_resolve_slowly(run->grid, run->block, thread, at, (uint32_t)get(run, at->a, lane),
                               &bytes); /* it is shared memory */
    if (bytes > at->size)
        bytes = at->size;
    source.size = (uint8_t)bytes;
    if (to && bytes > 0)
        from = cx_ptx_resolve_slowly(run->grid, run->block, thread, &source, get(run, at->b, lane),
                                     NULL);
    if (!to || (bytes > 0 && !from))
        return false;
    if (from)
        memcpy(value, from, bytes);
    if (run->grid->shadow) {
        if (from)
            show_copy(run, at, thread,
                      &(cx_ptx_piece){.space = CX_PTX_GLOBAL,
                                      .address = get(run, at->b, lane),
                                      .bytes = bytes,
                                      .memory = from});
        show_copy(run, at, thread,
                  &(cx_ptx_piece){
                      .space = CX_PTX_SHARED, .bytes = at->size, .memory = to, .value = value});
    }
    memcpy(to, value, at->size);
    return true;
}

/* ---- clocks ---- */

/* A fence: a thread that comes here later sees all earlier writes. */
static _Atomic unsigned fences;

/* ---- one instruction ---- */

static uint64_t value_of(const cx_ptx_step *run, const cx_ptx_instruction *at, uint32_t lane)
{
    uint64_t a = get(run, at->a, lane), b = get(run, at->b, lane), c = get(run, at->c, lane);
    cx_ptx_video video;
    cx_ptx_slot to = {0}, from;

    switch ((cx_ptx_op)at->op) {
    case CX_PTX_IS_WINDOW:
        return (a & CX_PTX_WINDOW_MASK) == (uint64_t)at->immediate &&
               (at->space != CX_PTX_SHARED ||
                cx_ptx_cluster_rank_of(a) == run->block->rank);
    case CX_PTX_IS_GLOBAL:
        return (a & CX_PTX_WINDOW_MASK) == 0;
    case CX_PTX_IS_CONSTANT:
        return a - get(run, cx_ptx_fixed_place(CX_PTX_SLOT_CONSTANT), lane) <
               run->grid->module->constant_space;
    case CX_PTX_BFI_32:
        return (uint32_t)cx_ptx_insert((uint32_t)a, (uint32_t)b, (uint32_t)c,
                                       (uint32_t)get(run, at->e, lane), 32);
    case CX_PTX_BFI_64:
        return cx_ptx_insert(a, b, (uint32_t)c, (uint32_t)get(run, at->e, lane), 64);
    case CX_PTX_LOP3:
        return cx_ptx_lop3(at->mode, (uint32_t)a, (uint32_t)b, (uint32_t)c);
    case CX_PTX_MAP_SHARED:
        return cx_ptx_cluster_map(a, (uint32_t)b);
    case CX_PTX_RANK_OF_SHARED:
        return cx_ptx_cluster_rank_of(a);
    case CX_PTX_VIDEO:
        memcpy(&video, &at->immediate, sizeof video);
        return cx_ptx_video_do(&video, (uint32_t)a, (uint32_t)b, (uint32_t)c);
    default:
        from.u64 = a;
        cx_ptx_convert(at, &to, &from);
        return to.u64;
    }
}

static bool do_each(const cx_ptx_step *run, const cx_ptx_instruction *at,
                    bool (*what)(cx_ptx_grid *grid, const cx_ptx_block *block,
                                 cx_ptx_thread *thread, const cx_ptx_instruction *at))
{
    CX_PTX_EACH_ACTIVE (run)
        if (!what(run->grid, run->block, thread_of(run, lane), at))
            return false;
    return true;
}

static bool access_textures(const cx_ptx_step *run, const cx_ptx_instruction *at)
{
    cx_ptx_texture_fault what;
    uint32_t lane = 0;
    cx_ptx_outcome outcome = cx_ptx_step_texture(run, at, &lane, &what);

    if (outcome == CX_PTX_DONE)
        return true;
    thread_of(run, lane)->next = at;
    if (run->grid->outcome != CX_PTX_DONE)
        return false;
    cx_ptx_thread_fail(run->grid, run->block, thread_of(run, lane), outcome, what.handle);
    run->grid->fault->object = what.object;
    run->grid->fault->writes = what.writes;
    run->grid->fault->atomic = what.atomic;
    run->grid->fault->bytes = what.bytes;
    memcpy(run->grid->fault->place, what.place, sizeof what.place);
    memcpy(run->grid->fault->extent, what.extent, sizeof what.extent);
    return false;
}

static void give_all(const cx_ptx_step *run, const cx_ptx_instruction *at, uint64_t value)
{
    CX_PTX_EACH_ACTIVE (run)
        put(run, at->d, lane, value);
}

static bool do_rest(cx_ptx_step *run, const cx_ptx_instruction *at)
{
    switch ((cx_ptx_op)at->op) {
    case CX_PTX_ADD_CARRY_32:
    case CX_PTX_ADD_CARRY_64:
    case CX_PTX_SUB_CARRY_32:
    case CX_PTX_SUB_CARRY_64:
        sum_with_carry(run, at);
        return true;
    case CX_PTX_ATOMIC:
    case CX_PTX_MBARRIER:
        return cx_ptx_step_atomic(run, at);
    case CX_PTX_TEXTURE:
        return access_textures(run, at);
    case CX_PTX_ACCESS_128:
        return access_128(run, at);
    case CX_PTX_CLOCK_32:
    case CX_PTX_CLOCK_64:
    case CX_PTX_TIMER:
        give_all(run, at, cx_clock_ns());
        return true;
    case CX_PTX_CLOCK_HIGH:
        give_all(run, at, cx_clock_ns() >> 32);
        return true;
    case CX_PTX_CLUSTER_REGISTER:
        give_all(run, at, cx_ptx_cluster_value(run->grid, run->block, at->mode));
        return true;
    case CX_PTX_FENCE:
        atomic_fetch_add(&fences, 0);
        return true;
    case CX_PTX_COPY_ASYNC:
        CX_PTX_EACH_ACTIVE (run)
            if (!copy_async(run, at, lane))
                return false;
        return true;
    case CX_PTX_BULK:
        CX_PTX_EACH_ACTIVE (run)
            if (!cx_ptx_bulk_do(run->grid, run->block, thread_of(run, lane), &run->rows, at))
                return false;
        return true;
    case CX_PTX_ARGUMENT:
    case CX_PTX_RESULT:
        return do_each(run, at, cx_ptx_copy_argument);
    case CX_PTX_ALLOCATE:
    case CX_PTX_RESTORE:
        return do_each(run, at, cx_ptx_change_frame);
    default:
        thread_of(run, cx_ptx_first_lane(run->active))->next = at;
        cx_ptx_thread_refuse(run->grid, run->block, thread_of(run, cx_ptx_first_lane(run->active)),
                             "nothing does this instruction");
        return false;
    }
}

bool cx_ptx_step_do(cx_ptx_step *run, const cx_ptx_instruction *at)
{
    if (at->op < CX_PTX_COMPUTED) {
        compute(run, at);
        return true;
    }
    if (run->grid->shadow)
        cx_ptx_shadow_step(run, at);
    switch ((cx_ptx_op)at->op) {
    case CX_PTX_LOAD_U8:
    case CX_PTX_LOAD_S8:
    case CX_PTX_LOAD_U16:
    case CX_PTX_LOAD_S16:
    case CX_PTX_LOAD_U32:
    case CX_PTX_LOAD_S32:
    case CX_PTX_LOAD_U64:
        return load(run, at);
    case CX_PTX_STORE_8:
    case CX_PTX_STORE_16:
    case CX_PTX_STORE_32:
    case CX_PTX_STORE_64:
        return store(run, at);
    case CX_PTX_ADD_ADDRESS:
    case CX_PTX_TO_WINDOW:
    case CX_PTX_PACK:
    case CX_PTX_UNPACK:
    case CX_PTX_EXTEND:
        move(run, at);
        return true;
    case CX_PTX_IS_WINDOW:
    case CX_PTX_IS_GLOBAL:
    case CX_PTX_IS_CONSTANT:
    case CX_PTX_CONVERT:
    case CX_PTX_BFI_32:
    case CX_PTX_BFI_64:
    case CX_PTX_LOP3:
    case CX_PTX_VIDEO:
    case CX_PTX_MAP_SHARED:
    case CX_PTX_RANK_OF_SHARED:
        CX_PTX_EACH_ACTIVE (run)
            put(run, at->d, lane, value_of(run, at, lane));
        return true;
    default:
        return do_rest(run, at);
    }
}
