#include "layer/check/order_work.h"

#include "layer/check/attach.h"
#include "layer/check/culprit.h"
#include "layer/check/hazard.h"
#include "layer/check/host_guard.h"
#include "layer/check/order_finding.h"

#include <stdlib.h>
#include <string.h>

/* Beyond so many the first one counts as if it had told all. Copies of more rows are not judged.
 * From so many touches on, those of a part are joined before there is room for more. */
enum { WORKS_MOST = 4096, ROWS_MOST = 4096, JOIN_FROM = 4096 };

/* `part`: the node of a launch, else 0. */
typedef struct part_touch {
    size_t part;
    cx_access access;
} part_touch;

struct cx_order_work {
    uint64_t ticket;
    unsigned pending; /* parts that will tell what they touch, and the call itself */
    bool under_way;   /* the call, which still refers to this */
    bool judged;      /* before it was over, since there were too many */
    bool started;     /* a copy */
    cx_order_piece *piece;
    cx_stream_clock_kept *clock;
    uint64_t turn; /* cx_object_turn at its begin */
    uint64_t counted; /* cx_attach_count */
    uintptr_t exec;          /* that it launches; 0: it is no graph */
    cx_order_launch *launch; /* NULL: it is no graph, or nothing was told of it */
    part_touch *all;
    size_t count, capacity;
    uintptr_t forget_begin, forget_end;
    cx_hazard *hazards;
    bool raced; /* findings tell of other work that it touches memory with, unordered */
    cx_order_work *next;
};

static cx_order_work *first, **end = &first;
static cx_order_work *last_found; /* by its ticket */
static unsigned work_count;
static uint64_t last_ticket;

/* ---- the queue ---- */

static void free_work(cx_order_work *work)
{
    if (last_found == work)
        last_found = NULL;
    cx_order_piece_drop(work->piece);
    cx_order_launch_free(work->launch);
    free(work->clock);
    free(work->all);
    cx_hazards_free(work->hazards);
    free(work);
}

/* Memory that is freed later has had this use. */
static void judge_touch(const cx_order_work *work, cx_order_piece *piece,
                        const cx_stream_clock_kept *clock, const cx_access *touch)
{
    cx_access seen = *touch;
    if (touch->how == CX_ACCESS_POLL)
        seen.how = CX_ACCESS_READ;
    if (touch->how == CX_ACCESS_FAULT) {
        cx_order_finding_fault(piece, work->turn, touch->begin);
        seen.how = CX_ACCESS_READ;
    }
    cx_order_bytes_touch(piece, clock, &seen, cx_order_finding_note_conflict);
}

/* All touches from `from` on that are of its part. */
static size_t end_of_part(const cx_order_work *work, size_t from)
{
    size_t at = from;
    while (at < work->count && work->all[at].part == work->all[from].part)
        at++;
    return at;
}

static bool is_within(const cx_access *touch, const cx_object *memory)
{
    return touch->how != CX_ACCESS_FAULT && touch->begin < memory->key.value + memory->bytes &&
           touch->end > memory->key.value;
}

static void judge_stale(const cx_order_work *work, const cx_order_piece *piece, size_t from,
                        size_t end_of)
{
    const cx_object *memory =
        piece->graph != NULL ? piece->graph->nodes[piece->node].stale : NULL;
    for (size_t i = from; memory != NULL && i < end_of; i++)
        if (is_within(&work->all[i].access, memory)) {
            cx_order_finding_stale(piece, work->all[i].access.begin);
            return;
        }
}

/* A kernel that polls may have waited for the host; so may one whose own stores hide that it
 * polls. */
static bool may_follow_host(const cx_order_piece *piece, const cx_access *touch)
{
    if (touch->how == CX_ACCESS_POLL)
        return true;
    if (piece->what != CX_ORDER_KERNEL ||
        (touch->how != CX_ACCESS_WRITE && touch->how != CX_ACCESS_ATOMIC))
        return false;
    const cx_object *memory = cx_object_find_memory(touch->begin);
    return cx_object_is_of_host(memory) ||
           (memory != NULL && memory->key.kind == CX_OBJECT_MANAGED_MEMORY);
}

static void judge_part(cx_order_work *work, cx_order_piece *piece,
                       const cx_stream_clock_kept *clock, size_t from)
{
    const size_t end_of = end_of_part(work, from);
    bool follows = false;
    for (size_t i = from; i < end_of; i++) {
        piece->polls |= work->all[i].access.how == CX_ACCESS_POLL;
        follows = follows ||
                  (cx_host_guard_is_on() && may_follow_host(piece, &work->all[i].access));
    }
    if (follows)
        cx_host_guard_end();
    judge_stale(work, piece, from, end_of);
    for (size_t i = from; i < end_of; i++) {
        cx_attach_judge(piece, work->counted, &work->all[i].access);
        judge_touch(work, piece, clock, &work->all[i].access);
    }
    work->raced |= cx_order_finding_has_conflicts();
    cx_order_finding_tell_conflicts(piece);
}

static void judge_plain(cx_order_work *work)
{
    const bool frees = work->piece->what == CX_ORDER_FREE;
    if (!frees)
        cx_order_bytes_forget(work->forget_begin, work->forget_end);
    if (work->count > 0)
        judge_part(work, work->piece, work->clock, 0);
    if (frees)
        cx_order_bytes_forget(work->forget_begin, work->forget_end);
}

static void judge_node(cx_order_work *work, size_t from)
{
    const size_t node = work->all[from].part;
    cx_order_piece *piece = cx_order_launch_piece(work->launch, work->piece, node);
    cx_stream_clock_kept *clock = cx_order_launch_clock(work->launch, work->clock, node);
    if (piece != NULL && clock != NULL)
        judge_part(work, piece, clock, from);
    free(clock);
    if (piece != NULL)
        cx_order_piece_drop(piece);
}

/* The bytes that nodes of this type allocate or free are of other memory now. */
static void forget_of(const cx_order_work *work, cxu_graph_node_type type)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->launch->graph->nodes[work->all[i].part].type == type)
            cx_order_bytes_forget(work->all[i].access.begin, work->all[i].access.end);
}

static int by_part(const void *one, const void *other)
{
    const part_touch *a = one, *b = other;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->access.how != b->access.how)
        return a->access.how < b->access.how ? -1 : 1;
    return (a->access.begin > b->access.begin) - (a->access.begin < b->access.begin);
}

/* Nodes are judged in an order that their graph allows. */
static void judge_launch(cx_order_work *work)
{
    if (work->count == 0 || work->launch->unknown)
        return;
    qsort(work->all, work->count, sizeof *work->all, by_part);
    forget_of(work, CXU_GRAPH_NODE_TYPE_MEM_ALLOC);
    for (size_t from = 0; from < work->count; from = end_of_part(work, from))
        judge_node(work, from);
    forget_of(work, CXU_GRAPH_NODE_TYPE_MEM_FREE);
}

static void judge(cx_order_work *work)
{
    if (work->launch != NULL)
        judge_launch(work);
    else
        judge_plain(work);
    cx_hazards_raise(work->hazards, work->piece, work->raced);
    if (work->ticket != 0)
        cx_host_guard_tell(work->ticket, work->piece);
}

static void take_first(void)
{
    cx_order_work *work = first;
    first = work->next;
    if (first == NULL)
        end = &first;
    work_count--;
    judge(work);
    work->judged = true;
    if (!work->under_way)
        free_work(work);
}

static void judge_ready(void)
{
    while (first != NULL && (first->pending == 0 || work_count > WORKS_MOST))
        take_first();
    if (first == NULL)
        cx_order_bytes_trim(cx_stream_clock_host());
}

cx_order_work *cx_order_work_begin(cx_check_call *call, int line, cx_order_what what)
{
    cx_order_work *work = calloc(1, sizeof *work);
    cx_order_piece *piece = cx_order_piece_new();
    const uint64_t number = cx_stream_clock_count(line);
    cx_stream_clock_kept *clock = cx_stream_clock_keep(cx_stream_clock_of(line));
    if (work == NULL || piece == NULL || clock == NULL) {
        cx_region_give_up();
        free(work);
        free(piece);
        free(clock);
        return NULL;
    }
    piece->line = line;
    piece->number = number;
    piece->what = what;
    piece->slot = call->slot;
    piece->where = call->origin;
    piece->stream = cx_stream_clock_stream_of(line);
    piece->thread = call->thread->number;
    memcpy(piece->thread_name, call->thread->name, sizeof piece->thread_name);
    *work = (cx_order_work){
        .pending = 1, .under_way = true, .piece = piece, .clock = clock, .turn = cx_object_turn(),
        .counted = cx_attach_count()};
    *end = work;
    end = &work->next;
    work_count++;
    return work;
}

/* A part that runs again and again touches the same bytes. */
static void join_touches(cx_order_work *work)
{
    size_t kept = 0;
    qsort(work->all, work->count, sizeof *work->all, by_part);
    for (size_t i = 1; i < work->count; i++) {
        part_touch *last = &work->all[kept];
        const part_touch *next = &work->all[i];
        if (last->part == next->part && last->access.how == next->access.how &&
            next->access.how != CX_ACCESS_FAULT && next->access.begin <= last->access.end)
            last->access.end = next->access.end > last->access.end ? next->access.end
                                                                   : last->access.end;
        else
            work->all[++kept] = *next;
    }
    work->count = kept + 1;
}

/* False: no memory. */
static bool extend(cx_order_work *work)
{
    if (work->launch != NULL && work->capacity >= JOIN_FROM)
        join_touches(work);
    if (work->count < work->capacity / 2)
        return true;
    const size_t capacity = work->capacity != 0 ? 2 * work->capacity : 4;
    part_touch *all = reallocarray(work->all, capacity, sizeof *all);
    if (all == NULL) {
        cx_region_give_up();
        return false;
    }
    work->all = all;
    work->capacity = capacity;
    return true;
}

static void touch_part(cx_order_work *work, size_t part, const cx_access *touch)
{
    if (work->count < work->capacity || extend(work))
        work->all[work->count++] = (part_touch){part, *touch};
}

void cx_order_work_touch(cx_order_work *work, const cx_access *touch)
{
    touch_part(work, 0, touch);
}

static void touch_rows(cx_order_work *work, size_t part, const cx_check_access *access)
{
    if (access->depth > ROWS_MOST / access->height)
        return;
    for (size_t z = 0; z < access->depth; z++)
        for (size_t y = 0; y < access->height; y++) {
            const uintptr_t begin = access->address + z * access->slice + y * access->pitch;
            const cx_access touch = {begin, begin + access->width,
                                     access->writes ? CX_ACCESS_WRITE : CX_ACCESS_READ};
            touch_part(work, part, &touch);
        }
}

void cx_order_work_touch_rows(cx_order_work *work, const cx_check_access *access)
{
    touch_rows(work, 0, access);
}

void cx_order_work_guard(const cx_order_work *work, const cx_check_access *access)
{
    if (work->ticket == 0 || work->started || work->pending < 2 ||
        access->height != 1 || access->depth != 1)
        return;
    cx_host_guard_put(work->ticket, access->address, access->address + access->width,
                      access->writes);
}

void cx_order_work_forget(cx_order_work *work, uintptr_t begin, uintptr_t end_of)
{
    work->forget_begin = begin;
    work->forget_end = end_of;
}

void cx_order_work_after_host(cx_order_work *work)
{
    cx_stream_clock_kept *clock = cx_stream_clock_keep(cx_stream_clock_host());
    if (clock == NULL)
        return;
    free(work->clock);
    work->clock = clock;
}

void cx_order_work_by_host(cx_order_work *work)
{
    work->piece->by_host = true;
}

/* By itself, not with its context. */
static bool was_freed(const cx_object *memory)
{
    return memory != NULL &&
           (memory->ended_by == CX_SLOT_mem_free || memory->ended_by == CX_SLOT_mem_free_async ||
            memory->ended_by == CX_SLOT_mem_free_host);
}

bool cx_order_work_refused(cx_order_work *work, cx_origin where)
{
    const cx_order_graph *graph =
        work != NULL && work->launch != NULL ? work->launch->graph : NULL;
    size_t node = 0;
    while (graph != NULL && node < graph->count && !was_freed(graph->nodes[node].stale))
        node++;
    if (graph == NULL || node == graph->count)
        return false;
    work->piece->where = where;
    cx_order_piece *piece = cx_order_launch_piece(work->launch, work->piece, node);
    if (piece == NULL)
        return false;
    cx_order_finding_stale(piece, graph->nodes[node].stale->key.value);
    cx_order_piece_drop(piece);
    return true;
}

void cx_order_work_submit(cx_order_work *work, cx_origin where, bool failed)
{
    if (work == NULL)
        return;
    cx_access_log_ticket = 0;
    work->under_way = false;
    if (work->judged) {
        free_work(work);
        return;
    }
    work->piece->where = where;
    if (failed)
        work->count = work->forget_begin = work->forget_end = 0;
    work->pending--;
    judge_ready();
}

/* ---- what the driver tells ---- */

void cx_order_work_ask(cx_order_work *work, uintptr_t exec)
{
    work->exec = exec;
    work->ticket = cx_access_log_ticket = ++last_ticket;
}

int cx_order_work_line(const cx_order_work *work)
{
    return work->piece->line;
}

const cx_order_launch *cx_order_work_launch(const cx_order_work *work)
{
    return work->launch;
}

void cx_order_work_launched(const cx_order_work *work)
{
    cx_order_launch_submitted(work->launch, work->exec, work->piece, work->clock);
}

static cx_order_work *find(uint64_t ticket)
{
    if (last_found != NULL && last_found->ticket == ticket)
        return last_found;
    cx_order_work *work = first;
    while (work != NULL && work->ticket != ticket)
        work = work->next;
    last_found = work;
    return work;
}

/* Pageable memory of the host is not judged. */
static void touch_by_node(cx_order_work *work, size_t part, const cx_access_log_node *node)
{
    cx_check_access all[CX_CHECK_ACCESSES];
    const int count = cx_check_node_accesses(node, all);
    for (int i = 0; i < count; i++)
        if (!all[i].host || cx_object_find_memory(all[i].address) != NULL)
            touch_rows(work, part, &all[i]);
    if (node->begin < node->end)
        touch_part(work, part, &(cx_access){node->begin, node->end, CX_ACCESS_WRITE});
}

static void touch_by_nodes(cx_order_work *work, const cx_access_log_graph *graph)
{
    cx_access_log_node node;
    for (size_t i = 0; i < graph->count; i++) {
        graph->describe(graph, i, &node);
        if (!node.disabled)
            touch_by_node(work, i, &node);
    }
}

static void launched(uint64_t ticket, const cx_access_log_graph *graph)
{
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = cx_region_gave_up() ? NULL : find(ticket);
    if (work != NULL && work->launch == NULL)
        work->launch = cx_order_launch_new(work->exec, graph);
    if (work != NULL && work->launch != NULL) {
        touch_by_nodes(work, graph);
        cx_order_launch_line_waits(work->launch, work->piece->line);
    }
    cx_lock_leave(&cx_check_lock);
}

static void promised(uint64_t ticket, size_t part)
{
    (void)part;
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = find(ticket);
    if (work != NULL)
        work->pending++;
    cx_lock_leave(&cx_check_lock);
}

static void moved(uint64_t ticket, size_t part, const cx_access_log_node *node)
{
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = find(ticket);
    if (work != NULL)
        touch_by_node(work, part, node);
    cx_lock_leave(&cx_check_lock);
}

static void note_culprit(const cx_order_work *work, size_t part,
                         const cx_access_log_failure *failure)
{
    cx_order_piece *node = work->launch != NULL
                               ? cx_order_launch_piece(work->launch, work->piece, part)
                               : NULL;
    cx_culprit_note(node != NULL ? node : work->piece, failure);
    if (node != NULL)
        cx_order_piece_drop(node);
}

static void failed(uint64_t ticket, size_t part, const cx_access_log_failure *failure)
{
    cx_lock_enter(&cx_check_lock);
    const cx_order_work *work = find(ticket);
    if (work != NULL)
        note_culprit(work, part, failure);
    cx_lock_leave(&cx_check_lock);
}

/* The place of the launch is known once its call is over. */
static void hazarded(uint64_t ticket, const cx_access_log_hazard *hazard)
{
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = find(ticket);
    if (work != NULL)
        cx_hazard_add(&work->hazards, hazard);
    cx_lock_leave(&cx_check_lock);
}

static void heap_left(const cx_access_log_heap_left *left)
{
    cx_lock_enter(&cx_check_lock);
    cx_hazard_heap_left(left);
    cx_lock_leave(&cx_check_lock);
}

static void starts(uint64_t ticket)
{
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = find(ticket);
    if (work != NULL)
        work->started = true;
    cx_host_guard_open(ticket);
    cx_lock_leave(&cx_check_lock);
}

static void told(uint64_t ticket, size_t part, const cx_access *all, size_t count)
{
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = find(ticket);
    cx_host_guard_open(ticket);
    if (work != NULL) {
        for (size_t i = 0; i < count; i++)
            touch_part(work, part, &all[i]);
        work->started = true;
        work->pending--;
        judge_ready();
    }
    cx_lock_leave(&cx_check_lock);
}

void cx_order_work_watch(void)
{
    static cx_access_log_watcher watcher = {
        .launched = launched, .promised = promised, .moved = moved, .failed = failed,
        .told = told, .hazard = hazarded, .heap_left = heap_left};
    watcher.starts = cx_host_guard_is_on() ? starts : NULL;
    cx_access_log_watch(&watcher);
}
