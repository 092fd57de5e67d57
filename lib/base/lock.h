/*
 * Locks with a rank, which says where each stands in the lock order (locks.def).
 */
#ifndef CX_BASE_LOCK_H
#define CX_BASE_LOCK_H

typedef enum cx_lock_rank {
#define CX_LOCK_ROW(rank, name) CX_RANK_##rank,
#include "base/locks.def"
    CX_LOCK_RANKS
} cx_lock_rank;

#endif
