#include "observed.h"

static void count_up(void *number)
{
    ++*(int *)number;
}

static void no_timing_or_no_record(void)
{
    float ms = 0;
    MUST(cuInit(0));
    context_on(0);
    is("EVT-001", cuEventSynchronize(NULL));
    is("EVT-002", cuEventQuery(NULL));
    is("EVT-003", cuEventDestroy_v2(event_with(0)));
    CUevent a = event_with(0), b = event_with(0), quiet = event_with(CXU_EVENT_DISABLE_TIMING);
    is("EVE-001", cuEventQuery(a));
    is("EVE-002", cuEventElapsedTime(&ms, a, b));
    MUST(cuEventRecord(b, NULL));
    MUST(cuEventSynchronize(b));
    is("EVT-013", cuEventElapsedTime(&ms, a, b));
    MUST(cuEventRecord(a, NULL));
    MUST(cuEventRecord(quiet, NULL));
    MUST(cuEventSynchronize(quiet));
    is("EVT-011", cuEventElapsedTime(&ms, quiet, b));
    is("EVE-003", cuEventElapsedTime(&ms, a, quiet));
    is("EVT-014", cuEventElapsedTime(NULL, a, b));
    is("HIP-192", cuEventElapsedTime(NULL, a, b));
    is("HIP-193", cuEventElapsedTime(&ms, NULL, b));
    CUevent made;
    is("HIP-190", cuEventCreate(&made, CXU_EVENT_INTERPROCESS));
    is("HIP-191", cuEventCreate(&made, 0x10));
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    is("DEV-020", cuCtxRecordEvent(context, a));
    is("DEV-022", cuCtxRecordEvent(context, NULL));
    is("DEV-024", cuCtxWaitEvent(context, event_with(0)));
    is("DEV-025", cuCtxWaitEvent(context, NULL));
    context_on(1);
    is("HIP-195", cuEventRecord(a, stream_with(0)));
}

static void not_yet(void)
{
    float ms = 0;
    int ran = 0;
    MUST(cuInit(0));
    context_on(0);
    CUstream s = stream_with(CXU_STREAM_NON_BLOCKING);
    CUevent start = event_with(0), end = event_with(0);
    MUST(cuEventRecord(start, s));
    MUST(cuStreamSynchronize(s));
    MUST(cuLaunchHostFunc(s, count_up, &ran));
    MUST(cuEventRecord(end, s));
    is("EVE-004", cuEventElapsedTime(&ms, start, end));
    CUevent last = event_with(0);
    MUST(cuEventRecord(last, s));
    MUST(cuStreamDestroy_v2(s));
    CUstream again = stream_with(CXU_STREAM_NON_BLOCKING);
    MUST(cuStreamSynchronize(again));
    see("MOR-026", "%s, %s handle", name(cuEventQuery(last)), again == s ? "same" : "another");
}

static CUstream asked;

static void ask_context(void *out_result)
{
    CUcontext context = NULL;
    cxu_result result = cuStreamGetCtx(asked, &context);
    *(CUcontext *)out_result = result == CXU_SUCCESS ? context : NULL;
}

static void queries(void)
{
    CUdevice device = -1;
    unsigned long long id = 0;
    unsigned int flags;
    int ran = 0;
    MUST(cuInit(0));
    CUcontext context = context_on(0), seen = NULL;
    CUstream s = stream_with(0), made = NULL;
    cxu_result result = cuStreamGetDevice(NULL, &device);
    see("STR-002", "%s %d", name(result), device);
    result = cuStreamGetId(s, &id);
    see("STR-004", "%s positive=%d", name(result), id > 0);
    id = 77777;
    result = cuStreamGetId(NULL, &id);
    see("STR-005", "%s set=%d", name(result), id != 77777);
    is("STR-006", cuStreamGetId(s, NULL));
    is("HIP-042", cuStreamGetFlags(NULL, &flags));
    is("HIP-043", cuStreamGetFlags(s, NULL));
    is("HIP-044", cuStreamCreate(NULL, 0));
    is("HIP-046", cuLaunchHostFunc(s, NULL, NULL));
    for (int i = 0; i < 3; i++)
        result = cuLaunchHostFunc(s, count_up, &ran);
    MUST(cuStreamSynchronize(s));
    see("MAN-025", "%s %d", name(result), ran);
    ran = 0;
    is("NEW-006", ASK("cuLaunchHostFunc_v2", P(s), P(count_up), P(&ran), 0));
    is("NEW-007", ASK("cuLaunchHostFunc_v2", P(s), P(count_up), P(&ran), 2));
    is("NEW-009", ASK("cuLaunchHostFunc_v2", P(s), 0, P(&ran), 0));
    MUST(cuStreamSynchronize(s));
    ran = 0;
    result = ASK("cuLaunchHostFunc_v2", 0, P(count_up), P(&ran), 0);
    MUST(cuCtxSynchronize());
    see("NEW-010", ran == 1 ? "%s, runs once" : "%s", name(result));
    asked = s;
    elsewhere(ask_context, &seen);
    see("ZLU-003", seen == context ? "the stream's" : "another");
    MUST(cuStreamDestroy_v2(s));
    cxu_stream_capture_status status;
    is("HIP-040", cuStreamIsCapturing(s, &status));
    is("HIP-041", cuStreamDestroy_v2(s));
    MUST(cuStreamCreate(&made, 0));
    MUST(cuCtxDestroy_v2(context));
    result = cuStreamGetCtx(made, &seen);
    see("ZLU-004", "%s",
        result == CXU_INVALID_HANDLE || result == CXU_INVALID_CONTEXT ||
                result == CXU_CONTEXT_IS_DESTROYED
            ? "INVALID_HANDLE|INVALID_CONTEXT|CONTEXT_IS_DESTROYED"
            : name(result));
}

/* CUstreamAttrValue: 64 bytes; ids 1 (window), 3 (synchronisation policy), 8 (priority). */
typedef union attribute_value {
    char bytes[64];
    int number;
    struct {
        void *base;
        size_t size;
        float hit;
        int hit_kind, miss_kind;
    } window;
} attribute_value;

static void attributes(void)
{
    attribute_value value;
    MUST(cuInit(0));
    context_on(0);
    CUstream s = stream_with(0), other = stream_with(0);
    is("STR-007", ASK("cuStreamCopyAttributes", P(other), P(s)));
    is("STR-009", ASK("cuStreamCopyAttributes", P(other), 0));
    memset(&value, 0x55, sizeof(value));
    cxu_result result = ASK("cuStreamGetAttribute", P(s), 3, P(&value));
    see("STR-010", "%s %d", name(result), value.number);
    memset(&value, 0x55, sizeof(value));
    result = ASK("cuStreamGetAttribute", P(s), 8, P(&value));
    see("STR-011", "%s %d", name(result), value.number);
    memset(&value, 0x55, sizeof(value));
    result = ASK("cuStreamGetAttribute", P(s), 1, P(&value));
    see("STR-012", "%s bytes=%zu hit=%.1f", name(result), value.window.size,
        (double)value.window.hit);
    is("STR-013", ASK("cuStreamGetAttribute", P(s), 99, P(&value)));
    memset(&value, 0, sizeof(value));
    value.number = 2;
    result = ASK("cuStreamSetAttribute", P(s), 3, P(&value));
    is("CPY-003", result);
    value.number = 0;
    (void)ASK("cuStreamGetAttribute", P(s), 3, P(&value));
    see("STR-014", "%s now=%d", name(result), value.number);
    memset(&value, 0, sizeof(value));
    is("STR-016", ASK("cuStreamSetAttribute", P(s), 1, P(&value)));
}

const family stream_families[] = {{"no_timing_or_no_record", NULL, no_timing_or_no_record},
                                  {"not_yet", "CTXRT_EMU_SCHEDULE=lazy", not_yet},
                                  {"queries", NULL, queries},
                                  {"attributes", NULL, attributes},
                                  {NULL, NULL, NULL}};
