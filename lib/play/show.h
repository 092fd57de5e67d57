/*
 * Drawing every thread's stack of contexts, as the steps so far have left it.
 */
#ifndef CX_PLAY_SHOW_H
#define CX_PLAY_SHOW_H

#include "play/player.h"

typedef struct cx_show cx_show;

cx_show *cx_show_create(void); /* NULL: out of memory */

/* Takes in what a step did and draws all stacks on stdout. */
void cx_show_step(cx_show *show, cx_player *player, const cx_line *line);

#endif
