/*
 * Shared by the subcommands of ctxrt: exit statuses, options, errors in one line.
 */
#ifndef CX_TOOLS_COMMAND_H
#define CX_TOOLS_COMMAND_H

#include <argp.h>
#include <ctxrt/status.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    COMMAND_GOOD = 0,
    COMMAND_FAILED = 1,
    COMMAND_WRONG_USE = 2,
    COMMAND_CANNOT_EXECUTE = 126, /* as in a shell */
    COMMAND_NOT_FOUND = 127
};

/* Each subcommand gets its own arguments, with argv[0] its full name ("ctxrt info"), and returns
 * the exit status of the process. */
int bench_command(int argc, char **argv);
int check_command(int argc, char **argv);
int compare_command(int argc, char **argv);
int draw_command(int argc, char **argv);
int info_command(int argc, char **argv);
int lesson_command(int argc, char **argv);
int nvcc_command(int argc, char **argv);
int play_command(int argc, char **argv);
int replay_command(int argc, char **argv);
int run_command(int argc, char **argv);
int trace_command(int argc, char **argv);

/*
 * Parses options in order, up to where `argp` takes the rest; argv[0] names the command in
 * messages. Adds --help. Returns true if the command goes on; else *out_status is the exit status,
 * and help or one line of error has been printed.
 */
bool command_parse(const struct argp *argp, int argc, char **argv, void *input, int *out_status);

/* Prints "ctxrt run: MESSAGE" on stderr; returns `status`. */
__attribute__((format(printf, 3, 4))) int command_error(const char *command, int status,
                                                        const char *format, ...);

/* For the parsers of command_parse: reports the error and points to the help. The parser returns
 * the result. */
__attribute__((format(printf, 2, 3))) error_t command_wrong_use(struct argp_state *state,
                                                                const char *format, ...);

/* Parses a number of bytes: 4096, 64K, 512M, 4G, 4GiB, in powers of 1024. False: it is none, or is
 * 0 or too large. */
bool command_parse_size(const char *text, uint64_t *out_bytes);

/* For the parsers of command_parse: refuses a value of --schedule that the embedded driver would
 * refuse. */
error_t command_check_schedule(const char *text, struct argp_state *state);

/* Prints why the calling thread's last call failed, with the status `failure`; returns the exit
 * status that fits. */
int command_failure(const char *command, ctxrt_status failure);

#endif
