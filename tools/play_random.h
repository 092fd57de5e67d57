/* ctxrt play --random: scenarios made up at random, compared with the model. */
#ifndef CTXRT_PLAY_RANDOM_H
#define CTXRT_PLAY_RANDOM_H

#include "play/play.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct play_random_request {
    uint64_t seed; /* of the first; the next ones follow */
    int steps;     /* 0: nothing is asked for */
    int count;
    bool first; /* the first that fails is the last, and is printed as it is */
} play_random_request;

/* "SEED,STEPS"; false: it is no such text. */
bool play_random_take(play_random_request *self, const char *text);

/*
 * Plays so many scenarios. One that fails is shortened and printed. Then says how many steps were
 * legal, and how often each rule was exercised. Returns an exit status of command.h.
 */
int play_random(const play_random_request *self, const cx_play_options *options, bool print_only);

#endif
