/* ctxrt play --random: random scenarios, compared with the model. */
#ifndef CTXRT_PLAY_RANDOM_H
#define CTXRT_PLAY_RANDOM_H

#include "play/play.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct play_random_request {
    uint64_t seed; /* of the first; the next ones follow */
    int steps;     /* 0: not requested */
    int count;
    bool first; /* stop at the first failure, and print it as it is */
} play_random_request;

/* Parses "SEED,STEPS"; false: malformed. */
bool play_random_take(play_random_request *self, const char *text);

/*
 * Plays the scenarios, and shortens and prints those that fail. Then prints how many steps were
 * legal, and how often each rule was exercised. Returns an exit status of command.h.
 */
int play_random(const play_random_request *self, const cx_play_options *options, bool print_only);

#endif
