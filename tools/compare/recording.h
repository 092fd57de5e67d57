/*
 * A recording of a driver: what gpu-check wrote, or what the probe printed.
 */
#ifndef CX_COMPARE_RECORDING_H
#define CX_COMPARE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct observation {
    const char *name, *value;
} observation;

/* A scenario with the answers of the driver: its file's name, and its lines, each behind a blank.
 */
typedef struct recorded_scenario {
    const char *name;
    const char *text;
    size_t length;
} recorded_scenario;

typedef struct recording {
    const char *command, *path; /* for messages; both borrowed */
    char *text;
    const char *driver, *device; /* "13.0", and the name of device 0; or NULL */
    observation *observations;
    size_t observation_count;
    recorded_scenario *scenarios;
    size_t scenario_count;
} recording;

/* Reads a file. False: it cannot be read or is no recording, and an error has been printed for
 * `command`. Both ends need recording_free. */
bool recording_load(const char *command, const char *path, recording *out_recording);

/* The embedded driver of CUDA 12 or 13; `version` is that of the driver it is to stand beside, or
 * NULL. */
bool recording_load_embedded(const char *command, const char *version, recording *out_recording);

void recording_free(recording *self);

/* The text behind a prefix of a line; NULL: the line begins otherwise. */
const char *recording_behind(const char *line, const char *prefix);

/* NULL: the recording has no such observation. */
const char *recording_value(const recording *self, const char *name);

#endif
