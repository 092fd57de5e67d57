/* A thread that opens a gate once another waits. */
#ifndef CX_TEST_OPENER_H
#define CX_TEST_OPENER_H

#include "gate.h"

#include <stdio.h>
#include <unistd.h>

/* Opens a gate once the thread that starts it waits for something: whoever calls what must wait for
 * the gate's stream finds out whether it did. */
typedef struct opener {
    gate *held;
    pid_t waiting;
    pthread_t thread;
    atomic_bool opened, ended;
} opener;

/* What of /proc cannot be read is no sleep. */
static inline bool is_asleep(pid_t thread)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *stat = fopen(path, "r");
    if (stat == NULL)
        return false;
    if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(stat);
    return state == 'S';
}

static inline void *opener_run(void *argument)
{
    opener *self = argument;
    while (!atomic_load(&self->ended) && !is_asleep(self->waiting))
        ;
    atomic_store(&self->opened, !atomic_load(&self->ended));
    gate_open(self->held);
    return NULL;
}

static inline void opener_start(opener *self, gate *held)
{
    self->held = held;
    self->waiting = gettid();
    atomic_init(&self->opened, false);
    atomic_init(&self->ended, false);
    ck_assert_int_eq(pthread_create(&self->thread, NULL, opener_run, self), 0);
}

/* Whether the gate was opened before this call: the thread waited. */
static inline bool opener_end(opener *self)
{
    bool opened = atomic_load(&self->opened);
    atomic_store(&self->ended, true);
    pthread_join(self->thread, NULL);
    return opened;
}

#endif
