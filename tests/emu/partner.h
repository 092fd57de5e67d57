/* Tests of two processes, each with a driver of its own. */
#ifndef CX_TEST_PARTNER_H
#define CX_TEST_PARTNER_H

#include "gpus.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct partner {
    pid_t process;
    int link;
} partner;

static inline void say(int link, const void *bytes, size_t size)
{
    ck_assert_int_eq(write(link, bytes, size), (ssize_t)size);
}

static inline void hear(int link, void *bytes, size_t size)
{
    ck_assert_int_eq(recv(link, bytes, size, MSG_WAITALL), (ssize_t)size);
}

/* Starts a process that runs `body` and initialises the driver itself. */
static inline partner start_partner(void (*body)(int link))
{
    int links[2];
    partner started;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, links), 0);
    started.process = fork();
    ck_assert_int_ge(started.process, 0);
    if (started.process == 0) {
        close(links[0]);
        body(links[1]);
        _exit(0);
    }
    close(links[1]);
    started.link = links[0];
    return started;
}

static inline void end_partner(partner *self)
{
    int status = -1;
    ck_assert_int_eq(waitpid(self->process, &status, 0), self->process);
    ck_assert_int_eq(status, 0);
    close(self->link);
}

/* In the other process: its result instead of an assertion. */
#define MUST(call) \
    do { \
        if ((call) != CXU_SUCCESS) \
            _exit(__LINE__ % 200 + 1); \
    } while (0)
#define MUST_BE(result, call) \
    do { \
        if ((call) != CXU_##result) \
            _exit(__LINE__ % 200 + 1); \
    } while (0)

#endif
