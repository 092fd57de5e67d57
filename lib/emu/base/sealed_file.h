/*
 * Files in memory that other processes of the same user may map. They are sealed: nobody can
 * shorten one, which would end the processes that map it by SIGBUS. They end in a label, which
 * tells them from all other files. A file has contents, which processes map, and facts behind
 * these, which they only read.
 *
 * All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_SEALED_FILE_H
#define CX_EMU_SEALED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cx_emu_sealed_kind {
    CX_EMU_SEALED_SEGMENT, /* of an arena: cuIpcGetMemHandle, cuMemPoolExportPointer */
    CX_EMU_SEALED_EVENT,   /* cuIpcGetEventHandle */
    CX_EMU_SEALED_MEMORY,  /* cuMemExportToShareableHandle */
    CX_EMU_SEALED_POOL     /* cuMemPoolExportToShareableHandle */
} cx_emu_sealed_kind;

/* What a label says. */
typedef struct cx_emu_sealed {
    uint64_t bytes; /* of the contents; 0: the file is sealed against writing, too */
    uint64_t facts_bytes;
    uint64_t secret[2]; /* random */
    int32_t process;    /* that sealed it */
    int32_t file;       /* its descriptor there */
} cx_emu_sealed;

/* Looks once how the system stores such files, so that no check has to. False: out of memory. */
bool cx_emu_sealed_files_begin(void);

/* The name that the system shows for the files of a kind. */
const char *cx_emu_sealed_file_name(cx_emu_sealed_kind kind);

/*
 * Makes a file whose contents are 0, and whose facts are those given, or 0 (NULL). Returns a
 * descriptor that is closed on exec, or -1 after cx_emu_refused_by_system or
 * cx_emu_refused_by_file_limit.
 */
int cx_emu_sealed_file_create(cx_emu_sealed_kind kind, size_t bytes, const void *facts,
                              size_t facts_bytes);

/* Makes a file with contents only, which no process opens before cx_emu_sealed_file_seal. */
int cx_emu_sealed_file_begin(cx_emu_sealed_kind kind, size_t bytes);

/* Adds the facts and the label to such a file, and seals it. False: the system or a limit refused
 * that, and it may be tried again. */
bool cx_emu_sealed_file_seal(int file, cx_emu_sealed_kind kind, size_t bytes, const void *facts,
                             size_t facts_bytes);

/*
 * Reads the label of any descriptor. True: this user's process made the file, it is sealed, it has
 * the size that the label says, and it can be mapped for writing if it has contents. False: it
 * could be anything; nothing was changed or mapped.
 */
bool cx_emu_sealed_file_check(int file, cx_emu_sealed_kind kind, cx_emu_sealed *out_label);

/* Reads facts from their beginning. */
bool cx_emu_sealed_file_facts(int file, const cx_emu_sealed *label, void *out_facts, size_t bytes);

/* True if the file behind a descriptor, which may be open for nothing (O_PATH), can be a sealed
 * file of this user: a file in memory only, which no file system holds. */
bool cx_emu_sealed_file_possible(int file);

/* Random bytes. False: the system gives none. */
bool cx_emu_random(void *out_bytes, size_t count);

#endif
