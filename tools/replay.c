#include "command.h"

#include "allocation_trace.h"

#include <ctxrt/ctxrt.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_DRIVER = 256, KEY_RAW };

typedef struct request {
    ctxrt_options options;
    uint64_t limit_bytes;
    bool raw;
    const char *file;
} request;

static error_t take_driver(request *self, const char *name, struct argp_state *state)
{
    bool emulated = strcmp(name, "emulated") == 0;
    self->options.cuda_driver = emulated ? CTXRT_CUDA_DRIVER_EMULATED : CTXRT_CUDA_DRIVER_LIBCUDA;
    return emulated || strcmp(name, "libcuda") == 0
               ? 0
               : command_wrong_use(state, "--driver %s: it can be emulated or libcuda", name);
}

static error_t take_memory(request *self, const char *text, struct argp_state *state)
{
    uint64_t bytes;
    if (!command_parse_size(text, &bytes))
        return command_wrong_use(state, "--memory %s: it is a size such as 512M or 4G", text);
    self->options.emulated_memory_bytes = bytes;
    self->options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case KEY_DRIVER:
        return take_driver(self, argument, state);
    case KEY_RAW:
        self->raw = true;
        return 0;
    case 'm':
        return take_memory(self, argument, state);
    case 'l':
        return command_parse_size(argument, &self->limit_bytes)
                   ? 0
                   : command_wrong_use(state, "--limit %s: it is a size such as 512M or 4G",
                                       argument);
    case ARGP_KEY_ARG:
        if (self->file != NULL)
            return command_wrong_use(state, "'%s' is one argument too many", argument);
        self->file = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        return command_wrong_use(state, "name the file to replay, or - for the standard input");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int read_trace(const char *command, const char *name, allocation_trace *out_trace)
{
    size_t line = 0;
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    if (file == NULL)
        return command_error(command, COMMAND_WRONG_USE, "%s cannot be read: %s", name,
                             strerror(errno));
    allocation_verdict verdict = allocation_trace_read(out_trace, file, &line);
    int failed = ferror(file) != 0 ? errno : 0;
    if (file != stdin)
        fclose(file);
    if (verdict != ALLOCATION_GOOD)
        return command_error(command, COMMAND_WRONG_USE, "%s:%zu: %s", name, line,
                             allocation_verdict_text(verdict));
    if (failed == 0)
        return COMMAND_GOOD;
    allocation_trace_clear(out_trace);
    return command_error(command, COMMAND_FAILED, "%s could not be read to its end: %s", name,
                         strerror(failed));
}

/* A slot holds an object, or a raw pointer. */
static ctxrt_status take_into_slot(bool raw, uint64_t bytes, void **slot)
{
    ctxrt_memory *memory;
    if (raw)
        return ctxrt_alloc(bytes, slot);
    ctxrt_status status = ctxrt_memory_alloc(bytes, &memory);
    if (status == CTXRT_SUCCESS)
        *slot = memory;
    return status;
}

static ctxrt_status give_memory(bool raw, void **slot)
{
    void *memory = *slot;
    *slot = NULL;
    return raw ? ctxrt_free(memory) : ctxrt_memory_release(memory);
}

static int play_operation(const char *command, const request *self, const allocation_trace *trace,
                          void **slots)
{
    for (size_t i = 0; i < trace->count; i++) {
        const allocation_operation operation = trace->operations[i];
        void **slot = &slots[operation.slot];
        if ((operation.bytes != 0 ? take_into_slot(self->raw, operation.bytes, slot)
                                  : give_memory(self->raw, slot)) == CTXRT_SUCCESS)
            continue;
        const char *why = ctxrt_last_error()->message;
        return operation.bytes != 0
                   ? command_error(command, COMMAND_FAILED, "%s:%zu: a,%" PRIu32 ",%" PRIu64 ": %s",
                                   self->file, i + 1, operation.slot, operation.bytes, why)
                   : command_error(command, COMMAND_FAILED, "%s:%zu: f,%" PRIu32 ": %s", self->file,
                                   i + 1, operation.slot, why);
    }
    printf("%s: %zu operations, at most %" PRIu32 " live with %" PRIu64 " bytes: all served\n",
           self->file, trace->count, trace->peak_live, trace->peak_bytes);
    return COMMAND_GOOD;
}

static int replay_trace(const char *command, const request *self, const allocation_trace *trace,
                        void **slots)
{
    if (ctxrt_init(&self->options) != CTXRT_SUCCESS ||
        ctxrt_device_set(CTXRT_CUDA(0)) != CTXRT_SUCCESS ||
        (self->limit_bytes != 0 &&
         ctxrt_allocator_set_limit(NULL, self->limit_bytes) != CTXRT_SUCCESS))
        return command_failure(command, ctxrt_last_error()->status);
    int status = play_operation(command, self, trace, slots);
    for (uint32_t i = 0; i < trace->slots; i++)
        if (slots[i] != NULL && give_memory(self->raw, &slots[i]) != CTXRT_SUCCESS)
            status = command_failure(command, ctxrt_last_error()->status);
    if (ctxrt_stack_pop() != CTXRT_SUCCESS || ctxrt_shutdown() != CTXRT_SUCCESS)
        status = command_failure(command, ctxrt_last_error()->status);
    return status;
}

static const char doc[] = "Replays recorded allocations, a,SLOT,BYTES and f,SLOT a line, on device "
                          "cuda:0. FILE - is the standard input."
                          "\vExit status: 0 all were served; 1 one was not, and its line is named; "
                          "2 wrong use, or a line that is none.\n"
                          "Example: ctxrt replay --memory 4G allocations.txt";

int replay_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"driver", KEY_DRIVER, "emulated|libcuda", 0, "Whose GPUs (as CTXRT_DRIVER says)", 0},
        {"memory", 'm', "SIZE", 0, "An emulated GPU with so much memory", 0},
        {"limit", 'l', "SIZE", 0, "The allocator's limit", 0},
        {"raw", KEY_RAW, NULL, 0, "By ctxrt_alloc and ctxrt_free instead of memory objects", 0},
        {0},
    };
    static const struct argp argp = {options, parse_option, "FILE", doc, NULL, NULL, NULL};
    request self = {.options = CTXRT_OPTIONS_INIT};
    allocation_trace trace;
    int status;

    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    status = read_trace(argv[0], self.file, &trace);
    if (status != COMMAND_GOOD)
        return status;
    void **slots = calloc((size_t)trace.slots + 1, sizeof *slots);
    status = slots != NULL ? replay_trace(argv[0], &self, &trace, slots)
                           : command_error(argv[0], COMMAND_FAILED, "there is not enough memory");
    free(slots);
    allocation_trace_clear(&trace);
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        return command_error(argv[0], COMMAND_FAILED, "standard output could not be written");
    return status;
}
