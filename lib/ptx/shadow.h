/*
 * The shadow of a running grid, for whoever wants to know of hazards (cx_ptx_environment): what its
 * threads did to shared and global memory, and where they met. A grid without a shadow pays for one
 * test of a pointer in each instruction that is no plain computation.
 *
 * Time counts what warps do. Two accesses of different threads, at least one a write, are a race
 * if nothing can have ordered them: since the first one, its thread has not synchronised, or the
 * second one's thread has not, or (in different warps) no thread of the block has with others than
 * its own warp. Whatever may order memory counts as synchronisation, so that only certain races
 * are told. Blocks run one after the other or in turns in one thread of the host.
 */
#ifndef CX_PTX_SHADOW_H
#define CX_PTX_SHADOW_H

#include "ptx/step.h"

/* NULL: nobody wants to know, or no memory. */
cx_ptx_shadow *cx_ptx_shadow_new(const cx_ptx_grid *grid);
void cx_ptx_shadow_free(cx_ptx_shadow *shadow); /* NULL is harmless */

/* A thread at a place of the code, for those who are told. */
cx_ptx_hazard_side cx_ptx_shadow_side_of(const cx_ptx_grid *grid, const uint32_t block[3],
                                         uint32_t thread, uint32_t code);

/* The block begins: its shared memory is unwritten. */
void cx_ptx_shadow_begin(const cx_ptx_grid *grid, cx_ptx_block *block);

/* Before the active lanes do an instruction of cx_ptx_step_do. */
void cx_ptx_shadow_step(const cx_ptx_step *run, const cx_ptx_instruction *at);

/* A piece of memory that a thread loads or stores by a matrix instruction, or by a copy that goes
 * on by itself: cx_ptx_shadow_step does not show these. */
typedef struct cx_ptx_piece {
    const cx_ptx_instruction *at; /* in the module's code */
    const cx_ptx_thread *thread;
    cx_ptx_space space;
    uint64_t address;
    unsigned bytes;
    const unsigned char *memory;
    const unsigned char *value; /* that it stores; NULL: it loads */
} cx_ptx_piece;

/* Before it is loaded or stored. */
void cx_ptx_shadow_piece(cx_ptx_grid *grid, cx_ptx_block *block, const cx_ptx_piece *piece);

/* The lanes of the mask have done a matrix instruction. */
void cx_ptx_shadow_matrix_end(const cx_ptx_grid *grid, const cx_ptx_block *block,
                              const cx_ptx_thread *lanes, uint32_t mask,
                              const cx_ptx_instruction *at);

/* The lanes of the mask have done a joint operation. */
void cx_ptx_shadow_join(const cx_ptx_grid *grid, const cx_ptx_block *block,
                        const cx_ptx_thread *lanes, uint32_t mask);

/* The lanes arrive at a barrier without waiting, or at that of the cluster. */
void cx_ptx_shadow_arrive(const cx_ptx_grid *grid, const cx_ptx_block *block,
                          const cx_ptx_thread *lanes, uint32_t mask);

/* The threads that wait at the block's barrier are about to go on. */
void cx_ptx_shadow_release(const cx_ptx_grid *grid, const cx_ptx_block *block, uint32_t barrier);

/* All threads of the cluster have arrived at its barrier. */
void cx_ptx_shadow_cluster(const cx_ptx_grid *grid, const cx_ptx_cluster *cluster);

#endif
