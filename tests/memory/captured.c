#include "blocks.h"

enum { TAKEN = 6, MADE = 3 };

/* Looks at blocks of the lane before it captures: these looks may still be to come when they are
 * freed. */
static int take_some(member *self, lane *at, block *blocks[TAKEN])
{
    int count = 0;
    for (int i = 0; i < TAKEN; i++) {
        block *one = block_take(self, at->place);
        if (one == NULL)
            continue;
        if (one->lane != at || one->life != at->life) {
            /* Its lane's lock is another thread's, who may wait for this one's. */
            block *before = block_put(self, at->place, one);
            if (before != NULL)
                block_drop(self, before);
            continue;
        }
        lane_check(self->all, at, one->pointer, one->size, one->value);
        blocks[count++] = one;
    }
    return count;
}

/* Other lanes get what was freed only when the looks are done. */
static void make_some(member *self, const lane *at)
{
    crowd *all = self->all;
    for (int i = 0; i < MADE; i++) {
        lane *other = &all->lanes[at->place][pick(self, LANES)];
        if (other == at || pthread_rwlock_tryrdlock(&other->lock) != 0)
            continue;
        block *made = NULL;
        if (EXPECT(all, ctxrt_frame_set_stream(other->stream)))
            made = block_make(self, other);
        (void)EXPECT(all, ctxrt_frame_set_stream(NULL));
        pthread_rwlock_unlock(&other->lock);
        block *before = made != NULL ? block_put(self, at->place, made) : NULL;
        if (before != NULL)
            block_drop(self, before);
    }
}

static void capture(member *self, lane *at)
{
    crowd *all = self->all;
    block *blocks[TAKEN];
    ctxrt_graph *graph;
    int count = take_some(self, at, blocks);
    bool captures = EXPECT(all, ctxrt_stream_capture_begin(at->stream, CTXRT_CAPTURE_THREAD_LOCAL));
    for (int i = 0; i < count; i++)
        block_drop(self, blocks[i]);
    make_some(self, at);
    if (captures && EXPECT(all, ctxrt_stream_capture_end(at->stream, &graph)))
        (void)EXPECT(all, ctxrt_graph_release(graph));
}

void capture_for_a_while(member *self)
{
    lane *at = &self->all->lanes[self->place][pick(self, LANES)];
    if (!EXPECT(self->all, ctxrt_frame_set_stream(NULL)) ||
        pthread_rwlock_trywrlock(&at->lock) != 0)
        return;
    capture(self, at);
    pthread_rwlock_unlock(&at->lock);
}
