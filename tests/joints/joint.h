/*
 * Joints: tests of places where two features meet. Each test is a case of its own, so that
 * CK_RUN_CASE=name runs one. A test whose name stands in the file `pending` is skipped with the
 * point of the issue that describes the fault; JOINTS_ALL=1 in the environment runs it.
 */
#ifndef CX_JOINTS_JOINT_H
#define CX_JOINTS_JOINT_H

#include "gate.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct joint {
    const char *name;
    const TTest *test;
    void (*start)(void); /* NULL: cx_fixture_start */
    void (*end)(void);   /* NULL: cx_fixture_end */
} joint;

#define JOINT(name_)              \
    {                             \
#name_, name_, NULL, NULL \
    }

Suite *joint_suite(const char *name, const joint *joints, size_t count);

/* ---- joint.c: a crew of threads ---- */

enum { CREW_MAX = 8 };

/* Threads that work beside the test. They do not assert: the first status that none may see is
 * noted, and crew_join fails with it. */
typedef struct crew {
    pthread_t threads[CREW_MAX];
    int count;
    atomic_int working; /* threads that have not ended */
    atomic_long calls, unexpected;
    pthread_mutex_t noting;
    char first[512];
} crew;

/* The statuses besides CTXRT_SUCCESS that a call may give. */
#define MAY(status) (1u << (status))

/* Whether the call succeeded; notes a status that is neither CTXRT_SUCCESS nor allowed. */
bool crew_look(crew *self, ctxrt_status status, unsigned int allowed, const char *call);
#define LOOK(crew_, call) crew_look(crew_, call, 0, #call)
#define LOOK_MAY(crew_, call, allowed) crew_look(crew_, call, allowed, #call)

/* Notes something else that is wrong. */
void crew_note(crew *self, const char *what);

/* Each thread runs `work(crew)`. */
void crew_start(crew *self, int count, void (*work)(crew *));
bool crew_works(crew *self);
void crew_join(crew *self);

#endif
