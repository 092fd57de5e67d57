#include "play/player.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 2      /* between two checks of a thread that may be waiting */
#define ASLEEP_LOOKS 5 /* asleep in so many checks in a row: it waits */
#define LOOKS_MOST 150 /* a driver may wait without sleeping */

/* Lock held. Waits until a step has returned, at most `timeout_ms`; false: the time is over. */
static bool await_return(cx_player *player, int timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    return cx_lock_wait_until(&player->lock, &player->back, &until);
}

static void *run_thread(void *argument)
{
    cx_player_thread *self = argument;
    cx_player *player = self->player;
    cx_lock_enter(&player->lock);
    self->tid = gettid();
    while (!self->ending || self->state == CX_PLAYER_THREAD_GIVEN) {
        if (self->state != CX_PLAYER_THREAD_GIVEN) {
            cx_lock_wait(&player->lock, &self->given);
            continue;
        }
        self->state = CX_PLAYER_THREAD_BUSY;
        cx_lock_leave(&player->lock);
        cx_step_run(player, &self->call);
        cx_lock_enter(&player->lock);
        self->state = CX_PLAYER_THREAD_BACK;
        pthread_cond_signal(&player->back);
    }
    cx_lock_leave(&player->lock);
    return NULL;
}

static void free_thread(cx_player_thread *self)
{
    pthread_cond_destroy(&self->given);
    free(self);
}

static cx_player_thread *start_thread(cx_player *player, const char *name)
{
    cx_player_thread *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    *self = (cx_player_thread){.player = player, .name = name};
    pthread_cond_init(&self->given, NULL);
    if (pthread_create(&self->thread, NULL, run_thread, self) != 0) {
        free_thread(self);
        return NULL;
    }
    self->next = player->threads;
    return player->threads = self;
}

cx_player_thread *cx_player_thread_find(cx_player *player, const char *name)
{
    cx_player_thread *self = player->threads;
    while (self != NULL && strcmp(self->name, name) != 0)
        self = self->next;
    return self != NULL ? self : start_thread(player, name);
}

/* Takes the lock, and releases it meanwhile: a thread that ends must be gone before the next
 * step. */
static void end_thread(cx_player *player, cx_player_thread *self)
{
    cx_player_thread **link = &player->threads;
    while (*link != self)
        link = &(*link)->next;
    *link = self->next;
    self->ending = true;
    pthread_cond_signal(&self->given);
    cx_lock_leave(&player->lock);
    pthread_join(self->thread, NULL);
    free_thread(self);
    cx_lock_enter(&player->lock);
}

void cx_player_threads_end(cx_player *player)
{
    cx_lock_enter(&player->lock);
    for (cx_gate *each = player->gates; each != NULL; each = each->next)
        each->open = true;
    pthread_cond_broadcast(&player->hosts);
    for (cx_player_thread *each = player->threads, *next; each != NULL; each = next) {
        next = each->next;
        if (each->state == CX_PLAYER_THREAD_IDLE)
            end_thread(player, each);
    }
    cx_lock_leave(&player->lock);
}

/* True if the kernel reports the thread asleep. */
static bool is_asleep(int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *from = tid != 0 ? fopen(path, "re") : NULL;
    if (from == NULL)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, from);
    fclose(from);
    text[length] = '\0';
    const char *behind_name = strrchr(text, ')');
    return behind_name != NULL && strncmp(behind_name, ") S", 3) == 0;
}

/* Lock held. False: the step did not return in time. */
static bool await_step(cx_player *player, const cx_player_thread *self)
{
    int timeout_ms = player->options->timeout_ms;
    while (self->state != CX_PLAYER_THREAD_BACK)
        if (!await_return(player, timeout_ms) && self->state != CX_PLAYER_THREAD_BACK)
            return false;
    return true;
}

/* Lock held. Waits until the step has returned, or is seen waiting. */
static void await_begin(cx_player *player, const cx_player_thread *self)
{
    int asleep = 0;
    for (int i = 0; i < LOOKS_MOST && asleep < ASLEEP_LOOKS; i++) {
        if (self->state == CX_PLAYER_THREAD_BACK)
            return;
        await_return(player, LOOK_MS);
        asleep = self->state == CX_PLAYER_THREAD_BUSY && is_asleep(self->tid) ? asleep + 1 : 0;
    }
}

/* Lock held. Gives a thread its step and waits for it by its mode. */
static int hand_over(cx_player *player, cx_player_thread *self, const cx_line *line)
{
    if (line->step.mode != CX_MODE_FINISH) {
        self->call.line = line;
        self->state = CX_PLAYER_THREAD_GIVEN;
        pthread_cond_signal(&self->given);
    }
    if (line->step.mode == CX_MODE_BEGIN) {
        await_begin(player, self);
        return self->state == CX_PLAYER_THREAD_BACK ? self->call.result : CX_PLAY_WAITS;
    }
    return await_step(player, self) ? self->call.result : CX_PLAY_STUCK;
}

bool cx_player_thread_step(cx_player *player, const cx_line *line)
{
    cx_call call = {.line = line};
    cx_lock_enter(&player->lock);
    cx_player_thread *self = cx_player_thread_find(player, line->step.thread);
    if (self == NULL) {
        cx_tape_say(player->tape, false, "line %d: no thread could be started", line->number);
        cx_lock_leave(&player->lock);
        return false;
    }
    int result = hand_over(player, self, line);
    bool back = self->state == CX_PLAYER_THREAD_BACK;
    if (back)
        call = self->call;
    else
        call.line = self->call.line;
    call.result = result;
    if (back && line->step.mode != CX_MODE_BEGIN)
        self->state = CX_PLAYER_THREAD_IDLE;
    if (back && self->ending)
        end_thread(player, self);
    cx_lock_leave(&player->lock);
    bool good = cx_step_judge(player, line, &call);
    cx_player_watch(player, line, &call);
    return good && result != CX_PLAY_STUCK;
}
