/*
 * The state of a player: it runs in the process of a scenario.
 *
 * The lock "play" guards names, threads, gates and host functions. No driver call is made while it
 * is held.
 */
#ifndef CX_PLAY_PLAYER_H
#define CX_PLAY_PLAYER_H

#include "base/lock.h"
#include "play/play.h"
#include "play/value.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct cx_player cx_player;

typedef struct cx_gate {
    const char *name;
    bool open;
    struct cx_gate *next;
} cx_gate;

typedef struct cx_function {
    cx_player *player;
    const cx_line *line; /* the step that submitted it; its block runs in the function */
    cx_gate *gate;       /* NULL: none */
    bool ran;
    cxu_result status; /* what a callback was given */
    struct cx_function *next;
} cx_function;

/* A call in progress. */
typedef struct cx_call {
    const cx_line *line;
    cx_cell in[CX_OPERANDS_MAX];
    cx_cell out[1 + CX_RESULTS_MAX];
    int result;
} cx_call;

typedef enum cx_player_thread_state {
    CX_PLAYER_THREAD_IDLE,
    CX_PLAYER_THREAD_GIVEN, /* a step that it has not taken yet */
    CX_PLAYER_THREAD_BUSY,
    CX_PLAYER_THREAD_BACK
} cx_player_thread_state;

typedef struct cx_player_thread {
    cx_player *player;
    const char *name;
    pthread_t thread;
    pthread_cond_t given; /* it has a step, or is ending; no other thread waits for it */
    int tid;              /* of the kernel; 0 until it runs */
    cx_player_thread_state state;
    bool ending; /* after this step, or with the scenario */
    cx_call call;
    const cx_line *begun;
    struct cx_player_thread *next;
} cx_player_thread;

/* stacks.h */
typedef struct cx_stacks {
    struct cx_stack *first; /* in the order in which their threads came */
} cx_stacks;

/* scene.h */
typedef struct cx_scene {
    struct cx_thing *all;
    int count, room;
} cx_scene;

struct cx_player {
    const cx_scenario *scenario;
    const cx_play_options *options;
    cx_tape *tape;
    cx_driver driver;
    cx_lock lock;         /* "play" */
    pthread_cond_t back;  /* a thread has done its step: the conductor waits for it */
    pthread_cond_t hosts; /* a gate is open, or a host function has run */
    cx_values values;
    cx_player_thread *threads;
    cx_gate *gates;
    cx_function *functions;
    struct cx_object *objects; /* object.h */
    cx_stacks stacks;
    cx_scene scene;         /* only if there is a page */
    struct cx_order *order; /* follows waits */
    int request;            /* descriptor to the watching process */
    const cx_line *exiting; /* the exit step, once it was reached */
    bool stopped;           /* a step mismatched: the rest is not run */
};

/* ---- step.c ---- */

/* Runs the step of call->line on the calling thread; call->result is its result. */
void cx_step_run(cx_player *player, cx_call *call);

/* Compares the results with the expectation of a line, writes them to the tape and binds names.
 * False if there is a mismatch that matters. Takes the lock. */
bool cx_step_judge(cx_player *player, const cx_line *line, const cx_call *call);

/* Runs the steps of a block one after the other on the calling thread; false if one mismatched. */
bool cx_line_block_run(cx_player *player, const cx_line_block *block);

/* ---- watch.c ---- */

/* After a step of a thread: follows the stacks and the waits, and draws. */
void cx_player_watch(cx_player *player, const cx_line *line, const cx_call *call);

/* ---- host.c ---- */

/* Refuses the request of that number of the thread's next call; 0: none. CX_PLAY_ABSENT if the host
 * is not watched. */
int cx_host_refuse(const cx_player *player, int number);
int cx_host_held(const cx_player *player, size_t *out_blocks);
/* Called around a driver call; pass on the result of entering to leaving. A call in a host function
 * may be inside another one, and counts for that. */
bool cx_host_enter(const cx_player *player);
void cx_host_leave(const cx_player *player, bool entered);

/* ---- action.c ---- */
int cx_action_run(cx_player *player, cx_call *call);

/* ---- thread.c ---- */

/* The thread of a name, started if it is new; NULL if it cannot be started. */
cx_player_thread *cx_player_thread_find(cx_player *player, const char *name);
/* Hands a step over, waits for it by its mode, and judges it. False: stop here. */
bool cx_player_thread_step(cx_player *player, const cx_line *line);
/* Ends every idle thread; opens the gates first. */
void cx_player_threads_end(cx_player *player);

/* ---- process.c ---- */

/* Runs a block in a process with its own driver, as the verb process does; 0: it went well. */
int cx_process_ask(cx_player *player, const cx_line *line);
/* Runs a block in a fork of this process. CXU_SUCCESS, CX_PLAY_STUCK, or CXU_UNKNOWN if a step
 * mismatched. */
int cx_process_fork(cx_player *player, const cx_line *line);
/* Ends the process by exit(); returns only if it cannot. */
int cx_process_exit(cx_player *player, const cx_line *line, bool after);

#endif
