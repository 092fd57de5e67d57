/*
 * Every call of symbols.def with NULL, with handles that are none, that were destroyed, of another
 * kind, or live, and with numbers from nothing to the largest: an answer, and never a crash. So it
 * is with one such argument among good ones, each in its turn. The driver works as before
 * afterwards.
 */
#include "driver/table.h"
#include "kernels.h"
#include "work_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

typedef enum kind {
    KIND_NUMBER,
    KIND_POINTER,
    KIND_FUNCTION_POINTER,
    KIND_ADDRESS,
    KIND_CONTEXT,
    KIND_STREAM,
    KIND_EVENT,
    KIND_POOL,
    KIND_MODULE,
    KIND_LIBRARY,
    KIND_LINK,
    KIND_FUNCTION,
    KIND_KERNEL,
    KIND_GRAPH,
    KIND_NODE,
    KIND_EXEC,
    KIND_USER_OBJECT,
    KIND_GREEN,
    KIND_NOTIFICATION,
    KIND_LOGS,
    KIND_ARRAY,
    KIND_MIPMAPPED_ARRAY,
    KIND_KEPT, /* no call destroys one, or makes one */
    KIND_COUNT
} kind;

enum { POINTER_CLASS = 5 }; /* of __builtin_classify_type */

#define KIND_OF(type)                                                                       \
    _Generic((type){0}, CUcontext: KIND_CONTEXT, CUstream: KIND_STREAM, CUevent: KIND_EVENT, \
             CUmemoryPool: KIND_POOL, CUmodule: KIND_MODULE, CUlibrary: KIND_LIBRARY,       \
             CUlinkState: KIND_LINK, CUfunction: KIND_FUNCTION, CUkernel: KIND_KERNEL,      \
             CUgraph: KIND_GRAPH, CUgraphNode: KIND_NODE, CUgraphExec: KIND_EXEC,           \
             CUuserObject: KIND_USER_OBJECT, CUgreenCtx: KIND_GREEN,                        \
             CUdevResourceDesc: KIND_KEPT, CUtexref: KIND_KEPT, CUsurfref: KIND_KEPT,       \
             CUarray: KIND_ARRAY,                                                           \
             CUmipmappedArray: KIND_MIPMAPPED_ARRAY,                                        \
             CUexternalMemory: KIND_KEPT,                                                   \
             CUasyncCallbackHandle: KIND_NOTIFICATION, CUlogsCallbackHandle: KIND_LOGS,     \
             CUdeviceptr: KIND_ADDRESS, CUhostFn: KIND_FUNCTION_POINTER,                    \
             cxu_stream_callback: KIND_FUNCTION_POINTER,                                    \
             cxu_async_callback: KIND_FUNCTION_POINTER,                                     \
             cxu_logs_callback: KIND_FUNCTION_POINTER,                                      \
             cxu_shared_of_block: KIND_FUNCTION_POINTER,                                    \
             default: __builtin_classify_type((type){0}) == POINTER_CLASS ? KIND_POINTER    \
                                                                          : KIND_NUMBER)

typedef enum handle_choice {
    HANDLE_NULL,
    HANDLE_ODD,       /* a small number */
    HANDLE_MEMORY,    /* an address where something else lies */
    HANDLE_DESTROYED,
    HANDLE_OTHER_KIND,
    HANDLE_LIVE,
    HANDLE_CHOICES
} handle_choice;

typedef enum number_choice {
    NUMBER_ZERO,
    NUMBER_ONE,
    NUMBER_LARGEST,
    NUMBER_CHOICES
} number_choice;

typedef struct argument_choice {
    handle_choice handle;
    number_choice number;
    bool pointers; /* to memory, else NULL */
} argument_choice;

static argument_choice choice;

/* The one argument of a call that is chosen so, if it is not -1, and which one comes next. */
static struct {
    int position, next;
    argument_choice choice;
} odd_one = {.position = -1};

static void *destroyed[KIND_COUNT], *live_stream;
static void *live[KIND_COUNT]; /* made anew for each call */
static bool asked[KIND_COUNT]; /* by some call */

/* All zeroes: room for whatever a call reads or writes through a pointer. */
static unsigned char *room;
#define ROOM_BYTES 65536

static int nothing(void)
{
    return 0;
}

static uintptr_t handle_for(kind of)
{
    switch (choice.handle) {
    case HANDLE_ODD:
        return 3;
    case HANDLE_MEMORY:
        return (uintptr_t)room;
    case HANDLE_DESTROYED:
        return (uintptr_t)destroyed[of];
    case HANDLE_LIVE:
        return (uintptr_t)live[of];
    case HANDLE_OTHER_KIND:
        return (uintptr_t)(of == KIND_STREAM ? (void *)work_context : live_stream);
    default:
        return 0;
    }
}

/* An address may be the host's, and what lies there is the program's to answer for: NULL, memory of
 * the program, or memory that was freed. */
static uintptr_t address(void)
{
    switch (choice.handle) {
    case HANDLE_NULL:
    case HANDLE_ODD:
        return 0;
    case HANDLE_DESTROYED:
        return (uintptr_t)destroyed[KIND_ADDRESS];
    case HANDLE_LIVE:
        return (uintptr_t)live[KIND_ADDRESS];
    default:
        return (uintptr_t)room;
    }
}

static const void *fill_argument(kind of);

/* An array that is shorter than the number beside it says is the caller's mistake, and no driver
 * can tell. */
static bool counts_an_array(const char *name)
{
    return strstr(name, "count") != NULL;
}

static bool odd_one_is_large(void)
{
    return odd_one.choice.number == NUMBER_LARGEST;
}

/* The compiler decides which argument comes first, the same each time. */
static const void *argument(kind of, const char *name)
{
    argument_choice usual = choice;

    if (odd_one.next++ == odd_one.position && !(counts_an_array(name) && odd_one_is_large()))
        choice = odd_one.choice;
    const void *bytes = fill_argument(of);
    choice = usual;
    return bytes;
}

/* The bytes of an argument, until some more arguments have been asked for. */
static const void *fill_argument(kind of)
{
    static union {
        unsigned char bytes[256];
        uintptr_t word;
        int (*function)(void);
    } slots[16];
    static unsigned int next;
    int fill = choice.number == NUMBER_LARGEST ? 0xff : 0;

    next = (next + 1) % 16;
    memset(&slots[next], fill, sizeof slots[next]);
    switch (of) {
    case KIND_NUMBER:
        if (choice.number == NUMBER_ONE)
            slots[next].bytes[0] = 1;
        break;
    case KIND_POINTER:
        slots[next].word = choice.pointers ? (uintptr_t)room : 0;
        break;
    case KIND_FUNCTION_POINTER:
        slots[next].function = choice.pointers ? nothing : NULL;
        break;
    case KIND_ADDRESS:
        slots[next].word = address();
        break;
    default:
        slots[next].word = handle_for(of);
    }
    return &slots[next];
}

/* A type of handles that KIND_OF does not have would be taken for a pointer to something. */
static kind known_kind(kind found, const char *type)
{
    ck_assert_msg(found != KIND_POINTER || strncmp(type, "CU", 2) != 0 || strchr(type, '*'),
                  "%s: a kind of handle without a row in KIND_OF", type);
    asked[found] = true;
    return found;
}

#define ARGUMENT(type, name)                                                               \
    ({                                                                                     \
        type value_;                                                                       \
        memcpy(&value_, argument(known_kind(KIND_OF(type), #type), #name), sizeof value_); \
        value_;                                                                            \
    })
#define PICK(arity, list) PICK_(arity, list)
#define PICK_(arity, list) PICK_##arity list
#define PICK_0() ()
#define PICK_1(t1, n1) (ARGUMENT(t1, n1))
#define PICK_2(t1, n1, t2, n2) (ARGUMENT(t1, n1), ARGUMENT(t2, n2))
#define PICK_3(t1, n1, t2, n2, t3, n3) (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3))
#define PICK_4(t1, n1, t2, n2, t3, n3, t4, n4) \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4))
#define PICK_5(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5) \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4), ARGUMENT(t5, n5))
#define PICK_6(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6)                                 \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4), ARGUMENT(t5, n5), \
     ARGUMENT(t6, n6))
#define PICK_7(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7)                         \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4), ARGUMENT(t5, n5), \
     ARGUMENT(t6, n6), ARGUMENT(t7, n7))
#define PICK_8(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8)                 \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4), ARGUMENT(t5, n5), \
     ARGUMENT(t6, n6), ARGUMENT(t7, n7), ARGUMENT(t8, n8))
#define PICK_9(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9)         \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4), ARGUMENT(t5, n5), \
     ARGUMENT(t6, n6), ARGUMENT(t7, n7), ARGUMENT(t8, n8), ARGUMENT(t9, n9))
#define PICK_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, n10) \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4), ARGUMENT(t5, n5),    \
     ARGUMENT(t6, n6), ARGUMENT(t7, n7), ARGUMENT(t8, n8), ARGUMENT(t9, n9), ARGUMENT(t10, n10))
#define PICK_11(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, n10, \
                t11, n11)                                                                         \
    (ARGUMENT(t1, n1), ARGUMENT(t2, n2), ARGUMENT(t3, n3), ARGUMENT(t4, n4), ARGUMENT(t5, n5),    \
     ARGUMENT(t6, n6), ARGUMENT(t7, n7), ARGUMENT(t8, n8), ARGUMENT(t9, n9), ARGUMENT(t10, n10),  \
     ARGUMENT(t11, n11))

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result sweep_##slot(void)                                      \
    {                                                                         \
        return cx_emu_call_##slot PICK(arity, parameters);                    \
    }
#include "driver/symbols.def"

static cxu_result (*const sweeps[CX_SLOT_COUNT])(void) = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = sweep_##slot,
#include "driver/symbols.def"
};

/* ---- handles of each kind ---- */

static void make_code(void **into)
{
    static const char text[] = PTX_HEAD PTX_REVERSE;
    CUmodule module;
    CUlibrary library;
    CUfunction function;
    CUkernel kernel;
    CUlinkState link;

    ck_success(cx_emu_call_module_load_data(&module, text));
    ck_success(cx_emu_call_module_get_function(&function, module, "reverse"));
    ck_success(cx_emu_call_library_load_data(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    ck_success(cx_emu_call_library_get_kernel(&kernel, library, "reverse"));
    ck_success(cx_emu_call_link_create(0, NULL, NULL, &link));
    into[KIND_MODULE] = module;
    into[KIND_FUNCTION] = function;
    into[KIND_LIBRARY] = library;
    into[KIND_KERNEL] = kernel;
    into[KIND_LINK] = link;
}

static void ignore(void *user_data)
{
    (void)user_data;
}

static void make_graph(void **into)
{
    CUuserObject object;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_success(cx_emu_call_graph_add_empty_node(&node, graph, NULL, 0));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_user_object_create(&object, NULL, ignore, 1, 1));
    into[KIND_GRAPH] = graph;
    into[KIND_NODE] = node;
    into[KIND_EXEC] = exec;
    into[KIND_USER_OBJECT] = object;
}

static void ignore_notification(cxu_async_notification *notification, void *user_data,
                                CUasyncCallbackHandle handle)
{
    (void)notification;
    (void)user_data;
    (void)handle;
}

static void ignore_entry(void *user_data, cxu_log_level level, char *text, size_t length)
{
    (void)user_data;
    (void)level;
    (void)text;
    (void)length;
}

static void make_callbacks(void **into)
{
    CUasyncCallbackHandle notification;
    CUlogsCallbackHandle logs;

    ck_success(cx_emu_call_device_register_async_notification(0, ignore_notification, NULL,
                                                              &notification));
    ck_success(cx_emu_call_logs_register_callback(ignore_entry, NULL, &logs));
    into[KIND_NOTIFICATION] = notification;
    into[KIND_LOGS] = logs;
}

static void make_contexts(void **into)
{
    cxu_dev_resource all;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    CUcontext context;

    ck_success(cx_emu_call_ctx_create_v2(&context, 0, 1));
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_success(cx_emu_call_device_get_dev_resource(0, &all, CXU_DEV_RESOURCE_TYPE_SM));
    ck_success(cx_emu_call_dev_resource_generate_desc(&desc, &all, 1));
    ck_success(cx_emu_call_green_ctx_create(&green, desc, 0, CXU_GREEN_CTX_DEFAULT_STREAM));
    into[KIND_CONTEXT] = context;
    into[KIND_GREEN] = green;
    into[KIND_KEPT] = desc;
}

static void make_arrays(void **into)
{
    const cxu_array_3d_descriptor descriptor = {4, 4, 0, CXU_AD_FORMAT_FLOAT, 1, 0};
    CUarray array;
    CUmipmappedArray mipmapped;

    ck_success(cx_emu_call_array_3d_create(&array, &descriptor));
    ck_success(cx_emu_call_mipmapped_array_create(&mipmapped, &descriptor, 2));
    into[KIND_ARRAY] = array;
    into[KIND_MIPMAPPED_ARRAY] = mipmapped;
}

static void make_one_of_each(void **into)
{
    CUmemoryPool pool;
    cxu_mem_pool_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};

    make_contexts(into);
    ck_success(cx_emu_call_mem_pool_create(&pool, &properties));
    into[KIND_STREAM] = make_stream(CXU_STREAM_DEFAULT);
    into[KIND_EVENT] = make_event();
    into[KIND_POOL] = pool;
    into[KIND_ADDRESS] = (void *)(uintptr_t)make_memory(64);
    make_arrays(into);
    make_code(into);
    make_graph(into);
    make_callbacks(into);
}

/* Whatever became of them. */
static void destroy_one_of_each(void *const *of)
{
    cx_emu_call_stream_destroy(of[KIND_STREAM]);
    cx_emu_call_event_destroy(of[KIND_EVENT]);
    cx_emu_call_mem_free((uintptr_t)of[KIND_ADDRESS]);
    cx_emu_call_array_destroy(of[KIND_ARRAY]);
    cx_emu_call_mipmapped_array_destroy(of[KIND_MIPMAPPED_ARRAY]);
    cx_emu_call_module_unload(of[KIND_MODULE]);
    cx_emu_call_library_unload(of[KIND_LIBRARY]);
    cx_emu_call_link_destroy(of[KIND_LINK]);
    cx_emu_call_graph_exec_destroy(of[KIND_EXEC]);
    cx_emu_call_graph_destroy(of[KIND_GRAPH]);
    cx_emu_call_user_object_release(of[KIND_USER_OBJECT], 1);
    cx_emu_call_mem_pool_destroy(of[KIND_POOL]);
    cx_emu_call_device_unregister_async_notification(0, of[KIND_NOTIFICATION]);
    cx_emu_call_logs_unregister_callback(of[KIND_LOGS]);
    cx_emu_call_ctx_destroy(of[KIND_CONTEXT]);
    cx_emu_call_green_ctx_destroy(of[KIND_GREEN]);
}

static void setup(void)
{
    setenv("CTXRT_EMU_STICKY", "context", 1); /* a kernel that got wild arguments ends its own */
    work_setup();
    room = calloc(1, ROOM_BYTES);
    ck_assert_ptr_nonnull(room);
    make_one_of_each(destroyed);
    destroy_one_of_each(destroyed);
    live_stream = make_stream(CXU_STREAM_NON_BLOCKING);
}

static void teardown(void)
{
    free(room);
    work_teardown();
}

/* ---- the sweep ---- */

/* Each call finds the same: one context current, nothing registered. A link belongs to whoever made
 * it, so that one is given back. */
static void restore(void)
{
    CUcontext popped;
    CUlinkState link;

    memcpy(&link, room, sizeof link);
    cx_emu_call_link_destroy(link);

    while (cx_emu_call_ctx_pop(&popped) == CXU_SUCCESS)
        continue;
    ck_success(cx_emu_call_ctx_push(work_context));
    cx_emu_call_mem_host_unregister(room);
    memset(room, 0, ROOM_BYTES);
}

static void ck_still_works(void)
{
    uint32_t value = 7, found = 0;
    CUdeviceptr memory = make_memory(sizeof value);

    ck_success(cx_emu_call_memcpy_htod(memory, &value, sizeof value));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(&found, memory, sizeof found);
    ck_assert_uint_eq(found, value);
    ck_success(cx_emu_call_mem_free(memory));
}

/* A pointer to an array that is shorter than the number beside it says is the caller's mistake, and
 * no driver can tell. */
static bool fair(void)
{
    return choice.number != NUMBER_LARGEST || !choice.pointers;
}

/* In a context of its own, whose end also ends what waits for a value that never comes. */
static cxu_result sweep_live(int slot)
{
    CUcontext own;
    cxu_result result;

    ck_success(cx_emu_call_ctx_create_v2(&own, 0, 0));
    make_one_of_each(live);
    if (odd_one.position >= 0) {
        make_one_of_each(destroyed);
        destroy_one_of_each(destroyed);
    }
    result = sweeps[slot]();
    ck_success(cx_emu_call_ctx_destroy(own));
    destroy_one_of_each(live);
    return result;
}

START_TEST(no_call_crashes)
{
    choice.handle = (handle_choice)(_i % HANDLE_CHOICES);
    choice.number = (number_choice)(_i / HANDLE_CHOICES % NUMBER_CHOICES);
    choice.pointers = _i / HANDLE_CHOICES / NUMBER_CHOICES != 0;
    if (!fair())
        return;
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        cxu_result result = choice.handle == HANDLE_LIVE ? sweep_live(slot) : sweeps[slot]();

        ck_assert_msg(cx_result_name(result) != NULL, "%s returns %d", cx_symbols[slot].symbol,
                      (int)result);
        restore();
    }
    ck_still_works();
}
END_TEST

/* False: the call has fewer arguments. */
static bool sweep_odd_one(int slot)
{
    cxu_result result;

    odd_one.next = 0;
    result = sweep_live(slot);
    ck_assert_msg(cx_result_name(result) != NULL, "%s returns %d", cx_symbols[slot].symbol,
                  (int)result);
    restore();
    return odd_one.next > odd_one.position;
}

static const argument_choice odd_ones[] = {{HANDLE_NULL, NUMBER_ZERO, false},
                                           {HANDLE_ODD, NUMBER_LARGEST, true},
                                           {HANDLE_MEMORY, NUMBER_ZERO, false},
                                           {HANDLE_DESTROYED, NUMBER_LARGEST, true},
                                           {HANDLE_OTHER_KIND, NUMBER_ZERO, false}};

/* Each handle is destroyed while the others live, so that its place is not taken. */
START_TEST(no_call_crashes_by_one_argument)
{
    choice = (argument_choice){HANDLE_LIVE, NUMBER_ONE, true};
    odd_one.choice = odd_ones[_i];
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        odd_one.position = 0;
        while (sweep_odd_one(slot))
            odd_one.position++;
    }
    odd_one.position = -1;
    ck_still_works();
}
END_TEST

START_TEST(every_kind_of_handle_was_made_and_destroyed)
{
    choice.handle = HANDLE_NULL;
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        ck_assert_msg(sweeps[slot] != NULL, "%s is not swept", cx_symbols[slot].symbol);
        (void)sweeps[slot]();
        restore();
    }
    for (int of = KIND_ADDRESS; of < KIND_KEPT; of++) {
        ck_assert_msg(asked[of], "no call takes kind %d", of);
        ck_assert_msg(destroyed[of] != NULL, "none of kind %d was destroyed", of);
    }
}
END_TEST

static Suite *sweep_suite(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_kind_of_handle_was_made_and_destroyed);
    tcase_add_loop_test(tests, no_call_crashes, 0, HANDLE_CHOICES * NUMBER_CHOICES * 2);
    tcase_add_loop_test(tests, no_call_crashes_by_one_argument, 0,
                        sizeof odd_ones / sizeof odd_ones[0]);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(sweep_suite);
