/*
 * The part of an event that processes of one machine share (cuIpcGetEventHandle): a page of a file
 * in memory, which each of them maps. A recording gets a number, and an entry of the page until its
 * work is done; waiting for it is waiting until no entry has the number. The entry names the
 * process that records, so that its end is the end of its recordings. No lock is shared: a process
 * may stop or end anywhere.
 *
 * All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_SHARED_EVENT_H
#define CX_EMU_SHARED_EVENT_H

#include "emu/base/process_file.h"
#include "emu/schedule/work.h"

typedef struct cx_emu_shared_event cx_emu_shared_event;

/* The contents of a handle: all of it, so that every change of a handle is seen. */
typedef struct cx_emu_shared_event_place {
    char mark[8];
    cx_emu_process_file where;
    uint64_t reserved[2]; /* 0 */
} cx_emu_shared_event_place;

_Static_assert(sizeof(cx_emu_shared_event_place) == sizeof(cxu_ipc_event_handle),
               "it must fill it");

#define CX_EMU_SHARED_RECORDS 1000 /* unfinished at the same time */

/* Makes one that other processes can open, with a reference, for an event of a device's board.
 * CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_shared_event_create(int board, cx_emu_shared_event **out_shared);

/* Says where it is. False: it was not made here, or the program has closed its file. */
bool cx_emu_shared_event_describe(const cx_emu_shared_event *shared,
                                  cx_emu_shared_event_place *out_place);

/* Opens that of another process by what a handle, which may be forged, says, with a reference.
 * CXU_INVALID_HANDLE: a driver of this kind and user shares no such event; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_shared_event_open(const cx_emu_shared_event_place *place,
                                    cx_emu_shared_event **out_shared);

/* The board of the event's device; -1: the host. */
int cx_emu_shared_event_board(const cx_emu_shared_event *shared);

/* Drops the reference of an event that ends: nobody opens it from now on. */
void cx_emu_shared_event_leave(cx_emu_shared_event *shared);

void cx_emu_shared_event_retain(cx_emu_shared_event *shared);
void cx_emu_shared_event_drop(cx_emu_shared_event *shared);

/* The number of the last recording by any process; 0: there is none. */
uint64_t cx_emu_shared_event_recorded(const cx_emu_shared_event *shared);

/* True if the work of a recording is done, or its process has ended. */
bool cx_emu_shared_event_finished(cx_emu_shared_event *shared, uint64_t number);

/* ---- recording ---- */

/* A recording of this process; `shared` is NULL for an event that is not shared, which has none. */
typedef struct cx_emu_shared_record {
    cx_emu_shared_event *shared;
    uint64_t number;
    int entry;
} cx_emu_shared_record;

/* Takes an entry and a number, which the others do not see yet. False: there are too many. */
bool cx_emu_shared_record_begin(cx_emu_shared_event *shared, cx_emu_shared_record *out_record);

/* Makes a request end the recording when its work is done; `record` is copied. */
void cx_emu_shared_record_request(cx_emu_shared_record *record, cx_emu_work_request *request);

/* Makes it the last recording for all processes. Its work, which is submitted, runs under every
 * schedule from now on: another process may wait for it. Returns its number. */
uint64_t cx_emu_shared_record_announce(const cx_emu_shared_record *record, cx_emu_work *work);

/* Ends a recording whose work is done, or was never submitted. */
void cx_emu_shared_record_end(const cx_emu_shared_record *record);

/* True if a recording of this process is not done. */
bool cx_emu_shared_records_pending(void);

/* ---- waiting ---- */

/* The argument of a piece of work that waits for a recording. */
typedef struct cx_emu_shared_wait {
    cx_emu_shared_event *shared;
    uint64_t number;
    cx_emu_context *context; /* its end ends the wait */
    uint64_t opening;
} cx_emu_shared_wait;

/* Makes the request for it. */
void cx_emu_shared_wait_request(cx_emu_shared_wait *wait, cx_emu_work_request *out_request);

/* Waits in the calling thread, with the lock released meanwhile. */
void cx_emu_shared_wait_here(cx_emu_shared_wait *wait);

#endif
