#include "emu/base/process_life.h"

#include "base/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PID_BITS 22 /* of the largest pid_max */

typedef struct status {
    char state;
    int threads;
    uint64_t started;
} status;

/* The text of /proc/PID/stat behind the program's name, which may hold anything. */
static bool read_status(pid_t process, status *out_status)
{
    char path[40], text[1024];
    const char *rest;
    ssize_t length = -1;
    int cancel = cx_cancel_hold(), file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        length = read(file, text, sizeof text - 1);
        close(file);
    }
    cx_cancel_restore(cancel);
    if (length <= 0)
        return false;
    text[length] = 0;
    rest = strrchr(text, ')');
    return rest != NULL &&
           sscanf(rest,
                  ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                  "%d %*d %" SCNu64,
                  &out_status->state, &out_status->threads, &out_status->started) == 3;
}

uint64_t cx_emu_process_self(void)
{
    status own = {.started = 0};
    pid_t process = getpid();

    read_status(process, &own);
    return own.started << PID_BITS | (uint64_t)process;
}

/* The first thread of a process may have ended before the others: then it is a zombie too. */
static bool is_over(const status *found, uint64_t started)
{
    return found->started != started || found->state == 'X' ||
           (found->state == 'Z' && found->threads <= 1);
}

bool cx_emu_process_ended(uint64_t process)
{
    pid_t pid = (pid_t)(process & (((uint64_t)1 << PID_BITS) - 1));
    uint64_t started = process >> PID_BITS;
    status found;

    if (kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    return started != 0 && read_status(pid, &found) && is_over(&found, started);
}
