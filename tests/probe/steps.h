/* Steps that many experiments take. What must succeed for an experiment to mean anything gives up
 * where it does not. */
#ifndef PROBE_STEPS_H
#define PROBE_STEPS_H

#include "observe.h"

#include <pthread.h>
#include <semaphore.h>

#define KIB ((size_t)1024)

/* Gives up, naming the step, unless the call succeeded. */
void need(const char *step, CUresult code);
void need_devices(int count);

void init(void);
CUcontext create(const char *name); /* becomes current; who() calls it so */
CUcontext retain(void);             /* the primary context of device 0, "primary" */
CUcontext current(void);
CUstream stream(unsigned int flags);
CUevent event(unsigned int flags);
CUdeviceptr memory(size_t bytes);
void pop_all(void);

/* How many entries the stack has: pops them and pushes them again. All must be of live contexts. */
int depth(void);

/* "none", the name that was given to the handle, or "other". */
void know(const void *handle, const char *name);
const char *who(const void *handle);

/* see() of a call that gives a context: the result, and whose handle it gave. */
void see_pop(const char *word);
void see_alloc(const char *word); /* of 64 bytes */
void see_id(const char *word, CUcontext context,
            unsigned long long before);      /* "same", "new", or the error */
unsigned long long id_of(CUcontext context); /* 0: there is no such call */

/* A thread that does what it is told, one function after the other. */
struct actor {
    pthread_t thread;
    sem_t go, done;
    void (*step)(void *argument);
    void *argument;
};
void actor_start(struct actor *actor);
void actor_do(struct actor *actor, void (*step)(void *), void *argument);
void actor_begin(struct actor *actor, void (*step)(void *), void *argument);
_Bool actor_ends_in_time(
    struct actor *actor); /* after begin: false when it still waits; then call actor_end */
void actor_end(struct actor *actor);
void actor_stop(struct actor *actor);

/* Does one function on a thread that then ends. */
void elsewhere(void (*step)(void *), void *argument);

/* Stops a stream with a host function until the gate is opened. There is one gate in a process;
 * everything that the experiment will do with the stopped stream should have been done once before,
 * since first uses may synchronise. */
void gate_close(CUstream on);
void gate_open(void);

/* "done" or "pending", after at most the patience. */
const char *settles(CUevent recorded);

/* "returns" or "waits", and the result: does the call come back while the gate is closed? Opens the
 * gate. The call is made on a thread of its own, with `context` current. */
void see_returns(const char *word, CUcontext context, CUresult (*call)(void));

#endif
