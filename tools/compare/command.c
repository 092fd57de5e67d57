#include "command.h"

#include "differences.h"
#include "play/rule.h"
#include "recording.h"
#include "scenario.h"

#include <stdio.h>
#include <string.h>

typedef struct request {
    const char *paths[2];
    size_t path_count;
    bool rules;
} request;

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case 'r':
        self->rules = true;
        return 0;
    case ARGP_KEY_ARG:
        if (self->path_count == 2)
            return command_wrong_use(state, "'%s' is one recording too many", argument);
        self->paths[self->path_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (self->path_count == 0)
            return command_wrong_use(state, "name a recording");
        if (self->rules && self->path_count == 2)
            return command_wrong_use(state, "--rules is about one recording");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A driver could not show it, or its machine lacks what that needs. */
static bool is_unseen(const char *value)
{
    return value == NULL || strncmp(value, "not reached", 11) == 0 ||
           strncmp(value, "needs ", 6) == 0 || strcmp(value, "missing") == 0;
}

/* The rule of an observation: its name up to the first dot. */
static void find_rule(const char *name, char rule[16])
{
    size_t length = strcspn(name, ".");
    snprintf(rule, 16, "%.*s", (int)length, name);
}

/* An observation that one driver could not show is a difference between two recordings, but none
 * beside the embedded driver. */
static void compare_observation(const char *name, const char *first, const char *second,
                                bool strict, differences *out_differences)
{
    char rule[16];
    find_rule(name, rule);
    if (first != NULL && second != NULL && strcmp(first, second) == 0)
        *(is_unseen(first) ? &out_differences->unseen : &out_differences->agree) += 1;
    else if (!strict && (is_unseen(first) || is_unseen(second)))
        out_differences->unseen++;
    else
        differences_add(out_differences, rule, name, first != NULL ? first : "-",
                        second != NULL ? second : "-");
}

/* Beside the embedded driver only what the recording has is looked at: it may be of a few rules. */
static void compare_observations(const recording *first, const recording *second, bool strict,
                                 differences *out_differences)
{
    for (size_t i = 0; i < first->observation_count; i++) {
        const observation *one = &first->observations[i];
        const char *other = recording_value(second, one->name);
        if (strict || other != NULL)
            compare_observation(one->name, one->value, other, strict, out_differences);
    }
    for (size_t i = 0; i < second->observation_count; i++) {
        const observation *one = &second->observations[i];
        if (recording_value(first, one->name) == NULL)
            compare_observation(one->name, NULL, one->value, strict, out_differences);
    }
}

static bool differs(const differences *self, const char *rule)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->rows[i].rule, rule) == 0)
            return true;
    return false;
}

static bool is_seen(const recording *self, const char *rule)
{
    size_t length = strlen(rule);
    for (size_t i = 0; i < self->observation_count; i++) {
        const observation *one = &self->observations[i];
        if (strncmp(one->name, rule, length) == 0 && one->name[length] == '.' &&
            !is_unseen(one->value))
            return true;
    }
    return false;
}

/* The verdict of a recording on a rule, in a word. */
static const char *verdict(const recording *self, const differences *found, const char *rule)
{
    return differs(found, rule) ? "differs" : is_seen(self, rule) ? "holds" : "unseen";
}

/* A rule holds where something was seen of it, and nothing differs. */
static void print_verdicts(const recording *self, const differences *found)
{
    for (size_t i = 0; i < all_rules_count; i++)
        printf("%s %s\n", all_rules[i].id, verdict(self, found, all_rules[i].id));
}

static void print_open(const recording *self, const differences *found, const char *word,
                       const char *title)
{
    printf("  %s:", title);
    for (size_t i = 0; i < all_rules_count; i++)
        if (strchr(all_rules[i].evidence, '?') != NULL &&
            strcmp(verdict(self, found, all_rules[i].id), word) == 0)
            printf(" %s", all_rules[i].id);
    printf("\n");
}

/* A real driver decides the rules that no real GPU has confirmed yet. */
static void print_questions(const recording *self, const differences *found)
{
    if (self->device == NULL || strstr(self->device, "emulated") != NULL)
        return;
    printf("Rules with a question (?):\n");
    print_open(self, found, "holds", "confirmed");
    print_open(self, found, "differs", "refuted");
    print_open(self, found, "unseen", "still open");
}

static size_t count_rules(const differences *self)
{
    size_t count = 0;
    for (size_t i = 0; i < all_rules_count; i++)
        count += differs(self, all_rules[i].id);
    return count;
}

static void print_table(const recording *second, const recording *first, const differences *found)
{
    if (found->count > 0)
        differences_print(found, first->path, second->path);
    if (second->device != NULL && second->driver != NULL)
        printf("%s, CUDA %s: ", second->device, second->driver);
    printf("%zu agree, %zu differ (rules: %zu), %zu not seen\n", found->agree, found->count,
           count_rules(found), found->unseen);
}

static bool find_differences(const request *self, const recording *first, const recording *second,
                             differences *out_differences)
{
    bool strict = self->path_count == 2;
    compare_observations(first, second, strict, out_differences);
    if (!strict && !scenarios_compare(second, out_differences))
        return false;
    if (out_differences->failed)
        command_error(second->command, COMMAND_FAILED, "out of memory");
    return !out_differences->failed;
}

static int compare(const char *command, const request *self)
{
    recording first = {0}, second = {0};
    differences found = {0};
    int status = COMMAND_WRONG_USE;
    bool loaded = self->path_count == 2
                      ? recording_load(command, self->paths[0], &first) &&
                            recording_load(command, self->paths[1], &second)
                      : recording_load(command, self->paths[0], &second) &&
                            recording_load_embedded(command, second.driver, &first);
    if (loaded && find_differences(self, &first, &second, &found)) {
        status = found.count > 0 ? COMMAND_FAILED : COMMAND_GOOD;
        if (self->rules)
            print_verdicts(&second, &found);
        else if (self->path_count == 1 || found.count > 0)
            print_table(&second, &first, &found);
        if (!self->rules && self->path_count == 1)
            print_questions(&second, &found);
        if (fflush(stdout) != 0 || ferror(stdout) != 0)
            status =
                command_error(command, COMMAND_WRONG_USE, "standard output could not be written");
    }
    differences_free(&found);
    recording_free(&first);
    recording_free(&second);
    return status;
}

static const char doc[] =
    "Shows where the driver of a recording differs from the embedded one, rule by rule of "
    "docs/semantics.md: the observations of the probe, and the scenarios, which the embedded "
    "driver plays. Of a real driver it lists which open questions (?) are decided. A recording is "
    "the file that gpu-check writes, or what tests/probe/probe prints. Of two recordings it shows "
    "every observation that is not the same in both."
    "\vWhat one of the drivers could not show is not a difference, unless two recordings are named."
    "\nExit status: 0 nothing differs, 1 something differs, 2 there is nothing to compare."
    "\nExample: ctxrt compare recording.txt";

int compare_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"rules", 'r', NULL, 0, "Print each rule, and whether it holds, differs or is unseen", 0},
        {0},
    };
    static const struct argp argp = {options, parse_option, "RECORDING [RECORDING]", doc, NULL,
                                     NULL,    NULL};
    request self = {0};
    int status;
    return command_parse(&argp, argc, argv, &self, &status) ? compare(argv[0], &self) : status;
}
