/*
 * A scenario as a web page to step through: what each step was, what came back, and every thread's
 * stack behind it.
 * The page needs nothing but its file; where scripts do not run, all steps stand one below the
 * other.
 */
#ifndef CX_PLAY_PAGE_H
#define CX_PLAY_PAGE_H

#include "play/play.h"
#include "play/player.h"

/* The page around its scenarios. */
void cx_page_begin(FILE *page);
void cx_page_end(FILE *page);

/* One scenario: its name, then each step as it is played, in whichever process; then how it ended.
 * Each writes its part out before it returns. */
void cx_page_scenario(FILE *page, const cx_scenario *scenario);
void cx_page_step(FILE *page, const cx_player *player, const cx_line *line, const cx_verb *verb);
void cx_page_verdict(FILE *page, const cx_scenario *scenario, const cx_tape *tape);

#endif
