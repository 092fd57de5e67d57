#include "play/page.h"

#include "play/order.h"
#include "play/print.h"
#include "play/rule.h"
#include "play/scene.h"
#include "play/stacks.h"
#include "theme/write.h"

#include "tools/play/page_parts.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#define STEP_TEXT 1024

/*
 * The page has what was played as JSON, which its script draws. An array begins with null, so that
 * whatever process writes the next element can begin it with a comma.
 */

static void begin_document(FILE *page)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<title>ctxrt play</title>\n<style>\n",
          page);
    look_write_lines(palette_css, page);
    look_write_lines(theme_css, page);
    look_write_lines(page_css, page);
    fputs("</style>\n</head>\n<body>\n", page);
    look_write_lines(page_html, page);
    fputs("<script type=\"application/json\" id=\"played\">", page);
}

static void end_document(FILE *page)
{
    fputs("</script>\n<script>\n/*<![CDATA[*/\n", page);
    look_write_lines(theme_js, page);
    look_write_lines(page_js, page);
    look_write_lines(page_keys_js, page);
    fputs("/*]]>*/\n</script>\n</body>\n</html>\n", page);
}

void cx_page_begin(FILE *page, cx_page_form form)
{
    if (form == CX_PAGE_HTML)
        begin_document(page);
    fputs("{\"scenarios\":[null", page);
    fflush(page);
}

void cx_page_end(FILE *page, cx_page_form form)
{
    fputs(form == CX_PAGE_HTML ? "\n]}" : "\n]}\n", page);
    if (form == CX_PAGE_HTML)
        end_document(page);
    fflush(page);
}

static void write_text(FILE *page, const char *name, const char *text)
{
    fprintf(page, ",\"%s\":", name);
    look_write_quoted(text, page);
}

/* ---- a scenario ---- */

static int count_devices(const cx_scenario *scenario)
{
    for (const cx_line *line = scenario->lines.first; line != NULL; line = line->next)
        if (line->kind == CX_LINE_DIRECTIVE && line->directive == CX_DIRECTIVE_DEVICES)
            return line->devices;
    return 1;
}

void cx_page_scenario(FILE *page, const cx_scenario *scenario)
{
    fprintf(page, "\n,{\"devices\":%d", count_devices(scenario));
    write_text(page, "file", scenario->file);
    fputs(",\"steps\":[null", page);
    fflush(page);
}

/* True if a comment names it, as "C2 [D]" does. */
static bool names_rule(const char *note, const char *id)
{
    size_t length = strlen(id);
    for (const char *at = strstr(note, id); at != NULL; at = strstr(at + 1, id))
        if ((at == note || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

static bool is_cited(const cx_line_block *block, const char *id)
{
    for (const cx_line *line = block->first; line != NULL; line = line->next)
        if ((line->note != NULL && names_rule(line->note, id)) ||
            (line->kind == CX_LINE_STEP && is_cited(&line->step.block, id)))
            return true;
    return false;
}

static void write_rules(FILE *page, const cx_scenario *scenario)
{
    bool begun = false;
    fputs(",\"rules\":{", page);
    for (size_t i = 0; i < all_rules_count; i++) {
        const driver_rule *each = &all_rules[i];
        if (!is_cited(&scenario->lines, each->id))
            continue;
        fprintf(page, "%s\n\"%s\":{\"anchor\":\"%s\"", begun ? "," : "", each->id, each->anchor);
        write_text(page, "words", each->words);
        write_text(page, "text", each->text);
        write_text(page, "evidence", each->evidence);
        write_text(page, "section", each->section);
        fputc('}', page);
        begun = true;
    }
    fputc('}', page);
}

void cx_page_verdict(FILE *page, const cx_scenario *scenario, const cx_tape *tape)
{
    static const char *const words[] = {[CX_VERDICT_PASSED] = "It came as the scenario says.",
                                        [CX_VERDICT_FAILED] =
                                            "It did not come as the scenario says.",
                                        [CX_VERDICT_SKIPPED] = "It was not played."};
    fputs("\n]", page);
    write_text(page, "verdict", words[cx_play_verdict(scenario, tape)]);
    write_text(page, "why", tape->why);
    write_text(page, "explanation", tape->explanation);
    write_text(page, "device", tape->device);
    /* Where it was not installed, a page beside docs/semantics.md finds it. */
    write_text(page, "manual", access(MANUAL, R_OK) == 0 ? "file://" MANUAL : "semantics.md");
    write_rules(page, scenario);
    fputc('}', page);
    fflush(page);
}

/* ---- a step ---- */

/* The comments right above a step: they say what it is for. */
static void write_notes(FILE *page, const cx_scenario *scenario, const cx_line *line)
{
    const cx_line *from = NULL;
    for (const cx_line *each = scenario->lines.first; each != NULL && each != line;
         each = each->next) {
        if (each->kind == CX_LINE_STEP)
            from = NULL;
        else if (from == NULL)
            from = each;
        if (each->next == NULL)
            return; /* the step is in a block */
    }
    fputs(",\"above\":[null", page);
    for (; from != NULL && from != line; from = from->next) {
        if (from->kind != CX_LINE_BLANK || from->note == NULL)
            continue;
        fputc(',', page);
        look_write_quoted(from->note, page);
    }
    fputc(']', page);
}

/* Entries from the top: the number of the context, its name then, and whether it was destroyed. */
static void write_entries(FILE *page, const cx_scene *scene, const cx_stack_entry *top)
{
    for (const cx_stack_entry *each = top; each != NULL; each = each->below) {
        int index = cx_scene_find(scene, CX_KIND_CONTEXT, each->context, !each->destroyed);
        fprintf(page, ",[%d,%s,", index, each->destroyed ? "true" : "false");
        look_write_quoted(each->name, page);
        fputc(']', page);
    }
}

static void write_stacks(FILE *page, const cx_player *player)
{
    fputs(",\"stacks\":[", page);
    for (const cx_stack *each = player->stacks.first; each != NULL; each = each->next) {
        fputs(each == player->stacks.first ? "[" : ",[", page);
        look_write_quoted(each->thread, page);
        write_entries(page, &player->scene, each->top);
        fputc(']', page);
    }
    fputc(']', page);
}

static void write_result(FILE *page, const cx_came *came, const cx_line *line, const cx_verb *verb)
{
    char text[STEP_TEXT];
    cx_step bare = line->step;
    bare.outcomes = NULL;
    cx_step_print(&bare, text, sizeof text);
    write_text(page, "text", text);
    cx_came_print(came, verb, text, sizeof text);
    write_text(page, "came", text);
    if (came->matched)
        return;
    cx_outcomes_print(&line->step, verb, text, sizeof text);
    write_text(page, "expected", text);
}

void cx_page_step(FILE *page, cx_player *player, const cx_line *line, const cx_verb *verb)
{
    fprintf(page, "\n,{\"line\":%d,\"process\":%d", cx_line_shown(line), (int)getpid());
    write_result(page, &player->tape->came[line->index], line, verb);
    write_notes(page, player->scenario, line);
    if (line->note != NULL)
        write_text(page, "note", line->note);
    write_stacks(page, player);
    fputs(",\"things\":", page);
    cx_scene_write_changes(player, page);
    fputs(",\"work\":", page);
    cx_scene_write_work(player, page);
    if (player->order != NULL && cx_order_is_lost(player->order))
        fputs(",\"lost\":true", page);
    fputc('}', page);
    fflush(page);
}
