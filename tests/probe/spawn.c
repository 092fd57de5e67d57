#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { SAID_MAX = 64 * 1024, WORDS_MAX = 64 };

struct said {
    char text[SAID_MAX];
    size_t length;
};

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000LL * now.tv_sec + now.tv_nsec / 1000000;
}

/* False: the time was over before the child closed its end. */
static _Bool listen_until(int channel, long long deadline, struct said *said)
{
    for (;;) {
        struct pollfd ready = {.fd = channel, .events = POLLIN};
        long long left = deadline - now_ms();
        if (left <= 0 || said->length == sizeof said->text - 1)
            return 0;
        if (poll(&ready, 1, (int)left) <= 0)
            continue;
        ssize_t count =
            read(channel, said->text + said->length, sizeof said->text - 1 - said->length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return 1;
        said->length += (size_t)count;
    }
}

static pid_t start_child(const struct experiment *experiment, const struct settings *settings,
                         int channel)
{
    char number[3][16];
    snprintf(number[0], sizeof number[0], "%d", channel);
    snprintf(number[1], sizeof number[1], "%u", settings->seconds);
    snprintf(number[2], sizeof number[2], "%u", settings->patience_ms);
    const char *arguments[] = {
        "probe",
        "--child",
        experiment->name,
        number[0],
        number[1],
        number[2],
        settings->driver,
        settings->cudart != NULL ? settings->cudart : "",
        settings->fault_by != NULL ? settings->fault_by : "",
        NULL,
    };
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    posix_spawn_file_actions_init(&actions);
    /* A device that asserts writes to the standard output, which is for observations. */
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, "/proc/self/exe", &actions, NULL, (char *const *)arguments, environ) !=
        0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

/* Why the child said no more; an empty text after an orderly end. */
static void describe_end(int status, _Bool in_time, char text[64])
{
    text[0] = '\0';
    if (!in_time || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
        strcpy(text, "timeout");
    else if (WIFSIGNALED(status))
        snprintf(text, 64, "signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(text, 64, "exit %d", WEXITSTATUS(status));
}

struct word {
    char name[64];
    const char *value;
};

static size_t split_words(const char *shows, struct word words[WORDS_MAX])
{
    size_t count = 0;
    while (*shows != '\0' && count < WORDS_MAX) {
        size_t length = strcspn(shows, " ");
        snprintf(words[count].name, sizeof words[count].name, "%.*s", (int)length, shows);
        words[count++].value = NULL;
        shows += length;
        shows += strspn(shows, " ");
    }
    return count;
}

/* Gives each word its value; false if a line is of no word, or the second of one. */
static _Bool assign(struct said *said, struct word *words, size_t count, const char **out_reason)
{
    _Bool good = 1;
    said->text[said->length] = '\0';
    for (char *line = said->text, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next == NULL)
            return 0;
        *next++ = '\0';
        char *value = strchr(line, '\t');
        if (value == NULL)
            return 0;
        *value++ = '\0';
        if (strcmp(line, "*") == 0) {
            *out_reason = value;
            continue;
        }
        size_t i = 0;
        while (i < count && strcmp(words[i].name, line) != 0)
            i++;
        if (i == count || words[i].value != NULL) {
            fprintf(stderr, "probe: '%s' is %s\n", line, i == count ? "not listed" : "seen twice");
            good = 0;
        } else {
            words[i].value = value;
        }
    }
    return good;
}

_Bool spawn_experiment(const struct experiment *experiment, const struct settings *settings,
                       void (*line)(const char *name, const char *word, const char *value))
{
    static struct said said;
    struct word words[WORDS_MAX];
    const char *reason = "not reached";
    char end[64];
    int channel[2], status = 0;

    said.length = 0;
    if (pipe(channel) != 0)
        return 0;
    fcntl(channel[0], F_SETFD, FD_CLOEXEC);
    pid_t child = start_child(experiment, settings, channel[1]);
    close(channel[1]);
    if (child < 0) {
        close(channel[0]);
        return 0;
    }
    /* The child's own alarm comes first; this one is for a child that cannot be ended so. */
    _Bool in_time = listen_until(channel[0], now_ms() + 1000LL * (settings->seconds + 5), &said);
    if (!in_time)
        kill(child, SIGKILL);
    close(channel[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;

    describe_end(status, in_time, end);
    if (end[0] != '\0')
        reason = end;
    size_t count = split_words(experiment->shows, words);
    _Bool good = assign(&said, words, count, &reason);
    if (!good)
        fprintf(stderr, "probe: %s and its list of words do not agree\n", experiment->name);
    for (size_t i = 0; i < count; i++)
        line(experiment->name, words[i].name, words[i].value != NULL ? words[i].value : reason);
    if (end[0] != '\0')
        line(experiment->name, "end", end);
    return good;
}
