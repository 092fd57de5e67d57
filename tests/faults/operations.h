/* Every public function that calls the driver, as an operation on a stage. */
#ifndef CX_TEST_OPERATIONS_H
#define CX_TEST_OPERATIONS_H

#include "stage.h"

enum {
    ON_PUSH = 1 << STAGE_PUSH,
    ON_SET = 1 << STAGE_SET,
    ON_SCOPE = 1 << STAGE_SCOPE,
    ON_FOREIGN = 1 << STAGE_FOREIGN,
    ON_NONE = 1 << STAGE_NONE,
    ON_FRAMES = ON_PUSH | ON_SET | ON_SCOPE | ON_FOREIGN,
    ON_ANY = ON_FRAMES | ON_NONE
};

typedef struct operation {
    const char *name; /* the function, and what of it */
    unsigned int tops;
    ctxrt_status (*run)(stage *self);
    void (*used_up)(stage *self);      /* what a success has consumed is not to be released again */
    bool is_of_the_stack;              /* changes nothing but the stack */
    /* the object goes though the driver refuses: its comment says so */
    bool takes_effect;
} operation;

typedef struct operation_list {
    const operation *operations;
    int count;
} operation_list;

extern const operation_list stack_operations, memory_operations, graph_operations;

/* Of all lists, one behind the other. */
int operation_count(void);
const operation *operation_at(int number);

#endif
