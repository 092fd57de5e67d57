#include "context/explain.h"

/* Whether actual[a...] is ours[o...], as far down as both are known. At least one entry must agree, or both
 * must end there. */
static bool agree(const cx_entries *actual, int a, const cx_entries *ours, int o)
{
    int compared = 0;
    for (; a < actual->count && o < ours->count; a++, o++, compared++)
        if (actual->natives[a] != ours->natives[o])
            return false;
    if (a >= actual->count && o < ours->count)
        return !actual->complete && compared > 0;
    if (o >= ours->count && a < actual->count)
        return !ours->complete && compared > 0;
    return compared > 0 || (actual->complete && ours->complete);
}

/* Whether the first `level` of ours stand among the first `count` of actual, in their order. */
static bool stand_among(const cx_entries *actual, int count, const cx_entries *ours, int level)
{
    int found = 0;
    for (int a = 0; a < count && found < level; a++)
        found += actual->natives[a] == ours->natives[found];
    return found == level;
}

/* Whether `count` entries above and among the first `level` of ours explain what there is. */
static bool pushed(const cx_entries *actual, const cx_entries *ours, int level, int count, bool *out_on_top)
{
    *out_on_top = agree(actual, count, ours, 0);
    return *out_on_top || (level + count <= actual->count && stand_among(actual, level + count, ours, level) &&
                           agree(actual, level + count, ours, level));
}

cx_finding cx_explain(const cx_entries *actual, const cx_entries *ours, int level)
{
    cx_finding finding = {{CTXRT_RESYNC_IN_STEP, 0}, level, false};
    int explanations = 0;
    bool on_top;
    if (agree(actual, 0, ours, 0))
        return finding;
    for (int n = 1; n < actual->count; n++)
        if (pushed(actual, ours, level, n, &on_top) && explanations++ == 0)
            finding = (cx_finding){{CTXRT_RESYNC_PUSHED, n}, level, on_top};
    for (int n = 1; n <= ours->count; n++)
        if (agree(actual, 0, ours, n) && explanations++ == 0)
            finding.report = (ctxrt_resync_report){CTXRT_RESYNC_POPPED, n};
    if (actual->count > 0 && ours->count > 0 && agree(actual, 1, ours, 1) && explanations++ == 0)
        finding.report = (ctxrt_resync_report){CTXRT_RESYNC_SET, 1};
    if (explanations != 1)
        finding.report = (ctxrt_resync_report){CTXRT_RESYNC_AMBIGUOUS, 0};
    return finding;
}
