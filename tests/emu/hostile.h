/*
 * What tests of hostile processes share. Each takes a true export and changes one thing, so that a
 * refusal is for that thing alone.
 */
#ifndef CX_TEST_HOSTILE_H
#define CX_TEST_HOSTILE_H

#include "emu/base/process_file.h"
#include "footprint.h"
#include "partner.h"

#include <fcntl.h>

#define FILES CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define BYTES ((size_t)256 << 10)
#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

typedef enum lie {
    NONE, /* a faithful copy, which is opened: so each of the others is refused for what it is */
    NO_SEALS,
    NO_SEAL_OF_SHRINKING,
    NO_SEAL_OF_SEALING,
    SEALED_AGAINST_WRITING,
    SEALED_AGAINST_LATER_WRITING,
    TOO_SHORT,
    NO_LABEL,
    WRONG_MARK,
    WRONG_KIND,
    WRONG_SECRET,
    WRONG_SIZE,
    WRONG_SIZE_OF_FACTS,
    ON_DISK,
    ON_A_FILE_SYSTEM_IN_MEMORY,
    OF_ROOT_AND_READ_ONLY,
    A_FOLDER,
    A_PIPE,
    A_DEVICE,
    A_SOCKET,
    NOT_A_FILE_AT_ALL, /* a closed descriptor */
    LIES
} lie;

/* In the hostile process: ends it where something that it needs fails. */
#define MUST_HOLD(condition) \
    do { \
        if (!(condition)) \
            _exit(__LINE__ % 200 + 1); \
    } while (0)

size_t size_of(int file);

/* What the label of a true file says. */
cx_emu_sealed label_of(int file);

void copy_bytes(int from, int to, size_t begin, size_t end);

/* A file that claims to be the true one. */
int make_lie(lie kind, int original);

/* Puts the file behind the name's descriptor. */
void put(int file, cx_emu_process_file *name);

/* Starts the driver of a hostile process. */
void begin(void);

/* Makes the process, which root started, one of another user: like a program of that user, or
 * (hidden) like one that keeps its own secrets. */
void become_a_stranger(bool hidden);

/* ---- the process that they attack ---- */

void expect_footprint(footprint before);

/* `attempt` is one opening of what `body` offers, in a context that has worked before. */
void expect_of(void (*body)(int link), cxu_result (*attempt)(int link), cxu_result expected);

#endif
