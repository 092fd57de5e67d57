#include "play_random.h"

#include "command.h"
#include "model/random.h"
#include "play/print.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 400, DEVICES = 3, MISMATCHES_MOST = 5, SHRINKING_MS = 1000 };

bool play_random_take(play_random_request *self, const char *text)
{
    char *end;
    errno = 0;
    self->seed = strtoull(text, &end, 0);
    if (end == text || *end != ',' || errno != 0 || text[0] == '-')
        return false;
    const char *steps = end + 1;
    long number = strtol(steps, &end, 10);
    if (end == steps || *end != '\0' || number < 1 || number > STEPS_MOST)
        return false;
    self->steps = (int)number;
    return true;
}

static bool scenario_fails(const cx_scenario *scenario, void *options)
{
    cx_tape *tape = cx_play(scenario, options);
    bool failed = tape == NULL || cx_play_verdict(scenario, tape) == CX_VERDICT_FAILED;
    cx_tape_destroy(tape);
    return failed;
}

/* Shortens a failing scenario. NULL: not possible. Short timeouts, because a step that does not
 * return is waited for often; the result is checked with the full ones in the end. */
static cx_scenario *make_short(const cx_scenario *scenario, const cx_play_options *options)
{
    cx_play_options patient = *options, hasty;
    patient.page = NULL;
    hasty = patient;
    if (hasty.timeout_ms == 0 || hasty.timeout_ms > SHRINKING_MS)
        hasty.timeout_ms = SHRINKING_MS;
    cx_scenario *shortest = cx_model_shrink(scenario, scenario_fails, &hasty);
    if (shortest == NULL || scenario_fails(shortest, &patient))
        return shortest;
    cx_scenario_destroy(shortest);
    return NULL;
}

/* Prints the scenario, with the actual results if it was shortened, as text that ctxrt play
 * takes. */
static void show_mismatch(const cx_scenario *scenario, uint64_t seed,
                          const cx_play_options *options, bool shrinks)
{
    cx_scenario *shortest = shrinks ? make_short(scenario, options) : NULL;
    cx_tape *tape = shortest != NULL ? cx_play(shortest, options) : NULL;
    printf("# seed %llu%s\n", (unsigned long long)seed, shortest != NULL ? ", made short" : "");
    (void)cx_scenario_print(shortest != NULL ? shortest : scenario, stdout);
    fflush(stdout);
    if (tape != NULL)
        cx_play_report(shortest, tape, stderr);
    cx_tape_destroy(tape);
    cx_scenario_destroy(shortest);
}

static void show_coverage(const cx_coverage *coverage)
{
    unsigned long steps = coverage->legal + coverage->illegal;
    printf("steps: %lu, legal %.1f %%, illegal %.1f %%\nrules:", steps,
           steps > 0 ? 100.0 * (double)coverage->legal / (double)steps : 0,
           steps > 0 ? 100.0 * (double)coverage->illegal / (double)steps : 0);
    for (int i = 0; i < CX_RULE_COUNT; i++)
        printf(" %s %lu", cx_rule_name(i), coverage->rules[i]);
    printf("\n");
}

/* False for schedules that run one work item at a time: a waiting host function would hold
 * everything up. */
static bool gates_are_fit(const cx_play_options *options)
{
    const char *schedule =
        options->schedule != NULL ? options->schedule : getenv("CTXRT_EMU_SCHEDULE");
    return options->cuda || schedule == NULL || strcmp(schedule, "threads") == 0;
}

int play_random(const play_random_request *self, const cx_play_options *options, bool print_only)
{
    cx_coverage coverage = {0};
    int mismatches = 0;
    cx_random_options random = {
        .steps = self->steps, .devices = DEVICES, .gates = gates_are_fit(options)};
    int most = self->first ? 1 : MISMATCHES_MOST;
    /* Random sequences often leave work undone: do not log that. */
    (void)setenv("CTXRT_LOG", "error", 0);
    for (int i = 0; i < self->count && mismatches < most; i++) {
        random.seed = self->seed + (uint64_t)i;
        cx_scenario *scenario = cx_random_scenario(&random, &coverage);
        if (scenario == NULL)
            return command_error("ctxrt play", COMMAND_FAILED, "there is not enough memory");
        cx_play_options copy = *options;
        if (self->count > 1) /* the page gets those that go wrong, made short */
            copy.page = NULL;
        if (print_only) {
            (void)cx_scenario_print(scenario, stdout);
        } else if (scenario_fails(scenario, &copy)) {
            show_mismatch(scenario, random.seed, options, !self->first);
            mismatches++;
        }
        cx_scenario_destroy(scenario);
    }
    if (print_only)
        return COMMAND_GOOD;
    printf("random: seeds %llu to %llu, %d mismatches\n", (unsigned long long)self->seed,
           (unsigned long long)random.seed, mismatches);
    show_coverage(&coverage);
    return mismatches == 0 ? COMMAND_GOOD : COMMAND_FAILED;
}
