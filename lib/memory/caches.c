/* The list of all caches. */
#include "memory/cache.h"

#include <stdlib.h>

/* Lock "caches". */
static cx_lock lock = CX_LOCK_INIT(CACHES);
static pthread_cond_t found_no_more = PTHREAD_COND_INITIALIZER;
static cx_cache *caches, *spare;

cx_cache *cx_caches_take_record(void)
{
    cx_lock_enter(&lock);
    cx_cache *cache = spare;
    if (cache != NULL)
        spare = cache->next;
    cx_lock_leave(&lock);
    return cache != NULL ? cache : calloc(1, sizeof *cache);
}

void cx_caches_put_record(cx_cache *cache)
{
    cx_lock_enter(&lock);
    cache->next = spare;
    spare = cache;
    cx_lock_leave(&lock);
}

void cx_caches_enlist(cx_cache *cache)
{
    static uint64_t last_number;
    cx_lock_enter(&lock);
    cache->number = ++last_number;
    cache->next = caches;
    cache->link = &caches;
    if (caches != NULL)
        caches->link = &cache->next;
    caches = cache;
    cx_lock_leave(&lock);
}

void cx_caches_unlist(cx_cache *cache)
{
    cx_lock_enter(&lock);
    *cache->link = cache->next;
    if (cache->next != NULL)
        cache->next->link = cache->link;
    while (cache->finders != 0)
        cx_lock_wait(&lock, &found_no_more);
    cx_lock_leave(&lock);
}

void cx_caches_each(void (*visit)(cx_cache *cache, void *argument), void *argument)
{
    cx_lock_enter(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        visit(cache, argument);
    cx_lock_leave(&lock);
}

cx_cache *cx_caches_next(cx_cache *before)
{
    cx_cache *found = NULL;
    uint64_t number = before != NULL ? before->number : 0;
    cx_lock_enter(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        if (cache->number > number && (found == NULL || cache->number < found->number))
            found = cache;
    if (found != NULL)
        found->finders++;
    if (before != NULL && --before->finders == 0)
        pthread_cond_broadcast(&found_no_more);
    cx_lock_leave(&lock);
    return found;
}

/* The allocator counts memory that is pinned or in debug mode. */
void cx_caches_count(const cx_context *context, cx_context_memory *sum)
{
    cx_lock_enter(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        if (cache->context == context && !cache->pinned &&
            atomic_load(&cache->allocator->front) == NULL) {
            sum->count += atomic_load(&cache->allocator->figures.live_count);
            sum->bytes += atomic_load(&cache->allocator->figures.live_bytes);
        }
    cx_lock_leave(&lock);
}
