/*
 * What a server does for each request: it makes objects of every kind, works with them, and ends
 * them, so that nothing is left. Requests of many threads run beside each other.
 */
#ifndef CX_JOINTS_REQUEST_H
#define CX_JOINTS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

enum { REQUEST_DEVICES = 3 };

typedef struct request_kind {
    const char *name;
    bool (*open)(void);                /* once, before the threads */
    void (*serve)(uint64_t *random);   /* by any thread */
    void (*rest)(uint64_t generation); /* while no thread serves */
    void (*close)(void);
} request_kind;

/* Of the one file of requests in the program. */
extern const request_kind request_served;

/* A number below `count`. */
uint64_t request_pick(uint64_t *random, uint64_t count);

/* Notes a call that should have succeeded; prints the first few. */
void request_failed(const char *call, const char *why);

#endif
