/*
 * The objects behind pointers that were handed out and are the driver's own, not handles of
 * ctxrt's: streams of GPUs.
 */
#ifndef CX_INFINIRT_ADDRESS_H
#define CX_INFINIRT_ADDRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CX_ADDRESS_SHARDS 16

typedef struct cx_address cx_address;

/* Pointers of one kind. Lock "addresses", one for each shard: innermost, with no call made under
 * it. */
typedef struct cx_addresses {
    _Atomic uint64_t version; /* of the whole table: a thread's earlier findings hold while it
                               * stays */
    struct {
        pthread_mutex_t lock;
        cx_address *table;
    } shards[CX_ADDRESS_SHARDS];
} cx_addresses;

#define CX_ADDRESSES_INIT                                                                         \
    {                                                                                             \
        .shards = {[0 ... CX_ADDRESS_SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}}           \
    }

/* Enters a pointer and replaces an older entry that was never taken out. False: out of memory. */
bool cx_address_put(cx_addresses *addresses, void *pointer, void *object);

/* Finds the object of a pointer; NULL if there is none. */
void *cx_address_find(cx_addresses *addresses, void *pointer);

/* Takes a pointer out: of several callers one gets the object. */
void *cx_address_take(cx_addresses *addresses, void *pointer);

#endif
