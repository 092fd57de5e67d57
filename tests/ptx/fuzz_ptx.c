/*
 * Any bytes as PTX: what is refused has a line and a message; what is taken is run, for a while, on
 * memory of its own. Also an entry point for libFuzzer.
 */
#include "fuzz_ptx.h"

#include "ptx/texture.h"
#include <stdlib.h>

#define ADDRESS UINT64_C(0x10000) /* as random programs have it */
#define MEMORY (1 << 16)
#define MEMORY_MOST ((size_t)1 << 20) /* of a module's variables */
#define TURNS 1

typedef struct world {
    uint64_t memory[MEMORY / sizeof(uint64_t)];
    int turns;
} world;

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    world *all = self;

    if (address - ADDRESS >= MEMORY)
        return false;
    *out_range = (cx_ptx_range){ADDRESS, MEMORY, (unsigned char *)all->memory, false, NULL, NULL};
    return true;
}

/* Any handle is an object: its bits above the lowest three choose what it looks like. */
static bool find_texture(void *self, uint64_t handle, bool is_surface, cx_ptx_texture *out)
{
    world *all = self;
    uint32_t choice = (uint32_t)(handle >> 3);
    bool cube = choice >> 5 & choice >> 6 & 1;

    *out = (cx_ptx_texture){.memory = (unsigned char *)all->memory,
                            .width = 1 + choice % 8,
                            .height = cube ? 1 + choice % 8 : 1 + (choice >> 1) % 8,
                            .depth = cube || choice >> 7 & 1 ? 1 : 1 + (choice >> 2) % 4,
                            .layers = cube ? 6 : choice >> 7 & 1 ? 3 : 1,
                            .channel = (cx_ptx_channel)(choice % (CX_PTX_CHANNEL_FLOAT + 1)),
                            .channels = (uint8_t)(1u << choice / 8 % 3),
                            .layered = choice >> 7 & 1,
                            .cube = cube,
                            .as_numbers = choice % (CX_PTX_CHANNEL_FLOAT + 1) % 3 < 2 &&
                                          choice % (CX_PTX_CHANNEL_FLOAT + 1) < 5,
                            .srgb = choice >> 8 & 1,
                            .normalized = choice >> 9 & 1,
                            .filters_mips = choice >> 10 & 1,
                            .seamless = choice >> 11 & 1,
                            .address_mode = {choice >> 12 & 3, choice >> 13 & 3, choice >> 14 & 3},
                            .most_level = 4};
    out->last_layer = out->layers - 1;
    out->last_level = is_surface || choice >> 15 & 1 ? 0 : out->width > 3 ? 2 : 0;
    out->filters = cx_ptx_texture_gives_floats(out) && choice >> 16 & 1;
    out->pitch_bytes = out->width * cx_ptx_texture_element_bytes(out);
    out->bytes = sizeof all->memory;
    return true;
}

static bool stopped(void *self)
{
    return ++((world *)self)->turns > TURNS;
}

static void print(void *self, const char *text, size_t length, bool failed)
{
    (void)self, (void)failed;
    for (size_t i = 0; i < length; i++) /* all of it can be read */
        (void)*(const volatile char *)(text + i);
}

static uint64_t allocate(void *self, uint64_t bytes)
{
    (void)self;
    return bytes > MEMORY / 2 ? 0 : ADDRESS + MEMORY / 2;
}

static bool release(void *self, uint64_t address)
{
    (void)self;
    return address == ADDRESS + MEMORY / 2;
}

/* Less than a warp, a warp, more than one: `choice` says which. */
static void run(const cx_ptx_module *module, const cx_ptx_function *kernel, size_t choice)
{
    static const uint32_t widths[] = {3, 32, 23};
    static uint64_t parameters[CX_PTX_PARAMETER_BYTES_MAX / sizeof(uint64_t)];
    static world all;
    const cx_ptx_environment environment = {.find = find,
                                            .find_texture = find_texture,
                                            .stopped = stopped,
                                            .self = &all,
                                            .print = print,
                                            .allocate = allocate,
                                            .release = release,
                                            .independent = choice / 3 % 4 == 0};
    const cx_ptx_launch launch = {.grid = {2, 1, 1},
                                  .block = {widths[choice % 3], 2, 1},
                                  .shared_bytes = 64,
                                  .cooperative = choice % 5 != 0,
                                  .cluster = {1 + choice % 2, 1, 1},
                                  .parameters = parameters,
                                  .memory_address = ADDRESS};
    cx_ptx_fault fault = {.line = 0};
    cx_ptx_outcome outcome;

    all.turns = 0;
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
        parameters[i] = ADDRESS + 8 * (i % 64);
    for (size_t i = 0; i < MEMORY / sizeof(uint64_t); i++)
        all.memory[i] = UINT64_C(0x100000001);
    outcome = cx_ptx_run(module, kernel, &launch, &environment, &fault);
    if (outcome >= CX_PTX_ILLEGAL_ADDRESS && fault.line < 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    cx_ptx_error error = {.line = 0};
    cx_ptx_module *module;
    cx_ptx_status status = cx_ptx_load((const char *)bytes, length, &module, &error);

    if (status != CX_PTX_SUCCESS) {
        if (error.line < 1 || error.message[0] == '\0')
            abort();
        return 0;
    }
    if (cx_ptx_memory_bytes(module) <= MEMORY_MOST) {
        unsigned char *memory = malloc(cx_ptx_memory_bytes(module) + 1);

        if (memory)
            cx_ptx_memory_init(module, ADDRESS, 0, memory);
        free(memory);
    }
    for (size_t i = 0; i < cx_ptx_kernel_count(module) && i < 4; i++)
        run(module, cx_ptx_kernel_at(module, i), length);
    cx_ptx_unload(module);
    return 0;
}
