#include "play/order.h"
#include "play/page.h"
#include "play/print.h"
#include "play/scene.h"
#include "play/stacks.h"

#define STEP_TEXT 1024

static void draw_step(const cx_player *player, const cx_line *line, const cx_verb *verb)
{
    char text[STEP_TEXT];
    cx_step bare = line->step;
    bare.outcomes = NULL;
    cx_step_print(&bare, text, sizeof text);
    printf("%4d  %s", line->number, text);
    cx_came_print(&player->tape->came[line->index], verb, text, sizeof text);
    printf("  -> %s\n", text);
    cx_stacks_draw(&player->stacks);
}

void cx_player_watch(cx_player *player, const cx_line *line, const cx_call *call)
{
    bool back = call->result != CX_PLAY_WAITS && line->step.mode != CX_MODE_BEGIN;
    if (back && line->step.thread != NULL) {
        cx_lock_enter(&player->lock);
        if (player->order != NULL)
            cx_order_step(player->order, player, call);
        cx_lock_leave(&player->lock);
        if (player->options->page != NULL)
            cx_scene_step(player, call);
        cx_stacks_step(&player->stacks, call);
    }
    if (player->options->show)
        draw_step(player, line, call->line->step.verb);
    if (player->options->page != NULL)
        cx_page_step(player->options->page, player, line, call->line->step.verb);
}
