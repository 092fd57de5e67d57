#include "memory/extents.h"

#include <pthread.h>
#include <search.h>

/* Lock "extents": innermost. Entries are numbers of pieces; number 0, which is none's, stands for
 * the address that is looked for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *tree;
static uintptr_t wanted;

static uint32_t number_of(const void *entry)
{
    return (uint32_t)(uintptr_t)entry;
}

static void *entry_of(uint32_t piece)
{
    return (void *)(uintptr_t)piece;
}

static uintptr_t begin_of(uint32_t piece)
{
    return piece == 0 ? wanted
                      : (uintptr_t)atomic_load_explicit(&cx_piece_at(piece)->pointer,
                                                        memory_order_relaxed);
}

static uintptr_t size_of(uint32_t piece)
{
    return piece == 0 ? 1 : (uintptr_t)cx_piece_at(piece)->node.units << CX_FIT_UNIT_BITS;
}

/* What overlaps is equal. */
static int compare(const void *left, const void *right)
{
    uint32_t a = number_of(left), b = number_of(right);
    uintptr_t first = begin_of(a), second = begin_of(b);
    if (first < second)
        return second - first < size_of(a) ? 0 : -1;
    return first - second < size_of(b) ? 0 : 1;
}

/* Lock held. */
static uint32_t look_up(uint32_t piece)
{
    void *const *found = tfind(entry_of(piece), &tree, compare);
    return found != NULL ? number_of(*found) : 0;
}

bool cx_extents_put(uint32_t piece)
{
    pthread_mutex_lock(&lock);
    void *const *entry = tsearch(entry_of(piece), &tree, compare);
    while (entry != NULL && number_of(*entry) != piece) {
        (void)tdelete(*entry, &tree, compare);
        entry = tsearch(entry_of(piece), &tree, compare);
    }
    pthread_mutex_unlock(&lock);
    return entry != NULL;
}

void cx_extents_drop(uint32_t piece)
{
    pthread_mutex_lock(&lock);
    if (look_up(piece) == piece)
        (void)tdelete(entry_of(piece), &tree, compare);
    pthread_mutex_unlock(&lock);
}

uint32_t cx_extents_find(const void *pointer, uint32_t *out_generation)
{
    pthread_mutex_lock(&lock);
    wanted = (uintptr_t)pointer;
    uint32_t piece = look_up(0);
    if (piece != 0)
        *out_generation = cx_piece_generation(cx_piece_head_at(piece));
    pthread_mutex_unlock(&lock);
    return piece;
}
