/* Modules and launches, memory plans, handles of operator libraries, snapshots and reports. */
#include "blocks.h"

#include <string.h>

/* put(words, value, count): words[i] = value */
static const char put_ptx[] =
    ".version 7.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry put(.param .u64 words, .param .u32 value, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %p<2>;\n"
    "    .reg .b32 %r<7>;\n"
    "    .reg .b64 %rd<5>;\n"
    "    ld.param.u64 %rd1, [words];\n"
    "    ld.param.u32 %r1, [value];\n"
    "    ld.param.u32 %r2, [count];\n"
    "    mov.u32 %r3, %ctaid.x;\n"
    "    mov.u32 %r4, %ntid.x;\n"
    "    mov.u32 %r5, %tid.x;\n"
    "    mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "    setp.ge.u32 %p1, %r6, %r2;\n"
    "    @%p1 bra done;\n"
    "    cvta.to.global.u64 %rd2, %rd1;\n"
    "    mul.wide.u32 %rd3, %r6, 4;\n"
    "    add.s64 %rd4, %rd2, %rd3;\n"
    "    st.global.u32 [%rd4], %r1;\n"
    "done:\n"
    "    ret;\n"
    "}\n";

enum { LAUNCH_WORDS = 256 };

void op_module(actor *self)
{
    const frame *top = actor_top(self);
    thing *one = &all.things[MODULE][pick(self, THINGS)];
    ctxrt_module *made;
    ctxrt_kernel *put;
    if (top == NULL || !users_claim(&one->users, EMPTY))
        return;
    one->place = top->place;
    one->life = life_begin(top->place);
    bool loaded = OK(self, ctxrt_module_load(put_ptx, 0, &made));
    life_made(&one->life);
    if (loaded &&
        !OK_OR(self, ctxrt_module_get_kernel(made, "put", &put), may_be_gone(&one->life))) {
        (void)OK(self, ctxrt_module_unload(made));
        loaded = false;
    }
    if (loaded) {
        one->object = made;
        one->extra = put;
        atomic_fetch_add(&all.places[one->place].users, 1);
    }
    atomic_store(&one->users, loaded ? 0 : EMPTY);
}

void op_end_module(actor *self)
{
    thing *one = &all.things[MODULE][pick(self, THINGS)];
    if (!users_claim(&one->users, 0))
        return;
    (void)OK(self, ctxrt_module_unload(one->object));
    users_drop(&all.places[one->place].users);
    atomic_store(&one->users, EMPTY);
}

static void launch(actor *self, const thing *module, block *target)
{
    route by = route_pick(self, target->place);
    if (by.stream == NULL)
        return;
    unsigned char value = (unsigned char)pick(self, 256);
    uint32_t word = value * 0x01010101u, count = (uint32_t)(target->size / 4);
    count = count < LAUNCH_WORDS ? count : LAUNCH_WORDS;
    void *arguments[] = {&target->pointer, &word, &count};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.grid[0] = (count + 31) / 32;
    config.block[0] = 32;
    config.stream = by.stream;
    block_join(self, target, &by);
    target->known = 0;
    ctxrt_status status = ctxrt_launch(&config, module->extra, arguments, 3);
    unsigned may = may_be_gone(&module->life) | may_be_gone(&by.life) | may_be_gone(&target->life);
    bool launched = actor_expect(self, status, may, "ctxrt_launch");
    block_used(self, target, &by);
    block_has(self, target, value, launched ? (size_t)count * 4 : 0, &by);
    /* A kernel uses what it was given though its memory may be ended by a reset. */
    if (status == CTXRT_SUCCESS && chance(self, 50))
        block_settle(self, target);
    route_drop(&by);
}

void op_launch(actor *self)
{
    thing *module = actor_hold(self, MODULE, (int)pick(self, PLACES));
    if (module == NULL)
        return;
    block *target = pocket_pick_at(self, module->place);
    if (target != NULL && target->source <= RAW && target->size >= 4 && block_is_live(target) &&
        life_look(&module->life) == LIVE && (all.threads == 1 || target->place >= PRIMARIES))
        launch(self, module, target);
    thing_drop(module);
}

/* ---- plans ---- */

enum { TENSORS = 4 };

/* Other code may have the places of tensors that are gone: the driver knows how far its memory
 * reaches, the library does not. */
static unsigned may_be_others(const life *made)
{
    return all.threads > 1 && life_look(made) != LIVE ? MAY(CTXRT_ERROR_DRIVER) : 0;
}

static void use_plan(actor *self, ctxrt_plan *plan, const size_t *tensors, const size_t *sizes)
{
    void *pointers[TENSORS];
    const frame *top = actor_top(self);
    life made = life_begin(top->place);
    for (int i = 0; i < TENSORS; i++)
        if (!OK_OR(self, ctxrt_plan_pointer(plan, tensors[i], &pointers[i]),
                   may_of_frame(top) | MAY(CTXRT_ERROR_OUT_OF_MEMORY)))
            return;
    life_made(&made);
    const bool strays = actor_is_behind(self, resets_until_now());
    if ((top->stream != NULL && life_look(&top->stream->life) != LIVE) ||
        (top->allocator != NULL && life_look(&top->allocator->life) != LIVE))
        return;
    for (int i = 0; i < TENSORS; i++)
        (void)OK_OR(self, ctxrt_fill_async(pointers[i], i + 1, sizes[i], NULL),
                    may_be_gone(&made) | MAY(CTXRT_ERROR_INVALID_ARGUMENT) | may_be_others(&made));
    life_settle(self, &made);
    for (int i = 1; i < TENSORS && life_look(&made) == LIVE; i++) {
        memset(self->scratch, 0, sizes[i]);
        ctxrt_status status = ctxrt_copy(self->scratch, pointers[i], sizes[i], CTXRT_COPY_ANY);
        if (life_look(&made) == LIVE && !all.faults && !strays &&
            (status != CTXRT_SUCCESS || self->scratch[0] != i + 1 ||
             memcmp(self->scratch, self->scratch + 1, sizes[i] - 1) != 0))
            actor_fail(self, "tensor %d of a plan: %s", i, ctxrt_status_name(status));
    }
}

/* The first tensor is freed, and the last may have its place. */
void op_plan(actor *self)
{
    const frame *top = actor_top(self);
    ctxrt_plan *plan;
    size_t tensors[TENSORS], sizes[TENSORS];
    if (top == NULL || !OK(self, ctxrt_plan_create(chance(self, 50) ? 0 : 256, &plan)))
        return;
    bool planned = true;
    for (int i = 0; i < TENSORS; i++) {
        sizes[i] = 1 + pick(self, 2000);
        planned &= OK(self, ctxrt_plan_alloc(plan, sizes[i], &tensors[i]));
        if (i == TENSORS - 2)
            planned &= OK(self, ctxrt_plan_free(plan, tensors[0]));
    }
    if (planned && !(top->allocator != NULL && top->allocator->custom))
        use_plan(self, plan, tensors, sizes);
    (void)OK(self, ctxrt_plan_destroy(plan));
}

/* ---- handles, snapshots, reports ---- */

void op_handle(actor *self)
{
    int place = (int)pick(self, PRIMARIES);
    void *handle = NULL;
    if (!users_hold(&all.places[place].users))
        return;
    if (OK(self, ctxrt_handle_get(all.places[place].device, "joint", &handle)) && handle == NULL)
        actor_fail(self, "a handle is NULL");
    users_drop(&all.places[place].users);
}

void op_snapshot(actor *self)
{
    (void)OK(self, ctxrt_snapshot_write(self->nowhere, (ctxrt_snapshot_format)pick(self, 2)));
}

void op_report(actor *self)
{
    if (MENDED_REPORT_BESIDE_ENDING || all.threads == 1)
        (void)OK(self, ctxrt_memory_report_write(self->nowhere));
}
