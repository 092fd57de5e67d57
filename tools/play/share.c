#include "play/share.h"

int cx_share_pool_memory(cx_player *player, cx_call *call)
{
    cxu_mem_pool_pointer shared;
    CUdeviceptr imported = 0;
    if (player->driver.missing[CX_SLOT_mem_pool_export_pointer] ||
        player->driver.missing[CX_SLOT_mem_pool_import_pointer])
        return CX_PLAY_ABSENT;
    bool entered = cx_host_enter(player);
    int result = (int)player->driver.table.mem_pool_export_pointer(&shared, call->in[1].pointer);
    if (result == CXU_SUCCESS)
        result =
            (int)player->driver.table.mem_pool_import_pointer(&imported, call->in[2].pool, &shared);
    cx_host_leave(player, entered);
    if (result == CXU_SUCCESS)
        call->out[0] = (cx_cell){.pointer = imported};
    return result;
}

static int keep(cx_player *player, cx_call *call, int result, const cx_letter *made)
{
    cx_letter *letter;
    if (result != CXU_SUCCESS)
        return result;
    letter = cx_tape_letter(player->tape, call->line->step.operands[0].name, true);
    if (letter == NULL)
        return CXU_OUT_OF_MEMORY;
    letter->handle = made->handle;
    call->out[0] = (cx_cell){.host = letter};
    return result;
}

int cx_share_memory(cx_player *player, cx_call *call)
{
    cx_letter made = {.name = ""};
    if (player->driver.missing[CX_SLOT_ipc_get_mem_handle])
        return CX_PLAY_ABSENT;
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.ipc_get_mem_handle(
        call->in[2].integer ? &made.handle.memory : NULL, call->in[1].pointer);
    cx_host_leave(player, entered);
    return keep(player, call, (int)result, &made);
}

int cx_share_event(cx_player *player, cx_call *call)
{
    cx_letter made = {.name = ""};
    if (player->driver.missing[CX_SLOT_ipc_get_event_handle])
        return CX_PLAY_ABSENT;
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.ipc_get_event_handle(
        call->in[2].integer ? &made.handle.event : NULL, call->in[1].event);
    cx_host_leave(player, entered);
    return keep(player, call, (int)result, &made);
}
