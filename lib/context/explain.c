#include "context/explain.h"

/* True if actual[a...] agrees with ours[o...], as far down as both are known. At least one entry
 * must agree, or both must end there. */
static bool entries_agree(const cx_entries *actual, int a, const cx_entries *ours, int o)
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

/* True if our top entry is among the first `count` of actual. */
static bool stands_among(const cx_entries *actual, int count, const cx_entries *ours)
{
    for (int a = 0; a < count; a++)
        if (actual->natives[a] == ours->natives[0])
            return true;
    return false;
}

/* True if `count` entries above our top one, or some above and some right beneath it, explain the
 * difference. */
static bool explains_push(const cx_entries *actual, const cx_entries *ours, int count,
                          bool *out_on_top)
{
    *out_on_top = entries_agree(actual, count, ours, 0);
    return *out_on_top ||
           (count < actual->count && ours->count > 0 && stands_among(actual, count + 1, ours) &&
            entries_agree(actual, count + 1, ours, 1));
}

cx_stack_finding cx_explain(const cx_entries *actual, const cx_entries *ours)
{
    cx_stack_finding finding = {{CTXRT_RESYNC_IN_STEP, 0}, 1, false};
    int explanations = 0;
    bool on_top;
    if (entries_agree(actual, 0, ours, 0))
        return finding;
    for (int n = 1; n < actual->count; n++)
        if (explains_push(actual, ours, n, &on_top) && explanations++ == 0)
            finding = (cx_stack_finding){{CTXRT_RESYNC_PUSHED, n}, 1, on_top};
    for (int n = 1; n <= ours->count; n++)
        if (entries_agree(actual, 0, ours, n) && explanations++ == 0)
            finding.report = (ctxrt_resync_report){CTXRT_RESYNC_POPPED, n};
    if (actual->count > 0 && ours->count > 0 && entries_agree(actual, 1, ours, 1) &&
        explanations++ == 0)
        finding.report = (ctxrt_resync_report){CTXRT_RESYNC_SET, 1};
    if (explanations != 1)
        finding.report = (ctxrt_resync_report){CTXRT_RESYNC_AMBIGUOUS, 0};
    return finding;
}
