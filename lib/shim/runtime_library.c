#include "shim/runtime_library.h"

#include "base/log.h"
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

void cx_shim_warn_of_runtime_library(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        cx_log(CTXRT_LOG_WARNING,
               "this program uses the CUDA Runtime library (libcudart), which accepts NVIDIA's "
               "driver alone: its calls fail here. The stand-in serves programs of the CUDA "
               "Driver API (see ctxrt-run(1))");
}

static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, name, strlen(name)) == 0;
}

bool cx_shim_is_compiler(const void *address)
{
    Dl_info place;
    return dladdr(address, &place) != 0 && place.dli_fname != NULL &&
           is_named(place.dli_fname, "libnvrtc.");
}

static int is_runtime_library(struct dl_phdr_info *library, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return is_named(library->dlpi_name, "libcudart.so");
}

void cx_shim_look_for_runtime_library(void)
{
    if (dl_iterate_phdr(is_runtime_library, NULL) != 0)
        cx_shim_warn_of_runtime_library();
}
