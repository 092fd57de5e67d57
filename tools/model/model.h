/*
 * A reference model of the driver's rules: it predicts the result of each step of a scenario. It is
 * small and sequential, and shares no line with the embedded driver. Of work it knows only the
 * order.
 *
 * It makes no prediction if the rules leave the outcome open and no list of alternatives describes
 * it: a destroyed handle that may have been reused, a race of copies, an endless wait.
 */
#ifndef CX_MODEL_MODEL_H
#define CX_MODEL_MODEL_H

#include "play/scenario.h"

typedef enum cx_rule {
#define CX_RULE(id) CX_RULE_##id,
#include "model/rules.def"
    CX_RULE_COUNT
} cx_rule;

/* "C2". */
const char *cx_rule_name(cx_rule rule);

/* The rules and steps that a run has covered. */
typedef struct cx_coverage {
    unsigned long rules[CX_RULE_COUNT]; /* steps that exercise the rule */
    unsigned long legal, illegal;       /* steps that succeed, and others */
} cx_coverage;

typedef struct cx_model cx_model;

/* Makes a process with 1 to CX_MODEL_DEVICES devices, with cuInit called or not. NULL: no
 * memory. */
#define CX_MODEL_DEVICES 8
cx_model *cx_model_create(int devices, bool initialised);
void cx_model_destroy(cx_model *model);

/*
 * Fills in the expected results of a step, which has none yet, and applies its effect to the model.
 * False, with the step and the model unchanged, if it makes no prediction. Adds to *coverage unless
 * that is NULL.
 */
bool cx_model_step(cx_model *model, cx_scenario *scenario, cx_step *step, cx_coverage *coverage);

/* ---- for makers of random steps ---- */

#define CX_MODEL_THREADS 4 /* named A, B, ... */

/* A name that was given to an object of this kind, `live` or not; NULL if there is none. `pick` is
 * any number. */
const char *cx_model_pick(const cx_model *model, cx_kind kind, bool live, unsigned int pick);

/* The name of the thread's current context; NULL: none. */
const char *cx_model_current(const cx_model *model, const char *thread);

/* A stream, event or memory of the thread's current context; NULL if there is none. */
const char *cx_model_pick_current(const cx_model *model, const char *thread, cx_kind kind,
                                  unsigned int pick);

/* The value that each byte of a memory of the device or the host will have. */
int cx_model_value(const cx_model *model, const char *memory);
#define CX_MODEL_BYTES 64               /* of each memory that work uses */
#define CX_MODEL_POOL_BYTES (2 << 20) /* of each memory of a pool */

/* A stream that a capture began on and has not ended. */
const char *cx_model_capturing(const cx_model *model, unsigned int pick);

/* A pool whose memory is in use; NULL: there is none. */
const char *cx_model_pool_in_use(const cx_model *model, unsigned int pick);

/* A gate that is still closed. */
const char *cx_model_closed_gate(const cx_model *model);

/* True if cuInit has been called. */
bool cx_model_initialised(const cx_model *model);

#endif
