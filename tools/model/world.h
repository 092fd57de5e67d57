/*
 * What the model knows: the insides, for its own files.
 */
#ifndef CX_MODEL_WORLD_H
#define CX_MODEL_WORLD_H

#include "model/model.h"
#include "driver/cuda_abi.h"
#include <stdio.h>
#include <string.h>

enum {
    THINGS_MAX = 512, /* of a kind, dead ones too */
    STACK_MAX = 24,
    NAMES_MAX = 2048,
    WORKS_MAX = 512,
    CAPTURES_MAX = 64,
    NODES_MAX = 32, /* of one graph */
    BUFFER_BYTES = CX_MODEL_BYTES
};

/* A set of pieces of work. */
typedef struct work_set {
    uint64_t words[WORKS_MAX / 64];
} work_set;

typedef struct world_context {
    bool primary;
    bool live;     /* a primary one: active */
    int device;
    int generation; /* of a primary one: each activation has its own id */
    int usage;     /* cuCtxAttach */
    int64_t flags;
    int64_t cache;
    bool reaches[THINGS_MAX]; /* peer access that was enabled, by context */
    work_set tail;  /* of the legacy stream */
    work_set barrier; /* what all its later work waits for (T3) */
    work_set loose; /* behind all work of the context, and in no stream */
    const char *name;
    int died; /* how many things had been made when it was destroyed */
    bool stood_beneath; /* in the stack of the thread that destroyed it */
} world_context;

typedef struct world_stream {
    bool live; /* not destroyed; its context may be */
    int context, generation;
    bool blocking;
    work_set tail;
    int died;
    int capture;        /* 1 + the capture that it is part of; 0: none */
    uint32_t frontier;  /* the nodes that come before its next one */
} world_stream;

typedef struct world_event {
    bool live;
    int context, generation;
    bool timing, recorded;
    work_set before;
    int died;
    int capture;        /* 1 + the capture that it was recorded in; 0: it was recorded as work */
    uint32_t frontier;
} world_event;

/* What a captured piece of work will do. */
typedef struct world_node {
    enum { NODE_NOTHING, NODE_FILL, NODE_COPY, NODE_ADD } kind;
    int to, from, value;
    int kernel; /* 1 + the one that does it; 0: none */
    uint32_t before; /* nodes, all of them */
} world_node;

typedef struct world_graph {
    bool live;
    int node_count, context;
    world_node nodes[NODES_MAX];
    work_set launched; /* of an executable one: by its launches so far */
} world_graph;

typedef struct world_capture {
    bool active, invalid, uncertain; /* uncertain: whether it is invalid no rule says */
    int mode, thread, origin, context;
    world_graph graph;
} world_capture;

typedef struct world_buffer {
    bool live;
    int context, generation;
    bool defined; /* something was written */
    int value;    /* of each byte */
    work_set written, read; /* the last write, and the reads since */
    int died;
} world_buffer;

typedef struct world_module {
    bool live;
    int context, generation;
    bool empty; /* nothing is in it */
    int died;
} world_module;

typedef struct world_library {
    bool live, empty;
    int died;
} world_library;

/* Of a module, or of a library: the other is NO_THING. */
typedef struct world_kernel {
    int module, library;
    int64_t name; /* CX_CODE_NAME_ */
} world_kernel;

typedef struct world_work {
    const char *gate; /* that it waits at; NULL: none, or it is open */
    int context;
    bool kernel;
    work_set before; /* of a kernel */
} world_work;

typedef struct world_thread {
    int stack[STACK_MAX]; /* contexts, from the bottom */
    int depth;
    int capture_mode;
} world_thread;

typedef struct world_name {
    const char *name;
    cx_kind kind;
    int index;
} world_name;

struct cx_model {
    bool initialised;
    int devices;
    int context_count, stream_count, event_count, buffer_count, work_count, name_count;
    int capture_count, graph_count, exec_count;
    int module_count, library_count, kernel_count;
    int64_t primary_flags[CX_MODEL_DEVICES];
    int retains[CX_MODEL_DEVICES];
    /* the first contexts are the primary ones, by device */
    world_context contexts[THINGS_MAX];
    world_stream streams[THINGS_MAX];
    world_event events[THINGS_MAX];
    world_buffer buffers[THINGS_MAX];
    world_module modules[THINGS_MAX];
    world_library libraries[THINGS_MAX];
    world_kernel kernels[THINGS_MAX];
    world_work works[WORKS_MAX];
    world_capture captures[CAPTURES_MAX];
    world_graph graphs[CAPTURES_MAX], execs[CAPTURES_MAX];
    work_set done; /* known to have ended */
    world_thread threads[CX_MODEL_THREADS];
    world_name names[NAMES_MAX];
    int made; /* contexts, streams, events and buffers so far */
};

enum { NO_CONTEXT = -1, NO_THING = -1, UNKNOWN_THING = -2 };

/* One question. */
typedef struct asking {
    cx_model *model;
    cx_scenario *scenario;
    cx_step *step;
    world_thread *thread;
    cx_outcome *outcome; /* the first */
    bool rules[CX_RULE_COUNT];
} asking;

static inline void cite(asking *self, cx_rule rule)
{
    self->rules[rule] = true;
}

/* ---- answers: all of them return true ---- */

/* This result, with no values said. Again: or that. */
bool answer(asking *self, int result);
/* And a value more of the outcome given last: a number, a name, or anything. */
bool answer_number(asking *self, int64_t number);
bool answer_name(asking *self, const char *name);
bool answer_anything(asking *self);
bool answer_same(asking *self, const char *label, int number);

/* ---- operands ---- */
int64_t number_of(const asking *self, int operand);
const char *name_of(const asking *self, int operand);
/* The index of what a name stands for; NO_THING: "none"; UNKNOWN_THING: it was never bound. */
int thing_of(const asking *self, int operand, cx_kind kind);
bool device_exists(const asking *self, int64_t device);
bool bind_name(asking *self, cx_kind kind, int index);

bool context_flags_are_valid(int64_t flags);

/* ---- what is current ---- */

/* NO_CONTEXT if the stack is empty. */
int current_of(const asking *self);
/* A context to work in: the current one. CXU_SUCCESS, INVALID_CONTEXT, CONTEXT_IS_DESTROYED. */
int current_state(asking *self);
/* The same of a context that a call names. False: nothing can be said, for the handle may be
 * another one's now. */
bool named_state(const asking *self, int context, int *out_state);
/* Answers what is wrong with making something in the current context, bad arguments or no such
 * context; or that it is made: true then. */
bool may_make(asking *self, bool bad_arguments);
/* Whether a created context stands in some stack though it was destroyed. */
bool stale_entries(const cx_model *model);

/* Whether nothing can have taken the handle or address of what died then (C4). */
static inline bool not_reused(const cx_model *model, int died)
{
    return died == model->made;
}

/* Its streams, events and memory go. */
void end_contents(cx_model *model, int context);
bool belongs(const cx_model *model, int context, int generation);

/* ---- sets ---- */
static inline void set_add(work_set *set, int work)
{
    set->words[work / 64] |= UINT64_C(1) << (work % 64);
}
static inline bool set_has(const work_set *set, int work)
{
    return (set->words[work / 64] >> (work % 64) & 1) != 0;
}
static inline void set_unite(work_set *set, const work_set *other)
{
    for (int i = 0; i < WORKS_MAX / 64; i++)
        set->words[i] |= other->words[i];
}
static inline bool set_within(const work_set *set, const work_set *outer, const work_set *other)
{
    for (int i = 0; i < WORKS_MAX / 64; i++)
        if ((set->words[i] & ~outer->words[i] & ~other->words[i]) != 0)
            return false;
    return true;
}

/* ---- work.c ---- */

/* Whether something in the set waits at a gate, so that nobody may wait for it. */
bool set_blocked(const cx_model *model, const work_set *set);
bool set_finished(const cx_model *model, const work_set *set);
/* All work of a context so far. */
work_set context_work(const cx_model *model, int context);
/* What a query of a stream is about; `stream` NO_THING: the legacy one of the context. */
work_set stream_work(const cx_model *model, int stream, int context);
/* All that precedes the next piece of work in it. */
work_set stream_before(const cx_model *model, int stream, int context);
/* A new piece of work there, or NO_THING if there are too many; and one that comes behind others
 * too. */
int add_work(cx_model *model, int stream, int context, const char *gate);
int add_work_behind(cx_model *model, int stream, int context, const work_set *others);
/* CXU_SUCCESS if nothing is left, NOT_READY if something is at a gate; else either. */
void answer_query(asking *self, const work_set *set);

/* The same in no stream yet. */
int add_loose_work(cx_model *model, int context, const char *gate);

/* ---- captures.c ---- */

typedef enum said { SAID, UNSAID, NO_MATTER } said;

/* What a capture says of a step, if one does: before the groups below are asked. */
said ask_capture(asking *self);

/* ---- the verbs, by group: false if nothing can be said ---- */
bool ask_graph(asking *self);
bool ask_context(asking *self);
bool ask_stack(asking *self);
bool ask_query(asking *self);
bool ask_primary(asking *self);
bool ask_peer(asking *self);
bool ask_stream(asking *self);
bool ask_event(asking *self);
bool ask_memory(asking *self);
bool ask_process(asking *self);
bool ask_kernel(asking *self);

/* ---- kernels.c ---- */

bool module_is_good(const cx_model *model, int index);
/* Whether a kernel can be launched in a context. */
bool kernel_is_good(const cx_model *model, int index, int context);
/* What the launch of a step does in a context, if nothing is wrong with it and that can be said. */
bool describe_launch(const asking *self, int context, world_node *out_node);
/* Whether all kernels of a graph are there; false: nothing can be said of one. */
bool kernels_known(const cx_model *model, const world_graph *exec, bool *out_there);
/* Whether a kernel that has not ended waits at a gate, and so does all that waits for kernels. */
bool kernel_blocked(const cx_model *model);
/* Notes that a piece of work is a kernel, and what comes before it. */
void note_kernel(cx_model *model, int work, const work_set *before);

/* What a node does when what is before it is done: false, with nothing changed, if it races. */
bool node_may_run(const cx_model *model, const world_node *node, const work_set *before);
void node_runs(cx_model *model, const world_node *node, const work_set *before, int work);

/* Whether a piece of work may touch a buffer, and that it does. */
bool may_write(const cx_model *model, int index, const work_set *before);
bool may_read(const cx_model *model, int index, const work_set *before);
void write_buffer(cx_model *model, int index, int value, const work_set *before, int work);
void read_buffer(cx_model *model, int index, const work_set *before, int work);
bool in_context(const cx_model *model, int index, int context);

/* A stream operand. False: nothing can be said. *out_error: CXU_SUCCESS, or what the driver says of
 * it. */
bool find_stream(asking *self, int operand, int *out_stream, int *out_context, int *out_error);
bool find_event(asking *self, int operand, int *out_event, int *out_error);

/* A blocked context cannot be ended, and work that has not ended goes with it. */
bool can_end(const cx_model *model, int context);

#endif
