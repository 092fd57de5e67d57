#include "libcuda.h"

#include "command.h"
#include "layer/handshake.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

static const char *choose_path(const char *path)
{
    if (path == NULL)
        path = variable("CTXRT_LIBCUDA");
    if (path == NULL)
        path = variable("CTXRT_STANDIN_LIBCUDA");
    return path;
}

/* A stand-in plays the GPUs from then on: else it would open what the environment names. */
static int ask_version(void *library)
{
    int (*get_version)(int *), version = 0;
    *(void **)&get_version = dlsym(library, "cuDriverGetVersion");
    const cx_handshake *stand_in = cx_handshake_with(library);
    if (stand_in != NULL)
        stand_in->play();
    return get_version != NULL && get_version(&version) == 0 ? version : 0;
}

static bool name_file(void *library, char path[PATH_MAX])
{
    struct link_map *map;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && realpath(map->l_name, path) != NULL;
}

int libcuda_find(const char *command, const char *path, libcuda_file *out_file)
{
    const char *chosen = choose_path(path), *file = chosen != NULL ? chosen : "libcuda.so.1";
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return command_error(command, COMMAND_FAILED, "%s could not be loaded: %s", file,
                             dlerror());
    if (dlsym(library, "cuInit") == NULL)
        return command_error(command, COMMAND_FAILED, "%s is no libcuda: it has no cuInit", file);
    if (!name_file(library, out_file->path))
        return command_error(command, COMMAND_FAILED, "%s has no file that can be named", file);
    if (chosen == NULL && cx_handshake_with(library) != NULL)
        return command_error(command, COMMAND_FAILED,
                             "%s is a stand-in itself: name another one, --driver=libcuda=PATH",
                             out_file->path);
    out_file->version = ask_version(library);
    return COMMAND_GOOD;
}
