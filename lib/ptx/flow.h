/*
 * Control flow: what branches must know so that the lanes of a warp run together. In a branch:
 *
 *   site  the place in the code where its paths meet again: the immediate post-dominator;
 *         CX_PTX_NO_PLACE if that is the end of the function
 *   from  1 if it only jumps over instructions that any part of the lanes may do at once
 *   mode  of a branch back: cx_ptx_pace
 */
#ifndef CX_PTX_FLOW_H
#define CX_PTX_FLOW_H

#include "ptx/module.h"

#define CX_PTX_NO_PLACE UINT32_MAX

/* The purpose that a loop may have. */
typedef enum cx_ptx_pace {
    CX_PTX_PACE_WORKS,  /* it reads no memory and waits for nobody */
    CX_PTX_PACE_READS,  /* it may wait, which is unlikely */
    CX_PTX_PACE_WATCHES /* it reads what others may change meanwhile */
} cx_ptx_pace;

/* Fills in the branches of all functions. False: out of memory. */
bool cx_ptx_flow_find(cx_ptx_module *module);

#endif
