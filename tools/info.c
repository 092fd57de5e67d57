#include "command.h"
#include "config.h"
#include "json_text.h"

#include <ctxrt/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVERS_MAX 8

#ifdef CTXRT_BUILT_CUDA_H
#define BUILT_CUDA_H true
#else
#define BUILT_CUDA_H false
#endif

/* The formats that the embedded driver can unpack code from. */
static const struct unpacker {
    const char *name;
    bool built;
} unpackers[] = {
#ifdef HAVE_LZ4
    {"lz4", true},
#else
    {"lz4", false},
#endif
#ifdef HAVE_ZSTD
    {"zstd", true},
#else
    {"zstd", false},
#endif
};
#define UNPACKERS (sizeof unpackers / sizeof unpackers[0])

/* What configure found beside the libraries; "": it is not there. */
static const struct tool {
    const char *label, *found;
} tools[] = {
    {"nvcc", CTXRT_BUILT_NVCC},
    {"MPI for samples/mpi", CTXRT_BUILT_MPI},
    {"sanitizers", CTXRT_BUILT_SANITIZERS},
    {"po4a", CTXRT_BUILT_PO4A},
    {"gettext", CTXRT_BUILT_XGETTEXT},
    {"chromium", CTXRT_BUILT_CHROMIUM},
};
#define TOOLS (sizeof tools / sizeof tools[0])

#define UUID_TEXT_BYTES 37

/* The environment variables that are read. An empty one counts as not set, except the last one: it
 * hides all devices then. */
static const char *const variables[] = {
#define CX_VARIABLE(name) #name,
#include "base/variables.def"
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
};
#define VARIABLES (sizeof variables / sizeof variables[0])

typedef struct request {
    bool json;
} request;

typedef struct device {
    ctxrt_device name;
    ctxrt_device_info info;
} device;

typedef struct findings {
    ctxrt_driver_info drivers[DRIVERS_MAX];
    size_t driver_count;
    device *devices;
    size_t device_count;
} findings;

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case 'j':
        self->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return command_wrong_use(state, "'%s' is one argument too many", argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *variable_value(const char *name)
{
    const char *value = getenv(name);
    bool matters = value != NULL && (*value != '\0' || strcmp(name, "CUDA_VISIBLE_DEVICES") == 0);
    return matters ? value : NULL;
}

static ctxrt_status find_devices(findings *self)
{
    int counts[CTXRT_DEVICE_TYPE_COUNT];
    size_t total = 0;
    ctxrt_status status = ctxrt_device_count_all(counts);
    if (status != CTXRT_SUCCESS)
        return status;
    for (int type = 0; type < CTXRT_DEVICE_TYPE_COUNT; type++)
        total += (size_t)counts[type];
    self->devices = calloc(total != 0 ? total : 1, sizeof *self->devices);
    if (self->devices == NULL)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    for (int type = 0; type < CTXRT_DEVICE_TYPE_COUNT; type++)
        for (int index = 0; index < counts[type]; index++) {
            device *found = &self->devices[self->device_count];
            found->name = ctxrt_device_of((ctxrt_device_type)type, index);
            status = ctxrt_device_properties(found->name, &found->info);
            if (status != CTXRT_SUCCESS)
                return status;
            self->device_count++;
        }
    return CTXRT_SUCCESS;
}

static ctxrt_status find_all(findings *self)
{
    ctxrt_status status = ctxrt_drivers(DRIVERS_MAX, self->drivers, &self->driver_count);
    if (status != CTXRT_SUCCESS)
        return status;
    if (self->driver_count > DRIVERS_MAX)
        self->driver_count = DRIVERS_MAX;
    return find_devices(self);
}

static void write_uuid(const unsigned char uuid[16], char text[UUID_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    char *next = text;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *next++ = '-';
        *next++ = digits[uuid[i] >> 4];
        *next++ = digits[uuid[i] & 15];
    }
    *next = '\0';
}

static void write_version(int version, char *text, size_t size)
{
    snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
}

static void write_library_version(char *text, size_t size)
{
    int version = ctxrt_version();
    snprintf(text, size, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

static void print_driver(const ctxrt_driver_info *driver)
{
    char version[32];
    printf("  %-10s %-6s ", driver->name, ctxrt_device_type_name(driver->type));
    if (!driver->loaded) {
        printf("not loaded: %s\n", driver->reason);
        return;
    }
    write_version(driver->version, version, sizeof version);
    printf("CUDA %s, %d device%s", version, driver->device_count,
           driver->device_count == 1 ? "" : "s");
    printf("%s%s%s%s\n", driver->path[0] != '\0' ? ", " : "", driver->path,
           driver->reason[0] != '\0' ? "; " : "", driver->reason);
}

static void print_device(const device *self)
{
    const ctxrt_device_info *info = &self->info;
    char uuid[UUID_TEXT_BYTES];
    write_uuid(info->uuid, uuid);
    printf("  %s:%d\n", ctxrt_device_type_name(self->name.type), self->name.index);
    printf("    %-22s %s%s\n", "name", info->name, info->emulated ? " (emulated)" : "");
    printf("    %-22s %s\n", "uuid", uuid);
    printf("    %-22s %s\n", "pci bus id", info->pci_bus_id[0] != '\0' ? info->pci_bus_id : "none");
    printf("    %-22s %.1f GiB\n", "memory", (double)info->total_bytes / (1 << 30));
    printf("    %-22s %s\n", "host may touch it", info->host_accessible ? "yes" : "no");
    printf("    %-22s %d.%d\n", "compute capability", info->compute_major, info->compute_minor);
    printf("    %-22s %d\n", "multiprocessors", info->multiprocessors);
    printf("    %-22s %d\n", "warp size", info->warp_size);
    printf("    %-22s %d\n", "threads per block", info->max_threads_per_block);
}

static bool has_gpu_driver(const findings *self)
{
    for (size_t i = 0; i < self->driver_count; i++)
        if (self->drivers[i].type == CTXRT_DEVICE_CUDA && self->drivers[i].loaded)
            return true;
    return false;
}

static void print_text(const findings *self)
{
    char version[32];
    bool any = false;
    write_library_version(version, sizeof version);
    printf("ctxrt %s\n\nDrivers\n", version);
    for (size_t i = 0; i < self->driver_count; i++)
        print_driver(&self->drivers[i]);
    printf("\nDevices\n");
    for (size_t i = 0; i < self->device_count; i++)
        print_device(&self->devices[i]);
    if (!has_gpu_driver(self))
        printf("  no GPU was found; to play GPUs on the CPU, set CTXRT_DRIVER=emulated for a "
               "program of ctxrt,\n  or run any program of the Driver API by: ctxrt run PROGRAM\n");
    printf("\nEnvironment\n");
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *value = variable_value(variables[i]);
        if (value != NULL)
            printf("  %-23s %s\n", variables[i], *value != '\0' ? value : "(empty)");
        any = any || value != NULL;
    }
    if (!any)
        printf("  nothing set\n");
    printf("\nBuild\n  %-22s %s\n", "compared with cuda.h", BUILT_CUDA_H ? "yes" : "no");
    for (size_t i = 0; i < TOOLS; i++)
        printf("  %-22s %s\n", tools[i].label, tools[i].found[0] != '\0' ? tools[i].found : "none");
    for (size_t i = 0; i < UNPACKERS; i++)
        printf("  code packed by %-7s %s\n", unpackers[i].name,
               unpackers[i].built ? "yes" : "not supported");
}

static json_t *driver_json(const ctxrt_driver_info *driver)
{
    char version[32];
    write_version(driver->version, version, sizeof version);
    return json_pack("{s:s, s:o, s:s, s:b, s:s, s:i, s:o}", "name", driver->name, "path",
                     json_text(driver->path), "type", ctxrt_device_type_name(driver->type),
                     "loaded", driver->loaded, "cuda_version", driver->version != 0 ? version : "",
                     "device_count", driver->device_count, "reason", json_text(driver->reason));
}

static json_t *device_json(const device *self)
{
    const ctxrt_device_info *info = &self->info;
    char uuid[UUID_TEXT_BYTES];
    write_uuid(info->uuid, uuid);
    return json_pack(
        "{s:s, s:i, s:o, s:s, s:s, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:b, s:b, "
        "s:b, s:b, s:b}",
        "type", ctxrt_device_type_name(self->name.type), "index", self->name.index, "name",
        json_text(info->name), "uuid", uuid, "pci_bus_id", info->pci_bus_id, "total_bytes",
        (json_int_t)info->total_bytes, "compute_major", info->compute_major, "compute_minor",
        info->compute_minor, "multiprocessors", info->multiprocessors, "warp_size", info->warp_size,
        "max_threads_per_block", info->max_threads_per_block, "clock_khz", info->clock_khz,
        "memory_clock_khz", info->memory_clock_khz, "memory_bus_bits", info->memory_bus_bits,
        "integrated", info->integrated, "unified_addressing", info->unified_addressing,
        "can_map_host_memory", info->can_map_host_memory, "managed_memory", info->managed_memory,
        "host_accessible", info->host_accessible, "emulated", info->emulated);
}

static json_t *environment_json(void)
{
    json_t *environment = json_object();
    for (size_t i = 0; environment != NULL && i < VARIABLES; i++) {
        const char *value = variable_value(variables[i]);
        if (value != NULL &&
            json_object_set_new(environment, variables[i], json_text(value)) != 0) {
            json_decref(environment);
            environment = NULL;
        }
    }
    return environment;
}

/* Appends; json_array_append_new refuses NULL, and then consumes nothing. */
static bool append_value(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0;
}

static json_t *findings_json(const findings *self)
{
    char version[32];
    bool whole = true;
    json_t *drivers = json_array(), *devices = json_array();
    for (size_t i = 0; i < self->driver_count; i++)
        whole = append_value(drivers, driver_json(&self->drivers[i])) && whole;
    for (size_t i = 0; i < self->device_count; i++)
        whole = append_value(devices, device_json(&self->devices[i])) && whole;
    write_library_version(version, sizeof version);
    json_t *all = json_pack(
        "{s:s, s:o, s:o, s:o, s:{s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b}}", "version", version,
        "drivers", drivers, "devices", devices, "environment", environment_json(), "build",
        "compared_with_cuda_h", BUILT_CUDA_H, "nvcc", CTXRT_BUILT_NVCC, "mpi", CTXRT_BUILT_MPI,
        "sanitizers", CTXRT_BUILT_SANITIZERS, "po4a", CTXRT_BUILT_PO4A, "gettext",
        CTXRT_BUILT_XGETTEXT, "chromium", CTXRT_BUILT_CHROMIUM, unpackers[0].name,
        unpackers[0].built, unpackers[1].name, unpackers[1].built);
    if (whole)
        return all;
    json_decref(all);
    return NULL;
}

static bool print_json(const findings *self)
{
    json_t *all = findings_json(self);
    bool printed =
        all != NULL && json_dumpf(all, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    json_decref(all);
    return printed;
}

static int show_findings(const char *command, const findings *self, bool json)
{
    if (json && !print_json(self))
        return command_error(command, COMMAND_FAILED, "the JSON could not be made or written");
    if (!json)
        print_text(self);
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        return command_error(command, COMMAND_FAILED, "standard output could not be written");
    return COMMAND_GOOD;
}

static const char doc[] = "Shows the drivers that ctxrt found, or why there is none, their "
                          "devices, the environment in force "
                          "and how ctxrt was built. Makes no context."
                          "\vExample: CTXRT_DRIVER=emulated ctxrt info --json";

int info_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"json", 'j', NULL, 0, "Print JSON", 0},
        {0},
    };
    static const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    request self = {0};
    findings found = {0};
    int status;

    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    ctxrt_status finding = find_all(&found);
    status = finding == CTXRT_SUCCESS ? show_findings(argv[0], &found, self.json)
                                      : command_failure(argv[0], finding);
    free(found.devices);
    return status;
}
