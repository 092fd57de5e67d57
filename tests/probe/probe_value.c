/* T16, T17, G6: values that streams write and await, attributes of streams, user objects. */
#include "probes.h"
#include "steps.h"

#include <string.h>
#include <time.h>

enum { GEQ, EQ, AND, NOR };
enum { POLICY = 3, PRIORITY = 8 };

static void see_word(const char *word, CUdeviceptr at)
{
    unsigned int found = 0;
    CUresult code = cuMemcpyDtoH_v2(&found, at, sizeof found);
    if (code == SUCCESS)
        see(word, "%u", found);
    else
        see_result(word, code);
}

static CUdeviceptr zeroes(void)
{
    CUdeviceptr made = memory(64);
    need("cuMemsetD8", cuMemsetD8_v2(made, 0, 64));
    need("cuCtxSynchronize", cuCtxSynchronize());
    return made;
}

static void values(void)
{
    init();
    create("a");
    CUstream one = stream(STREAM_NON_BLOCKING), other = stream(STREAM_NON_BLOCKING);
    CUdeviceptr at = zeroes();
    see_result("await", cuStreamWaitValue32_v2(one, at, 3, GEQ));
    see_result("write-behind", cuStreamWriteValue32_v2(one, at + 4, 7, 0));
    see_result("query", cuStreamQuery(one));
    see_result("write-less", cuStreamWriteValue32_v2(other, at, 2, 0));
    see_result("synchronize-other", cuStreamSynchronize(other));
    see_result("query-less", cuStreamQuery(one));
    see_result("write", cuStreamWriteValue32_v2(other, at, 4, 0));
    see_result("synchronize", cuStreamSynchronize(one));
    see_word("written", at + 4);
    see_result("write-wide", cuStreamWriteValue64_v2(one, at + 8, 9, 0));
    see_result("await-wide", cuStreamWaitValue64_v2(one, at + 8, 8, AND));
    see_result("synchronize-wide", cuStreamSynchronize(one));
    see_word("written-wide", at + 8);
}

static void values_that_are_none(void)
{
    init();
    create("a");
    CUstream one = stream(STREAM_NON_BLOCKING);
    CUdeviceptr at = zeroes();
    see_result("misaligned", cuStreamWriteValue32_v2(one, at + 1, 1, 0));
    see_result("misaligned-wide", cuStreamWriteValue64_v2(one, at + 4, 1, 0));
    see_result("null", cuStreamWriteValue32_v2(one, 0, 1, 0));
    see_result("flags-2", cuStreamWriteValue32_v2(one, at, 1, 2));
    see_result("condition-4", cuStreamWaitValue32_v2(one, at, 0, 4));
    see_result("default-stream", cuStreamWriteValue32_v2(NULL, at, 1, 0));
}

/* As large as the union of the API. */
typedef union value {
    int number;
    char bytes[64];
} value;

static void see_attribute(const char *word, CUstream of, int attribute)
{
    value found;
    memset(&found, 0, sizeof found);
    CUresult code = cuStreamGetAttribute(of, attribute, &found);
    if (code == SUCCESS)
        see(word, "%d", found.number);
    else
        see_result(word, code);
}

static CUresult set_attribute(CUstream of, int attribute, int number)
{
    value wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.number = number;
    return cuStreamSetAttribute(of, attribute, &wanted);
}

static void attributes(void)
{
    init();
    create("a");
    CUstream one = stream(STREAM_BLOCKING), other = stream(STREAM_BLOCKING);
    see_attribute("policy", one, POLICY);
    see_attribute("priority", one, PRIORITY);
    see_attribute("unknown", one, 4);
    see_result("set-policy", set_attribute(one, POLICY, 3));
    see_attribute("policy-set", one, POLICY);
    see_result("set-policy-0", set_attribute(one, POLICY, 0));
    see_result("set-policy-5", set_attribute(one, POLICY, 5));
    see_result("set-unknown", set_attribute(one, 4, 1));
    see_result("set-null", cuStreamSetAttribute(one, POLICY, NULL));
    see_result("get-null", cuStreamGetAttribute(one, POLICY, NULL));
    see_result("copy", cuStreamCopyAttributes(other, one));
    see_attribute("policy-copied", other, POLICY);
}

static void note(void *argument)
{
    __atomic_store_n((int *)argument, 1, __ATOMIC_SEQ_CST);
}

/* The destructor runs at some time after the last reference went. */
static void see_ended(const char *word, int *ended)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (unsigned int i = 0; i < patience_ms && !__atomic_load_n(ended, __ATOMIC_SEQ_CST); i++)
        nanosleep(&pause, NULL);
    see(word, "%d", __atomic_load_n(ended, __ATOMIC_SEQ_CST));
}

static void user_objects(void)
{
    static int ended;
    CUuserObject object = NULL;
    CUgraph graph = NULL;
    init();
    create("a");
    see_result("count-0", cuUserObjectCreate(&object, &ended, note, 0, 1));
    see_result("flags-0", cuUserObjectCreate(&object, &ended, note, 1, 0));
    see_result("create", cuUserObjectCreate(&object, &ended, note, 1, 1));
    see_result("retain", cuUserObjectRetain(object, 2));
    see_result("release", cuUserObjectRelease(object, 2));
    need("cuGraphCreate", cuGraphCreate(&graph, 0));
    see_result("graph-retain", cuGraphRetainUserObject(graph, object, 1, 0));
    see_result("release-own", cuUserObjectRelease(object, 1));
    see("before", "%d", __atomic_load_n(&ended, __ATOMIC_SEQ_CST));
    see_result("graph-destroy", cuGraphDestroy(graph));
    see_ended("after", &ended);
}

const struct experiment value_experiments[] = {
    {"T16.values", values,
     "await write-behind query write-less synchronize-other query-less write synchronize written "
     "write-wide await-wide synchronize-wide written-wide"},
    {"T16.none", values_that_are_none,
     "misaligned misaligned-wide null flags-2 condition-4 default-stream"},
    {"T17.attributes", attributes,
     "policy priority unknown set-policy policy-set set-policy-0 set-policy-5 set-unknown set-null "
     "get-null copy policy-copied"},
    {"G6.objects", user_objects,
     "count-0 flags-0 create retain release graph-retain release-own before graph-destroy after"},
    {0},
};
