#include "alloc/fit.h"

#include <stdlib.h>

/* Some ranges of a request's own list are large enough: look at this many before taking a list
 * whose ranges all are. */
#define PROBES 8
/* Look at this many before refusing the request: a refusal costs a driver call. */
#define PROBES_AT_LAST 1024

#define OWNERS_AT_FIRST 8

typedef struct place {
    uint32_t octave, list;
} place;

static cx_fit_node *node_at(const cx_fit *fit, uint32_t index)
{
    return cx_fit_at(fit->store, index);
}

/* ---- nodes ---- */

/* The first node of a chunk links it to the fit's other chunks and holds the user. It stands for no
 * range, so no range is node 0. */
static bool grow_nodes(cx_fit *fit)
{
    uint32_t number = cx_fit_store_take(fit->store);
    if (number == CX_FIT_CHUNKS_MAX)
        return false;
    uint32_t first = number << CX_FIT_CHUNK_BITS;
    node_at(fit, first)->next = fit->chunks;
    if (fit->store->stride >= sizeof(cx_fit_node) + sizeof fit->user)
        *(void **)(void *)(node_at(fit, first) + 1) = fit->user;
    fit->chunks = number + 1;
    for (uint32_t i = CX_FIT_CHUNK_NODES - 1; i > 0; i--) {
        node_at(fit, first + i)->next = fit->spare;
        fit->spare = first + i;
    }
    return true;
}

static uint32_t take_node(cx_fit *fit)
{
    if (fit->spare == 0 && !grow_nodes(fit))
        return 0;
    uint32_t index = fit->spare;
    fit->spare = node_at(fit, index)->next;
    return index;
}

static void drop_node(cx_fit *fit, uint32_t index)
{
    cx_fit_node *node = node_at(fit, index);
    node->state = CX_FIT_UNUSED;
    node->next = fit->spare;
    fit->spare = index;
}

void cx_fit_open(cx_fit *fit, cx_fit_store *store, void *user)
{
    *fit = (cx_fit){.store = store, .user = user};
}

void cx_fit_close(cx_fit *fit)
{
    cx_fit_store *store = fit->store;
    while (fit->chunks != 0) {
        uint32_t chunk = fit->chunks;
        uint32_t first = (chunk - 1) << CX_FIT_CHUNK_BITS;
        fit->chunks = node_at(fit, first)->next;
        for (uint32_t i = 0; i < CX_FIT_CHUNK_NODES; i++)
            node_at(fit, first + i)->state = CX_FIT_UNUSED;
        cx_fit_store_give(store, chunk - 1);
    }
    for (uint32_t owner = 0; owner < fit->owner_limit; owner++)
        free(fit->bins[owner]);
    free(fit->bins);
    free(fit->nowhere);
    cx_fit_open(fit, store, fit->user);
}

/* ---- lists ---- */

static place place_of(uint32_t units)
{
    if (units < CX_FIT_LISTS)
        return (place){0, units};
    uint32_t top = 31 - (uint32_t)__builtin_clz(units);
    return (place){top - 4, units >> (top - 5) & (CX_FIT_LISTS - 1)};
}

static cx_fit_bins *bins_at(const cx_fit *fit, uint32_t owner)
{
    if (owner < fit->owner_limit)
        return fit->bins[owner];
    return owner == CX_FIT_NOWHERE ? fit->nowhere : NULL;
}

static bool make_room(cx_fit *fit, uint32_t owner)
{
    uint64_t limit = fit->owner_limit != 0 ? fit->owner_limit : OWNERS_AT_FIRST;
    while (limit <= owner)
        limit *= 2;
    cx_fit_bins **grown = realloc(fit->bins, limit * sizeof *grown);
    if (grown == NULL)
        return false;
    for (uint64_t i = fit->owner_limit; i < limit; i++)
        grown[i] = NULL;
    fit->bins = grown;
    fit->owner_limit = (uint32_t)limit;
    return true;
}

/* NULL: out of memory. */
static cx_fit_bins *bins_of(cx_fit *fit, uint32_t owner)
{
    if (owner >= fit->owner_limit && owner != CX_FIT_NOWHERE && !make_room(fit, owner))
        return NULL;
    cx_fit_bins **bins = owner != CX_FIT_NOWHERE ? &fit->bins[owner] : &fit->nowhere;
    if (*bins == NULL)
        *bins = calloc(1, sizeof **bins);
    return *bins;
}

void cx_fit_forget(cx_fit *fit, uint32_t owner)
{
    if (owner >= fit->owner_limit)
        return;
    free(fit->bins[owner]);
    fit->bins[owner] = NULL;
}

static void link_free(cx_fit *fit, uint32_t index)
{
    cx_fit_node *node = node_at(fit, index);
    cx_fit_bins *bins = bins_at(fit, node->owner);
    place where = place_of(node->units);
    uint32_t *head = &bins->heads[where.octave][where.list];
    node->state = CX_FIT_FREE;
    node->next = *head;
    node->previous = 0;
    if (*head != 0)
        node_at(fit, *head)->previous = index;
    *head = index;
    bins->lists[where.octave] |= 1u << where.list;
    bins->octaves |= 1u << where.octave;
    bins->units += node->units;
    bins->ranges++;
    fit->free_count++;
}

static void unlink_free(cx_fit *fit, uint32_t index)
{
    cx_fit_node *node = node_at(fit, index);
    cx_fit_bins *bins = bins_at(fit, node->owner);
    bins->units -= node->units;
    bins->ranges--;
    fit->free_count--;
    if (node->next != 0)
        node_at(fit, node->next)->previous = node->previous;
    if (node->previous != 0) {
        node_at(fit, node->previous)->next = node->next;
        return;
    }
    place where = place_of(node->units);
    bins->heads[where.octave][where.list] = node->next;
    if (node->next != 0)
        return;
    bins->lists[where.octave] &= ~(1u << where.list);
    if (bins->lists[where.octave] == 0)
        bins->octaves &= ~(1u << where.octave);
}

/* ---- segments ---- */

uint32_t cx_fit_add(cx_fit *fit, uint16_t segment, uint32_t units, uint32_t owner)
{
    if (bins_of(fit, owner) == NULL)
        return 0;
    uint32_t index = take_node(fit);
    if (index == 0)
        return 0;
    cx_fit_node *node = node_at(fit, index);
    node->offset_units = 0;
    node->units = units;
    node->before = node->after = 0;
    node->owner = owner;
    node->segment = segment;
    fit->units += units;
    link_free(fit, index);
    return index;
}

bool cx_fit_is_whole(const cx_fit *fit, uint32_t index)
{
    const cx_fit_node *node = node_at(fit, index);
    return node->before == 0 && node->after == 0;
}

void cx_fit_remove(cx_fit *fit, uint32_t index)
{
    unlink_free(fit, index);
    fit->units -= node_at(fit, index)->units;
    drop_node(fit, index);
}

void cx_fit_drop(cx_fit *fit, uint32_t index)
{
    drop_node(fit, index);
}

void cx_fit_abandon(cx_fit *fit, void (*visit)(uint32_t index, void *argument), void *argument)
{
    for (uint32_t chunk = fit->chunks; chunk != 0;
         chunk = node_at(fit, (chunk - 1) << CX_FIT_CHUNK_BITS)->next)
        for (uint32_t i = 1; i < CX_FIT_CHUNK_NODES; i++) {
            const uint32_t index = ((chunk - 1) << CX_FIT_CHUNK_BITS) + i;
            cx_fit_node *node = node_at(fit, index);
            if (node->state == CX_FIT_FREE) {
                drop_node(fit, index);
            } else if (node->state == CX_FIT_TAKEN) {
                node->state = CX_FIT_GONE;
                visit(index, argument);
            }
        }
    for (uint32_t owner = 0; owner < fit->owner_limit; owner++)
        cx_fit_forget(fit, owner);
    free(fit->nowhere);
    fit->nowhere = NULL;
    fit->units = fit->free_count = 0;
}

/* ---- taking ---- */

/* The smallest of the first `probes` ranges of a list that are large enough; 0 if none is. */
static uint32_t probe_list(const cx_fit *fit, const cx_fit_bins *bins, place where, uint32_t units,
                           int probes)
{
    uint32_t best = 0, best_units = UINT32_MAX;
    uint32_t index = bins->heads[where.octave][where.list];
    for (; index != 0 && probes > 0; probes--) {
        const cx_fit_node *node = node_at(fit, index);
        if (node->units >= units && (best == 0 || node->units < best_units)) {
            best = index;
            best_units = node->units;
            if (best_units == units)
                break;
        }
        index = node->next;
    }
    return best;
}

/* The first nonempty list behind this one. */
static bool find_above(const cx_fit_bins *bins, place *where)
{
    uint32_t lists = where->list == CX_FIT_LISTS - 1
                         ? 0
                         : bins->lists[where->octave] & (UINT32_MAX << (where->list + 1));
    if (lists == 0) {
        uint32_t octaves = bins->octaves & (UINT32_MAX - 1) << where->octave;
        if (octaves == 0)
            return false;
        where->octave = (uint32_t)__builtin_ctz(octaves);
        lists = bins->lists[where->octave];
    }
    where->list = (uint32_t)__builtin_ctz(lists);
    return true;
}

static uint32_t find_in_bins(const cx_fit *fit, uint32_t owner, uint32_t units)
{
    const cx_fit_bins *bins = bins_at(fit, owner);
    if (bins == NULL || bins->octaves == 0)
        return 0;
    place own = place_of(units), above = own;
    uint32_t index = probe_list(fit, bins, own, units, PROBES);
    if (index != 0)
        return index;
    return find_above(bins, &above) ? probe_list(fit, bins, above, units, PROBES)
                                    : probe_list(fit, bins, own, units, PROBES_AT_LAST);
}

/* Cuts a range; the rest keeps its owner, and is in no list. */
static void cut_range(cx_fit *fit, uint32_t index, uint32_t rest, uint32_t units)
{
    cx_fit_node *node = node_at(fit, index);
    cx_fit_node *behind = node_at(fit, rest);
    behind->offset_units = node->offset_units + units;
    behind->units = node->units - units;
    behind->before = index;
    behind->after = node->after;
    behind->owner = node->owner;
    behind->segment = node->segment;
    if (node->after != 0)
        node_at(fit, node->after)->before = rest;
    node->after = rest;
    node->units = units;
}

/* Takes one or two nodes, or none at all. */
static bool take_nodes(cx_fit *fit, bool first, bool second, uint32_t out_nodes[2])
{
    out_nodes[0] = first ? take_node(fit) : 0;
    out_nodes[1] = second ? take_node(fit) : 0;
    if ((!first || out_nodes[0] != 0) && (!second || out_nodes[1] != 0))
        return true;
    for (int i = 0; i < 2; i++)
        if (out_nodes[i] != 0)
            drop_node(fit, out_nodes[i]);
    return false;
}

uint32_t cx_fit_carve(cx_fit *fit, uint32_t index, uint32_t offset_units, uint32_t units)
{
    uint32_t nodes[2];
    if (!take_nodes(fit, offset_units != 0, node_at(fit, index)->units > offset_units + units,
                    nodes))
        return 0;
    unlink_free(fit, index);
    if (nodes[0] != 0) {
        cut_range(fit, index, nodes[0], offset_units);
        link_free(fit, index);
        index = nodes[0];
    }
    if (nodes[1] != 0) {
        cut_range(fit, index, nodes[1], units);
        link_free(fit, nodes[1]);
    }
    node_at(fit, index)->state = CX_FIT_TAKEN;
    node_at(fit, index)->tag = 0;
    return index;
}

/* An unowned range may fit better. */
static uint32_t find_for(const cx_fit *fit, uint32_t owner, uint32_t units)
{
    uint32_t own = find_in_bins(fit, owner, units);
    if (owner == 0 || (own != 0 && node_at(fit, own)->units == units))
        return own;
    uint32_t other = find_in_bins(fit, 0, units);
    if (own == 0 || (other != 0 && node_at(fit, other)->units < node_at(fit, own)->units))
        return other;
    return own;
}

uint32_t cx_fit_take(cx_fit *fit, uint32_t owner, uint32_t units)
{
    uint32_t rest = 0;
    if (bins_of(fit, owner) == NULL)
        return 0;
    uint32_t index = find_for(fit, owner, units);
    if (index == 0)
        return 0;
    cx_fit_node *node = node_at(fit, index);
    if (node->units > units) {
        rest = take_node(fit);
        if (rest == 0)
            return 0;
    }
    unlink_free(fit, index);
    if (rest != 0) {
        cut_range(fit, index, rest, units);
        link_free(fit, rest);
    }
    node->owner = owner;
    node->state = CX_FIT_TAKEN;
    node->tag = 0;
    return index;
}

/* ---- giving ---- */

/* Unowned ranges merge with owned ones and take the owner. */
static bool may_join(const cx_fit_node *node, uint32_t owner)
{
    if (node->state != CX_FIT_FREE)
        return false;
    return node->owner == owner || ((node->owner == 0 || owner == 0) &&
                                    node->owner != CX_FIT_NOWHERE && owner != CX_FIT_NOWHERE);
}

/* Merges the upper of two adjacent ranges, which are in no list, into the lower. */
static void join_ranges(cx_fit *fit, uint32_t lower, uint32_t upper)
{
    cx_fit_node *node = node_at(fit, lower);
    const cx_fit_node *gone = node_at(fit, upper);
    node->units += gone->units;
    node->after = gone->after;
    if (gone->after != 0)
        node_at(fit, gone->after)->before = lower;
    drop_node(fit, upper);
}

/* Puts a range that is in no list into one, merged with its neighbours if allowed. */
static uint32_t settle_range(cx_fit *fit, uint32_t index, uint32_t owner)
{
    cx_fit_node *node = node_at(fit, index);
    uint32_t before = node->before, after = node->after;
    if (before != 0 && may_join(node_at(fit, before), owner)) {
        owner = owner != 0 ? owner : node_at(fit, before)->owner;
        unlink_free(fit, before);
        join_ranges(fit, before, index);
        index = before;
    }
    if (after != 0 && may_join(node_at(fit, after), owner)) {
        owner = owner != 0 ? owner : node_at(fit, after)->owner;
        unlink_free(fit, after);
        join_ranges(fit, index, after);
    }
    node_at(fit, index)->owner = owner;
    link_free(fit, index);
    return index;
}

uint32_t cx_fit_give(cx_fit *fit, uint32_t index)
{
    return settle_range(fit, index, node_at(fit, index)->owner);
}

bool cx_fit_expect(cx_fit *fit, uint32_t owner)
{
    return bins_of(fit, owner) != NULL;
}

void cx_fit_merge(cx_fit *fit, uint32_t first, uint32_t last, uint32_t owner)
{
    uint32_t upper = 0;
    node_at(fit, first)->owner = owner;
    while (first != last && upper != last) {
        upper = node_at(fit, first)->after;
        join_ranges(fit, first, upper);
    }
}

uint32_t cx_fit_narrow(cx_fit *fit, uint32_t index, uint32_t offset_units, uint32_t units)
{
    uint32_t nodes[2];
    uint32_t owner = node_at(fit, index)->owner;
    if (!take_nodes(fit, offset_units != 0, node_at(fit, index)->units > offset_units + units,
                    nodes))
        return 0;
    if (nodes[1] != 0) {
        cut_range(fit, index, nodes[1], offset_units + units);
        settle_range(fit, nodes[1], owner);
    }
    if (nodes[0] != 0) {
        cut_range(fit, index, nodes[0], offset_units);
        node_at(fit, nodes[0])->state = CX_FIT_TAKEN;
        node_at(fit, nodes[0])->tag = 0;
        settle_range(fit, index, owner);
        index = nodes[0];
    }
    return index;
}

bool cx_fit_transfer(cx_fit *fit, uint32_t index, uint32_t owner)
{
    if (bins_of(fit, owner) == NULL)
        return false;
    node_at(fit, index)->owner = owner;
    return true;
}

bool cx_fit_move(cx_fit *fit, uint32_t from, uint32_t to)
{
    const cx_fit_bins *bins = bins_at(fit, from);
    if (bins == NULL || from == to)
        return true;
    if (bins_of(fit, to) == NULL)
        return false;
    while (bins->octaves != 0) {
        uint32_t octave = (uint32_t)__builtin_ctz(bins->octaves);
        uint32_t index = bins->heads[octave][__builtin_ctz(bins->lists[octave])];
        unlink_free(fit, index);
        settle_range(fit, index, to);
    }
    return true;
}

/* ---- queries ---- */

static uint64_t units_of(const cx_fit *fit, uint32_t owner)
{
    const cx_fit_bins *bins = bins_at(fit, owner);
    return bins != NULL ? bins->units : 0;
}

uint64_t cx_fit_free_units(const cx_fit *fit, uint32_t owner)
{
    return units_of(fit, 0) + (owner != 0 ? units_of(fit, owner) : 0);
}

uint32_t cx_fit_free_ranges(const cx_fit *fit, uint32_t owner)
{
    const cx_fit_bins *bins = bins_at(fit, owner);
    return bins != NULL ? bins->ranges : 0;
}

uint32_t cx_fit_next_free(const cx_fit *fit, uint32_t owner, uint32_t index)
{
    const cx_fit_bins *bins = bins_at(fit, owner);
    if (bins == NULL || bins->octaves == 0)
        return 0;
    place where = {0, 0};
    if (index != 0) {
        const cx_fit_node *node = node_at(fit, index);
        if (node->next != 0)
            return node->next;
        where = place_of(node->units);
    }
    /* No range has 0 units: the very first list is empty. */
    return find_above(bins, &where) ? bins->heads[where.octave][where.list] : 0;
}

void cx_fit_each_taken(const cx_fit *fit,
                       void (*visit)(uint32_t index, const cx_fit_node *node, void *argument),
                       void *argument)
{
    for (uint32_t chunk = fit->chunks; chunk != 0;
         chunk = node_at(fit, (chunk - 1) << CX_FIT_CHUNK_BITS)->next)
        for (uint32_t i = 1; i < CX_FIT_CHUNK_NODES; i++) {
            const uint32_t index = ((chunk - 1) << CX_FIT_CHUNK_BITS) + i;
            if (node_at(fit, index)->state == CX_FIT_TAKEN)
                visit(index, node_at(fit, index), argument);
        }
}
