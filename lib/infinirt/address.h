/*
 * What a pointer that was handed out stands for, where it is the driver's own and not a handle of
 * ctxrt's: the streams of GPUs.
 */
#ifndef CX_INFINIRT_ADDRESS_H
#define CX_INFINIRT_ADDRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CX_ADDRESS_SHARDS 16

typedef struct cx_address cx_address;

/* Pointers of one kind. Lock "addresses", one for each shard: innermost, held across no call. */
typedef struct cx_addresses {
    _Atomic uint64_t version; /* of the whole: what a thread found earlier holds while it stays */
    struct {
        pthread_mutex_t lock;
        cx_address *table;
    } shards[CX_ADDRESS_SHARDS];
} cx_addresses;

#define CX_ADDRESSES_INIT                                                                         \
    {                                                                                             \
        .shards = {[0 ... CX_ADDRESS_SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}}           \
    }

/* Enters a pointer, in place of what it stood for before, if that was never taken out. False: out
 * of memory. */
bool cx_address_put(cx_addresses *addresses, void *pointer, void *object);

/* What a pointer stands for; NULL if it is not there. */
void *cx_address_find(cx_addresses *addresses, void *pointer);

/* The same, and it is not there any more: of several callers one gets the object. */
void *cx_address_take(cx_addresses *addresses, void *pointer);

#endif
