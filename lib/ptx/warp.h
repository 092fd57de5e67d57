/*
 * The lanes of a warp. Those of a group do each instruction together. Where a branch divides a
 * group, its parts have a join: each waits there until all that have not ended are there.
 *
 * A part may wait for lanes that are at a join (a lock that one of them holds). So a join loses
 * patience while the others only wait, and lets those go on that are there.
 */
#ifndef CX_PTX_WARP_H
#define CX_PTX_WARP_H

#include "ptx/flow.h"
#include "ptx/grid.h"

#define CX_PTX_NO_JOIN UINT8_MAX

/* Backward jumps in one turn: waiting lanes must let those run that they wait for. */
#define CX_PTX_TURN 4096

/* The place where the parts of a group meet. */
typedef struct cx_ptx_join {
    const cx_ptx_instruction *next;
    uint32_t depth;    /* of calls */
    uint32_t expected; /* lanes; 0: not used */
    uint32_t arrived;
    uint32_t waited;
    uint8_t parent; /* the join of the divided group */
} cx_ptx_join;

/* Lanes with the same next instruction and the same calls. */
typedef struct cx_ptx_group {
    const cx_ptx_instruction *next;
    uint32_t mask;
    uint32_t depth; /* of calls */
    int turn;       /* what is left of it */
    uint32_t accesses; /* to memory; its turn is over before the last one of them; 0: any number */
    uint8_t join;   /* the innermost */
    uint8_t pace;   /* of the loop in which its turn ended */
    bool blocked;   /* its lanes wait at `next`, but for those that are ready again */
    uint32_t chosen; /* lanes that the branch at `next` sends to its target, if it divided them */
} cx_ptx_group;

struct cx_ptx_warp {
    cx_ptx_thread *lanes;
    uint32_t all;   /* lanes, the ended ones too */
    uint32_t ended;
    uint32_t at_join;    /* lanes that wait where those of their group meet again, */
    uint32_t at_warp;    /* for a joint operation, */
    uint32_t at_cluster; /* at the barrier of the cluster, */
    uint32_t at_barrier; /* at one of the block: */
    uint32_t at_barriers[CX_PTX_BARRIERS];
    uint32_t votes; /* lanes that wait at a barrier that gives them a value */
    uint32_t count; /* of groups */
    bool independent;
    uint64_t random; /* the state of random choices; 0: none are made */
    cx_ptx_group groups[CX_PTX_WARP_SIZE];
    cx_ptx_join joins[CX_PTX_WARP_SIZE]; /* more than there can be: each divides its lanes */
};

/* The reason why a group no longer runs. */
typedef enum cx_ptx_event {
    CX_PTX_EVENT_TURN,     /* its turn is over */
    CX_PTX_EVENT_BLOCKED,  /* its lanes wait */
    CX_PTX_EVENT_ARRIVED,  /* it is at its join */
    CX_PTX_EVENT_DIVERGED, /* `next` did it: where lanes go on is in `chosen` or in their threads */
    CX_PTX_EVENT_ENDED,
    CX_PTX_EVENT_FAILED
} cx_ptx_event;

/* Begins with lanes that are all ready at the same instruction. The seed is for random choices of
 * independent lanes; 0: none. */
void cx_ptx_warp_begin(cx_ptx_warp *warp, cx_ptx_thread *lanes, uint32_t count, bool independent,
                       uint64_t seed);

/* Gives each group a turn; true if any was ready. */
bool cx_ptx_warp_turn(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp);

static inline uint32_t cx_ptx_first_lane(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}

/* The lanes that can go on. */
static inline uint32_t cx_ptx_warp_ready(const cx_ptx_warp *warp)
{
    return warp->all &
           ~(warp->ended | warp->at_join | warp->at_warp | warp->at_cluster | warp->at_barrier);
}

/* The instruction at which the lane waits, or which it did last that may fail. */
const cx_ptx_instruction *cx_ptx_warp_place_of(const cx_ptx_warp *warp, uint32_t lane);

/* Lets all lanes go on that wait at joins; true if there were any. */
bool cx_ptx_warp_part(cx_ptx_warp *warp);

/* The place where the group stops to wait, in its present function; NULL: none. */
static inline const cx_ptx_instruction *cx_ptx_group_stop(const cx_ptx_warp *warp,
                                                          const cx_ptx_group *group)
{
    const cx_ptx_join *join;

    if (group->join == CX_PTX_NO_JOIN)
        return NULL;
    join = &warp->joins[group->join];
    return join->depth == group->depth ? join->next : NULL;
}

/* Runs the group; interpret.c. */
cx_ptx_event cx_ptx_group_run(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp,
                              cx_ptx_group *group);

#endif
