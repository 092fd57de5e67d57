#include "play/stacks.h"

#include <stdlib.h>
#include <string.h>

static cx_stack *find_stack(cx_stacks *stacks, const char *thread)
{
    cx_stack **link = &stacks->first;
    while (*link != NULL && strcmp((*link)->thread, thread) != 0)
        link = &(*link)->next;
    if (*link == NULL && (*link = calloc(1, sizeof **link)) != NULL)
        (*link)->thread = thread;
    return *link;
}

static void push_entry(cx_stack *on, cx_cell context, const char *name)
{
    cx_stack_entry *top = malloc(sizeof *top);
    if (top == NULL)
        return;
    *top = (cx_stack_entry){context, name, false, on->top};
    on->top = top;
}

static void pop_entry(cx_stack *from)
{
    cx_stack_entry *top = from->top;
    if (top == NULL)
        return;
    from->top = top->below;
    free(top);
}

static void destroy_entries(cx_stacks *stacks, cx_stack *caller, cx_cell context)
{
    const cx_stack_entry *top = caller->top;
    if (top != NULL && top->context.bits == context.bits && !top->destroyed)
        pop_entry(caller);
    for (cx_stack *each = stacks->first; each != NULL; each = each->next)
        for (cx_stack_entry *in = each->top; in != NULL; in = in->below)
            if (in->context.bits == context.bits)
                in->destroyed = true;
}

static void set_entry(cx_stack *on, cx_cell context, const char *name)
{
    pop_entry(on);
    if (context.bits != 0)
        push_entry(on, context, name);
}

void cx_stacks_step(cx_stacks *stacks, const cx_call *call)
{
    const cx_step *step = &call->line->step;
    const char *name = step->operands[0].name;
    cx_stack *mine = call->result == CXU_SUCCESS ? find_stack(stacks, step->thread) : NULL;
    if (mine == NULL)
        return;
    switch (cx_verb_number(step->verb)) {
    case CX_VERB_ctx_create:
    case CX_VERB_ctx_create_v3:
    case CX_VERB_ctx_create_v4:
    case CX_VERB_ctx_create_affinities:
    case CX_VERB_ctx_create_params:
        push_entry(mine, call->out[0], name);
        break;
    case CX_VERB_ctx_push:
        push_entry(mine, call->in[0], name);
        break;
    case CX_VERB_ctx_pop:
        pop_entry(mine);
        break;
    case CX_VERB_ctx_set:
        set_entry(mine, call->in[0], name);
        break;
    case CX_VERB_ctx_destroy:
        destroy_entries(stacks, mine, call->in[0]);
        break;
    case CX_VERB_thread_end:
        while (mine->top != NULL)
            pop_entry(mine);
        break;
    default:
        break;
    }
}

cx_cell cx_stacks_current(const cx_stacks *stacks, const char *thread)
{
    for (const cx_stack *each = stacks->first; each != NULL; each = each->next)
        if (strcmp(each->thread, thread) == 0 && each->top != NULL)
            return each->top->context;
    return (cx_cell){.bits = 0};
}

static void draw_entries(const cx_stack_entry *top)
{
    if (top == NULL)
        return;
    draw_entries(top->below);
    printf(" [%s%s]", top->name, top->destroyed ? ", destroyed" : "");
}

void cx_stacks_draw(const cx_stacks *stacks)
{
    for (const cx_stack *each = stacks->first; each != NULL; each = each->next) {
        printf("      %-8s|", each->thread);
        draw_entries(each->top);
        printf("%s\n", each->top != NULL ? " <- current" : "");
    }
}
