#include "observed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

const char *name(cxu_result result)
{
    switch ((int)result) {
#define CX_RESULT(word, value, text) \
    case value:                      \
        return #word;
#include "driver/results.def"
    case ABSENT:
        return "ABSENT";
    default:
        return "?";
    }
}

cxu_result ask(const char *symbol, const uintptr_t *a)
{
    typedef cxu_result (*call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                               uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    void *address = dlsym(RTLD_DEFAULT, symbol);
    if (address == NULL)
        return ABSENT;
    call function;
    memcpy(&function, &address, sizeof(function));
    return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

void see(const char *id, const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    printf("%s\t%s\n", id, line);
    fflush(stdout);
}

void is(const char *id, cxu_result result)
{
    see(id, "%s", name(result));
}

void yes(const char *id, int whether)
{
    see(id, whether ? "yes" : "no");
}

void must(cxu_result result, const char *what)
{
    if (result == CXU_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", what, name(result));
    _exit(1);
}

CUcontext context_on(CUdevice device)
{
    CUcontext context = NULL;
    MUST(cuCtxCreate_v2(&context, 0, device));
    return context;
}

CUdeviceptr memory(size_t bytes)
{
    CUdeviceptr pointer = 0;
    MUST(cuMemAlloc_v2(&pointer, bytes));
    return pointer;
}

CUstream stream_with(unsigned int flags)
{
    CUstream stream = NULL;
    MUST(cuStreamCreate(&stream, flags));
    return stream;
}

CUevent event_with(unsigned int flags)
{
    CUevent event = NULL;
    MUST(cuEventCreate(&event, flags));
    return event;
}

CUmodule module_of(const char *text)
{
    CUmodule module = NULL;
    MUST(cuModuleLoadData(&module, text));
    return module;
}

CUfunction function_of(CUmodule module, const char *kernel)
{
    CUfunction function = NULL;
    MUST(cuModuleGetFunction(&function, module, kernel));
    return function;
}

int attribute_of(CUdevice device, cxu_device_attribute attribute)
{
    int value = 0;
    MUST(cuDeviceGetAttribute(&value, attribute, device));
    return value;
}

typedef struct errand {
    void (*body)(void *);
    void *argument;
} errand;

static void *run_errand(void *argument)
{
    const errand *it = argument;
    it->body(it->argument);
    return NULL;
}

void elsewhere(void (*body)(void *), void *argument)
{
    errand it = {body, argument};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_errand, &it) != 0)
        _exit(1);
    pthread_join(thread, NULL);
}

/* Runs in a child: a crash costs the rest of its family only. */
static void run_family(const family *it)
{
    char setting[128];
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        if (it->setting != NULL) {
            snprintf(setting, sizeof(setting), "%s", it->setting);
            char *value = strchr(setting, '=');
            *value++ = '\0';
            setenv(setting, value, 1);
        }
        it->run();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("family %s\tsignal %d\n", it->name, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        printf("family %s\texit %d\n", it->name, WEXITSTATUS(status));
    fflush(stdout);
}

int main(int count, char **arguments)
{
    static const family *const all[] = {
        context_families, primary_families, host_families,   memory_families, stream_families,
        virtual_families, module_families,  launch_families, graph_families,  capture_families,
        pool_families,    error_families,   misc_families};
    setenv("CTXRT_EMU_DEVICES", "2", 1);
    setenv("CTXRT_LOG", "off", 1);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (const family *it = all[i]; it->name != NULL; it++)
            if (count < 2 || strcmp(arguments[1], it->name) == 0)
                run_family(it);
    return 0;
}
