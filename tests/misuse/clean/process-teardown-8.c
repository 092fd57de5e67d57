/* SPDX-License-Identifier: MIT */
/*
 * A static object takes its log callback back when it ends, which is after main has returned: the
 * call does nothing else, and the program does not care for its result.
 */
#include "gpu.h"

#include <dlfcn.h>

typedef void (*log_callback)(void *data, int level, char *message, size_t length);

static void *callback;

static void ignore(void *data, int level, char *message, size_t length)
{
    (void)data, (void)level, (void)message, (void)length;
}

/* The two calls came with CUDA 12.9: headers may lack them. */
static void *find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

__attribute__((destructor)) static void end(void)
{
    int (*unregister)(void *) = (int (*)(void *))find("cuLogsUnregisterCallback");

    if (unregister != NULL && callback != NULL)
        (void)unregister(callback);
}

int main(void)
{
    use_gpu(0);
    int (*register_callback)(log_callback, void *, void **) =
        (int (*)(log_callback, void *, void **))find("cuLogsRegisterCallback");
    if (register_callback != NULL)
        (void)register_callback(ignore, NULL, &callback);
    leave_gpu(0);
    return callback == NULL;
}
