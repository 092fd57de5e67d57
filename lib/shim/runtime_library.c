#include "shim/runtime_library.h"

#include "base/log.h"
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, name, strlen(name)) == 0;
}

/* The file that has the code at `address`, or NULL. */
static const char *file_of(const void *address)
{
    Dl_info place;
    return address != NULL && dladdr(address, &place) != 0 ? place.dli_fname : NULL;
}

/* No option puts ctxrt's own in the place of one that is linked into a file. */
static void warn_of_linked_in(const char *file)
{
    cx_log(CTXRT_LOG_WARNING,
           "%s has NVIDIA's CUDA Runtime library (libcudart) linked in, which accepts NVIDIA's "
           "driver alone: its calls fail here. Build that file with `ctxrt nvcc', or with nvcc "
           "-cudart shared, which leaves the library to `ctxrt run'",
           file);
}

void cx_shim_warn_of_runtime_library(const void *caller)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *file = file_of(caller);
    if (atomic_flag_test_and_set(&said))
        return;
    if (file != NULL && !is_named(file, "libcudart.so"))
        warn_of_linked_in(file);
    else
        cx_log(CTXRT_LOG_WARNING,
               "this program uses NVIDIA's CUDA Runtime library (libcudart), which accepts "
               "NVIDIA's driver alone: its calls fail here. Build it with `ctxrt nvcc' and start "
               "it with `ctxrt run', so that it gets ctxrt's own; where one of its libraries "
               "brings NVIDIA's, with `ctxrt run --cudart 13' (see ctxrt-run(1))");
}

bool cx_shim_is_compiler(const void *address)
{
    const char *file = file_of(address);
    return file != NULL && is_named(file, "libnvrtc.");
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
        cx_shim_warn_of_runtime_library(NULL);
}
