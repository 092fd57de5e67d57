/*
 * A scenario as a web page to step through: each step, its result, every thread's stack after it,
 * and the devices with what they hold. The page needs no other file; a script draws it.
 */
#ifndef CX_PLAY_PAGE_H
#define CX_PLAY_PAGE_H

#include "play/play.h"
#include "play/player.h"

typedef enum cx_page_form {
    CX_PAGE_HTML,
    CX_PAGE_JSON /* what the page's script draws, alone: for ctxrt draw */
} cx_page_form;

/* The parts of the page before and behind its scenarios. */
void cx_page_begin(FILE *page, cx_page_form form);
void cx_page_end(FILE *page, cx_page_form form);

/* One scenario: its name, then each step as it is played, in any process; then the way it ended.
 * Each call writes its part out before it returns. */
void cx_page_scenario(FILE *page, const cx_scenario *scenario);
void cx_page_step(FILE *page, cx_player *player, const cx_line *line, const cx_verb *verb);
void cx_page_verdict(FILE *page, const cx_scenario *scenario, const cx_tape *tape);

#endif
