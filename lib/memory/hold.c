#include "memory/hold.h"

#include "base/error.h"
#include "memory/cache.h"
#include "memory/across.h"
#include "work/uncaptured.h"
#include <stdlib.h>
#include <string.h>

_Thread_local cx_hold_use *cx_hold_uses __attribute__((tls_model("initial-exec")));

/* ---- beneath ---- */

/* The memory is the hold's, and nothing of a capture's. */
static ctxrt_status take_uncaptured(cx_block *block, ctxrt_stream *stream)
{
    cx_uncaptured uncaptured = cx_uncaptured_begin(block->context->driver);
    ctxrt_status status = cx_block_take(block, stream);
    cx_uncaptured_end(&uncaptured);
    return status;
}

static ctxrt_status give_back_uncaptured(const cx_block *block)
{
    cx_uncaptured uncaptured = cx_uncaptured_begin(block->context->driver);
    ctxrt_status status = cx_block_give_back(block);
    cx_uncaptured_end(&uncaptured);
    return status;
}

/* ---- life ---- */

cx_hold *cx_hold_make(void)
{
    cx_hold *hold = calloc(1, sizeof *hold);
    if (hold == NULL) {
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to hold memory");
        return NULL;
    }
    pthread_mutex_init(&hold->lock, NULL);
    hold->owners = 1;
    return hold;
}

void cx_hold_retain(cx_hold *hold)
{
    pthread_mutex_lock(&hold->lock);
    hold->owners++;
    pthread_mutex_unlock(&hold->lock);
}

/* Once nobody owns the hold, and no block is left that points to it. */
static void destroy(cx_hold *hold)
{
    pthread_mutex_destroy(&hold->lock);
    free(hold);
}

ctxrt_status cx_hold_release(cx_hold *hold)
{
    ctxrt_status status = CTXRT_SUCCESS;
    pthread_mutex_lock(&hold->lock);
    bool last = --hold->owners == 0;
    cx_held **kept = last ? hold->kept : NULL;
    size_t kept_count = last ? hold->kept_count : 0;
    if (last) {
        hold->kept = NULL;
        hold->kept_count = 0;
        hold->kept_bytes = 0;
    }
    bool gone = last && hold->live_count == 0;
    pthread_mutex_unlock(&hold->lock);
    for (size_t i = 0; i < kept_count; i++) {
        ctxrt_status given = give_back_uncaptured(&kept[i]->block);
        status = status == CTXRT_SUCCESS ? given : status;
        free(kept[i]);
    }
    free(kept);
    if (gone)
        destroy(hold);
    return status;
}

void cx_hold_open(cx_hold_use *use, cx_hold *hold, uint64_t mark)
{
    *use = (cx_hold_use){.hold = hold, .mark = mark, .outer = cx_hold_uses};
    cx_hold_uses = use;
    pthread_mutex_lock(&hold->lock);
    use->next = hold->uses;
    hold->uses = use;
    pthread_mutex_unlock(&hold->lock);
}

/* A thread that has ended has taken its list along. */
static void leave_thread(const cx_hold_use *use)
{
    cx_hold_use **link = &cx_hold_uses;
    while (*link != NULL && *link != use)
        link = &(*link)->outer;
    if (*link != NULL)
        *link = use->outer;
}

void cx_hold_close(cx_hold_use *use)
{
    cx_hold *hold = use->hold;
    if (hold == NULL)
        return;
    leave_thread(use);
    pthread_mutex_lock(&hold->lock);
    cx_hold_use **link = &hold->uses;
    while (*link != use)
        link = &(*link)->next;
    *link = use->next;
    for (size_t i = 0; i < hold->kept_count; i++)
        if (hold->kept[i]->mark == use->mark)
            hold->kept[i]->mark = 0;
    pthread_mutex_unlock(&hold->lock);
    use->hold = NULL;
}

void cx_hold_look(cx_hold *hold, cx_hold_figures *out_figures)
{
    pthread_mutex_lock(&hold->lock);
    *out_figures =
        (cx_hold_figures){hold->live_count, hold->live_bytes, hold->kept_count, hold->kept_bytes};
    pthread_mutex_unlock(&hold->lock);
}

/* ---- what is kept; lock held ---- */

/* Of the first one that is not smaller. */
static size_t place_of(const cx_hold *hold, size_t size_bytes)
{
    size_t low = 0, high = hold->kept_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hold->kept[middle]->block.size_bytes < size_bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool reserve(cx_hold *hold)
{
    size_t wanted = hold->kept_count + hold->live_count + 1;
    if (wanted <= hold->kept_capacity)
        return true;
    cx_held **grown = reallocarray(hold->kept, 2 * wanted, sizeof *grown);
    if (grown == NULL)
        return false;
    hold->kept = grown;
    hold->kept_capacity = 2 * wanted;
    return true;
}

static bool is_open(const cx_hold *hold, uint64_t mark)
{
    const cx_hold_use *use = hold->uses;
    while (use != NULL && use->mark != mark)
        use = use->next;
    return use != NULL;
}

/* A block is found by its address as its piece, which is live as long as it is the hold's: with
 * the size that its user asked for, or all of it while it is kept. Pinned memory is never used
 * again. */
static void begin_piece(const cx_held *held, size_t size_bytes)
{
    uint32_t index = held->block.piece;
    if (index == 0 || held->block.allocator->pinned != NULL)
        return;
    const cx_piece *piece = cx_piece_at(index);
    cx_piece_head *head = cx_piece_head_at(index);
    const cx_piece_start start = {size_bytes, piece->node.units - cx_fit_units(size_bytes),
                                  cx_piece_stamp(piece->node.owner, 0),
                                  cx_piece_generation(head) + 1};
    cx_piece_begin(head, &start);
}

/* There is room. */
static void insert(cx_hold *hold, cx_held *held)
{
    size_t place = place_of(hold, held->block.size_bytes);
    memmove(&hold->kept[place + 1], &hold->kept[place],
            (hold->kept_count - place) * sizeof(cx_held *));
    hold->kept[place] = held;
    hold->kept_count++;
    hold->kept_bytes += held->block.size_bytes;
    begin_piece(held, held->block.size_bytes);
    if (!is_open(hold, held->mark))
        held->mark = 0;
}

static cx_held *take_out(cx_hold *hold, size_t place)
{
    cx_held *held = hold->kept[place];
    hold->kept_count--;
    hold->kept_bytes -= held->block.size_bytes;
    memmove(&hold->kept[place], &hold->kept[place + 1],
            (hold->kept_count - place) * sizeof(cx_held *));
    return held;
}

/* The best fit, if it is not more than twice as large as what is asked for. */
static cx_held *reuse(const cx_hold_use *use, const cx_block *wanted, const ctxrt_stream *stream)
{
    cx_hold *hold = use->hold;
    for (size_t i = place_of(hold, wanted->size_bytes); i < hold->kept_count; i++) {
        const cx_held *held = hold->kept[i];
        if (held->block.size_bytes - wanted->size_bytes > wanted->size_bytes)
            return NULL;
        if (held->block.context == wanted->context && held->block.epoch == wanted->epoch &&
            held->block.allocator == wanted->allocator && !held->apart &&
            (held->mark == 0 || (held->mark == use->mark && held->stream == stream)))
            return take_out(hold, i);
    }
    return NULL;
}

static void count_live(cx_hold *hold, const cx_held *held)
{
    hold->live_count++;
    hold->live_bytes += held->block.size_bytes;
}

/* True: nobody owns the hold, and it was the last block that points to it. */
static bool drop_live(cx_hold *hold, const cx_held *held)
{
    hold->live_count--;
    hold->live_bytes -= held->block.size_bytes;
    return hold->owners == 0 && hold->live_count == 0;
}

/* ---- blocks ---- */

static ctxrt_status no_memory(void)
{
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of held memory");
}

/* Room is made before the memory is there: freeing it later must not fail. */
static ctxrt_status add_new(cx_hold *hold, const cx_block *wanted, ctxrt_stream *stream,
                            cx_held **out_held)
{
    cx_held *held = calloc(1, sizeof *held);
    if (held == NULL)
        return no_memory();
    held->hold = hold;
    held->block = *wanted;
    pthread_mutex_lock(&hold->lock);
    bool room = reserve(hold);
    if (room)
        count_live(hold, held);
    pthread_mutex_unlock(&hold->lock);
    ctxrt_status status = room ? take_uncaptured(&held->block, stream) : no_memory();
    if (status == CTXRT_SUCCESS) {
        *out_held = held;
        return status;
    }
    pthread_mutex_lock(&hold->lock);
    if (room)
        (void)drop_live(hold, held);
    pthread_mutex_unlock(&hold->lock);
    free(held);
    return status;
}

/* A stream that is not made yet (NULL) has no work. */
static void note_stream(cx_hold_use *use, const ctxrt_stream *stream)
{
    uint32_t i = 0;
    while (i < use->stream_count && i < CX_HOLD_STREAMS_MAX && use->streams[i] != stream)
        i++;
    if (stream == NULL || i < use->stream_count)
        return;
    if (i < CX_HOLD_STREAMS_MAX)
        use->streams[i] = stream;
    use->stream_count = i + 1;
}

ctxrt_status cx_hold_alloc(cx_hold_use *use, cx_block *block, ctxrt_stream *stream)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_hold *hold = use->hold;
    pthread_mutex_lock(&hold->lock);
    cx_held *held = reuse(use, block, stream);
    if (held != NULL) {
        count_live(hold, held);
        begin_piece(held, block->size_bytes);
    }
    pthread_mutex_unlock(&hold->lock);
    if (held == NULL)
        status = add_new(hold, block, stream, &held);
    if (status != CTXRT_SUCCESS)
        return status;
    note_stream(use, stream);
    held->mark = use->mark;
    held->stream = stream;
    held->apart = block->allocator->pinned != NULL;
    block->pointer = held->block.pointer;
    block->held = held;
    return status;
}

ctxrt_status cx_hold_free(const cx_block *block)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_held *held = block->held;
    cx_hold *hold = held->hold;
    cx_across_leave(block->pointer, block->size_bytes, NULL);
    pthread_mutex_lock(&hold->lock);
    bool gone = drop_live(hold, held);
    bool owned = hold->owners != 0;
    if (owned)
        insert(hold, held);
    pthread_mutex_unlock(&hold->lock);
    if (!owned) {
        status = give_back_uncaptured(&held->block);
        free(held);
    }
    if (gone)
        destroy(hold);
    return status;
}

/* What a launch waits for is the work of the frame's stream. What the host may write to serves
 * nobody else in a graph that reads it. */
static bool is_apart(const cx_block *block, const ctxrt_stream *stream)
{
    if (block->allocator->pinned != NULL)
        return true;
    if (block->piece == 0)
        return false;
    const ctxrt_stream *own = cx_cache_stream_of(block->allocator->cache, block->piece);
    return own == NULL || own != stream;
}

ctxrt_status cx_hold_keep(cx_hold_use *use, const cx_block *block, const ctxrt_stream *stream)
{
    cx_hold *hold = use->hold;
    cx_held *held = calloc(1, sizeof *held);
    if (held == NULL)
        return no_memory();
    *held = (cx_held){hold, *block, use->mark, stream, is_apart(block, stream)};
    note_stream(use, stream);
    pthread_mutex_lock(&hold->lock);
    bool room = reserve(hold);
    if (room)
        insert(hold, held);
    pthread_mutex_unlock(&hold->lock);
    if (room)
        return CTXRT_SUCCESS;
    free(held);
    return no_memory();
}

void cx_hold_forget(const cx_block *block)
{
    cx_held *held = block->held;
    cx_hold *hold = held->hold;
    pthread_mutex_lock(&hold->lock);
    bool gone = drop_live(hold, held);
    pthread_mutex_unlock(&hold->lock);
    cx_block_forget(&held->block);
    free(held);
    if (gone)
        destroy(hold);
}
