/* What a process and its child tell each other, on an end of a pair of sockets. */
#ifndef CX_TEST_TWO_PROCESSES_H
#define CX_TEST_TWO_PROCESSES_H

#include "../emu/file_passing.h"
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

/* Forks; each side has its own end alone, so that the end of the other side is heard. */
static inline pid_t fork_with_line(int *out_line)
{
    int lines[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, lines), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    (void)close(lines[child == 0 ? 0 : 1]);
    *out_line = lines[child == 0 ? 1 : 0];
    return child;
}

static inline void say(int line, const void *bytes, size_t size)
{
    ck_assert_int_eq(write(line, bytes, size), (ssize_t)size);
}

static inline void hear(int line, void *bytes, size_t size)
{
    ck_assert_int_eq(read(line, bytes, size), (ssize_t)size);
}

/* Waits for the child's one byte, and for its end, which must be a good one. */
static inline void hear_the_end(int line, pid_t child)
{
    int status;
    char word;
    hear(line, &word, 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

#endif
