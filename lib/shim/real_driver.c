#include "shim/real_driver.h"

#include "driver/cuda_abi.h"
#include "layer/handshake.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

static void *library;
static char path_of_library[512];
static bool is_stand_in;

/* The linker's own symbols: where this library lies in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)__ehdr_start && (uintptr_t)address < (uintptr_t)_end;
}

static void name_library(void *handle)
{
    struct link_map *map;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
        snprintf(path_of_library, sizeof path_of_library, "%s", map->l_name);
}

/*
 * RTLD_LOCAL keeps its symbols from the program, which has the stand-in's. RTLD_DEEPBIND only where
 * it is needed: it also takes the library past a replaced malloc, whose memory it then may free by
 * another free, and sanitizers refuse it. A namespace of its own (dlmopen) would give it a second C
 * library.
 */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { KEEP_WITHIN = 0 };
#else
enum { KEEP_WITHIN = RTLD_DEEPBIND };
#endif

static int flags_for(const char *path)
{
    return RTLD_NOW | RTLD_LOCAL | (cx_real_driver_refers_to_itself(path) ? KEEP_WITHIN : 0);
}

static bool refuse(char *reason, size_t size, const char *path, const char *why)
{
    snprintf(reason, size, "%.300s %.300s", path, why);
    return false;
}

bool cx_real_driver_open(const char *path, char *reason, size_t size)
{
    void *handle = dlopen(path, flags_for(path));
    if (handle == NULL) {
        const char *words = dlerror();
        snprintf(reason, size, "%s could not be loaded: %s", path,
                 words != NULL ? words : "the dynamic linker gives no reason");
        return false;
    }
    void *init = dlsym(handle, "cuInit");
    if (init == NULL)
        return refuse(reason, size, path, "is no libcuda: it has no cuInit");
    if (is_ours(init))
        return refuse(reason, size, path,
                      "leads back to the stand-in itself: name the file of another libcuda");
    name_library(handle);
    const cx_handshake *hands = cx_handshake_with(handle);
    is_stand_in = hands != NULL;
    if (is_stand_in)
        hands->play();
    library = handle;
    return true;
}

void *cx_real_driver_symbol(const char *symbol)
{
    void *address = library != NULL ? dlsym(library, symbol) : NULL;
    return address == NULL || is_ours(address) ? NULL : address;
}

const char *cx_real_driver_path(void)
{
    return path_of_library;
}

bool cx_real_driver_is_stand_in(void)
{
    return is_stand_in;
}
