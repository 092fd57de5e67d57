#include "infinirt/address.h"

#include <stdlib.h>

/* Replaces uthash's exit(): the entry stays out of the table. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element), added = false)
#include <uthash.h>

struct cx_address {
    void *pointer;
    void *object;
    UT_hash_handle hh;
};

/* The thread's last findings: a program mostly names the same few streams. */
enum { MEMORIES = 16 };
static _Thread_local struct {
    const cx_addresses *addresses;
    uint64_t version;
    void *pointer, *object;
} memories[MEMORIES];

/* 0 to 15, for shards and last findings. */
static unsigned int place_of(const void *pointer)
{
    uint64_t bits = (uint64_t)(uintptr_t)pointer;
    return (unsigned int)((bits ^ bits >> 24) * 0x9e3779b97f4a7c15u >> 60);
}

bool cx_address_put(cx_addresses *addresses, void *pointer, void *object)
{
    bool added = true;
    cx_address *before;
    unsigned int shard = place_of(pointer);
    cx_address *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return false;
    entry->pointer = pointer;
    entry->object = object;
    pthread_mutex_lock(&addresses->shards[shard].lock);
    HASH_REPLACE_PTR(addresses->shards[shard].table, pointer, entry, before);
    atomic_fetch_add(&addresses->version, 1);
    pthread_mutex_unlock(&addresses->shards[shard].lock);
    free(before);
    if (!added)
        free(entry);
    return added;
}

static void *look_up(cx_addresses *addresses, const void *pointer, bool take)
{
    cx_address *entry, *taken = NULL;
    void *object = NULL;
    unsigned int shard = place_of(pointer);
    pthread_mutex_lock(&addresses->shards[shard].lock);
    HASH_FIND_PTR(addresses->shards[shard].table, &pointer, entry);
    if (entry != NULL) {
        object = entry->object;
        if (take) {
            HASH_DELETE(hh, addresses->shards[shard].table, entry);
            atomic_fetch_add(&addresses->version, 1);
            taken = entry;
        }
    }
    pthread_mutex_unlock(&addresses->shards[shard].lock);
    free(taken);
    return object;
}

void *cx_address_find(cx_addresses *addresses, void *pointer)
{
    unsigned int place = place_of(pointer);
    uint64_t version = atomic_load(&addresses->version);
    if (memories[place].addresses != addresses || memories[place].pointer != pointer ||
        memories[place].version != version) {
        memories[place].object = look_up(addresses, pointer, false);
        memories[place].pointer = pointer;
        memories[place].version = version;
        memories[place].addresses = addresses;
    }
    return memories[place].object;
}

void *cx_address_take(cx_addresses *addresses, void *pointer)
{
    return look_up(addresses, pointer, true);
}
