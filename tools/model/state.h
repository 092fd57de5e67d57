/*
 * The state of the model, for its own files.
 */
#ifndef CX_MODEL_STATE_H
#define CX_MODEL_STATE_H

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
    CX_MODEL_PLACES = 3 + CX_MODEL_DEVICES, /* none, the host, its node, the devices */
    BUFFER_BYTES = CX_MODEL_BYTES
};

/* A set of work items. */
typedef struct work_set {
    uint64_t words[WORKS_MAX / 64];
} work_set;

typedef struct state_context {
    bool primary;
    bool green; /* a part of the primary context `base`, where its calls work */
    int base, base_generation, default_stream;
    bool live;     /* a primary one: active */
    int device;
    int generation; /* of a primary one: each activation has a new id */
    int usage;     /* cuCtxAttach */
    int64_t flags;
    int64_t cache;
    bool reaches[THINGS_MAX]; /* peer access that was enabled, by context */
    work_set tail;  /* of the legacy stream */
    work_set barrier; /* all later work waits for it (T3) */
    work_set loose; /* behind all work of the context, and in no stream */
    const char *name;
    int died;           /* the number of objects made before it was destroyed */
    bool stood_beneath; /* in the stack of the destroying thread */
} state_context;

typedef struct state_stream {
    bool live; /* not destroyed; its context may be gone */
    int context, generation;
    bool blocking, is_default;
    bool orphan; /* its green context is gone */
    int green;   /* 1 + the green context that it belongs to; 0: none */
    int policy, priority; /* the policy is 0 until it is set */
    work_set tail;
    int died;
    int capture;        /* 1 + the capture that it is part of; 0: none */
    uint32_t frontier;  /* the nodes before its next one */
} state_stream;

typedef struct state_event {
    bool live;
    int context, generation;
    bool timing, recorded;
    work_set before;
    int died;
    int capture; /* 1 + the capture that it was recorded in; 0: it was recorded as ordinary
                  * work */
    uint32_t frontier;
} state_event;

/* The effect of a captured work item. */
typedef struct state_node {
    enum { NODE_NOTHING, NODE_FILL, NODE_COPY, NODE_ADD } kind;
    int to, from, value;
    int kernel;      /* 1 + the kernel that does it; 0: none */
    uint32_t before; /* all nodes before it */
} state_node;

typedef struct state_graph {
    bool live;
    int node_count, context;
    state_node nodes[NODES_MAX];
    work_set launched; /* of an executable graph: by its launches so far */
} state_graph;

typedef struct state_capture {
    bool active, invalid, uncertain; /* uncertain: no rule tells if it is invalid */
    int mode, thread, origin, context;
    state_graph graph;
} state_capture;

typedef struct state_buffer {
    bool live;
    int context, generation;
    bool defined; /* it was written */
    int value;   /* of each byte */
    bool mixed;  /* a stream wrote the first 32 bits since: `word` */
    uint32_t word;
    work_set written, read; /* the last write, and the reads since then */
    int died;
    int pool;    /* 1 + its pool, and it is no context's; 0: none */
    int leaving; /* 1 + the work item that frees it for its pool */
} state_buffer;

/* Numbers are those of all frees under way: vague ones depend on when these end. */
typedef struct state_pool {
    bool live, is_default;
    int place; /* the default pool there */
    int switches[3];
    bool opens[CX_MODEL_DEVICES]; /* to devices other than its own */
    int64_t max, threshold, used, used_high, kept, reserved_high;
    bool kept_vague, used_high_vague, reserved_high_vague;
    int died;
} state_pool;

typedef struct state_module {
    bool live;
    int context, generation;
    bool empty; /* it contains nothing */
    int died;
} state_module;

typedef struct state_library {
    bool live, empty;
    int died;
} state_library;

/* A kernel of a module or of a library; the other is NO_THING. */
typedef struct state_kernel {
    int module, library;
    int64_t name; /* CX_CODE_NAME_ */
} state_kernel;

typedef struct state_work {
    const char *gate; /* the gate that it waits at; NULL: none, or it is open */
    int context;
    bool kernel;
    work_set before; /* of a kernel */
} state_work;

typedef struct state_thread {
    int stack[STACK_MAX]; /* contexts, from the bottom */
    int depth;
    int capture_mode;
} state_thread;

typedef struct state_name {
    const char *name;
    cx_kind kind;
    int index;
} state_name;

struct cx_model {
    bool initialised;
    int devices;
    int context_count, stream_count, event_count, buffer_count, work_count, name_count;
    int capture_count, graph_count, exec_count;
    int module_count, library_count, kernel_count, pool_count;
    int64_t primary_flags[CX_MODEL_DEVICES];
    int retains[CX_MODEL_DEVICES]; /* by the user */
    int greens[CX_MODEL_DEVICES];  /* which retain a primary context too */
    /* the first contexts are the primary ones, by device */
    state_context contexts[THINGS_MAX];
    state_stream streams[THINGS_MAX];
    state_event events[THINGS_MAX];
    state_buffer buffers[THINGS_MAX];
    state_pool pools[THINGS_MAX]; /* the default ones first: of pinned, then of managed memory */
    int current_pools[2 * CX_MODEL_PLACES];
    state_module modules[THINGS_MAX];
    state_library libraries[THINGS_MAX];
    state_kernel kernels[THINGS_MAX];
    state_work works[WORKS_MAX];
    state_capture captures[CAPTURES_MAX];
    state_graph graphs[CAPTURES_MAX], execs[CAPTURES_MAX];
    work_set done; /* known to have ended */
    state_thread threads[CX_MODEL_THREADS];
    state_name names[NAMES_MAX];
    int made; /* contexts, streams, events and buffers so far */
};

enum { NO_CONTEXT = -1, NO_THING = -1, UNKNOWN_THING = -2 };

/* A step that the model is asked about. */
typedef struct prediction {
    cx_model *model;
    cx_scenario *scenario;
    cx_step *step;
    state_thread *thread;
    cx_outcome *outcome; /* the first */
    bool rules[CX_RULE_COUNT];
} prediction;

static inline void cite(prediction *self, cx_rule rule)
{
    self->rules[rule] = true;
}

/* ---- answers: all of them return true ---- */

/* Expects this result, without values. A second call adds an alternative. */
bool answer(prediction *self, int result);
/* Adds a value to the outcome given last: a number, a name, or anything. */
bool answer_number(prediction *self, int64_t number);
bool answer_name(prediction *self, const char *name);
bool answer_anything(prediction *self);
bool answer_same(prediction *self, const char *label, int number);

/* ---- operands ---- */
int64_t number_of(const prediction *self, int operand);
const char *name_of(const prediction *self, int operand);
/* The index of the object of a name; NO_THING: "none"; UNKNOWN_THING: it was never bound. */
int thing_of(const prediction *self, int operand, cx_kind kind);
bool device_exists(const prediction *self, int64_t device);
bool bind_name(prediction *self, cx_kind kind, int index);

bool context_flags_are_valid(int64_t flags);

/* ---- the current context ---- */

/* The context whose handle is current; NO_CONTEXT if the stack is empty. */
int top_of(const prediction *self);
/* The context that calls work in: the primary one of a green one. */
int current_of(const prediction *self);
/* The state of the current context: CXU_SUCCESS, INVALID_CONTEXT, CONTEXT_IS_DESTROYED. */
int current_state(prediction *self);
/* The state of a context that a call names. False: no prediction, since the handle may be
 * reused. */
bool named_state(const prediction *self, int context, int *out_state);
/* Answers an error of making something in the current context: bad arguments, or no such context.
 * True if there is none and it is made. */
bool may_make(prediction *self, bool bad_arguments);
/* True if a destroyed created context is still in some stack. */
bool stale_entries(const cx_model *model);

/* True if the handle or address of an object that died then cannot have been reused (C4). */
static inline bool not_reused(const cx_model *model, int died)
{
    return died == model->made;
}

/* ---- greens.c ---- */

/* The context itself, or the primary one of a green one; any other number stays. */
int base_of(const cx_model *model, int context);
/* False for a green context whose primary one was reset. */
bool base_is_open(const cx_model *model, int context);
/* True if the stream is one of the context; those of a green one are its primary one's too. */
bool stream_is_of(const cx_model *model, int stream, int context);
/* The stream that stands for the default stream; NO_THING: the legacy stream. */
int default_stream_of(const prediction *self);
/* The name of a CUgreenCtx; NULL: it has none. */
const char *green_name(const cx_model *model, int context);
/* True if a green context of this primary one waits for what waits at a gate. */
bool greens_blocked(const cx_model *model, int base);

/* ---- primaries.c ---- */

void activate_primary(prediction *self, int device);
void deactivate_primary(prediction *self, int device);

/* Ends its streams, events and memory. */
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

/* True if something in the set waits at a gate, so that waiting for it would never end. */
bool set_blocked(const cx_model *model, const work_set *set);
bool set_finished(const cx_model *model, const work_set *set);
/* All work of a context so far; of a green one, its own. */
work_set context_work(const cx_model *model, int context);
/* The work that a query of a stream asks about; `stream` NO_THING: the context's legacy stream. */
work_set stream_work(const cx_model *model, int stream, int context);
/* All work that precedes the stream's next item. */
work_set stream_before(const cx_model *model, int stream, int context);
/* Adds a work item, or returns NO_THING if there are too many; the second adds one behind `others`
 * too. */
int add_work(cx_model *model, int stream, int context, const char *gate);
/* Adds one that may be no work: the stream need not wait for other streams' before it. */
int add_work_alone(cx_model *model, int stream, int context);
int add_work_behind(cx_model *model, int stream, int context, const work_set *others);
/* CXU_SUCCESS if all is done, NOT_READY if something is at a gate; else either. */
void answer_query(prediction *self, const work_set *set);

/* Adds a work item that is in no stream yet. */
int add_loose_work(cx_model *model, int context, const char *gate);

/* ---- captures.c ---- */

typedef enum said { SAID, UNSAID, NO_MATTER } said;

enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };

/* True if a stream of this context captures; `blocking`: one that the legacy stream waits for. */
bool context_captures(const cx_model *model, int context, bool blocking);
/* True if the capture forbids the thread the calls that no capture sees. */
bool capture_forbids(const prediction *self, const state_capture *capture);
/* The answer to such a call, if any capture forbids it. */
said refuse_unsafe(prediction *self);
/* The answers of other files. */
said ask_limit_in_capture(const prediction *self);
said ask_batch_in_capture(prediction *self);
/* True if a copy at once has memory that its context reaches. */
bool copies_well(const prediction *self);
said ask_pool_in_capture(prediction *self);
said ask_ordered_in_capture(prediction *self);

/* The answer of captures to a step, if they have one: asked before the groups below. */
said ask_capture(prediction *self);

/* ---- the verbs, by group: false without a prediction ---- */
bool ask_graph(prediction *self);
bool ask_context(prediction *self);
bool ask_stack(prediction *self);
bool ask_query(prediction *self);
bool ask_primary(prediction *self);
bool ask_green(prediction *self);
bool ask_peer(prediction *self);
bool ask_stream(prediction *self);
bool ask_event(prediction *self);
bool ask_memory(prediction *self);
bool ask_copy(prediction *self);
bool ask_ordered(prediction *self);
bool ask_pool(prediction *self);
bool ask_process(prediction *self);
bool ask_kernel(prediction *self);

/* ---- pools.c ---- */

void make_default_pools(cx_model *model);
/* The pool that a device's memory in stream order comes from. */
int current_pool(const cx_model *model, int device);
/* Finds the pool of an operand; NO_THING: none, or a destroyed one. False: no prediction. */
bool find_pool(const prediction *self, int operand, int *out_pool);
/* True if kernels and fills of a device reach the pool's memory. */
bool pool_reaches(const cx_model *model, int pool, int device);
/* True for memory of a pool of managed memory; of the host's memory. */
bool is_managed(const cx_model *model, int buffer);
bool is_of_the_host(const cx_model *model, int buffer);
/* Takes memory. *out_room false: beyond the limit. False: no prediction, and nothing changed. */
bool take_from_pool(cx_model *model, int pool, bool *out_room);
/* Counts one memory that was freed. */
void give_to_pool(cx_model *model, int pool);

/* ---- kernels.c ---- */

bool module_is_good(const cx_model *model, int index);
/* True if a kernel can be launched in a context. */
bool kernel_is_good(const cx_model *model, int index, int context);
/* The effect of a step's launch in a context, if it has no error and can be predicted. */
bool describe_launch(const prediction *self, int context, state_node *out_node);
/* True in *out_there if all kernels of a graph exist; false: no prediction for one of them. */
bool kernels_known(const cx_model *model, const state_graph *exec, bool *out_there);
/* True if an unfinished kernel waits at a gate; everything that waits for kernels then does too. */
bool kernel_blocked(const cx_model *model);
/* Records that a work item is a kernel, and the work before it. */
void note_kernel(cx_model *model, int work, const work_set *before);

/* Runs a node once the work before it is done: false, with nothing changed, if it races. */
bool node_may_run(const cx_model *model, const state_node *node, const work_set *before);
void node_runs(cx_model *model, const state_node *node, const work_set *before, int work);

/* Finds the stream and context of a step's work; false: no prediction, or *out_error has the
 * answer. */
bool find_place(prediction *self, int operand, int *out_stream, int *out_context, int *out_error);

/* True if a work item may touch a buffer; also records the access. */
bool may_write(const cx_model *model, int index, const work_set *before);
bool may_read(const cx_model *model, int index, const work_set *before);
void write_buffer(cx_model *model, int index, int value, const work_set *before, int work);
void read_buffer(cx_model *model, int index, const work_set *before, int work);
bool in_context(const cx_model *model, int index, int context);
bool buffer_is_live(const cx_model *model, int index);

/* Resolves a stream operand. False: no prediction. *out_error: CXU_SUCCESS, or the driver's
 * error. */
bool find_stream(prediction *self, int operand, int *out_stream, int *out_context, int *out_error);
bool find_event(prediction *self, int operand, int *out_event, int *out_error);
/* Records an event behind all work of a context, green or not, or makes all its later work wait for
 * it. */
bool record_or_wait(prediction *self, int context, int event, bool waits);

/* False if work of the context is blocked: the context cannot be ended then. Unfinished work ends
 * with it. */
bool can_end(const cx_model *model, int context);

#endif
