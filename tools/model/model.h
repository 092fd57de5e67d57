/*
 * A reference model of the driver's rules: what each step of a scenario must give back. Small,
 * sequential, and without a line of the embedded driver: of work it knows only what must come
 * before what.
 *
 * It says nothing where the rules leave the outcome open in a way that no list of alternatives
 * describes: a destroyed handle that may have been given out again, a race of copies, a wait that
 * would never end.
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

/* What a run has touched. */
typedef struct cx_coverage {
    unsigned long rules[CX_RULE_COUNT]; /* steps that exercise the rule */
    unsigned long legal, illegal;       /* steps that succeed, and others */
} cx_coverage;

typedef struct cx_model cx_model;

/* A process with so many devices, 1 to CX_MODEL_DEVICES, in which cuInit has been called or not.
 * NULL: no memory. */
#define CX_MODEL_DEVICES 8
cx_model *cx_model_create(int devices, bool initialised);
void cx_model_destroy(cx_model *model);

/*
 * Says what a step, whose expectations are empty, must give back, and takes its effect. False, with
 * the step and the model as they were, if nothing can be said. Adds to *coverage unless that is
 * NULL.
 */
bool cx_model_step(cx_model *model, cx_scenario *scenario, cx_step *step, cx_coverage *coverage);

/* ---- for those who make steps up ---- */

#define CX_MODEL_THREADS 4 /* named A, B, ... */

/* A name that was given to a thing of this kind, still good or not; NULL if there is none. `pick`
 * is any number. */
const char *cx_model_pick(const cx_model *model, cx_kind kind, bool live, unsigned int pick);

/* What is current on the thread: the name of the context; NULL: nothing. */
const char *cx_model_current(const cx_model *model, const char *thread);

/* A stream, event or memory of the context that is current on the thread; NULL if there is none. */
const char *cx_model_pick_current(const cx_model *model, const char *thread, cx_kind kind,
                                  unsigned int pick);

/* What each byte of a memory will be. */
int cx_model_value(const cx_model *model, const char *memory);
#define CX_MODEL_BYTES 64 /* of each memory */

/* A stream that a capture began on and has not ended. */
const char *cx_model_capturing(const cx_model *model, unsigned int pick);

/* A gate that is still closed. */
const char *cx_model_closed_gate(const cx_model *model);

/* Whether cuInit has been called. */
bool cx_model_initialised(const cx_model *model);

#endif
