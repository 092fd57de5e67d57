#include "play/page.h"

#include "play/print.h"
#include "play/stacks.h"

#define STEP_TEXT 1024

static const char style[] =
    "body{font:15px/1.5 sans-serif;margin:2em auto;max-width:60em;color:#222}\n"
    "code{font:14px monospace}\n"
    "section{border-top:1px solid #ddd;padding:.5em 0}\n"
    ".came{color:#26734d}.wrong .came{color:#b3261e;font-weight:bold}\n"
    ".note{color:#666;margin:.2em 0}\n"
    ".stacks{display:flex;flex-wrap:wrap;gap:1em;align-items:flex-end;margin:.5em 0}\n"
    ".stack{display:flex;flex-direction:column;min-width:7em;border-bottom:3px solid #888}\n"
    ".stack b{order:1;text-align:center;background:#eee}\n"
    ".stack span{border:1px solid #88a;background:#e4ecfb;margin-top:2px;padding:.2em "
    ".6em;text-align:center}\n"
    ".stack .current{background:#cde8cf;border-color:#4a8}\n"
    ".stack .destroyed{background:#f6d5d3;text-decoration:line-through}\n"
    ".steps.paged section{display:none}.steps.paged section.shown{display:block}\n"
    ".steps nav{display:none}.steps.paged nav{display:block}\n"
    "nav button{font:inherit;margin-right:.5em}\n";

static const char script[] =
    "for (const steps of document.querySelectorAll('.steps')) {\n"
    "  const all = steps.querySelectorAll('section'), nav = steps.querySelector('nav');\n"
    "  if (all.length === 0) continue;\n"
    "  let at = 0;\n"
    "  const show = to => {\n"
    "    all[at].classList.remove('shown');\n"
    "    at = Math.min(Math.max(to, 0), all.length - 1);\n"
    "    all[at].classList.add('shown');\n"
    "    nav.querySelector('output').textContent = (at + 1) + ' of ' + all.length;\n"
    "  };\n"
    "  const [first, back, on, last, every] = nav.querySelectorAll('button');\n"
    "  first.onclick = () => show(0); back.onclick = () => show(at - 1);\n"
    "  on.onclick = () => show(at + 1); last.onclick = () => show(all.length - 1);\n"
    "  every.onclick = () => steps.classList.remove('paged');\n"
    "  document.addEventListener('keydown', key => {\n"
    "    if (key.key === 'ArrowLeft') show(at - 1);\n"
    "    if (key.key === 'ArrowRight') show(at + 1);\n"
    "  });\n"
    "  steps.classList.add('paged');\n"
    "  show(0);\n"
    "}\n";

static void write_escaped(FILE *page, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", page);
            break;
        case '>':
            fputs("&gt;", page);
            break;
        case '&':
            fputs("&amp;", page);
            break;
        default:
            fputc(*text, page);
        }
    }
}

static void write_element(FILE *page, const char *tag, const char *class, const char *text)
{
    fprintf(page, "<%s class=\"%s\">", tag, class);
    write_escaped(page, text);
    fprintf(page, "</%s>", tag);
}

void cx_page_begin(FILE *page)
{
    fprintf(page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<title>ctxrt play</title>\n<style>\n%s</style>\n</head>\n<body>\n",
            style);
    fflush(page);
}

void cx_page_end(FILE *page)
{
    fprintf(page, "<script>\n%s</script>\n</body>\n</html>\n", script);
    fflush(page);
}

void cx_page_scenario(FILE *page, const cx_scenario *scenario)
{
    fputs("<article>\n", page);
    write_element(page, "h2", "name", scenario->file);
    fputs("\n<div "
          "class=\"steps\">\n<nav><button>first</button><button>back</button><button>on</button>"
          "<button>last</button><button>all</button><output></output></nav>\n",
          page);
    fflush(page);
}

/* Writes the comments right above a step: they say what it is for. */
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
    for (; from != NULL && from != line; from = from->next) {
        if (from->kind != CX_LINE_BLANK || from->note == NULL)
            continue;
        write_element(page, "p", "note", from->note);
        fputc('\n', page);
    }
}

static void write_entries(FILE *page, const cx_stack_entry *top)
{
    for (const cx_stack_entry *each = top; each != NULL; each = each->below)
        write_element(page, "span",
                      each->destroyed ? "destroyed"
                      : each == top   ? "current"
                                      : "below",
                      each->name);
}

static void write_stacks(FILE *page, const cx_stacks *stacks)
{
    fputs("<div class=\"stacks\">\n", page);
    for (const cx_stack *each = stacks->first; each != NULL; each = each->next) {
        fputs("<div class=\"stack\">", page);
        write_element(page, "b", "thread", each->thread);
        write_entries(page, each->top);
        fputs("</div>\n", page);
    }
    fputs("</div>\n", page);
}

void cx_page_step(FILE *page, const cx_player *player, const cx_line *line, const cx_verb *verb)
{
    const cx_came *came = &player->tape->came[line->index];
    char text[STEP_TEXT];
    cx_step bare = line->step;

    bare.outcomes = NULL;
    fprintf(page, "<section class=\"%s\">\n", came->matched ? "right" : "wrong");
    write_notes(page, player->scenario, line);
    fprintf(page, "<p>%d ", line->number);
    cx_step_print(&bare, text, sizeof text);
    write_element(page, "code", "step", text);
    cx_came_print(came, verb, text, sizeof text);
    fputs(" → ", page);
    write_element(page, "code", "came", text);
    if (!came->matched) {
        cx_outcomes_print(&line->step, verb, text, sizeof text);
        fputs(" expected ", page);
        write_element(page, "code", "expected", text);
    }
    if (line->note != NULL) {
        fputc(' ', page);
        write_element(page, "span", "note", line->note);
    }
    fputs("</p>\n", page);
    write_stacks(page, &player->stacks);
    fputs("</section>\n", page);
    fflush(page);
}

void cx_page_verdict(FILE *page, const cx_scenario *scenario, const cx_tape *tape)
{
    static const char *const words[] = {[CX_VERDICT_PASSED] = "It came as the scenario says.",
                                        [CX_VERDICT_FAILED] =
                                            "It did not come as the scenario says.",
                                        [CX_VERDICT_SKIPPED] = "It was not played."};

    fputs("</div>\n", page);
    write_element(page, "p", "verdict", words[cx_play_verdict(scenario, tape)]);
    if (tape->why[0] != '\0')
        write_element(page, "p", "why", tape->why);
    if (tape->explanation[0] != '\0')
        write_element(page, "pre", "why", tape->explanation);
    fputs("\n</article>\n", page);
    fflush(page);
}
