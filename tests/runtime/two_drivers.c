#include "two_drivers.h"

#include "device/runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ctxrt_context *held[PLACES];
static struct CUctx_st *natives[PLACES];

bool two_drivers_start(ctxrt_foreign_policy foreign, const char **out_reason)
{
    static char path[4096];
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    setenv("CTXRT_DRIVER", "libcuda", 1);
    setenv("CTXRT_LIBCUDA", path, 1);
    options.foreign = foreign;
    if (ctxrt_init(&options) != CTXRT_SUCCESS)
        *out_reason = ctxrt_last_error()->message;
    else
        *out_reason = cx_drivers[1].reason;
    return cx_driver_count() == TWO_DRIVERS && cx_drivers[1].loaded;
}

ctxrt_device two_drivers_device(int place)
{
    return place == ON_CPU ? CTXRT_CPU(0) : CTXRT_CUDA(place - ON_GPU);
}

int two_drivers_of(int place)
{
    return place == ON_CPU ? 0 : 1;
}

struct CUctx_st *two_drivers_native(int place)
{
    return natives[place];
}

void two_drivers_hold(void)
{
    for (int place = 0; place < PLACES; place++) {
        cx_assert_ok(ctxrt_context_retain_primary(two_drivers_device(place), &held[place]));
        cx_assert_ok(ctxrt_context_native(held[place], &natives[place]));
    }
}

void two_drivers_let_go(void)
{
    for (int place = 0; place < PLACES; place++)
        cx_assert_ok(ctxrt_context_release(held[place]));
}

/* ---- calls ---- */

ctxrt_status two_stacks_call(two_stacks *self, step next)
{
    ctxrt_status status;
    switch (next.kind) {
    case STEP_SET:
        return ctxrt_device_set(two_drivers_device(next.place));
    case STEP_PUSH:
        return ctxrt_device_push(two_drivers_device(next.place));
    case STEP_SCOPE:
        self->scopes[self->scope_count] = (ctxrt_scope){0};
        return ctxrt_scope_enter(two_drivers_device(next.place), &self->scopes[self->scope_count]);
    case STEP_POP:
        return ctxrt_stack_pop();
    case STEP_LEAVE:
        status = self->scope_count > 0 ? ctxrt_scope_leave(&self->scopes[self->scope_count - 1])
                                       : CTXRT_SUCCESS;
        return status;
    }
    return CTXRT_ERROR_INVALID_ARGUMENT;
}

/* ---- the model ---- */

static bool is_override(const two_stacks *self, int index)
{
    return index >= 0 && self->frames[index].origin == CTXRT_FRAME_SET;
}

static ctxrt_status model_pop(two_stacks *self)
{
    int lowest = self->depth - 1;
    if (is_override(self, lowest) && lowest > 0)
        lowest--;
    if (lowest < 0)
        return CTXRT_ERROR_STACK_EMPTY;
    if (self->frames[lowest].origin == CTXRT_FRAME_SCOPE)
        return CTXRT_ERROR_NOT_PERMITTED;
    self->depth = lowest;
    return CTXRT_SUCCESS;
}

static ctxrt_status model_leave(two_stacks *self)
{
    bool leftover = false;
    if (self->scope_count == 0)
        return CTXRT_SUCCESS;
    do {
        self->depth--;
        leftover = leftover || self->frames[self->depth].origin == CTXRT_FRAME_PUSH;
    } while (self->frames[self->depth].origin != CTXRT_FRAME_SCOPE);
    self->scope_count--;
    return leftover ? CTXRT_ERROR_STACK_LEFTOVER : CTXRT_SUCCESS;
}

ctxrt_status two_stacks_model(two_stacks *self, step next)
{
    switch (next.kind) {
    case STEP_SET:
        self->depth -= is_override(self, self->depth - 1);
        self->frames[self->depth++] = (two_frame){next.place, CTXRT_FRAME_SET};
        return CTXRT_SUCCESS;
    case STEP_PUSH:
        self->frames[self->depth++] = (two_frame){next.place, CTXRT_FRAME_PUSH};
        return CTXRT_SUCCESS;
    case STEP_SCOPE:
        self->frames[self->depth++] = (two_frame){next.place, CTXRT_FRAME_SCOPE};
        self->scope_count++;
        return CTXRT_SUCCESS;
    case STEP_POP:
        return model_pop(self);
    case STEP_LEAVE:
        return model_leave(self);
    }
    return CTXRT_ERROR_INVALID_ARGUMENT;
}

/* ---- looking ---- */

int two_drivers_read(int driver, struct CUctx_st *out_entries[ENTRIES_MAX])
{
    const cx_driver_table *table = &cx_drivers[driver].table;
    struct CUctx_st *entries[ENTRIES_MAX];
    int count = 0;
    while (count < ENTRIES_MAX && table->ctx_pop(&entries[count]) == CXU_SUCCESS)
        count++;
    for (int i = 0; i < count; i++) {
        out_entries[i] = entries[count - 1 - i];
        if (table->ctx_push(out_entries[i]) != CXU_SUCCESS)
            return -1;
    }
    return count;
}

static const char *driver_difference(const two_stacks *self, int driver)
{
    struct CUctx_st *entries[ENTRIES_MAX];
    int count = two_drivers_read(driver, entries), seen = 0;
    for (int i = 0; i < self->depth; i++) {
        if (two_drivers_of(self->frames[i].place) != driver)
            continue;
        if (seen >= count || entries[seen] != natives[self->frames[i].place])
            return driver == 0 ? "the embedded driver's stack" : "libcuda's stack";
        seen++;
    }
    return seen == count ? NULL : driver == 0 ? "the embedded driver's depth" : "libcuda's depth";
}

static bool same_device(ctxrt_device a, ctxrt_device b)
{
    return a.type == b.type && a.index == b.index;
}

const char *two_stacks_difference(const two_stacks *self)
{
    if (ctxrt_stack_depth() != (size_t)self->depth)
        return "the number of frames";
    for (int i = 0; i < self->depth; i++) {
        ctxrt_frame_info info;
        if (ctxrt_stack_peek((size_t)(self->depth - 1 - i), &info) != CTXRT_SUCCESS ||
            info.origin != self->frames[i].origin ||
            !same_device(info.device, two_drivers_device(self->frames[i].place)))
            return "a frame";
    }
    const char *difference = driver_difference(self, 0);
    return difference != NULL ? difference : driver_difference(self, 1);
}

const char *two_stacks_wrong_device(const two_stacks *self)
{
    ctxrt_device device;
    ctxrt_status status = ctxrt_device_get(&device);
    if (self->depth == 0)
        return status == CTXRT_ERROR_NO_DEVICE ? NULL : "a device where there is no frame";
    if (status != CTXRT_SUCCESS ||
        !same_device(device, two_drivers_device(self->frames[self->depth - 1].place)))
        return "the current device";
    return NULL;
}

static const char *do_and_look(two_stacks *self, step next)
{
    ctxrt_status status = two_stacks_call(self, next);
    if (status != two_stacks_model(self, next))
        return "a status";
    return two_stacks_difference(self);
}

const char *two_stacks_unwind(two_stacks *self)
{
    const char *difference = NULL;
    while (self->depth > 0 && difference == NULL) {
        bool in_scope = false;
        two_stacks copy = *self;
        in_scope = two_stacks_model(&copy, (step){STEP_POP, 0}) != CTXRT_SUCCESS;
        difference = do_and_look(self, (step){in_scope ? STEP_LEAVE : STEP_POP, 0});
    }
    return difference;
}
