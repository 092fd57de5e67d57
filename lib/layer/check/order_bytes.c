#include "layer/check/order_bytes.h"

#include <bsd/sys/tree.h>
#include <stdlib.h>
#include <string.h>

enum { ACCESSES_MOST = 64, TRIM_FROM = 1024, RANGES_MOST = 1 << 16 };

typedef struct byte_access {
    cx_order_piece *piece;
    cx_access_how how;
} byte_access;

/* Ranges do not overlap. */
typedef struct byte_range {
    RB_ENTRY(byte_range) entry;
    uintptr_t begin, end;
    unsigned count, capacity;
    byte_access *all; /* the oldest first */
} byte_range;

static int compare(const byte_range *one, const byte_range *other)
{
    return (one->begin > other->begin) - (one->begin < other->begin);
}

typedef RB_HEAD(range_tree, byte_range) range_tree;
RB_GENERATE_INTERNAL(range_tree, byte_range, entry, compare, __attribute__((unused)) static)

static range_tree ranges = RB_INITIALIZER(&ranges);
static unsigned range_count, trim_at = TRIM_FROM;

/* ---- pieces ---- */

cx_order_piece *cx_order_piece_new(void)
{
    cx_order_piece *piece = calloc(1, sizeof *piece);
    if (piece != NULL)
        piece->references = 1;
    return piece;
}

void cx_order_piece_drop(cx_order_piece *piece)
{
    if (--piece->references > 0)
        return;
    cx_order_graph_drop(piece->graph);
    free(piece);
}

bool cx_order_piece_same_launch(const cx_order_piece *one, const cx_order_piece *other)
{
    return one->graph != NULL && other->graph != NULL && one->line == other->line &&
           one->launch == other->launch;
}

/* ---- ranges ---- */

static byte_range *add_range(uintptr_t begin, uintptr_t end)
{
    if (range_count == RANGES_MOST)
        return NULL;
    byte_range *range = calloc(1, sizeof *range);
    if (range == NULL) {
        cx_region_give_up();
        return NULL;
    }
    range->begin = begin;
    range->end = end;
    RB_INSERT(range_tree, &ranges, range);
    range_count++;
    return range;
}

static void drop_range(byte_range *range)
{
    for (unsigned i = 0; i < range->count; i++)
        cx_order_piece_drop(range->all[i].piece);
    RB_REMOVE(range_tree, &ranges, range);
    range_count--;
    free(range->all);
    free(range);
}

/* The first range that ends above the address. */
static byte_range *first_behind(uintptr_t address)
{
    byte_range key = {.begin = address};
    byte_range *next = RB_NFIND(range_tree, &ranges, &key);
    byte_range *before = next != NULL ? RB_PREV(range_tree, &ranges, next)
                                      : RB_MAX(range_tree, &ranges);
    return before != NULL && before->end > address ? before : next;
}

/* Room for so many accesses; false: no memory. */
static bool reserve(byte_range *range, unsigned count)
{
    if (count <= range->capacity)
        return true;
    const unsigned capacity = count <= 2 ? 2 : 2 * count;
    byte_access *all = reallocarray(range->all, capacity, sizeof *all);
    if (all == NULL) {
        cx_region_give_up();
        return false;
    }
    range->all = all;
    range->capacity = capacity;
    return true;
}

/* Cuts the range in two at an address inside; false: no memory, or too many ranges. */
static bool cut(byte_range *range, uintptr_t at)
{
    uintptr_t end = range->end;
    range->end = at;
    byte_range *rest = add_range(at, end);
    if (rest == NULL || !reserve(rest, range->count))
        return false;
    for (unsigned i = 0; i < range->count; i++) {
        rest->all[rest->count++] = range->all[i];
        range->all[i].piece->references++;
    }
    return true;
}

void cx_order_bytes_forget(uintptr_t begin, uintptr_t end)
{
    byte_range *range = first_behind(begin), *next;
    if (range != NULL && range->begin < begin && cut(range, begin))
        range = first_behind(begin);
    for (; range != NULL && range->begin < end; range = next) {
        if (range->end > end)
            (void)cut(range, end);
        next = RB_NEXT(range_tree, &ranges, range);
        if (range->begin >= begin)
            drop_range(range);
    }
}

static void forget_all(void)
{
    byte_range *range, *next;
    RB_FOREACH_SAFE (range, range_tree, &ranges, next)
        drop_range(range);
}

/* ---- accesses ---- */

/* True if the new piece is ordered after the old one, or is the same. `clock` is of the new one. */
static bool is_behind(const cx_order_piece *now, const cx_stream_clock_kept *clock,
                      const cx_order_piece *old)
{
    if (cx_order_piece_same_launch(old, now))
        return old == now || cx_order_graph_puts_before(now->graph, old->node, now->node);
    return (unsigned)old->line < clock->count && clock->pieces[old->line] >= old->number;
}

static bool do_conflict(const byte_access *one, const byte_access *other)
{
    return one->piece != other->piece && !one->piece->polls && !other->piece->polls &&
           (one->how != other->how || one->how == CX_ACCESS_WRITE);
}

static void remove_access(byte_range *range, unsigned at)
{
    cx_order_piece_drop(range->all[at].piece);
    range->count--;
    memmove(&range->all[at], &range->all[at + 1], (range->count - at) * sizeof *range->all);
}

/* If this is so, a later piece that is ordered after the new one is ordered after this one too. */
static bool is_covered(const byte_access *old, const byte_access *now,
                       const cx_stream_clock_kept *clock)
{
    return now->how == CX_ACCESS_WRITE ||
           (old->how == now->how && is_behind(now->piece, clock, old->piece));
}

static void add_access(byte_range *range, const byte_access *now, const cx_stream_clock_kept *clock)
{
    for (unsigned i = range->count; i-- > 0;)
        if (is_covered(&range->all[i], now, clock))
            remove_access(range, i);
    if (range->count == ACCESSES_MOST)
        remove_access(range, 0);
    if (!reserve(range, range->count + 1))
        return;
    range->all[range->count++] = *now;
    now->piece->references++;
}

static void judge(const byte_range *range, const byte_access *now,
                  const cx_stream_clock_kept *clock, cx_order_conflict tell)
{
    for (unsigned i = 0; i < range->count; i++) {
        const byte_access *old = &range->all[i];
        if (do_conflict(old, now) && !is_behind(now->piece, clock, old->piece))
            tell(old->piece, range->begin, range->end);
    }
}

/* The range that begins at `at`, of bytes up to `end`, cut or made where there is none. */
static byte_range *range_at(uintptr_t at, uintptr_t end)
{
    byte_range *range = first_behind(at);
    if (range == NULL || range->begin >= end)
        return add_range(at, end);
    if (range->begin > at)
        return add_range(at, range->begin);
    if (range->begin < at) {
        if (!cut(range, at))
            return NULL;
        range = RB_NEXT(range_tree, &ranges, range);
    }
    return range->end <= end || cut(range, end) ? range : NULL;
}

static bool same_accesses(const byte_range *one, const byte_range *other)
{
    if (one->count != other->count)
        return false;
    for (unsigned i = 0; i < one->count; i++)
        if (one->all[i].piece != other->all[i].piece || one->all[i].how != other->all[i].how)
            return false;
    return true;
}

/* Returns the range with the bytes of `range`. */
static byte_range *merge_with_previous(byte_range *range)
{
    byte_range *before = RB_PREV(range_tree, &ranges, range);
    if (before == NULL || before->end != range->begin || !same_accesses(before, range))
        return range;
    before->end = range->end;
    drop_range(range);
    return before;
}

void cx_order_bytes_touch(cx_order_piece *piece, const cx_stream_clock_kept *clock,
                          const cx_access *touch, cx_order_conflict tell)
{
    const byte_access now = {piece, touch->how};
    uintptr_t at = touch->begin;
    if (range_count == RANGES_MOST)
        forget_all();
    while (at < touch->end) {
        byte_range *range = range_at(at, touch->end);
        if (range == NULL)
            return;
        at = range->end;
        judge(range, &now, clock, tell);
        add_access(range, &now, clock);
        (void)merge_with_previous(range);
    }
}

static void trim_range(byte_range *range, const cx_stream_clock *clock)
{
    for (unsigned i = range->count; i-- > 0;)
        if (clock->pieces[range->all[i].piece->line] >= range->all[i].piece->number)
            remove_access(range, i);
    if (range->count == 0)
        drop_range(range);
}

void cx_order_bytes_trim(const cx_stream_clock *clock)
{
    byte_range *range, *next;
    if (range_count < trim_at)
        return;
    RB_FOREACH_SAFE (range, range_tree, &ranges, next)
        trim_range(range, clock);
    trim_at = range_count < TRIM_FROM / 2 ? TRIM_FROM : 2 * range_count;
}
