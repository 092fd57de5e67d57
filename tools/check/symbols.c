#include "check/symbols.h"

#include "config.h"

#include <dlfcn.h>
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

const char *place_file(const place_name *name)
{
    const char *file = strrchr(name->path, '/');
    return file != NULL ? file + 1 : name->path;
}

const char *place_parentheses(const place_name *name)
{
    return strchr(name->readable, '(') != NULL ? "" : "()";
}

/* ---- names of C++ ---- */

typedef char *(*demangler)(const char *name, char *text, size_t *size, int *status);

/* That of the C++ library, if the system has one. */
static demangler find_demangler(void)
{
    static bool looked;
    static demangler found;
    void *library = looked ? NULL : dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    looked = true;
    if (library != NULL)
        *(void **)&found = dlsym(library, "__cxa_demangle");
    return found;
}

void symbols_readable(const char *name, char *text, size_t size)
{
    demangler demangle = strncmp(name, "_Z", 2) == 0 ? find_demangler() : NULL;
    int status = -1;
    char *readable = demangle != NULL ? demangle(name, NULL, NULL, &status) : NULL;
    snprintf(text, size, "%s", readable != NULL ? readable : name);
    free(readable);
}

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>

enum { MODULES_MOST = 256 };

typedef struct module {
    char *path;
    uint8_t id[32]; /* that the process had */
    size_t id_bytes;
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

/* The file may have been replaced since the program ran. */
static bool is_another(const module *self)
{
    const unsigned char *id;
    GElf_Addr place;
    int bytes = dwfl_module_build_id(self->opened, &id, &place);
    return self->id_bytes != 0 && bytes > 0 &&
           ((size_t)bytes != self->id_bytes || memcmp(id, self->id, self->id_bytes) != 0);
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
    if (elf == NULL || is_another(self)) {
        self->opened = NULL;
        return;
    }
    self->first = first_address(elf);
    self->bias = bias;
}

static module *find_module(symbols_module wanted)
{
    const size_t bytes = wanted.id_bytes <= sizeof modules[0].id ? wanted.id_bytes : 0;
    for (int i = 0; i < module_count; i++)
        if (strcmp(modules[i].path, wanted.path) == 0 && modules[i].id_bytes == bytes &&
            (bytes == 0 || memcmp(modules[i].id, wanted.id, bytes) == 0))
            return &modules[i];
    if (module_count == MODULES_MOST)
        return NULL;
    module *self = &modules[module_count];
    *self = (module){.path = strdup(wanted.path), .id_bytes = bytes};
    if (self->path == NULL)
        return NULL;
    if (bytes != 0)
        memcpy(self->id, wanted.id, bytes);
    module_count++;
    open_module(self);
    return self;
}

static void take_function(place_name *name, const char *function)
{
    if (function == NULL)
        return;
    snprintf(name->function, sizeof name->function, "%s", function);
    symbols_readable(name->function, name->readable, sizeof name->readable);
}

/* The name that the linker sees, if there is one: it has the scopes of C++. */
static const char *name_of(Dwarf_Die *die)
{
    static const unsigned int links[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    Dwarf_Attribute attribute;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (dwarf_attr_integrate(die, links[i], &attribute) != NULL)
            return dwarf_formstring(&attribute);
    return dwarf_diename(die);
}

/* Where the function of an inlined one called it. */
static void take_call(Dwarf_Die *inlined, Dwarf_Die *unit, place_name *name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line, file;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
        name->line = (int)line;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0) {
        const char *path = dwarf_filesrc(files, file, NULL, NULL);
        if (path != NULL)
            snprintf(name->path, sizeof name->path, "%s", path);
    }
}

/* The blocks and inlined functions around an address, up to its function. Those that libdw finds by
 * an address go on, behind an inlined function, with the scopes in which its source stands. */
static int find_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **out_scopes)
{
    Dwarf_Die *scopes = NULL;
    *out_scopes = NULL;
    if (unit == NULL || dwarf_getscopes(unit, address, &scopes) <= 0)
        return 0;
    Dwarf_Die innermost = scopes[0];
    free(scopes);
    return dwarf_getscopes_die(&innermost, out_scopes);
}

static int add_inlined(module *found, Dwarf_Addr address, const char *function,
                       place_name names[SYMBOLS_INLINED])
{
    Dwarf_Addr bias;
    Dwarf_Die *scopes, *unit = dwfl_module_addrdie(found->opened, address, &bias);
    int all = find_scopes(unit, address - bias, &scopes), count = 0;
    for (int i = 0; i < all && count + 1 < SYMBOLS_INLINED; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram)
            break;
        if (tag != DW_TAG_inlined_subroutine)
            continue;
        take_function(&names[count], name_of(&scopes[i]));
        names[count].inlined = true;
        names[++count] = (place_name){.line = 0};
        take_call(&scopes[i], unit, &names[count]);
    }
    free(scopes);
    take_function(&names[count], function);
    return count + 1;
}

int symbols_find_all(symbols_module wanted, uint64_t offset, place_name out_names[SYMBOLS_INLINED])
{
    out_names[0] = (place_name){.line = 0};
    module *found = find_module(wanted);
    if (found == NULL || found->opened == NULL)
        return 1;
    Dwarf_Addr address = offset + found->first + found->bias;
    Dwfl_Line *line = dwfl_module_getsrc(found->opened, address);
    const char *path = line != NULL
                           ? dwfl_lineinfo(line, NULL, &out_names[0].line, NULL, NULL, NULL)
                           : NULL;
    if (path != NULL)
        snprintf(out_names[0].path, sizeof out_names[0].path, "%s", path);
    return add_inlined(found, address, dwfl_module_addrname(found->opened, address), out_names);
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

int symbols_find_all(symbols_module module, uint64_t offset, place_name out_names[SYMBOLS_INLINED])
{
    (void)module, (void)offset;
    out_names[0] = (place_name){.line = 0};
    return 1;
}

void symbols_close(void)
{
}

#endif

void symbols_find(symbols_module wanted, uint64_t offset, place_name *out_name)
{
    place_name all[SYMBOLS_INLINED];
    (void)symbols_find_all(wanted, offset, all);
    *out_name = all[0];
}
