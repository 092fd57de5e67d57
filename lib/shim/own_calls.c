/* Looks into an ELF file before it is loaded. */
#include "shim/real_driver.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct image {
    const char *bytes;
    size_t size;
} image;

static const void *at(const image *self, uint64_t offset, uint64_t bytes)
{
    return offset <= self->size && bytes <= self->size - offset ? self->bytes + offset : NULL;
}

static const ElfW(Shdr) * section(const image *self, unsigned int index)
{
    const ElfW(Ehdr) *head = at(self, 0, sizeof *head);
    return index < head->e_shnum
               ? at(self, head->e_shoff + (uint64_t)index * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)))
               : NULL;
}

static bool has_elf_head(const image *self)
{
    const ElfW(Ehdr) *head = at(self, 0, sizeof *head);
    return head != NULL && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           head->e_shentsize == sizeof(ElfW(Shdr));
}

/* -Bsymbolic: the library's own symbols come first for it. */
static bool is_symbolic(const image *self, const ElfW(Shdr) * dynamic)
{
    const ElfW(Dyn) *entry = at(self, dynamic->sh_offset, dynamic->sh_size);
    for (size_t i = 0; entry != NULL && i < dynamic->sh_size / sizeof *entry; i++)
        if (entry[i].d_tag == DT_SYMBOLIC ||
            (entry[i].d_tag == DT_FLAGS && (entry[i].d_un.d_val & DF_SYMBOLIC) != 0))
            return true;
    return false;
}

static bool is_own_call(const image *self, const ElfW(Shdr) * symbols, uint64_t index)
{
    const ElfW(Shdr) *names = section(self, symbols->sh_link);
    const ElfW(Sym) *symbol = at(self, symbols->sh_offset + index * sizeof *symbol, sizeof *symbol);
    if (names == NULL || symbol == NULL || symbol->st_shndx == SHN_UNDEF ||
        (symbol->st_other & 3) != STV_DEFAULT)
        return false;
    const char *name = at(self, names->sh_offset + symbol->st_name, 3);
    return name != NULL && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

/* Relocations with addends alone: no host of ours has the other ones. */
static bool has_own_call(const image *self, const ElfW(Shdr) * relocations)
{
    const ElfW(Shdr) *symbols = section(self, relocations->sh_link);
    const ElfW(Rela) *each = at(self, relocations->sh_offset, relocations->sh_size);
    for (size_t i = 0; symbols != NULL && each != NULL && i < relocations->sh_size / sizeof *each;
         i++) {
        uint64_t index =
            sizeof(void *) == 8 ? ELF64_R_SYM(each[i].r_info) : ELF32_R_SYM(each[i].r_info);
        if (index != 0 && is_own_call(self, symbols, index))
            return true;
    }
    return false;
}

static bool refers_to_itself(const image *self)
{
    bool found = false;
    if (!has_elf_head(self))
        return false;
    const ElfW(Shdr) * each;
    for (unsigned int i = 0; (each = section(self, i)) != NULL; i++) {
        if (each->sh_type == SHT_DYNAMIC && is_symbolic(self, each))
            return false;
        if (each->sh_type == SHT_RELA)
            found = has_own_call(self, each) || found;
    }
    return found;
}

bool cx_real_driver_refers_to_itself(const char *path)
{
    struct stat status;
    bool found = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        image self = {.size = (size_t)status.st_size};
        void *mapped = mmap(NULL, self.size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped != MAP_FAILED) {
            self.bytes = mapped;
            found = refers_to_itself(&self);
            munmap(mapped, self.size);
        }
    }
    close(file);
    return found;
}
