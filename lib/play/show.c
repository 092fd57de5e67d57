#include "play/show.h"

#include "play/print.h"
#include <stdlib.h>
#include <string.h>

#define STEP_TEXT 1024

/* No driver tells how deep a stack is or what lies beneath its top: this follows the calls that
 * succeeded. */
typedef struct entry {
    cx_cell context;
    const char *name; /* given when it came here; a handle may be used again */
    bool destroyed;
    struct entry *below;
} entry;

typedef struct stack {
    const char *thread;
    entry *top;
    struct stack *next;
} stack;

struct cx_show {
    stack *stacks; /* in the order in which their threads came */
};

cx_show *cx_show_create(void)
{
    return calloc(1, sizeof(cx_show));
}

static stack *find(cx_show *show, const char *thread)
{
    stack **link = &show->stacks;
    while (*link != NULL && strcmp((*link)->thread, thread) != 0)
        link = &(*link)->next;
    if (*link == NULL && (*link = calloc(1, sizeof **link)) != NULL)
        (*link)->thread = thread;
    return *link;
}

static void push(stack *on, cx_cell context, const char *name)
{
    entry *top = malloc(sizeof *top);
    if (top == NULL)
        return;
    *top = (entry){context, name, false, on->top};
    on->top = top;
}

static void pop(stack *from)
{
    entry *top = from->top;
    if (top == NULL)
        return;
    from->top = top->below;
    free(top);
}

static void destroy(cx_show *show, stack *caller, cx_cell context)
{
    if (caller->top != NULL && caller->top->context.bits == context.bits && !caller->top->destroyed)
        pop(caller);
    for (stack *each = show->stacks; each != NULL; each = each->next)
        for (entry *in = each->top; in != NULL; in = in->below)
            if (in->context.bits == context.bits)
                in->destroyed = true;
}

static void set(stack *on, cx_cell context, const char *name)
{
    pop(on);
    if (context.bits != 0)
        push(on, context, name);
}

static void apply(cx_show *show, cx_player *player, const cx_step *step)
{
    const cx_operand *operand = &step->operands[0];
    cx_cell context = {.bits = 0};
    stack *mine = find(show, step->thread);
    if (mine == NULL || step->verb == NULL)
        return;
    if (operand->name != NULL)
        cx_value_find(&player->values, CX_KIND_CONTEXT, operand->name, &context);
    switch (cx_verb_number(step->verb)) {
    case CX_VERB_ctx_create:
    case CX_VERB_ctx_create_v3:
    case CX_VERB_ctx_create_v4:
    case CX_VERB_ctx_push:
        push(mine, context, operand->name);
        break;
    case CX_VERB_ctx_pop:
        pop(mine);
        break;
    case CX_VERB_ctx_set:
        set(mine, context, operand->name);
        break;
    case CX_VERB_ctx_destroy:
        destroy(show, mine, context);
        break;
    case CX_VERB_thread_end:
        while (mine->top != NULL)
            pop(mine);
        break;
    default:
        break;
    }
}

static void draw_entries(const entry *top)
{
    if (top == NULL)
        return;
    draw_entries(top->below);
    printf(" [%s%s]", top->name, top->destroyed ? ", destroyed" : "");
}

static void draw(const cx_show *show)
{
    for (const stack *each = show->stacks; each != NULL; each = each->next) {
        printf("      %-8s|", each->thread);
        draw_entries(each->top);
        printf("%s\n", each->top != NULL ? " <- current" : "");
    }
}

void cx_show_step(cx_show *show, cx_player *player, const cx_line *line)
{
    const cx_came *came = &player->tape->came[line->index];
    char text[STEP_TEXT];
    cx_step bare = line->step;
    bare.outcomes = NULL;
    cx_step_print(&bare, text, sizeof text);
    printf("%4d  %s", line->number, text);
    if (line->step.verb != NULL) {
        cx_came_print(came, line->step.verb, text, sizeof text);
        printf("  -> %s", text);
    } else if (cx_outcome_name(came->result) != NULL) {
        printf("  -> %s", cx_outcome_name(came->result));
    }
    printf("\n");
    pthread_mutex_lock(&player->lock);
    if (line->step.thread != NULL && came->result == CXU_SUCCESS)
        apply(show, player, &line->step);
    pthread_mutex_unlock(&player->lock);
    draw(show);
}
