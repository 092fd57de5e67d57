#include "command.h"
#include "standin.h"

typedef struct request {
    standin_options standin;
    char **program;
} request;

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &self->standin;
        return 0;
    case ARGP_KEY_ARG:
        self->program = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        return command_wrong_use(state, "name the program to run");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] = "Runs PROGRAM on the stand-in libcuda.so.1, which plays GPUs on the CPU."
                          "\vSIZE is a number of bytes such as 512M or 4G, from 2M to 1T. What an "
                          "option does not say is as the "
                          "environment says it (ctxrt(7)). The exit status is PROGRAM's; 127 if "
                          "there is no such program, "
                          "126 if it cannot be executed.\n"
                          "Example: ctxrt run --devices 2 --memory 512M ./program";

int run_command(int argc, char **argv)
{
    static const struct argp_child children[] = {{&standin_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {NULL, parse_option, "PROGRAM [ARGUMENT...]", doc, children,
                                     NULL, NULL};
    request self = {0};
    int status;

    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    status = standin_prepare(argv[0], &self.standin);
    return status == COMMAND_GOOD ? standin_execute(argv[0], self.program) : status;
}
