/*
 * The pipeline: chunks of a file go through the devices, by worker threads that switch devices for
 * each chunk.
 *
 *   file -> pinned buffer -> device d -> device d + 1 -> pinned buffer -> histogram and CRC-32
 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <ctxrt/ctxrt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICES_MAX = 64, THREADS_MAX = 1024 };

/* The results of a pass over some bytes. */
typedef struct totals {
    uint64_t histogram[256];
    uint64_t bytes;
    uint32_t crc;
} totals;

void totals_add(totals *self, const unsigned char *bytes, size_t count);
bool totals_equal(const totals *left, const totals *right);

/* The file, read in chunks; the plain CPU pass over it is done on the way. */
typedef struct source {
    pthread_mutex_t lock;
    int file;
    const char *name;
    size_t chunk_bytes;
    size_t size_bytes; /* 0: unknown */
    size_t next_chunk;
    bool ended;
    totals plain;
} source;

/* Opens the file. False: it cannot be read, errno says why. */
bool source_open(source *self, const char *name, size_t chunk_bytes);
void source_close(source *self);

/* Reads the next chunk. 1: there is one; 0: the file has ended; -1: it cannot be read, errno says
 * why. */
int source_read(source *self, void *buffer, size_t *out_chunk, size_t *out_bytes);

/* The results of one chunk that came back. */
typedef struct chunk_result {
    uint32_t crc;
    size_t bytes;
} chunk_result;

typedef struct device_figures {
    atomic_ulong chunks, bytes, switches;
    atomic_ullong busy_us; /* between the events around its work */
} device_figures;

typedef struct pipeline {
    source *source;
    int devices;
    int threads;
    ctxrt_device device[DEVICES_MAX];
    device_figures figures[DEVICES_MAX];
    pthread_mutex_t lock; /* the fields below */
    totals back;          /* the histogram of what came back */
    chunk_result *results;
    size_t result_capacity, result_count;
    int working;               /* workers that are not over */
    int gathered;              /* those that are in mid-flight, and wait for the others */
    pthread_cond_t everybody;  /* the snapshot was taken */
    char *snapshot;
    size_t snapshot_size;
    const char *snapshot_file; /* gets it as JSON, too; NULL: none does */
    char failure[600];
    atomic_bool stop; /* something failed */
    atomic_bool over; /* all workers are done */
    atomic_ulong done_bytes;
} pipeline;

/* Runs until the source has ended or something failed; false then, with `failure` set. */
bool pipeline_run(pipeline *self);

/* The body of a worker thread. */
void *worker_run(void *argument);

/* In mid-flight: waits until every worker is there or over. The last one takes the snapshot. */
bool gather(pipeline *self);

/* A worker is over: the others do not wait for it. */
void gather_without(pipeline *self);

/* Notes the first failure and stops everybody. */
__attribute__((format(printf, 2, 3))) void pipeline_fail(pipeline *self, const char *format, ...);

/* Keeps what came back of a chunk. */
bool pipeline_keep(pipeline *self, size_t chunk, const totals *of_chunk);

void report_write(pipeline *self, double seconds);

#endif
