#include "play/player.h"

static _Thread_local int refused; /* the request that the thread's next call is refused */
static _Thread_local bool inside;

static const cx_play_host *watching_host(const cx_player *player)
{
    const cx_play_options *options = player->options;
    return options->cuda || options->libcuda != NULL ? NULL : options->host;
}

int cx_host_refuse(const cx_player *player, int number)
{
    if (watching_host(player) == NULL)
        return CX_PLAY_ABSENT;
    refused = number;
    return CXU_SUCCESS;
}

int cx_host_held(const cx_player *player, size_t *out_blocks)
{
    const cx_play_host *host = watching_host(player);
    if (host == NULL)
        return CX_PLAY_ABSENT;
    *out_blocks = host->held();
    return CXU_SUCCESS;
}

bool cx_host_enter(const cx_player *player)
{
    const cx_play_host *host = watching_host(player);
    if (host == NULL || inside)
        return false;
    host->enter(refused);
    refused = 0;
    return inside = true;
}

void cx_host_leave(const cx_player *player, bool entered)
{
    if (!entered)
        return;
    inside = false;
    watching_host(player)->leave();
}
