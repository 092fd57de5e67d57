#include "crowd.h"

#include <stdlib.h>
#include <string.h>

/* ---- operators ---- */

static ctxrt_status fill(void *argument)
{
    const recorded *self = argument;
    return ctxrt_fill_async(self->scratch[0], self->value, self->size, NULL);
}

static ctxrt_status copy(void *argument)
{
    const recorded *self = argument;
    return ctxrt_copy_async(self->scratch[1], self->scratch[0], self->size,
                            CTXRT_COPY_DEVICE_TO_DEVICE, NULL);
}

static ctxrt_status land(void *argument)
{
    const recorded *self = argument;
    return ctxrt_copy_async(ctxrt_memory_pointer(self->landing), self->scratch[1], self->size,
                            CTXRT_COPY_DEVICE_TO_HOST, NULL);
}

static void compare(void *argument)
{
    recorded *self = argument;
    const unsigned char *bytes = ctxrt_memory_pointer(self->landing);
    if (bytes[0] != self->value || memcmp(bytes, bytes + 1, self->size - 1) != 0)
        crowd_tell(self->all, "other work wrote to the scratch memory of a graph");
    atomic_fetch_add_explicit(&self->all->launches, 1, memory_order_relaxed);
}

static ctxrt_status look(void *argument)
{
    return ctxrt_stream_add_host_function(NULL, compare, argument);
}

static bool submit(recorded *self, ctxrt_status (*run)(void *))
{
    const ctxrt_operator operation = {sizeof operation, "random", run, NULL, self, 1};
    return EXPECT(self->all, ctxrt_operator_submit(&operation));
}

/* ---- recording ---- */

void recorded_has(recorded *self, const void *address, size_t size)
{
    self->ranges[self->range_count].address = (uintptr_t)address;
    self->ranges[self->range_count++].size = size;
}

/* A name of the graph's own stands for its memory, whatever it is used for. */
static bool take_scratch(recorded *self, int which)
{
    uint32_t whose;
    ctxrt_status status = ctxrt_alloc(self->size, &self->scratch[which]);
    if (status == CTXRT_ERROR_OUT_OF_MEMORY)
        return false;
    if (!crowd_expect(self->all, status, "ctxrt_alloc"))
        return false;
    if (!shadow_take((uintptr_t)self->scratch[which], self->size, self->name, self->name, &whose))
        crowd_tell(self->all, "a recording got memory that %u has", whose);
    recorded_has(self, self->scratch[which], self->size);
    return true;
}

/* What was freed is used again at once, and then by every launch. */
static bool take_and_free_some(recorded *self)
{
    bool taken = take_scratch(self, 1);
    if (taken)
        (void)EXPECT(self->all, ctxrt_free(self->scratch[1]));
    return taken;
}

static bool fill_recording(member *who, recorded *self)
{
    for (uint64_t i = pick(who, 4); i > 0; i--)
        member_free_into(who, self);
    if (!take_and_free_some(self) || !take_scratch(self, 0))
        return false;
    bool submitted = take_scratch(self, 1);
    if (submitted) {
        submitted =
            submit(self, fill) && submit(self, copy) && submit(self, land) && submit(self, look);
        (void)EXPECT(self->all, ctxrt_free(self->scratch[1]));
    }
    (void)EXPECT(self->all, ctxrt_free(self->scratch[0]));
    return submitted;
}

static void forget(recorded *self)
{
    for (int i = 0; i < self->range_count; i++)
        shadow_drop(self->ranges[i].address, self->ranges[i].size, self->name);
}

/* If it fails, others may get the memory before it returns. */
static bool stop(recorded *self)
{
    bool kept = true;
    for (int i = 0; i < self->range_count; i++)
        shadow_loosen(self->ranges[i].address, self->ranges[i].size, self->name);
    if (!EXPECT(self->all, ctxrt_recording_stop(&self->graph)))
        return false;
    for (int i = 0; i < self->range_count; i++)
        kept &= shadow_tighten(self->ranges[i].address, self->ranges[i].size, self->name);
    if (!kept)
        crowd_tell(self->all, "others got memory of recording %u", self->name);
    return true;
}

static void destroy(crowd *all, recorded *self)
{
    (void)EXPECT(all, ctxrt_memory_release(self->landing));
    free(self);
}

recorded *record(member *who)
{
    crowd *all = who->all;
    recorded *self = calloc(1, sizeof *self);
    if (self == NULL)
        abort();
    self->all = all;
    self->name = crowd_name(all);
    self->place = who->place;
    self->value = (unsigned char)(1 + self->name % 255);
    self->size = (1 + pick(who, 64)) << 10;
    if (!EXPECT(all, ctxrt_memory_alloc_pinned(self->size, &self->landing))) {
        free(self);
        return NULL;
    }
    bool done = EXPECT(all, ctxrt_recording_start(NULL));
    if (done && !fill_recording(who, self)) {
        forget(self);
        (void)EXPECT(all, ctxrt_recording_cancel());
        done = false;
    } else if (done && !stop(self)) {
        forget(self);
        done = false;
    }
    if (!done) {
        destroy(all, self);
        return NULL;
    }
    return self;
}

void recorded_release(crowd *all, recorded *self)
{
    forget(self);
    (void)EXPECT(all, ctxrt_graph_release(self->graph));
    destroy(all, self);
}
