#include "standin.h"

#include "child.h"
#include "command.h"
#include "config.h"
#include "cudart.h"
#include "joined.h"
#include "libcuda.h"
#include "place.h"

#include "emu/emu.h"
#include "shim/real_driver.h"
#include <ctxrt/runtime.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_CUDA = 256, KEY_CUDART, KEY_DRIVER, KEY_GPU, KEY_SCHEDULE };

/* The words of CTXRT_EMU_GPU. */
static const char *const gpus[] = {
    "default",
#define CX_GPU(slot, word, name, memory) word,
#include "emu/base/gpus.def"
};
#define GPUS (sizeof gpus / sizeof gpus[0])

static error_t take_devices(standin_options *self, const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1 || number > CX_EMU_GPUS_MAX)
        return command_wrong_use(state, "--devices %s: it is a number from 1 to %d", text,
                                 CX_EMU_GPUS_MAX);
    self->devices = text;
    return 0;
}

static error_t take_gpu(standin_options *self, const char *text, struct argp_state *state)
{
    char words[128] = "";
    size_t length = 0;
    for (size_t i = 0; i < GPUS; i++) {
        if (strcmp(text, gpus[i]) == 0) {
            self->gpu = text;
            return 0;
        }
        const char *between = i == 0 ? "" : i + 1 < GPUS ? ", " : " or ";
        length += (size_t)snprintf(words + length, sizeof words - length, "%s%s", between, gpus[i]);
    }
    return command_wrong_use(state, "--gpu %s: it can be %s", text, words);
}

static error_t take_memory(standin_options *self, const char *text, struct argp_state *state)
{
    uint64_t bytes;
    if (!command_parse_size(text, &bytes) || bytes < CX_EMU_MEMORY_GRANULARITY ||
        bytes > CX_EMU_MEMORY_MAX)
        return command_wrong_use(
            state, "--memory %s: it is a size from 2M to 1T, such as 512M or 4G", text);
    self->memory = text;
    return 0;
}

/* The file that --driver=libcuda=FILE names; NULL: it names none. */
static const char *file_of_driver(const char *driver)
{
    return strncmp(driver, "libcuda=", 8) == 0 ? driver + 8 : NULL;
}

static error_t take_driver(standin_options *self, const char *text, struct argp_state *state)
{
    const char *file = file_of_driver(text);
    if (strcmp(text, "emulated") != 0 && strcmp(text, "libcuda") != 0 &&
        (file == NULL || *file == '\0'))
        return command_wrong_use(state, "--driver %s: it can be emulated, libcuda or libcuda=PATH",
                                 text);
    self->driver = text;
    return 0;
}

static error_t take_schedule(standin_options *self, const char *text, struct argp_state *state)
{
    self->schedule = text;
    return command_check_schedule(text, state);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    standin_options *self = state->input;
    switch (key) {
    case 'd':
        return take_devices(self, argument, state);
    case 'm':
        return take_memory(self, argument, state);
    case KEY_GPU:
        return take_gpu(self, argument, state);
    case KEY_CUDA:
        self->cuda = argument;
        if (strcmp(argument, "12") != 0 && strcmp(argument, "13") != 0)
            return command_wrong_use(state, "--cuda %s: it can be 12 or 13", argument);
        return 0;
    case KEY_CUDART:
        self->cudart = argument;
        if (strcmp(argument, "11") != 0 && strcmp(argument, "12") != 0 &&
            strcmp(argument, "13") != 0)
            return command_wrong_use(state, "--cudart %s: it can be 11, 12 or 13", argument);
        return 0;
    case KEY_SCHEDULE:
        return take_schedule(self, argument, state);
    case KEY_DRIVER:
        return take_driver(self, argument, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option all_options[] = {
    {"devices", 'd', "N", 0, "Play N GPUs, 1 to 64 (CTXRT_EMU_DEVICES; 4)", 0},
    {"gpu", KEY_GPU, "NAME", 0,
     "Play this GPU: default, rtx3060, l4, l40s, rtx-pro-6000 or tiny (CTXRT_EMU_GPU)", 0},
    {"memory", 'm', "SIZE", 0, "Memory of each GPU (CTXRT_EMU_MEMORY; the GPU's, or 4G)", 0},
    {"schedule", KEY_SCHEDULE, "NAME", 0,
     "When the GPUs work: threads, lazy (once something waits for it) or random:SEED "
     "(CTXRT_EMU_SCHEDULE; threads)",
     0},
    {"cuda", KEY_CUDA, "12|13", 0, "Stand in for the driver of this CUDA version (13)", 0},
    {"cudart", KEY_CUDART, "11|12|13", 0,
     "Load ctxrt's libcudart of this CUDA version before any that the program brings, such as that "
     "of PyTorch",
     0},
    {"driver", KEY_DRIVER, "NAME", 0,
     "emulated plays the GPUs; libcuda[=PATH] passes calls on to that library (emulated)", 0},
    {0},
};
const struct argp standin_argp = {all_options, parse_option, NULL, NULL, NULL, NULL, NULL};

/* The folder of a libcuda.so.1 that is the stand-in and the library behind it, joined; "" while
 * there is none. */
static char joined[PATH_MAX];

/* LD_LIBRARY_PATH without the folder that libtool's script puts in front to start this program from
 * a build tree. That folder has a libinfinirt.so, too, and the program may bring its own. */
static const char *library_path(void)
{
    char folder[PATH_MAX];
    const char *path = getenv("LD_LIBRARY_PATH");
    if (path == NULL || !place_find_in_build("/lib/.libs", "/libctxrt.so", folder))
        return path;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0 || (path[length] != ':' && path[length] != '\0'))
        return path;
    return path[length] == ':' ? path + length + 1 : path + length;
}

/* Sets the variable to a list with ':' between its parts: `first`, and what was there. */
static bool prepend(const char *variable, const char *first, const char *rest)
{
    if (rest == NULL || *rest == '\0')
        return setenv(variable, first, 1) == 0;
    size_t size = strlen(first) + 1 + strlen(rest) + 1;
    char *list = malloc(size);
    if (list == NULL)
        return false;
    snprintf(list, size, "%s:%s", first, rest);
    bool set = setenv(variable, list, 1) == 0;
    free(list);
    return set;
}

static bool prepend_library_path(const char *folders)
{
    return prepend("LD_LIBRARY_PATH", folders, library_path());
}

/* The file is loaded before all others: libraries that need its soname have it, wherever their run
 * path leads. "": nothing is. */
static bool prepend_preload(const char *file)
{
    return *file == '\0' || prepend("LD_PRELOAD", file, getenv("LD_PRELOAD"));
}

/* CTXRT_LIBCUDA would make a ctxrt program bypass the stand-in. `runtime` NULL: there is none. */
static bool set_environment(const standin_options *self, const char *standin, const char *runtime)
{
    return (self->devices == NULL || setenv("CTXRT_EMU_DEVICES", self->devices, 1) == 0) &&
           (self->gpu == NULL || setenv("CTXRT_EMU_GPU", self->gpu, 1) == 0) &&
           (self->memory == NULL || setenv("CTXRT_EMU_MEMORY", self->memory, 1) == 0) &&
           (self->schedule == NULL || setenv("CTXRT_EMU_SCHEDULE", self->schedule, 1) == 0) &&
           unsetenv("CTXRT_LIBCUDA") == 0 && (runtime == NULL || prepend_library_path(runtime)) &&
           prepend_library_path(standin) && (joined[0] == '\0' || prepend_library_path(joined));
}

bool standin_find(const char *cuda, char folder[PATH_MAX])
{
    char in_build[64], in_library[64];
    snprintf(in_build, sizeof in_build, "/lib/shim/cuda-%s/.libs", cuda);
    snprintf(in_library, sizeof in_library, "/cuda-%s", cuda);
    return place_find(in_build, CTXRT_PKGLIBDIR, in_library, "/libcuda.so.1", folder);
}

/* True if the file is there and is the text of a program. */
static bool is_source(const char *file)
{
    static const char *const ends[] = {".c", ".cc", ".cpp", ".cxx", ".cu"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot != NULL && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i]) == 0)
            return access(file, R_OK) == 0;
    return false;
}

int standin_execute(const char *command, char **program)
{
    execvp(program[0], program);
    const char *why = strerror(errno);
    int status = errno == ENOENT ? COMMAND_NOT_FOUND : COMMAND_CANNOT_EXECUTE;
    if (is_source(program[0]))
        return command_error(
            command, status,
            "cannot run %s: it is source: compile it first, cc %s -lcuda, and run ./a.out. Where "
            "the compiler says that cuCtxCreate has too few arguments: CUDA 13 put one in second "
            "place, cuCtxCreate(&context, NULL, flags, device)",
            program[0], program[0]);
    bool here = errno == ENOENT && strchr(program[0], '/') == NULL && access(program[0], X_OK) == 0;
    return command_error(command, status, "cannot run %s: %s%s%s", program[0], why,
                         here ? "; say ./" : "", here ? program[0] : "");
}

bool standin_passes_on(const standin_options *options)
{
    const char *named = getenv("CTXRT_STANDIN_LIBCUDA");
    return options->driver != NULL ? strcmp(options->driver, "emulated") != 0
                                   : named != NULL && *named != '\0';
}

/* ---- exports that only the library behind has ---- */

static bool make_joined_folder(void)
{
    static const char *const places[] = {"/tmp", "/dev/shm", NULL};
    char folder[PATH_MAX];
    if (!child_make_folder("ctxrt-libcuda", places, folder, sizeof folder))
        return false;
    if (realpath(folder, joined) != NULL) /* the program may go elsewhere */
        return true;
    joined[0] = '\0';
    child_remove_folder(folder);
    return false;
}

/*
 * A driver has exports that no header and no table of ours names. The dynamic linker looks for them
 * in the library behind, if that comes with the stand-in. A library that refers to its own exports
 * would then find the stand-in's, and stays by itself.
 */
static void join(const char *command, const char *standin, const char *behind)
{
    char file[PATH_MAX + 16], first[PATH_MAX + 16];
    if (cx_real_driver_refers_to_itself(behind))
        return;
    snprintf(first, sizeof first, "%s/libcuda.so.1", standin);
    bool made = make_joined_folder();
    snprintf(file, sizeof file, "%s/libcuda.so.1", joined);
    if (made && joined_write(file, "libcuda.so.1", first, behind))
        return;
    fprintf(stderr, "%s: symbols that ctxrt does not know are not passed on: %s\n", command,
            strerror(errno));
    standin_end();
}

bool standin_must_end(void)
{
    return joined[0] != '\0';
}

void standin_end(void)
{
    if (joined[0] != '\0')
        child_remove_folder(joined);
    joined[0] = '\0';
}

/* ---- the environment of the program ---- */

/* Sets the environment for calls that are passed on, or not. */
static int prepare_driver(const char *command, const standin_options *options, bool *out_passes_on,
                          libcuda_file *out_file)
{
    const char *driver = options->driver;
    *out_passes_on = standin_passes_on(options);
    if (!*out_passes_on) {
        (void)unsetenv("CTXRT_STANDIN_LIBCUDA");
        return COMMAND_GOOD;
    }
    const char *file = driver != NULL ? file_of_driver(driver) : getenv("CTXRT_STANDIN_LIBCUDA");
    int status = libcuda_find(command, file, out_file);
    if (status == COMMAND_GOOD && setenv("CTXRT_STANDIN_LIBCUDA", out_file->path, 1) != 0)
        return command_error(command, COMMAND_FAILED, "no memory for the environment");
    return status;
}

/* The major version of the runtime library that the program needs; 0: none that is known. */
static int choose_cudart(const standin_options *options, const binary *program)
{
    return options->cudart != NULL ? atoi(options->cudart) : cudart_major(program);
}

/* The version to stand in for: the one asked for, the library's behind, or 13, whose driver has all
 * that 12's has: what a script or an interpreter starts may need it. A program that shows that it
 * needs the runtime library of an older CUDA has 12's. */
static const char *choose_cuda(const standin_options *options, bool passes_on,
                               const libcuda_file *behind, const binary *program)
{
    if (options->cuda != NULL)
        return options->cuda;
    int major = choose_cudart(options, program);
    bool is_new = passes_on ? behind->version >= 13000 : major == 0 || major >= 13;
    return is_new ? "13" : "12";
}

int standin_prepare(const char *command, const standin_options *options, const char *program)
{
    static libcuda_file behind;
    static char runtime[CUDART_PATHS], preload[CUDART_PATH];
    binary facts;
    char standin[PATH_MAX];
    bool passes_on;
    int status = prepare_driver(command, options, &passes_on, &behind);
    if (status != COMMAND_GOOD)
        return status;
    (void)binary_read(program, &facts);
    const char *cuda = choose_cuda(options, passes_on, &behind, &facts);
    if (!standin_find(cuda, standin))
        return command_error(
            command, COMMAND_FAILED,
            "the stand-in cuda-%s/libcuda.so.1 is not in %s: install ctxrt again, whole", cuda,
            CTXRT_PKGLIBDIR);
    /* An installation may leave it out, as that for a GPU's machine does. */
    bool has_runtime = cudart_find(runtime);
    int major = choose_cudart(options, &facts);
    bool preloads = options->cudart != NULL || (major != 0 && cudart_is_hidden(&facts));
    if (major != 0 && (!has_runtime || (preloads && !cudart_find_version(major, preload))))
        return command_error(command, COMMAND_FAILED,
                             "the runtime library cudart-13/libcudart.so.13 or an older one is not "
                             "in %s: install ctxrt again, whole",
                             CTXRT_PKGLIBDIR);
    cudart_warn(command, &facts, !passes_on);
    if (passes_on)
        join(command, standin, behind.path);
    if (!set_environment(options, standin, has_runtime ? runtime : NULL) ||
        !prepend_preload(preload)) {
        standin_end();
        return command_error(command, COMMAND_FAILED, "no memory for the environment");
    }

    /* Check now: the program would find a bad value only at its cuInit, and could not report it. */
    ctxrt_options no_gpu = CTXRT_OPTIONS_INIT;
    no_gpu.cuda_driver = CTXRT_CUDA_DRIVER_NONE;
    ctxrt_status checked = ctxrt_init(&no_gpu);
    if (checked == CTXRT_SUCCESS)
        return COMMAND_GOOD;
    standin_end();
    return command_failure(command, checked);
}
