/*
 * The world of the random mix: places (primary and created contexts), things that threads share
 * (streams, events, allocators, modules, graphs), and what happens to places meanwhile.
 *
 * Nothing here asserts. A thread that sees something wrong says so with actor_fail; all threads
 * stop then, and the program prints the seed and the last operations of each.
 */
#ifndef CX_JOINTS_WORLD_H
#define CX_JOINTS_WORLD_H

#include <ctxrt/ctxrt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    PRIMARIES = 4, /* cuda:0, cuda:1, cuda:2, cpu:0 */
    CREATED = 4,
    PLACES = PRIMARIES + CREATED,
    UNANCHORED = 2, /* the primary context that may be released at any time */
    THINGS = 10,    /* of each kind */
    MAILS = 4,
    POOL = 24,
    THREADS_MAX = 64,
    HISTORY = 48,
    HISTORY_BYTES = 200,
    GPU_MIB = 48,
};

/* Faults that are known (known.def): whether each is mended. */
enum {
#define KNOWN(name, mended, point) MENDED_##name = (mended),
#include "known.def"
#undef KNOWN
};

/* ---- troubles: what other threads may do to a place ---- */

typedef enum trouble {
    TROUBLE_RESET,   /* ctxrt_device_reset */
    TROUBLE_WAIT,    /* a wait for the whole context, which ends captures */
    TROUBLE_CAPTURE, /* a stream of the place captures */
    TROUBLES
} trouble;

/* How often each began and ended. */
typedef struct troubles {
    atomic_uint begun[TROUBLES], ended[TROUBLES];
} troubles;

/* A span of time at a place, open until it is asked about. */
typedef struct span {
    int place;
    unsigned begun[TROUBLES];
    bool busy[TROUBLES];
} span;

void trouble_begin(int place, trouble what);
void trouble_end(int place, trouble what);
span span_open(int place);
bool span_met(const span *self, trouble what);

/* The life of an object that a reset of its place ends. */
typedef struct life {
    span made;
    unsigned resets; /* begun when it was made */
    bool borrowed;   /* a default stream, which a reset makes anew */
} life;

typedef enum health { LIVE, UNSURE, DEAD } health;

life life_begin(int place);
void life_made(life *self);
health life_look(const life *self);

/* ---- places and things ---- */

enum { EMPTY = -2, CLAIMED = -1 }; /* besides the number of users */

typedef struct site {
    ctxrt_device device;
    ctxrt_context *context; /* NULL: the primary context */
    atomic_int users;
    troubles troubles;
} site;

typedef enum kind { STREAM, EVENT, ALLOCATOR, MODULE, GRAPH, KINDS } kind;

typedef struct thing {
    atomic_int users;
    int place;
    life life;
    void *object;
    void *extra;   /* an allocator's slab, a module's kernel, a graph's target block */
    uint64_t seed; /* of what a graph leaves in its target */
    bool custom;   /* an allocator that calls ours */
    bool blocking; /* a stream */
} thing;

bool users_hold(atomic_int *users);
void users_drop(atomic_int *users);
bool users_claim(atomic_int *users, int from);

typedef struct block block;
typedef struct actor actor;

typedef struct mail {
    ctxrt_detached_frame *frame;
    int place;
    thing *stream, *allocator;
    life life;
} mail;

typedef struct world {
    site places[PLACES];
    thing things[KINDS][THINGS];
    _Atomic(mail *) mails[MAILS];
    _Atomic(block *) pool[POOL];
    ctxrt_event *anchors[PRIMARIES]; /* keep primary contexts from being released */
    ctxrt_memory *anchor;            /* keeps the runtime from being shut down */
    int threads;
    bool faults; /* the driver refuses calls now and then */
    bool lazy;   /* nothing runs before something waits for it */
    /* Resets come between operations, not beside them, and nobody uses memory that one ended: else
     * two owners may work at one address, which is a race of theirs. */
    bool apart;
    atomic_bool failed;
    atomic_uint names;  /* of blocks */
    atomic_int keepers; /* recordings and graphs, which keep memory of any place */
    atomic_uint resets; /* twice those that are over, and 1 for one in progress: one at a time */
    atomic_long operations, looks;
    actor *actors[THREADS_MAX];
    /* Written to by resets. Readers: other code, which uses memory of its own; with `apart` all
     * operations. */
    pthread_rwlock_t resetting;
} world;

extern world all;

/* ---- actors ---- */

enum { DEPTH = 8, POCKET = 12, STALE = 16, SCRATCH_BYTES = 1 << 20 };

/* A frame as it should be. */
typedef struct frame {
    int place;
    ctxrt_frame_origin origin;
    thing *stream, *allocator;
    ctxrt_scope *scope;
    life life; /* of a default stream that came along */
} frame;

struct actor {
    int number;
    uint64_t random;
    frame frames[DEPTH];
    int depth;
    ctxrt_scope scopes[DEPTH];
    block *pocket[POCKET]; /* NULL: no block */
    unsigned char *scratch, *other_scratch;
    span spans[PLACES]; /* since the operation began */
    atomic_uint resets; /* of the world, when it began */
    int keepers;        /* when it began */
    void *stale[KINDS][STALE];
    ctxrt_memory *stale_memory[STALE];
    FILE *nowhere;
    char history[HISTORY][HISTORY_BYTES];
    long calls, steps;
    ctxrt_status status; /* for OK_OR */
    size_t wanted;       /* the size of the next block; 0: any */
    char failure[600];
};

uint64_t pick(actor *self, uint64_t below);
bool chance(actor *self, unsigned percent);

/* Notes a call and looks at its status, which may be CTXRT_SUCCESS or one of `may`. True: it
 * succeeded. */
#define MAY(status) (1u << (status))
bool actor_expect(actor *self, ctxrt_status status, unsigned may, const char *call);
#define OK(self, call) actor_expect(self, call, 0, #call)
/* `may` is asked for behind the call, since other threads go on meanwhile. */
#define OK_OR(self, call, may) \
    ((self)->status = (call), actor_expect(self, (self)->status, may, #call))

/* The same for a call that must give this status. */
void actor_refused(actor *self, ctxrt_status status, ctxrt_status wanted, const char *call);
#define REFUSED(self, call, wanted) actor_refused(self, call, wanted, #call)

void actor_note(actor *self, const char *what, ...) __attribute__((format(printf, 2, 3)));
void actor_fail(actor *self, const char *what, ...) __attribute__((format(printf, 2, 3)));
void world_tell(void);

/* Whether other threads may have done this to the place since the operation began. */
bool actor_met(const actor *self, int place, trouble what);
bool actor_met_any(const actor *self, trouble what);

/* What `resets` is at least when all resets that have begun are over. */
unsigned resets_until_now(void);

/* Whether an operation that another thread began when `resets` was less is still under way. */
bool actor_is_behind(const actor *self, unsigned resets);

/* Whether a recording or a graph may keep memory that was freed, of any place. */
bool actor_met_keepers(const actor *self);

/* A thing of a kind at a place that has one, held; NULL: there is none. */
thing *actor_hold(actor *self, kind which, int place);
void thing_drop(thing *self);

/* CTXRT_ERROR_CONTEXT_DESTROYED as a mask, unless the object is live; of a default stream also
 * CTXRT_ERROR_INVALID_HANDLE. */
unsigned may_be_gone(const life *self);

/* ---- op_frames.c ---- */

frame *actor_top(actor *self);

/* Compares the stack with what it should be. */
void actor_compare(actor *self);

/* Pops all frames and leaves all scopes. */
void actor_unwind(actor *self);
bool actor_push(actor *self, int place);
void actor_pop(actor *self);

/* ---- the operations ---- */

typedef struct operation {
    const char *name;
    int weight;
    void (*run)(actor *self);
    bool alone; /* only where there is one thread */
} operation;

extern const operation operations[];
extern const int operation_count;

#define OPERATION(name, weight, alone) void op_##name(actor *self);
#include "operations.def"
#undef OPERATION

#endif
