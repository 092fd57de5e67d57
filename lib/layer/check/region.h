/*
 * A checked process leaves findings, live objects and their origins for `ctxrt check`, in a file
 * that both map. It is whole whatever ends the process.
 *
 * The process writes, with the lock "check" held or atomically; `ctxrt check` reads, meanwhile too.
 * A record is filled before the count that includes it grows. Records of the four arrays have room
 * in the file in the order of their numbers; those without it are counted.
 */
#ifndef CX_LAYER_CHECK_REGION_H
#define CX_LAYER_CHECK_REGION_H

#include "base/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    CX_REGION_MODULES = 1024,
    CX_REGION_TRACES = 1 << 16,
    CX_REGION_FINDINGS = 4096,
    CX_REGION_OBJECTS = 1 << 20,
    CX_REGION_FRAMES = 12,
    CX_REGION_NOTES = 6,
    CX_REGION_PATH = 256,
    CX_REGION_TEXT = 480,
    CX_REGION_APIS = 512,
    CX_REGION_API = 64,
    CX_REGION_ID = 20,
    CX_REGION_WAITS = 256
};

#define CX_REGION_MAGIC 0x6b68637478637472u
#define CX_REGION_VERSION 9u

/* A place in a module: the return address less the module's begin, less 1. */
typedef struct cx_region_frame {
    uint32_t module;
    uint32_t zero;
    uint64_t offset;
} cx_region_frame;

/* A backtrace, the innermost frame first. Traces are counted from 1; 0 is an unknown place. */
typedef struct cx_region_trace {
    uint32_t count;
    uint32_t api; /* the call of the CUDA Runtime API that the program made there, by its number
                     among `apis`; 0: it called the driver itself */
    cx_region_frame frames[CX_REGION_FRAMES];
} cx_region_trace;

/* A line of a finding: "stream 3", "made", and where. */
typedef struct cx_region_note {
    char role[16];
    char text[CX_REGION_TEXT];
    uint32_t trace;
} cx_region_note;

typedef struct cx_region_finding {
    uint32_t kind;        /* cx_check_kind */
    atomic_uint count;    /* how often */
    int32_t slot, result; /* of the call; -1: none */
    int32_t thread;
    char thread_name[16];
    uint32_t trace; /* of the call */
    uint32_t note_count;
    int32_t tid;   /* of the thread that found it first */
    uint64_t time; /* of that, ns of the monotonic clock */
    cx_region_note notes[CX_REGION_NOTES];
} cx_region_finding;

typedef struct cx_region_object {
    uint32_t kind, number; /* kind 0: the record is free */
    int32_t device;        /* -1: unknown */
    uint32_t made;         /* trace */
    uint64_t bytes;
    uint32_t context; /* its number, of the owner; 0: none or unknown */
    uint8_t worked;   /* a context in which something was made or done */
    uint8_t primary;
    uint8_t zero[2];
} cx_region_object;

/* A call that waits, of the thread with this number less 1. */
typedef struct cx_region_wait {
    uint32_t thread; /* 0: it is in no such call; written last */
    int32_t slot;
    uint32_t trace;
    char name[16];
    uint64_t since;       /* ns of the monotonic clock */
    uint32_t object_kind; /* of what it waits for; 0: unknown */
    uint32_t object_number;
    int32_t object_device;
    uint32_t primary; /* it is a primary context */
    uint32_t made;    /* trace */
    int32_t last_slot; /* of the call that gave it its latest work; -1: none */
    uint32_t last_trace;
    int32_t last_thread;
} cx_region_wait;

/* The build id that a module had in memory. */
typedef struct cx_region_id {
    uint8_t count; /* 0: it has none */
    uint8_t bytes[CX_REGION_ID];
} cx_region_id;

typedef struct cx_region {
    uint64_t magic;
    uint32_t version;
    int32_t pid;
    int32_t forked_from;    /* 0: not the child of a checked process */
    uint64_t begun;         /* ns of the monotonic clock */
    atomic_uint exiting;    /* exit handlers began to run */
    atomic_uint objects;    /* records in use at some time */
    atomic_uint unrecorded; /* objects for which there was no record */
    atomic_uint unreported; /* findings for which there was no room */
    atomic_uint followed;   /* calls that failed for a reason that a finding has told */
    atomic_uint untraced;   /* backtraces for which there was no room */
    atomic_uint gave_up;    /* memory was missing: later calls and what is alive are not judged */
    atomic_uint stuck;      /* calls failed with an error that sticks: what is left alive since then
                               could not be ended, and is not told */
    atomic_uint modules, traces, findings;
    atomic_ullong devices_worked; /* bits of those below 64 on which something was made or done */
    char program[CX_REGION_PATH];
    char apis[CX_REGION_APIS][CX_REGION_API]; /* from 1 on, up to an empty one */
    cx_region_wait waits[CX_REGION_WAITS];
    cx_region_id ids[CX_REGION_MODULES]; /* of the modules, as `paths` */
    char paths[CX_REGION_MODULES][CX_REGION_PATH];
    cx_region_trace all_traces[CX_REGION_TRACES];
    cx_region_finding all_findings[CX_REGION_FINDINGS];
    cx_region_object all_objects[CX_REGION_OBJECTS];
} cx_region;

typedef enum cx_region_array {
    CX_REGION_ALL_PATHS,
    CX_REGION_ALL_TRACES,
    CX_REGION_ALL_FINDINGS,
    CX_REGION_ALL_OBJECTS,
    CX_REGION_ARRAYS
} cx_region_array;

/* True if something was made or done on another device. */
static inline bool cx_region_works_elsewhere(const cx_region *region, int device)
{
    unsigned long long worked = atomic_load(&((cx_region *)region)->devices_worked);
    return (worked & ~(device < 64 ? 1ull << device : 0)) != 0;
}

/* "check": guards all of the layer check; no driver call holds it. */
extern cx_lock cx_check_lock;

/* The process's, which cx_region_open made. */
extern cx_region *cx_region_here;

/* True if the region is a file; else it is memory of the process, which nobody else reads. */
extern bool cx_region_in_file;

/* Makes one: a file of the folder CTXRT_CHECK_FOLDER, or memory of the process if that is not set
 * or has no room. False: there is no memory either, and nothing is checked. */
bool cx_region_open(void);

/* True if the record has room, for which the file may grow. The caller holds the lock "check", and
 * records for all lower numbers. */
bool cx_region_has_room(cx_region_array array, uint32_t index);

/* There was no memory for what the checker keeps of the process. Findings rest on all of that, so
 * nothing is found from now on, in children neither; the report says so. Needs no lock. */
void cx_region_give_up(void);

/* True once the checker has given up. */
bool cx_region_gave_up(void);

/* In the child of a fork the region is the parent's until a call comes: most children only execute
 * another program. Nothing writes to it meanwhile. */
extern atomic_bool cx_region_of_parent;

/* Gives a child a region of its own, with the parent's traces and modules, which origins of before
 * the fork name. False: there is no memory, and nothing is checked any more; the command finds an
 * empty file. */
bool cx_region_fork(void);

#endif
