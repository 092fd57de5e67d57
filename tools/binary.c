#include "binary.h"

#include "config.h"
#include "place.h"

#include <string.h>

#ifdef HAVE_LIBDW

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- where the program is ---- */

static bool find_program(const char *program, char path[PATH_MAX])
{
    if (strchr(program, '/') == NULL)
        return place_find_in_list(getenv("PATH"), program, X_OK, path);
    return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX;
}

/* ---- what it needs ---- */

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Libraries that NVIDIA ships as machine code, linked with a runtime of their own. */
static bool is_closed(const char *soname)
{
    static const char *const names[] = {"libcublas.",  "libcublasLt.", "libcufft.",  "libcurand.",
                                        "libcusolver", "libcusparse.", "libcudnn",   "libnccl.",
                                        "libnpp",      "libnvjpeg.",   "libcutensor"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (begins(soname, names[i]))
            return true;
    return false;
}

static void note_needed(binary *self, const char *soname)
{
    if (begins(soname, "libcudart.so"))
        snprintf(self->runtime, sizeof self->runtime, "%s", soname);
    else if (is_closed(soname) && self->closed[0] == '\0')
        snprintf(self->closed, sizeof self->closed, "%s", soname);
}

static void read_dynamic(binary *self, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    bool has_runpath = false;
    for (size_t i = 0;
         data != NULL && head->sh_entsize != 0 && i < head->sh_size / head->sh_entsize; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, (int)i, &entry) == NULL || entry.d_tag == DT_NULL)
            break;
        const char *text = elf_strptr(elf, head->sh_link, entry.d_un.d_val);
        if (entry.d_tag == DT_NEEDED && text != NULL)
            note_needed(self, text);
        if (entry.d_tag == DT_RPATH && text != NULL)
            snprintf(self->rpath, sizeof self->rpath, "%s", text);
        has_runpath = has_runpath || entry.d_tag == DT_RUNPATH;
    }
    if (has_runpath)
        self->rpath[0] = '\0'; /* the dynamic linker ignores it then */
}

/* ---- its device code ---- */

typedef struct fat_head {
    uint32_t magic;
    uint16_t version, head_size;
    uint64_t size; /* of the parts behind it */
} fat_head;

typedef struct fat_part {
    uint16_t kind, version;
    uint32_t head_size;
    uint64_t size;
} fat_part;

enum { FAT_MAGIC = 0xba55ed50, PART_IS_PTX = 1, PART_IS_MACHINE_CODE = 2, ALIGNMENT = 8 };

/* Which kinds of code a fat binary has. */
typedef struct code_kinds {
    bool ptx, machine;
} code_kinds;

static code_kinds find_kinds(const char *bytes, size_t size)
{
    code_kinds found = {0};
    fat_part part;
    for (size_t at = 0; at + sizeof part <= size; at += part.head_size + part.size) {
        memcpy(&part, bytes + at, sizeof part);
        found.ptx = found.ptx || part.kind == PART_IS_PTX;
        found.machine = found.machine || part.kind == PART_IS_MACHINE_CODE;
        if (part.head_size < sizeof part || part.size > size || part.head_size > size)
            break;
    }
    return found;
}

static void add_kinds(binary *self, code_kinds kinds)
{
    self->has_ptx = self->has_ptx || kinds.ptx;
    self->has_machine_code = self->has_machine_code || kinds.machine;
}

/* `linked`: fat binaries of nvcc -rdc=true. The device runtime, which nvcc links last, always has
 * PTX; so the last of several does not count. A program without kernels has a fat binary without
 * parts. */
static void read_device_code(binary *self, Elf_Scn *section, bool linked)
{
    const Elf_Data *data = elf_rawdata(section, NULL);
    fat_head head;
    size_t count = 0;
    code_kinds last = {0};
    self->has_device_code = true;
    for (size_t at = 0; data != NULL && data->d_buf != NULL && at + sizeof head <= data->d_size;) {
        const char *bytes = (const char *)data->d_buf + at;
        memcpy(&head, bytes, sizeof head);
        if (head.magic != FAT_MAGIC || head.head_size < sizeof head ||
            head.size > data->d_size - at - sizeof head) {
            at += ALIGNMENT;
            continue;
        }
        add_kinds(self, last);
        last = find_kinds(bytes + head.head_size, head.size);
        count++;
        at += head.head_size + head.size;
        at = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    if (!linked || count == 1)
        add_kinds(self, last);
}

static bool read_sections(binary *self, Elf *elf)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr head;
        if (gelf_getshdr(section, &head) == NULL)
            return false;
        const char *name = elf_strptr(elf, names, head.sh_name);
        if (head.sh_type == SHT_DYNAMIC)
            read_dynamic(self, elf, section, &head);
        else if (name != NULL && strcmp(name, ".nv_fatbin") == 0)
            read_device_code(self, section, false);
        else if (name != NULL && strcmp(name, "__nv_relfatbin") == 0)
            read_device_code(self, section, true);
    }
    return true;
}

bool binary_read(const char *program, binary *out)
{
    memset(out, 0, sizeof *out);
    if (!find_program(program, out->path) || elf_version(EV_CURRENT) == EV_NONE)
        return false;
    int file = open(out->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    bool read = elf != NULL && read_sections(out, elf);
    if (elf != NULL)
        (void)elf_end(elf);
    (void)close(file);
    return read;
}

#else

bool binary_read(const char *program, binary *out)
{
    (void)program;
    memset(out, 0, sizeof *out);
    return false;
}

#endif
