#include "choice.h"

#include <limits.h>
#include <string.h>

static bool same(const gpu_seen *left, const gpu_seen *right)
{
    return memcmp(left->uuid, right->uuid, sizeof left->uuid) == 0;
}

static int users(const gpus_seen *seen, const int *chosen, int ranks, const gpu_seen *gpu)
{
    int count = 0;
    for (int i = 0; i < ranks; i++)
        count += chosen[i] >= 0 && same(&seen[i].gpu[chosen[i]], gpu);
    return count;
}

static int distance_of(const gpu_seen *gpu)
{
    return gpu->distance == DISTANCE_UNKNOWN ? INT_MAX : gpu->distance;
}

void choice_make(const gpus_seen *seen, int ranks, int *out_chosen)
{
    for (int rank = 0; rank < ranks; rank++) {
        const gpus_seen *own = &seen[rank];
        int best = -1, best_users = 0;
        for (int step = 0; step < own->count; step++) {
            int i = (rank + step) % own->count;
            int its_users = users(seen, out_chosen, rank, &own->gpu[i]);
            if (best >= 0 && (its_users > best_users ||
                              (its_users == best_users &&
                               distance_of(&own->gpu[i]) >= distance_of(&own->gpu[best]))))
                continue;
            best = i;
            best_users = its_users;
        }
        out_chosen[rank] = best;
    }
}

static bool sees(const gpus_seen *seen, const gpu_seen *gpu)
{
    for (int i = 0; i < seen->count; i++)
        if (same(&seen->gpu[i], gpu))
            return true;
    return false;
}

bool choice_hides(const gpus_seen *seen, const int *chosen, int ranks, int *out_owner,
                  int *out_blind)
{
    for (int blind = 0; blind < ranks; blind++)
        for (int owner = 0; owner < ranks; owner++)
            if (chosen[owner] >= 0 && !sees(&seen[blind], &seen[owner].gpu[chosen[owner]])) {
                *out_owner = owner;
                *out_blind = blind;
                return true;
            }
    return false;
}

int choice_sharers(const gpus_seen *seen, const int *chosen, int rank)
{
    return users(seen, chosen, rank, &seen[rank].gpu[chosen[rank]]);
}
