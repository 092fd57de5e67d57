/* The instructions. */
#include "ptx/bits.h"
#include "ptx/grid.h"
#include "ptx/small.h"
#include "ptx/video.h"

#include <fenv.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* Backward jumps in one turn: a waiting thread must let the one it waits for run. */
#define TURN 4096

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A fence: a thread that comes here later sees all earlier writes. */
static _Atomic unsigned fences;

/* ---- failures ---- */

void cx_ptx_thread_fail(cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                        cx_ptx_outcome outcome, uint64_t address)
{
    const uint32_t *size = grid->launch->block;
    const cx_ptx_module *module = grid->module;
    size_t code = ((uintptr_t)thread->next - (uintptr_t)module->code) / sizeof *module->code;

    if (grid->outcome != CX_PTX_DONE)
        return;
    grid->outcome = outcome;
    *grid->fault = (cx_ptx_fault){
        .block = {block->index[0], block->index[1], block->index[2]},
        .thread = {thread->index % size[0], thread->index / size[0] % size[1],
                   thread->index / size[0] / size[1]},
        .line = thread->next->line,
        .address = address,
    };
    if (code < module->code_count)
        grid->fault->source = cx_ptx_source_of(module, code, &grid->fault->source_line);
}

/* ---- memory ---- */

static unsigned char *reach_own(cx_ptx_space space, uint64_t offset, cx_ptx_grid *grid,
                                cx_ptx_block *block, cx_ptx_thread *thread, unsigned bytes)
{
    unsigned char *memory;
    size_t size;

    switch (space) {
    case CX_PTX_SHARED:
        memory = block->shared;
        size = grid->shared_bytes;
        break;
    case CX_PTX_LOCAL:
        memory = thread->local;
        size = grid->local_of_thread;
        break;
    case CX_PTX_WORKSPACE:
        memory = (unsigned char *)grid->workspace;
        size = grid->launch->cooperative ? sizeof grid->workspace : 0;
        break;
    default:
        memory = grid->parameters;
        size = grid->kernel->parameter_bytes;
    }
    return size >= bytes && offset <= size - bytes ? memory + offset : NULL;
}

static bool in_view(const cx_ptx_view *view, uint64_t address, unsigned bytes)
{
    return address - view->address < view->bytes &&
           view->bytes - (address - view->address) >= bytes;
}

static void narrow_view(cx_ptx_view *view, uint64_t begin, uint64_t end)
{
    view->memory += begin - view->address;
    view->address = begin;
    view->bytes = end - begin;
}

/* Kernels only read constants: their view holds nothing else, and others end before them. */
static void cut_at_constants(const cx_ptx_grid *grid, cx_ptx_view *view, uint64_t address)
{
    const cx_ptx_module *module = grid->module;
    uint64_t begin = grid->launch->memory_address + module->constant_begin;
    uint64_t end = begin + module->constant_space, last = view->address + view->bytes;

    if (module->constant_space == 0 || last <= begin || view->address >= end)
        return;
    if (address < begin) {
        narrow_view(view, view->address, begin);
    } else if (address < end) {
        narrow_view(view, begin, end < last ? end : last);
        view->read_only = true;
    } else {
        narrow_view(view, end, last);
    }
}

static bool find_view(cx_ptx_grid *grid, cx_ptx_view *view, uint64_t address)
{
    const cx_ptx_environment *environment = grid->environment;
    cx_ptx_range range;

    if (!environment->find(environment->self, address, &range))
        return false;
    *view = (cx_ptx_view){range.address, range.bytes, range.memory, range.read_only};
    cut_at_constants(grid, view, address);
    return true;
}

static bool in_window(uint64_t address, cx_ptx_space *out_space)
{
    switch (address & CX_PTX_WINDOW_MASK) {
    case CX_PTX_WINDOW_SHARED:
        *out_space = CX_PTX_SHARED;
        return true;
    case CX_PTX_WINDOW_LOCAL:
        *out_space = CX_PTX_LOCAL;
        return true;
    case CX_PTX_WINDOW_PARAMETER:
        *out_space = CX_PTX_PARAMETER;
        return true;
    case CX_PTX_WINDOW_WORKSPACE:
        *out_space = CX_PTX_WORKSPACE;
        return true;
    default:
        return false;
    }
}

static unsigned char *fail_at(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                              const cx_ptx_instruction *at, cx_ptx_outcome outcome,
                              uint64_t address)
{
    thread->next = at;
    cx_ptx_thread_fail(grid, block, thread, outcome, address);
    return NULL;
}

/* The slow path, for memory outside the instruction's last view. */
static __attribute__((noinline)) unsigned char *reach_slowly(cx_ptx_grid *grid,
                                                             cx_ptx_block *block,
                                                             cx_ptx_thread *thread,
                                                             const cx_ptx_instruction *at,
                                                             uint64_t address, bool writes)
{
    cx_ptx_space space = (cx_ptx_space)at->space;
    unsigned char *memory = NULL;

    if (address & (at->align - 1u))
        return fail_at(grid, block, thread, at, CX_PTX_MISALIGNED_ADDRESS, address);
    if (space == CX_PTX_GLOBAL || (space == CX_PTX_GENERIC && !in_window(address, &space))) {
        cx_ptx_view *view = &grid->views[at->site];

        if ((in_view(view, address, at->size) || find_view(grid, view, address)) &&
            in_view(view, address, at->size) && !(writes && view->read_only))
            memory = view->memory + (address - view->address);
    } else {
        memory = reach_own(space, address & ~CX_PTX_WINDOW_MASK, grid, block, thread, at->size);
    }
    return memory ? memory
                  : fail_at(grid, block, thread, at, CX_PTX_ILLEGAL_ADDRESS, address);
}

unsigned char *cx_ptx_reach(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                            uint64_t address, unsigned bytes, unsigned align)
{
    const cx_ptx_instruction *next = thread->next;
    const cx_ptx_instruction access = {.space = CX_PTX_GENERIC,
                                       .size = (uint8_t)bytes,
                                       .align = (uint8_t)align,
                                       .site = grid->module->sites,
                                       .line = next->line};
    unsigned char *memory = reach_slowly(grid, block, thread, &access, address, false);

    thread->next = next;
    return memory;
}

/* Read-only views are never used here by an instruction that writes. */
static inline unsigned char *reach_memory(cx_ptx_grid *grid, cx_ptx_block *block,
                                          cx_ptx_thread *thread, const cx_ptx_instruction *at,
                                          const cx_ptx_slot *slots, bool writes)
{
    uint64_t address = slots[at->a].u64 + (uint64_t)at->immediate;
    const cx_ptx_view *view = &grid->views[at->site];

    switch ((cx_ptx_space)at->space) {
    case CX_PTX_GENERIC:
    case CX_PTX_GLOBAL:
        if (__builtin_expect(in_view(view, address, at->size) && !(address & (at->align - 1u)) &&
                                 !(writes && view->read_only),
                             1))
            return view->memory + (address - view->address);
        break;
    default:
        address = (uint32_t)address;
        break;
    }
    return reach_slowly(grid, block, thread, at, address, writes);
}

/* ---- sums that carry ---- */

static void add_with_carry(cx_ptx_slot *slots, const cx_ptx_instruction *at)
{
    uint64_t carry = at->mode & 1 ? slots[CX_PTX_SLOT_CARRY].u64 : 0, sum, out;

    if (at->op == CX_PTX_ADD_CARRY_32) {
        sum = (uint64_t)slots[at->a].u32 + slots[at->b].u32 + carry;
        out = sum >> 32;
        slots[at->d].u32 = (uint32_t)sum;
    } else {
        out = __builtin_add_overflow(slots[at->a].u64, slots[at->b].u64, &sum);
        out |= __builtin_add_overflow(sum, carry, &sum);
        slots[at->d].u64 = sum;
    }
    if (at->mode & 2)
        slots[CX_PTX_SLOT_CARRY].u64 = out;
}

/* As on hardware: a + ~b + carry, so the carry means that nothing is borrowed. */
static void subtract_with_carry(cx_ptx_slot *slots, const cx_ptx_instruction *at)
{
    uint64_t carry = at->mode & 1 ? slots[CX_PTX_SLOT_CARRY].u64 : 1, rest, out;

    if (at->op == CX_PTX_SUB_CARRY_32) {
        rest = (uint64_t)slots[at->a].u32 + (uint32_t)~slots[at->b].u32 + carry;
        out = rest >> 32;
        slots[at->d].u32 = (uint32_t)rest;
    } else {
        out = __builtin_add_overflow(slots[at->a].u64, ~slots[at->b].u64, &rest);
        out |= __builtin_add_overflow(rest, carry, &rest);
        slots[at->d].u64 = rest;
    }
    if (at->mode & 2)
        slots[CX_PTX_SLOT_CARRY].u64 = out;
}

/* ---- the loop ---- */

static void copy_async(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                       const cx_ptx_instruction *at)
{
    uint32_t bytes = thread->slots[at->c].u32;
    cx_ptx_instruction source = *at;
    unsigned char *to, *from = NULL;

    source.space = CX_PTX_GLOBAL;
    to = reach_slowly(grid, block, thread, at, thread->slots[at->a].u32, true);
    if (bytes > at->size)
        bytes = at->size;
    source.size = (uint8_t)bytes;
    if (to && bytes > 0) {
        from = reach_slowly(grid, block, thread, &source, thread->slots[at->b].u64, false);
        thread->next = at;
    }
    if (!to || (bytes > 0 && !from))
        return;
    memset(to, 0, at->size);
    if (from)
        memcpy(to, from, bytes);
}

static void end_thread(cx_ptx_block *block, cx_ptx_thread *thread)
{
    thread->state = CX_PTX_THREAD_ENDED;
    block->left--;
}

static uint32_t active_mask(const cx_ptx_grid *grid, const cx_ptx_block *block,
                            const cx_ptx_thread *thread)
{
    (void)grid, (void)block;
    return UINT32_C(1) << thread->index % CX_PTX_WARP_SIZE;
}

#define LOAD(op, field, type)                                                      \
    case op:                                                                       \
        memory = reach_memory(grid, block, thread, at, slots, false);              \
        if (!memory)                                                               \
            return;                                                                \
        slots[at->d].field =                                                       \
            __atomic_load_n((const type *)(const void *)memory, __ATOMIC_RELAXED); \
        break;
#define STORE(op, field, type)                                                                \
    case op:                                                                                  \
        memory = reach_memory(grid, block, thread, at, slots, true);                          \
        if (!memory)                                                                          \
            return;                                                                           \
        __atomic_store_n((type *)(void *)memory, (type)slots[at->d].field, __ATOMIC_RELAXED); \
        break;

void cx_ptx_thread_run(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread)
{
    const cx_ptx_instruction *code = grid->module->code;
    const cx_ptx_instruction *next = thread->next;
    cx_ptx_slot *slots = thread->slots;
    unsigned char *memory;
    int turn = TURN;

    for (;;) {
        const cx_ptx_instruction *at = next++;

        switch ((cx_ptx_op)at->op) {
#define CX_PTX_OP(id, key, arity, field_d, field_a, field_b, field_c, value) \
    case CX_PTX_OP_##id: {                                                   \
        typeof(slots->field_a) a = slots[at->a].field_a;                     \
        typeof(slots->field_b) b = slots[at->b].field_b;                     \
        typeof(slots->field_c) c = slots[at->c].field_c;                     \
        (void)a, (void)b, (void)c;                                           \
        slots[at->d].field_d = (typeof(slots->field_d))(value);              \
        break;                                                               \
    }
#include "ptx/ops.def"

            LOAD(CX_PTX_LOAD_U8, u64, uint8_t)
            LOAD(CX_PTX_LOAD_S8, s64, int8_t)
            LOAD(CX_PTX_LOAD_U16, u64, uint16_t)
            LOAD(CX_PTX_LOAD_S16, s64, int16_t)
            LOAD(CX_PTX_LOAD_U32, u64, uint32_t)
            LOAD(CX_PTX_LOAD_S32, s64, int32_t)
            LOAD(CX_PTX_LOAD_U64, u64, uint64_t)
            STORE(CX_PTX_STORE_8, u32, uint8_t)
            STORE(CX_PTX_STORE_16, u16, uint16_t)
            STORE(CX_PTX_STORE_32, u32, uint32_t)
            STORE(CX_PTX_STORE_64, u64, uint64_t)
        case CX_PTX_ADD_ADDRESS:
        case CX_PTX_TO_WINDOW:
            slots[at->d].u64 = slots[at->a].u64 + (uint64_t)at->immediate;
            break;
        case CX_PTX_IS_WINDOW:
            slots[at->d].u32 =
                (slots[at->a].u64 & CX_PTX_WINDOW_MASK) == (uint64_t)at->immediate;
            break;
        case CX_PTX_IS_GLOBAL:
            slots[at->d].u32 = (slots[at->a].u64 & CX_PTX_WINDOW_MASK) == 0;
            break;
        case CX_PTX_IS_CONSTANT:
            slots[at->d].u32 = slots[at->a].u64 - slots[CX_PTX_SLOT_CONSTANT].u64 <
                               grid->module->constant_space;
            break;
        case CX_PTX_PACK: {
            unsigned bits = at->size * 8u;
            uint64_t mask = UINT64_MAX >> (64 - bits);

            slots[at->d].u64 =
                (slots[at->a].u64 & mask) | (slots[at->b].u64 & mask) << bits;
            break;
        }
        case CX_PTX_UNPACK: {
            unsigned bits = at->size * 8u;

            slots[at->d].u64 =
                slots[at->a].u64 >> (bits * at->mode) & (UINT64_MAX >> (64 - bits));
            break;
        }
        case CX_PTX_EXTEND:
            slots[at->d].u64 = cx_ptx_extend(
                (cx_ptx_type)at->type,
                cx_ptx_extend((cx_ptx_type)at->from, slots[at->a].u64));
            break;
        case CX_PTX_CONVERT:
            cx_ptx_convert(at, &slots[at->d], &slots[at->a]);
            break;
        case CX_PTX_BFI_32:
            slots[at->d].u32 = (uint32_t)cx_ptx_insert(slots[at->a].u32, slots[at->b].u32,
                                                slots[at->c].u32, slots[at->e].u32, 32);
            break;
        case CX_PTX_BFI_64:
            slots[at->d].u64 = cx_ptx_insert(slots[at->a].u64, slots[at->b].u64, slots[at->c].u32,
                                      slots[at->e].u32, 64);
            break;
        case CX_PTX_LOP3:
            slots[at->d].u32 =
                cx_ptx_lop3(at->mode, slots[at->a].u32, slots[at->b].u32, slots[at->c].u32);
            break;
        case CX_PTX_VIDEO: {
            cx_ptx_video what;

            memcpy(&what, &at->immediate, sizeof what);
            slots[at->d].u32 = cx_ptx_video_do(&what, slots[at->a].u32, slots[at->b].u32,
                                               slots[at->c].u32);
            break;
        }
        case CX_PTX_ADD_CARRY_32:
        case CX_PTX_ADD_CARRY_64:
            add_with_carry(slots, at);
            break;
        case CX_PTX_SUB_CARRY_32:
        case CX_PTX_SUB_CARRY_64:
            subtract_with_carry(slots, at);
            break;
        case CX_PTX_ATOMIC:
            memory = reach_memory(grid, block, thread, at, slots, true);
            if (!memory)
                return;
            slots[at->d].u64 =
                cx_ptx_atomic_do(at, memory, slots[at->b].u64, slots[at->c].u64);
            break;
        case CX_PTX_CLOCK_32:
            slots[at->d].u32 = (uint32_t)now_ns();
            break;
        case CX_PTX_CLOCK_HIGH:
            slots[at->d].u32 = (uint32_t)(now_ns() >> 32);
            break;
        case CX_PTX_CLOCK_64:
        case CX_PTX_TIMER:
            slots[at->d].u64 = now_ns();
            break;
        case CX_PTX_FENCE:
            atomic_fetch_add(&fences, 0);
            break;
        case CX_PTX_COPY_ASYNC:
            copy_async(grid, block, thread, at);
            if (grid->outcome != CX_PTX_DONE)
                return;
            break;
        case CX_PTX_BRANCH:
            next = code + at->immediate;
            break;
        case CX_PTX_BRANCH_IF:
            if (slots[at->a].u32)
                next = code + at->immediate;
            break;
        case CX_PTX_BRANCH_UNLESS:
            if (!slots[at->a].u32)
                next = code + at->immediate;
            break;
        case CX_PTX_BRANCH_IF_BACK:
            if (!slots[at->a].u32)
                break;
            next = code + at->immediate;
            if (--turn > 0)
                break;
            thread->next = next;
            return;
        case CX_PTX_BRANCH_UNLESS_BACK:
            if (slots[at->a].u32)
                break;
            next = code + at->immediate;
            if (--turn > 0)
                break;
            thread->next = next;
            return;
        case CX_PTX_BRANCH_BACK:
            next = code + at->immediate;
            if (--turn > 0)
                break;
            thread->next = next;
            return;
        case CX_PTX_BRANCH_INDEX: {
            const uint32_t *targets = grid->module->targets + at->immediate;

            if (slots[at->a].u32 >= targets[0]) {
                thread->next = at;
                cx_ptx_thread_fail(grid, block, thread, CX_PTX_ILLEGAL_INSTRUCTION, 0);
                return;
            }
            next = code + targets[1 + slots[at->a].u32];
            if (--turn > 0)
                break;
            thread->next = next;
            return;
        }
        case CX_PTX_ARGUMENT:
        case CX_PTX_RESULT:
            if (!cx_ptx_copy_argument(grid, thread, at)) {
                thread->next = at;
                cx_ptx_thread_fail(grid, block, thread, CX_PTX_STACK_OVERFLOW, 0);
                return;
            }
            break;
        case CX_PTX_ALLOCATE:
        case CX_PTX_RESTORE:
            if (!cx_ptx_change_frame(grid, block, thread, at))
                return;
            break;
        case CX_PTX_MBARRIER:
            memory = reach_memory(grid, block, thread, at, slots, true);
            if (!memory)
                return;
            slots[at->d].u64 = cx_ptx_mbarrier_do(at->mode, (uint64_t *)(void *)memory,
                                                  slots[at->b].u32, slots[at->c].u64);
            break;
        case CX_PTX_CALL:
        case CX_PTX_CALL_INDIRECT:
            if (!cx_ptx_call(grid, block, thread, at))
                return;
            slots = thread->slots;
            next = thread->next;
            if (--turn > 0)
                break;
            return;
        case CX_PTX_RETURN:
            cx_ptx_return(grid, thread);
            slots = thread->slots;
            next = thread->next;
            break;
        case CX_PTX_EXIT:
            thread->next = at;
            end_thread(block, thread);
            return;
        case CX_PTX_TRAPPED:
            thread->next = at;
            cx_ptx_thread_fail(grid, block, thread, CX_PTX_TRAP, 0);
            return;
        case CX_PTX_PAUSE:
            thread->next = next;
            return;
        case CX_PTX_BARRIER:
            thread->next = at;
            cx_ptx_barrier_arrive(grid, block, thread, at);
            return;
        case CX_PTX_BARRIER_ARRIVE:
            thread->next = at;
            cx_ptx_barrier_arrive(grid, block, thread, at);
            if (grid->outcome != CX_PTX_DONE)
                return;
            break;
        case CX_PTX_WARP:
            thread->next = at;
            thread->state = CX_PTX_THREAD_AT_WARP;
            return;
        case CX_PTX_ACTIVE_MASK:
            slots[at->d].u32 = active_mask(grid, block, thread);
            break;
        default:
            thread->next = at;
            cx_ptx_thread_fail(grid, block, thread, CX_PTX_ILLEGAL_INSTRUCTION, 0);
            return;
        }
    }
}
