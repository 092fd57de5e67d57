#include "play/player.h"

#include "emu/device/board.h"
#include "emu/emu.h"
#include "play/order.h"
#include "play/page.h"
#include "play/process.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_MS 10000
#define GRACE_MS 5000 /* time for a process to end, after its own timeouts */

/* ---- the process of a scenario, or of a block of process ---- */

#ifdef CX_COVERAGE
extern void __gcov_dump(void);

static void dump_coverage(void)
{
    __gcov_dump();
}
#else
static void dump_coverage(void)
{
}
#endif

/* Ends without exit handlers, which are the scenario's. gcov's would be among them. */
static _Noreturn void leave_process(int status)
{
    fflush(NULL);
    dump_coverage();
    _exit(status);
}

static cx_player *ending; /* for the exit handler, which takes no argument */

static void run_exit_block(void)
{
    cx_player *player = ending;
    if (player == NULL || player->exiting == NULL)
        return;
    const cx_line *line = player->exiting;
    cx_call call = {.line = line, .result = CXU_SUCCESS};
    player->exiting = NULL;
    if (cx_line_block_run(player, &line->step.block))
        cx_step_judge(player, line, &call);
}

int cx_process_exit(cx_player *player, const cx_line *line, bool after)
{
    player->exiting = line;
    /* Handlers run in reverse order: the one for `after` was registered before the driver's. */
    if (!after && atexit(run_exit_block) != 0)
        return CXU_OUT_OF_MEMORY;
    exit(0);
}

static bool set_environment(const cx_player *player)
{
    const char *schedule = player->options->schedule;
    char devices[16];
    bool set = schedule == NULL || setenv("CTXRT_EMU_SCHEDULE", schedule, 1) == 0;
    for (const cx_line *line = player->scenario->lines.first; line != NULL; line = line->next) {
        if (line->kind != CX_LINE_DIRECTIVE)
            continue;
        if (line->directive == CX_DIRECTIVE_DEVICES) {
            snprintf(devices, sizeof devices, "%d", line->devices);
            set = setenv("CTXRT_EMU_DEVICES", devices, 1) == 0 && set;
        } else if (line->directive == CX_DIRECTIVE_SCHEDULE) {
            set = setenv("CTXRT_EMU_SCHEDULE", line->text, 1) == 0 && set;
        } else if (line->directive == CX_DIRECTIVE_SET) {
            char *copy = strdup(line->text); /* putenv keeps it */
            set = copy != NULL && putenv(copy) == 0 && set;
        }
    }
    return set;
}

static bool open_driver(cx_player *player)
{
    const cx_play_options *options = player->options;
    bool cuda = options->cuda || options->libcuda != NULL;
    bool open = cuda ? cx_driver_open(options->libcuda, &player->driver)
                     : cx_driver_open_table("embedded", cx_emu_driver(), &player->driver);
    player->tape->emulated = player->tape->emulated || !cuda;
    if (!open)
        cx_tape_say(player->tape, cuda, "%s", player->driver.reason);
    return open;
}

/* The stand-in's GPUs may bear the names of others (CTXRT_EMU_GPU). */
static bool is_emulated(const cx_driver_table *table, CUdevice device)
{
    cxu_uuid uuid, own;
    if (table->device_get_uuid(&uuid, device) != CXU_SUCCESS)
        return false;
    for (int board = 0; board < CX_EMU_DEVICES_MAX; board++) {
        cx_emu_board_uuid(board, &own);
        if (memcmp(&uuid, &own, sizeof uuid) == 0)
            return true;
    }
    return false;
}

/* Writes the driver's identity to the tape, as far as it tells; this is no step of the scenario. */
static void identify_driver(cx_player *player)
{
    const cx_driver_table *table = &player->driver.table;
    cx_tape *tape = player->tape;
    CUdevice device;
    table->driver_get_version(&tape->driver_version);
    if (table->device_get(&device, 0) != CXU_SUCCESS)
        return;
    table->device_get_name(tape->device, sizeof tape->device, device);
    tape->emulated = tape->emulated || is_emulated(table, device);
}

static bool find_uninitialised(const cx_line_block *block)
{
    for (const cx_line *line = block->first; line != NULL; line = line->next)
        if (line->kind == CX_LINE_DIRECTIVE && line->directive == CX_DIRECTIVE_UNINITIALISED)
            return true;
    return false;
}

/* Checks the needs of the scenario once, where the driver is first initialised. */
static bool start_driver(cx_player *player, const cx_line_block *block)
{
    if (find_uninitialised(block))
        return true;
    cxu_result result = player->driver.table.init(0);
    if (result != CXU_SUCCESS) {
        cx_tape_say(player->tape, !player->tape->emulated, "cuInit failed: %s",
                    cx_driver_result_name(&player->driver, result));
        return false;
    }
    bool first = player->tape->device[0] == '\0';
    identify_driver(player);
    return !first || cx_needs_met(player, player->scenario);
}

/* Host functions may stop the player, too. */
static bool is_over(cx_player *player)
{
    cx_lock_enter(&player->lock);
    bool over = player->stopped || player->tape->skipped;
    cx_lock_leave(&player->lock);
    return over;
}

static bool run_lines(cx_player *player, const cx_line_block *block)
{
    for (const cx_line *line = block->first; line != NULL; line = line->next) {
        if (line->kind != CX_LINE_STEP)
            continue;
        bool good;
        if (line->step.thread == NULL) {
            cx_call call = {.line = line};
            cx_step_run(player, &call);
            good = cx_step_judge(player, line, &call);
            cx_player_watch(player, line, &call);
        } else {
            good = cx_player_thread_step(player, line);
        }
        if (is_over(player) || (!good && !player->options->record))
            return false;
    }
    return true;
}

static bool has_late_exit(const cx_line_block *block)
{
    const cx_line *last = block->last;
    for (const cx_line *line = block->first; line != NULL; line = line->next)
        if (line->kind == CX_LINE_STEP)
            last = line;
    return last != NULL && last->kind == CX_LINE_STEP && last->step.verb == &cx_verbs[CX_VERB_exit];
}

static bool prepare_process(cx_player *player)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    cx_lock_init(&player->lock, CX_RANK_PLAY);
    bool made = pthread_cond_init(&player->back, &attributes) == 0 &&
                pthread_cond_init(&player->hosts, NULL) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

/* The main thread of the new process. Does not return. */
static void live_process(const cx_scenario *scenario, const cx_play_options *options, cx_tape *tape,
                         const cx_line_block *block, int request)
{
    static cx_player player; /* exit handlers and host functions may use it to the very end */
    player =
        (cx_player){.scenario = scenario, .options = options, .tape = tape, .request = request};
    ending = &player;
    if (has_late_exit(block) && atexit(run_exit_block) != 0)
        leave_process(1);
    if (!prepare_process(&player) || !set_environment(&player)) {
        cx_tape_say(tape, false, "there is not enough memory");
        leave_process(1);
    }
    player.order = cx_order_create();
    if (open_driver(&player) && start_driver(&player, block) && run_lines(&player, block))
        cx_player_threads_end(&player);
    leave_process(0);
}

/* ---- the watching process ---- */

static pid_t start_process(const cx_scenario *scenario, const cx_play_options *options,
                           cx_tape *tape, const cx_line_block *block, int *out_request)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(sockets[0]);
        live_process(scenario, options, tape, block, sockets[1]);
    }
    close(sockets[1]);
    *out_request = sockets[0];
    if (child < 0)
        close(sockets[0]);
    return child;
}

static int line_number(const cx_line_block *block, int index)
{
    for (const cx_line *line = block->first; line != NULL; line = line->next) {
        if (line->index == index)
            return line->number;
        int inner = line->kind == CX_LINE_STEP ? line_number(&line->step.block, index) : 0;
        if (inner != 0)
            return inner;
    }
    return 0;
}

static void tell_end(const cx_scenario *scenario, cx_tape *tape, int status)
{
    int line = line_number(&scenario->lines, tape->running);
    if (WIFSIGNALED(status))
        cx_tape_say(tape, false, "line %d: the process was killed by %s", line,
                    strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        cx_tape_say(tape, false, "line %d: the process ended by itself, with status %d", line,
                    WEXITSTATUS(status));
}

static bool watch_process(const cx_scenario *scenario, const cx_play_options *options,
                          cx_tape *tape, const cx_line_block *block);

/* Serves requests until the process ends or makes no progress. False: it was killed. */
static bool serve_process(const cx_scenario *scenario, const cx_play_options *options,
                          cx_tape *tape, pid_t child, int request)
{
    for (;;) {
        const cx_line_block *block;
        struct pollfd ready = {.fd = request, .events = POLLIN};
        unsigned int before = atomic_load(&tape->progress);
        int count = poll(&ready, 1, options->timeout_ms + GRACE_MS);
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0 && atomic_load(&tape->progress) != before)
            continue;
        if (count == 0) {
            cx_tape_say(tape, false, "line %d: the process hangs and was killed",
                        line_number(&scenario->lines, tape->running));
            kill(child, SIGKILL);
            return false;
        }
        if (read(request, &block, sizeof block) != (ssize_t)sizeof block)
            return true;
        int answer = watch_process(scenario, options, tape, block) ? CXU_SUCCESS : CXU_UNKNOWN;
        if (send(request, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer)
            return true;
    }
}

/* Runs a block in a process of its own. False: it did not end well. */
static bool watch_process(const cx_scenario *scenario, const cx_play_options *options,
                          cx_tape *tape, const cx_line_block *block)
{
    int request = -1, status = 0;
    pid_t child = start_process(scenario, options, tape, block, &request);
    if (child < 0) {
        cx_tape_say(tape, false, "no process could be started: %s", strerror(errno));
        return false;
    }
    serve_process(scenario, options, tape, child, request);
    close(request);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    tell_end(scenario, tape, status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !tape->failed;
}

cx_tape *cx_play(const cx_scenario *scenario, const cx_play_options *options)
{
    cx_play_options settled = *options;
    cx_tape *tape = cx_tape_create(scenario);
    if (tape == NULL)
        return NULL;
    if (settled.timeout_ms <= 0)
        settled.timeout_ms = TIMEOUT_MS;
    if (settled.page != NULL)
        cx_page_scenario(settled.page, scenario);
    /* If a scenario leaves cuInit to its steps, the driver cannot be identified first. */
    static const cx_line_block nothing;
    if (!find_uninitialised(&scenario->lines) ||
        (watch_process(scenario, &settled, tape, &nothing) && !tape->skipped))
        watch_process(scenario, &settled, tape, &scenario->lines);
    if (settled.page != NULL)
        cx_page_verdict(settled.page, scenario, tape);
    return tape;
}

/* ---- processes of the verb process ---- */

int cx_process_ask(cx_player *player, const cx_line *line)
{
    const cx_line_block *block = &line->step.block;
    int answer;
    if (send(player->request, &block, sizeof block, MSG_NOSIGNAL) != (ssize_t)sizeof block ||
        read(player->request, &answer, sizeof answer) != (ssize_t)sizeof answer)
        return CXU_OPERATING_SYSTEM;
    return answer;
}

/* The child's one thread holds the lock. The conditions may remember threads that are not there. */
static void live_on(cx_player *player, const cx_line *line)
{
    cx_lock_leave(&player->lock);
    prepare_process(player);
    bool good = cx_line_block_run(player, &line->step.block);
    leave_process(good ? 0 : 1);
}

int cx_process_fork(cx_player *player, const cx_line *line)
{
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        return CXU_OPERATING_SYSTEM;
    fflush(NULL);
    cx_lock_enter(&player->lock);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        live_on(player, line);
    }
    cx_lock_leave(&player->lock);
    close(ends[1]);
    /* The child holds the other end as long as it lives. */
    struct pollfd gone = {.fd = ends[0], .events = POLLIN};
    bool stuck = child > 0 && poll(&gone, 1, player->options->timeout_ms / 2) == 0;
    if (stuck)
        kill(child, SIGKILL);
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return CXU_OPERATING_SYSTEM;
    if (stuck)
        return CX_PLAY_STUCK;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CXU_SUCCESS : CXU_UNKNOWN;
}
