/* Matrix instructions and copies that go on by themselves, piece by piece. */
#include "ptx/shadow_state.h"

#include "ptx/address_resolve.h"
#include "ptx/bulk.h"
#include "ptx/matrix.h"
#include "ptx/warp.h"
#include "ptx/written.h"

#include <string.h>

enum { PAGE = 4096, LANES = CX_PTX_WARP_SIZE };

/* ---- what has been written ---- */

/* A matrix may have lines that nobody needs: it counts as unwritten where all its lines are. */
static void note_matrix(const cx_ptx_shadow_access *access, const cx_ptx_piece *piece,
                        uint64_t place, bool shared, bool written)
{
    cx_ptx_shadow_matrix *matrix = &access->run->grid->shadow->matrix;

    if (!matrix->pieces++)
        *matrix = (cx_ptx_shadow_matrix){.pieces = 1,
                                         .shared = shared,
                                         .thread = piece->thread->index,
                                         .place = place,
                                         .bytes = piece->bytes};
    matrix->written |= written;
}

static void tell(const cx_ptx_shadow_access *access, cx_ptx_hazard_kind kind, uint32_t thread,
                 uint64_t address, unsigned bytes)
{
    const cx_ptx_step *run = access->run;
    cx_ptx_hazard hazard = {.kind = kind, .address = address, .bytes = bytes};

    if (!cx_ptx_shadow_is_new(run->grid->shadow, kind, access->code, access->code))
        return;
    hazard.second = cx_ptx_shadow_side_of(run->grid, run->block->index, thread, access->code);
    hazard.second.writes = access->writes;
    cx_ptx_shadow_tell(run->grid, &hazard);
}

/* A copy may take padding along: it counts where nothing at all has been written. */
static void judge_written(const cx_ptx_shadow_access *access, const cx_ptx_piece *piece,
                          const cx_ptx_view *view)
{
    const size_t offset = piece->address - view->address;

    if (access->writes)
        cx_ptx_written_mark(view->written, offset, piece->bytes);
    else if (piece->at->op == CX_PTX_MATRIX)
        note_matrix(access, piece, piece->address, false,
                    cx_ptx_written_partly(view->written, offset, piece->bytes));
    else if (!atomic_load(&view->written->any) &&
             !cx_ptx_written_partly(view->written, offset, piece->bytes))
        tell(access, CX_PTX_HAZARD_UNWRITTEN, piece->thread->index, piece->address, piece->bytes);
}

/* ---- global memory ---- */

/* A piece in parts of so many bytes, which the words of a shadow know. */
static void judge_races(const cx_ptx_shadow_access *access, const cx_ptx_piece *piece)
{
    const unsigned size = (piece->address | piece->bytes) % 4 == 0 ? 4 : 1;
    const cx_ptx_instruction part = {.op = piece->at->op, .size = (uint8_t)size};
    const unsigned char *values = access->writes ? piece->value : piece->memory;
    cx_ptx_shadow_access each = *access;
    uint8_t lanes[LANES];

    each.at = &part;
    memset(lanes, (int)(piece->thread->index % LANES), sizeof lanes);
    for (unsigned done = 0, bytes; done < piece->bytes; done += bytes) {
        const uint64_t begin = piece->address + done;
        cx_ptx_shadow_range range = {.begin = begin, .lanes = lanes, .values = values + done};

        bytes = piece->bytes - done < LANES * size ? piece->bytes - done : LANES * size;
        if (bytes > PAGE - begin % PAGE)
            bytes = (unsigned)(PAGE - begin % PAGE);
        range.count = bytes / size;
        for (unsigned i = 0; access->writes && i < range.count; i++)
            range.changed |= (uint32_t)(memcmp(piece->memory + done + i * size,
                                               piece->value + done + i * size, size) != 0)
                             << i;
        if (!access->writes || range.changed)
            cx_ptx_shadow_blocks_note(&each, &range);
    }
}

static void follow_global(const cx_ptx_shadow_access *access, const cx_ptx_piece *piece)
{
    cx_ptx_grid *grid = access->run->grid;
    const cx_ptx_view *view =
        cx_ptx_reach_range(grid, piece->at->site, piece->address, piece->bytes);

    if (!view)
        return;
    if (view->held &&
        !cx_ptx_written_whole(view->held, piece->address - view->address, piece->bytes))
        tell(access, CX_PTX_HAZARD_NOT_HELD, piece->thread->index, piece->address, piece->bytes);
    if (view->written)
        judge_written(access, piece, view);
    if (grid->shadow->across && !view->held && !access->strong)
        judge_races(access, piece);
}

/* ---- shared memory ---- */

static void follow_shared(const cx_ptx_shadow_access *access, const cx_ptx_piece *piece)
{
    const cx_ptx_block *block = access->run->block;
    const uint32_t offset = (uint32_t)(piece->memory - block->shared);
    const bool changes = access->strong || !access->writes ||
                         memcmp(piece->memory, piece->value, piece->bytes) != 0;
    /* A bulk copy reads shared memory at another address than the one whose array is known. */
    const bool named = access->writes || piece->at->op == CX_PTX_MATRIX;
    const bool written = cx_ptx_shadow_shared_piece(
        access, piece->thread->index, offset, piece->bytes, named, changes);

    if (!access->writes && piece->at->op == CX_PTX_MATRIX)
        note_matrix(access, piece, offset, true, written);
}

/* ---- pieces ---- */

static bool in_shared(const cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_piece *piece)
{
    const uintptr_t offset = (uintptr_t)piece->memory - (uintptr_t)block->shared;

    return offset < grid->shared_bytes && grid->shared_bytes - offset >= piece->bytes;
}

static bool in_global(const cx_ptx_piece *piece)
{
    return piece->space == CX_PTX_GLOBAL ||
           (piece->space == CX_PTX_GENERIC && !(piece->address & CX_PTX_WINDOW_MASK));
}

void cx_ptx_shadow_piece(cx_ptx_grid *grid, cx_ptx_block *block, const cx_ptx_piece *piece)
{
    const bool bulk = piece->at->op == CX_PTX_BULK;
    const cx_ptx_step run = {
        .grid = grid, .block = block, .warp = &block->warps[piece->thread->index / LANES]};
    cx_ptx_shadow_access access = {.run = &run,
                                   .at = piece->at,
                                   .code = cx_ptx_shadow_place(grid->module, piece->at),
                                   .reads = !piece->value,
                                   .writes = piece->value != NULL,
                                   .many = !bulk,
                                   .lands = bulk,
                                   .strong = bulk && piece->at->mode != CX_PTX_BULK_COPY};
    const bool shared = in_shared(grid, block, piece);

    if (!block->shadow || grid->shadow->time >= CX_PTX_SHADOW_TIME_LAST)
        return;
    access.time = ++grid->shadow->time;
    if (access.writes)
        block->shadow->latest[piece->thread->index] = access.code + 1;
    if (shared)
        follow_shared(&access, piece);
    else if (in_global(piece))
        follow_global(&access, piece);
}

void cx_ptx_shadow_matrix_end(const cx_ptx_grid *grid, const cx_ptx_block *block,
                              const cx_ptx_thread *lanes, uint32_t mask,
                              const cx_ptx_instruction *at)
{
    cx_ptx_shadow_matrix *matrix = &grid->shadow->matrix;
    const cx_ptx_instruction whole = {.op = CX_PTX_MATRIX, .size = (uint8_t)matrix->bytes};
    const cx_ptx_step run = {.grid = (cx_ptx_grid *)grid, .block = (cx_ptx_block *)block};
    const cx_ptx_shadow_access access = {.run = &run,
                                         .at = &whole,
                                         .code = cx_ptx_shadow_place(grid->module, at),
                                         .reads = true};
    const bool unwritten = matrix->pieces && !matrix->written && block->shadow;

    matrix->pieces = 0;
    cx_ptx_shadow_join(grid, block, lanes, mask);
    if (!unwritten)
        return;
    if (!matrix->shared)
        tell(&access, CX_PTX_HAZARD_UNWRITTEN, matrix->thread, matrix->place, matrix->bytes);
    else if (grid->shadow->knows_writes)
        cx_ptx_shadow_note_unwritten(&access, matrix->thread, matrix->place);
}
