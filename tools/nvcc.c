/* ctxrt nvcc: nvcc, with the options that ctxrt run and ctxrt check need. */
#include "command.h"
#include "place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The oldest code that emulated GPUs and every nvcc since CUDA 12 have in common. */
enum { OLDEST_ARCH = 75, ARCHS_MOST = 32, OPTION_BYTES = 80 };

typedef struct request {
    char **arguments; /* for nvcc, with room for those that are added */
    size_t count;
    char archs[ARCHS_MOST][16]; /* "80", "90a" that the caller asks for */
    size_t arch_count;
    bool keeps_code; /* the output is code of one architecture, which the caller chooses */
} request;

/* ---- the architectures that the caller asks for ---- */

static bool has_arch(const request *self, const char *arch)
{
    for (size_t i = 0; i < self->arch_count; i++)
        if (strcmp(self->archs[i], arch) == 0)
            return true;
    return false;
}

/* "compute_80", "sm_90a", "lto_80"; older ones, and words such as "native", ask for the oldest. */
static void add_arch(request *self, const char *word, size_t length)
{
    char arch[16];
    const char *digits = memchr(word, '_', length);
    if (digits == NULL)
        return;
    digits++;
    snprintf(arch, sizeof arch, "%.*s", (int)(length - (size_t)(digits - word)), digits);
    if (strtol(arch, NULL, 10) < OLDEST_ARCH)
        snprintf(arch, sizeof arch, "%d", OLDEST_ARCH);
    if (self->arch_count < ARCHS_MOST && !has_arch(self, arch))
        strcpy(self->archs[self->arch_count++], arch);
}

/* The words of "arch=compute_80,code=[sm_80,compute_80]", of "sm_80" or of "sm_80,sm_90". */
static void add_archs(request *self, const char *value)
{
    static const char between[] = ",=[]\"' ";
    while (*value != '\0') {
        size_t length = strcspn(value, between);
        if (length > 0)
            add_arch(self, value, length);
        value += length;
        value += strspn(value, between);
    }
}

/* ---- the caller's options ---- */

/* The value of an option that is one of `names`, behind '=' or as the next argument; NULL: it is
 * none of them. */
static const char *value_of(char **arguments, int count, int *at, const char *const *names)
{
    for (; *names != NULL; names++) {
        size_t length = strlen(*names);
        if (strncmp(arguments[*at], *names, length) != 0)
            continue;
        if (arguments[*at][length] == '=')
            return arguments[*at] + length + 1;
        if (arguments[*at][length] == '\0' && *at + 1 < count)
            return arguments[++*at];
    }
    return NULL;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static void take_argument(request *self, char **arguments, int count, int *at)
{
    static const char *const runtime[] = {"-cudart", "--cudart", NULL};
    static const char *const arch[] = {"-arch",    "--gpu-architecture", "-code", "--gpu-code",
                                       "-gencode", "--generate-code",    NULL};
    static const char *const code_alone[] = {"-cubin", "--cubin", "-dlto", "--dlink-time-opt",
                                             NULL};
    static char shared[] = "-lcudart";
    const char *value = value_of(arguments, count, at, runtime);
    if (value != NULL)
        return;
    value = self->keeps_code ? NULL : value_of(arguments, count, at, arch);
    if (value != NULL) {
        add_archs(self, value);
        return;
    }
    self->keeps_code = self->keeps_code || is_one_of(arguments[*at], code_alone);
    bool is_static = strcmp(arguments[*at], "-lcudart_static") == 0;
    self->arguments[self->count++] = is_static ? shared : arguments[*at];
}

static bool asks_for_code(char **arguments, int count)
{
    static const char *const code_alone[] = {"-cubin", "--cubin", NULL};
    for (int i = 0; i < count; i++)
        if (is_one_of(arguments[i], code_alone))
            return true;
    return false;
}

/* ---- nvcc ---- */

static const char *find_nvcc(void)
{
    static const char usual[] = "/usr/local/cuda/bin/nvcc";
    const char *named = getenv("CTXRT_NVCC");
    if (named != NULL && *named != '\0')
        return named;
    static char file[PATH_MAX];
    if (place_find_in_list(getenv("PATH"), "nvcc", X_OK, file))
        return file;
    return access(usual, X_OK) == 0 ? usual : NULL;
}

static void add_option(request *self, const char *format, const char *arch)
{
    char text[OPTION_BYTES];
    snprintf(text, sizeof text, format, arch, arch);
    char *option = strdup(text);
    if (option != NULL)
        self->arguments[self->count++] = option;
}

static bool fill_request(request *self, int argc, char **argv)
{
    size_t most = (size_t)argc + ARCHS_MOST + 4;
    self->arguments = calloc(most, sizeof *self->arguments);
    if (self->arguments == NULL)
        return false;
    self->keeps_code = asks_for_code(argv, argc);
    self->arguments[self->count++] = argv[0];
    for (int i = 1; i < argc; i++)
        take_argument(self, argv, argc, &i);
    if (!self->keeps_code && self->arch_count == 0)
        add_arch(self, "compute_75", strlen("compute_75"));
    for (size_t i = 0; i < self->arch_count; i++)
        add_option(self, "-gencode=arch=compute_%s,code=compute_%s", self->archs[i]);
    add_option(self, "-cudart=shared", "");
    return true;
}

static const char help[] =
    "Usage: ctxrt nvcc [ARGUMENT...]\n"
    "Runs nvcc so that what it builds runs under ctxrt run, check and trace.\n"
    "\n"
    "Every argument goes to nvcc, but for two things: the CUDA Runtime is linked as a\n"
    "shared library (-cudart shared), and device code is PTX alone, of the\n"
    "architectures that the arguments ask for, or of compute_75. Older ones become\n"
    "compute_75. With --cubin the architecture stays as it is.\n"
    "\n"
    "nvcc is CTXRT_NVCC if that is set, else the one of the PATH, else\n"
    "/usr/local/cuda/bin/nvcc. The exit status is nvcc's.\n"
    "With a makefile: make NVCC=\"ctxrt nvcc\"\n"
    "Example: ctxrt nvcc -o vector vector.cu\n";

int nvcc_command(int argc, char **argv)
{
    request self = {0};
    const char *command = argv[0];
    if (argc == 1 || (argc == 2 && strcmp(argv[1], "--help") == 0)) {
        fputs(help, argc == 1 ? stderr : stdout);
        return argc == 1 ? COMMAND_WRONG_USE : COMMAND_GOOD;
    }
    const char *nvcc = find_nvcc();
    if (nvcc == NULL)
        return command_error(command, COMMAND_NOT_FOUND,
                             "there is no nvcc in PATH nor in /usr/local/cuda/bin: install a CUDA "
                             "toolkit, or name one by CTXRT_NVCC");
    if (!fill_request(&self, argc, argv))
        return command_error(command, COMMAND_FAILED, "no memory for the arguments");
    self.arguments[0] = (char *)nvcc;
    execv(nvcc, self.arguments);
    return command_error(command, COMMAND_CANNOT_EXECUTE, "cannot run %s: %s", nvcc,
                         strerror(errno));
}
