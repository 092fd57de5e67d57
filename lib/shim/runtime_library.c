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
               "this program uses NVIDIA's CUDA Runtime library (libcudart), which accepts "
               "NVIDIA's driver alone: its calls fail here. Build it with `ctxrt nvcc' and start "
               "it with `ctxrt run', so that it gets ctxrt's own; where one of its libraries "
               "brings NVIDIA's, with `ctxrt run --cudart 13' (see ctxrt-run(1))");
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

static int find_runtime_library(struct dl_phdr_info *library, size_t size, void *out_path)
{
    (void)size;
    if (!is_named(library->dlpi_name, "libcudart.so"))
        return 0;
    *(const char **)out_path = library->dlpi_name;
    return 1;
}

/* ctxrt's own says so by a symbol. */
static bool is_ours(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return false;
    bool ours = dlsym(library, "ctxrtRuntimeLibrary") != NULL;
    (void)dlclose(library);
    return ours;
}

void cx_shim_look_for_runtime_library(void)
{
    const char *path;
    if (dl_iterate_phdr(find_runtime_library, &path) != 0 && !is_ours(path))
        cx_shim_warn_of_runtime_library();
}
