#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define CALL(symbol, parameters)                \
    static CUresult missing_##symbol parameters \
    {                                           \
        return MISSING;                         \
    }                                           \
    CUresult(*symbol) parameters = missing_##symbol;
#include "calls.def"
#undef CALL
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

/* A function pointer cannot be cast from an object pointer in C; its bytes can be copied. */
static void resolve(void *library, const char *symbol, void *variable)
{
    void *function = dlsym(library, symbol);
    if (function != NULL)
        memcpy(variable, &function, sizeof function);
}

_Bool driver_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return 0;
#define CALL(symbol, parameters) resolve(library, #symbol, &symbol);
#include "calls.def"
#undef CALL
    return 1;
}

enum { NAMES = 1000 };

static const char *names[NAMES];
static _Bool names_asked;

void names_ask(void)
{
    for (int code = 0; code < NAMES; code++)
        if (cuGetErrorName(code, &names[code]) != SUCCESS)
            names[code] = NULL;
    names_asked = 1;
}

static const char *name_of(CUresult code)
{
    const char *name = NULL;
    if (names_asked)
        return code >= 0 && code < NAMES ? names[code] : NULL;
    return cuGetErrorName(code, &name) == SUCCESS ? name : NULL;
}

const char *result_text(CUresult code)
{
    static _Thread_local char texts[16][80];
    static _Thread_local unsigned int next;
    char *text = texts[next++ % 16];
    if (code == MISSING)
        return "missing";
    const char *name = name_of(code);
    if (name == NULL)
        name = "?";
    for (size_t i = 0; i < 2; i++) {
        static const char *const prefixes[] = {"CUDA_ERROR_", "CUDA_"};
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0)
            name += length;
    }
    snprintf(text, sizeof texts[0], "%s(%d)", name, code);
    return text;
}
