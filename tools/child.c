#include "child.h"

#include "standin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process of `ctxrt check` writes 340 kB, and up to 57 MB. The processes of a test suite fill the
 * /dev/shm of a container, which has 64 MiB. */
static const uint64_t room_wanted[] = {(uint64_t)1 << 30, (uint64_t)64 << 20, 0};
enum { ROOMS = sizeof room_wanted / sizeof *room_wanted };

static volatile sig_atomic_t child;

static void pass_signal(int number)
{
    if (child > 0)
        (void)kill((pid_t)child, number);
}

static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { PASSED = sizeof passed / sizeof *passed };

static void pass_signals(void)
{
    struct sigaction action = {.sa_handler = pass_signal, .sa_flags = SA_RESTART};
    for (int i = 0; i < PASSED; i++)
        (void)sigaction(passed[i], &action, NULL);
    (void)signal(SIGINT, SIG_IGN); /* the terminal sends it to the program too */
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN); /* a reader of the report may go, and files remain */
}

/* Until the program's process id is known. */
static void hold_signals(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < PASSED; i++)
        sigaddset(&held, passed[i]);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGQUIT);
    (void)sigprocmask(SIG_BLOCK, &held, before);
}

pid_t child_start(const char *command, char **program)
{
    sigset_t before;
    hold_signals(&before);
    pid_t pid = fork();
    if (pid == 0) {
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(standin_execute(command, program));
    }
    child = (sig_atomic_t)pid;
    if (pid > 0)
        pass_signals();
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static uint64_t ended_ns;

uint64_t child_ended_ns(void)
{
    return ended_ns;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Children of the program that outlived it are children of this process (PR_SET_CHILD_SUBREAPER),
 * and their children come to it when they end. */
static void end_orphans(void)
{
    for (;;) {
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0)
            return; /* there are no more */
        if (ended > 0)
            continue;
        char line[64];
        FILE *children = fopen("/proc/thread-self/children", "re");
        bool killed = false;
        while (children != NULL && fscanf(children, "%63s", line) == 1)
            killed |= kill((pid_t)atol(line), SIGKILL) == 0;
        if (children != NULL)
            (void)fclose(children);
        if (!killed || waitpid(-1, NULL, 0) < 0)
            return;
    }
}

/* Asks the program to end when its time is over, and makes it end when it does not. */
static void end_late(pid_t pid, uint64_t deadline, bool *timed_out)
{
    const uint64_t now = now_ns(), grace = UINT64_C(2000000000);
    if (deadline == 0 || now < deadline)
        return;
    if (!*timed_out) {
        *timed_out = true;
        ended_ns = now;
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
        (void)kill(pid, SIGTERM);
        (void)kill(pid, SIGCONT);
    } else if (now >= deadline + grace) {
        (void)kill(pid, SIGKILL);
    }
}

int child_wait(pid_t pid, void (*look)(void *argument), void *argument, int timeout_s,
               bool *out_timed_out)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const uint64_t deadline =
        timeout_s > 0 ? now_ns() + (uint64_t)timeout_s * UINT64_C(1000000000) : 0;
    bool timed_out = false;
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(pid, &status, look != NULL || deadline != 0 ? WNOHANG : 0);
        if (ended == pid || (ended < 0 && errno != EINTR))
            break;
        if (look != NULL)
            look(argument);
        end_late(pid, deadline, &timed_out);
        if (look != NULL || deadline != 0)
            (void)nanosleep(&pause, NULL);
    }
    if (timed_out)
        end_orphans();
    else
        ended_ns = now_ns();
    if (out_timed_out != NULL)
        *out_timed_out = timed_out;
    return status;
}

int child_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_tell_of_death(const char *command, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "%s: the program was ended by signal %d (%s)\n", command,
                WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* A program of root may become another user before it calls the driver: anyone may put a file
 * there, and nobody but root sees which there are, or takes another one's away. */
static bool make_in(const char *place, const char *name, char *folder, size_t size)
{
    return snprintf(folder, size, "%s/%s.XXXXXX", place, name) < (int)size &&
           mkdtemp(folder) != NULL && (geteuid() != 0 || chmod(folder, S_ISVTX | 0733) == 0);
}

static bool has_room(const char *place, uint64_t wanted)
{
    struct statvfs status;
    return wanted == 0 || (statvfs(place, &status) == 0 &&
                           (uint64_t)status.f_bavail * status.f_frsize >= wanted);
}

bool child_make_folder(const char *name, const char *const *places, char *folder, size_t size)
{
    const char *chosen = getenv("TMPDIR");
    for (int room = 0; room < ROOMS; room++) {
        if (chosen != NULL && has_room(chosen, room_wanted[room]) &&
            make_in(chosen, name, folder, size))
            return true;
        for (int i = 0; places[i] != NULL; i++)
            if (has_room(places[i], room_wanted[room]) && make_in(places[i], name, folder, size))
                return true;
    }
    return false;
}

unsigned child_count_empty_files(const char *path, const char *prefix)
{
    struct stat status;
    unsigned count = 0;
    DIR *folder = opendir(path);
    for (const struct dirent *one = folder != NULL ? readdir(folder) : NULL; one != NULL;
         one = readdir(folder))
        if (strncmp(one->d_name, prefix, strlen(prefix)) == 0 &&
            fstatat(dirfd(folder), one->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_size == 0)
            count++;
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

void child_remove_folder(const char *path)
{
    char file[1024];
    DIR *folder = opendir(path);
    for (const struct dirent *one = folder != NULL ? readdir(folder) : NULL; one != NULL;
         one = readdir(folder))
        if (one->d_name[0] != '.' &&
            snprintf(file, sizeof file, "%s/%s", path, one->d_name) < (int)sizeof file)
            (void)unlink(file);
    if (folder != NULL)
        (void)closedir(folder);
    (void)rmdir(path);
}
