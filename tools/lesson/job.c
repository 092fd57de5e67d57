#include "lesson/job.h"

#include "lesson/lesson.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t group; /* of the job, which the terminal does not interrupt */

static void end_group(int number)
{
    if (group > 0)
        (void)kill(-(pid_t)group, SIGKILL);
    _exit(128 + number);
}

static bool redirect(const job *self, const char *file, int descriptor)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", self->folder, file);
    int opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return opened >= 0 && dup2(opened, descriptor) >= 0;
}

static void run_child(const job *self)
{
    int count = 0, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)setpgid(0, 0);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || !redirect(self, "out", STDOUT_FILENO) ||
        !redirect(self, "errors", STDERR_FILENO))
        _exit(JOB_NOT_FOUND);
    while (self->arguments[count] != NULL)
        count++;
    if (self->run != NULL)
        exit(self->run(count, self->arguments));
    (void)execvp(self->arguments[0], self->arguments);
    _exit(JOB_NOT_FOUND);
}

static int wait_for_child(const job *self, pid_t child)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    struct timespec begun, now;
    int status;
    (void)clock_gettime(CLOCK_MONOTONIC, &begun);
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (ended < 0 && errno != EINTR)
            return JOB_FAILED;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begun.tv_sec >= self->seconds) {
            (void)kill(-child, SIGKILL);
            (void)waitpid(child, &status, 0);
            return JOB_STOPPED;
        }
        (void)nanosleep(&pause, NULL);
    }
}

int job_run(const job *self)
{
    struct sigaction ends = {.sa_handler = end_group}, before[2];
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_child(self);
    if (child < 0)
        return JOB_FAILED;
    (void)setpgid(child, child);
    group = child;
    (void)sigaction(SIGINT, &ends, &before[0]);
    (void)sigaction(SIGTERM, &ends, &before[1]);
    int status = wait_for_child(self, child);
    (void)kill(-child, SIGKILL); /* what the program has left running */
    group = 0;
    (void)sigaction(SIGINT, &before[0], NULL);
    (void)sigaction(SIGTERM, &before[1], NULL);
    return status;
}

char *job_read(const job *self, const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", self->folder, file);
    return lesson_read(path);
}
