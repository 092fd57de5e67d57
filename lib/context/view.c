#include "context/view.h"

#include <sched.h>

enum { TRIES = 8, SPINS = 10000, YIELDS = 8 };

/* The loads are acquire, so that the second load of the sequence comes after them. */
cx_frame_view cx_frame_look(const cx_frame *frame)
{
    const cx_device *device = atomic_load_explicit(&frame->device, memory_order_acquire);
    uint64_t tag = atomic_load_explicit(&frame->tag, memory_order_acquire);
    return (cx_frame_view){
        .device = device != NULL ? device->id : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .context_id = atomic_load_explicit(&frame->context_id, memory_order_acquire),
        .kind = (cx_context_kind)(tag >> 8 & 0xff),
        .origin = (ctxrt_frame_origin)(tag & 0xff),
        .stream = atomic_load_explicit(&frame->stream, memory_order_acquire),
        .allocator = atomic_load_explicit(&frame->allocator, memory_order_acquire),
        .file = atomic_load_explicit(&frame->file, memory_order_acquire),
        .line = (int)(tag >> 16),
    };
}

static void look_at_frames(const cx_thread *thread, cx_stack_view *out)
{
    out->depth = atomic_load_explicit(&thread->depth, memory_order_acquire);
    for (uint32_t i = 0; i < out->depth; i++)
        out->frames[i] = cx_frame_look(&thread->frames[i]);
}

/* True if no frame was written meanwhile. */
static bool look_in_peace(const cx_thread *thread, cx_stack_view *out)
{
    uint32_t before = atomic_load_explicit(&thread->sequence, memory_order_acquire);
    if ((before & 1) != 0)
        return false;
    look_at_frames(thread, out);
    return atomic_load_explicit(&thread->sequence, memory_order_relaxed) == before;
}

void cx_thread_show(cx_thread *thread)
{
    cx_stack_view *wanted = atomic_exchange_explicit(&thread->wanted, NULL, memory_order_acquire);
    if (wanted == NULL)
        return;
    look_at_frames(thread, wanted);
    atomic_store_explicit(&wanted->shown, true, memory_order_release);
}

/* A running thread answers within microseconds; yielding would cost more, and helps only a thread
 * that does not run. Both waits are bounded: the first by the number of rounds, the second by the
 * time in which the thread copies its frames. */
static void wait_a_little(int round)
{
    if (round >= SPINS)
        sched_yield();
}

/* True if the thread answered. An idle thread does not answer, but it can be read. */
static bool ask_thread(cx_thread *thread, cx_stack_view *out)
{
    atomic_store_explicit(&out->shown, false, memory_order_relaxed);
    atomic_store_explicit(&thread->wanted, out, memory_order_release);
    for (int i = 0;
         i < SPINS + YIELDS && atomic_load_explicit(&thread->wanted, memory_order_relaxed) != NULL;
         i++)
        wait_a_little(i);
    if (atomic_exchange_explicit(&thread->wanted, NULL, memory_order_acquire) != NULL)
        return false;
    for (int i = 0; !atomic_load_explicit(&out->shown, memory_order_acquire); i += i < SPINS)
        wait_a_little(i);
    return true;
}

void cx_stack_look(cx_thread *thread, cx_stack_view *out)
{
    do {
        for (int i = 0; i < TRIES; i++)
            if (look_in_peace(thread, out))
                return;
    } while (!ask_thread(thread, out));
}
