#include "check/symbols.h"

#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool symbols_in_c_library(const char *path)
{
    static const char *const names[] = {"libc.so.", "libpthread.so.", "ld-linux"};
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>

enum { MODULES_MOST = 256 };

typedef struct module {
    char *path;
    Dwfl *dwfl;
    Dwfl_Module *opened; /* NULL: it cannot be read */
    Dwarf_Addr first;    /* the address in the file at which it begins */
    Dwarf_Addr bias;
} module;

static module modules[MODULES_MOST];
static int module_count;

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

/* To unpack the debug information of the C library takes longer than all else of a report. */
static int find_no_debuginfo(Dwfl_Module *opened, void **data, const char *name, Dwarf_Addr base,
                             const char *path, const char *link, GElf_Word checksum,
                             char **out_path)
{
    (void)opened, (void)data, (void)name, (void)base, (void)path, (void)link, (void)checksum;
    (void)out_path;
    return -1;
}

static const Dwfl_Callbacks c_library_callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_no_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

bool symbols_available(void)
{
    return true;
}

/* The least address of a segment that is loaded: the dynamic linker's base stands for it. */
static Dwarf_Addr first_address(Elf *elf)
{
    size_t count;
    Dwarf_Addr first = UINT64_MAX;
    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_LOAD &&
            (header.p_vaddr & -header.p_align) < first)
            first = header.p_vaddr & -header.p_align;
    }
    return first != UINT64_MAX ? first : 0;
}

static void open_module(module *self)
{
    self->dwfl = dwfl_begin(symbols_in_c_library(self->path) ? &c_library_callbacks : &callbacks);
    if (self->dwfl == NULL)
        return;
    dwfl_report_begin(self->dwfl);
    self->opened = dwfl_report_offline(self->dwfl, self->path, self->path, -1);
    (void)dwfl_report_end(self->dwfl, NULL, NULL);
    GElf_Addr bias;
    Elf *elf = self->opened != NULL ? dwfl_module_getelf(self->opened, &bias) : NULL;
    if (elf == NULL) {
        self->opened = NULL;
        return;
    }
    self->first = first_address(elf);
    self->bias = bias;
}

static module *find_module(const char *path)
{
    for (int i = 0; i < module_count; i++)
        if (strcmp(modules[i].path, path) == 0)
            return &modules[i];
    if (module_count == MODULES_MOST)
        return NULL;
    module *self = &modules[module_count];
    self->path = strdup(path);
    if (self->path == NULL)
        return NULL;
    module_count++;
    open_module(self);
    return self;
}

void symbols_find(const char *path, uint64_t offset, place_name *out_name)
{
    *out_name = (place_name){.line = 0};
    module *found = find_module(path);
    if (found == NULL || found->opened == NULL)
        return;
    Dwarf_Addr address = offset + found->first + found->bias;
    const char *function = dwfl_module_addrname(found->opened, address);
    Dwfl_Line *line = dwfl_module_getsrc(found->opened, address);
    const char *file =
        line != NULL ? dwfl_lineinfo(line, NULL, &out_name->line, NULL, NULL, NULL) : NULL;
    if (function != NULL)
        snprintf(out_name->function, sizeof out_name->function, "%s", function);
    if (file != NULL) {
        const char *name = strrchr(file, '/');
        snprintf(out_name->file, sizeof out_name->file, "%s", name != NULL ? name + 1 : file);
    }
}

void symbols_close(void)
{
    for (int i = 0; i < module_count; i++) {
        if (modules[i].dwfl != NULL)
            dwfl_end(modules[i].dwfl);
        free(modules[i].path);
    }
    module_count = 0;
}

#else

bool symbols_available(void)
{
    return false;
}

void symbols_find(const char *path, uint64_t offset, place_name *out_name)
{
    (void)path, (void)offset;
    *out_name = (place_name){.line = 0};
}

void symbols_close(void)
{
}

#endif
