/*
 * Drivers do not survive a fork. In the child every call says so, and does no harm; the parent goes
 * on; a child that executes a program (here: this one again) starts afresh.
 *
 *   cc fork_child.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) ok((call), #call)

static ctxrt_memory *memory; /* made by the parent */

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

static bool use_the_device(const char *who)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    ctxrt_memory *own = NULL;
    unsigned char byte = 0;
    bool good = OK(ctxrt_scope_enter(CTXRT_CUDA(1), &scope)) && OK(ctxrt_memory_alloc(64, &own)) &&
                OK(ctxrt_fill(ctxrt_memory_pointer(own), 42, 64)) &&
                OK(ctxrt_copy(&byte, ctxrt_memory_pointer(own), 1, CTXRT_COPY_DEVICE_TO_HOST));
    if (good)
        printf("%s: cuda:1 says %d\n", who, byte);
    return OK(ctxrt_memory_release(own)) && good;
}

/* In the child: its parent's frame and memory are still its parent's. */
static int try_everything(void)
{
    ctxrt_device device;
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    printf("child: init    %s\n", ctxrt_status_name(ctxrt_init(NULL)));
    printf("child: get     %s\n", ctxrt_status_name(ctxrt_device_get(&device)));
    printf("child: set     %s\n", ctxrt_status_name(ctxrt_device_set(CTXRT_CUDA(1))));
    printf("child: scope   %s\n", ctxrt_status_name(ctxrt_scope_enter(CTXRT_CPU(0), &scope)));
    printf("child: pop     %s\n", ctxrt_status_name(ctxrt_stack_pop()));
    printf("child: release %s\n", ctxrt_status_name(ctxrt_memory_release(memory)));
    printf("child: %s\n", ctxrt_last_error()->message);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Forks, and waits for the child to end: it runs `program` with an argument, or, for NULL, tries
 * everything. */
static bool fork_and_wait(const char *program)
{
    int status = 0;
    fflush(stdout); /* what is in the buffer is to be printed once */
    pid_t child = fork();
    if (child == 0) {
        if (program == NULL)
            _exit(try_everything());
        execl(program, program, "afresh", (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool fork_twice(void)
{
    bool good = OK(ctxrt_device_set(CTXRT_CUDA(0)));
    if (!good)
        return false;
    good = OK(ctxrt_memory_alloc(64, &memory)) && fork_and_wait(NULL) && use_the_device("parent") &&
           fork_and_wait("/proc/self/exe") && use_the_device("parent");
    printf("parent: depth %d, as before\n", (int)ctxrt_stack_depth());
    good = OK(ctxrt_memory_release(memory)) && good;
    return OK(ctxrt_stack_pop()) && good;
}

int main(int count, char **arguments)
{
    bool afresh = count == 2 && strcmp(arguments[1], "afresh") == 0;
    bool good = afresh ? use_the_device("executed child") : fork_twice();
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
