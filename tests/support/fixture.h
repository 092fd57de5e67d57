/*
 * The fixture of every test of the public interface: starts the runtime on the embedded driver, and
 * checks at the end that the stack is empty, no context is current and nothing leaked.
 *
 * With CTXRT_TEST_DRIVER=libcuda in the environment it starts on libcuda instead, with as many GPUs
 * as that has: a test that asks for one that is not there is skipped, each with a line of TAP
 * "# SKIP reason" before its own.
 */
#ifndef CX_TEST_FIXTURE_H
#define CX_TEST_FIXTURE_H

#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>

/* True if the embedded driver plays the GPUs. */
bool cx_fixture_is_emulated(void);

/* Ends a test that cannot run here as passed, after a line with the reason. */
_Noreturn void cx_fixture_skip(const char *reason, ...) __attribute__((format(printf, 1, 2)));

/* Skips a test of something that only the embedded driver has. */
void cx_fixture_needs_emulated(const char *what);

/* Skips the test if a call gave this status because there are too few GPUs. */
void cx_fixture_look_for_device(ctxrt_status status);

/* Starts the runtime with this many emulated GPUs of 256 MiB each. */
void cx_fixture_start_with(int gpus, ctxrt_foreign_policy foreign);

/* The same with 4 GPUs and the policy `follow`: for tcase_add_checked_fixture. */
void cx_fixture_start(void);

/* Before the start on large devices: to the embedded driver each chunk of mapped memory, often of
 * 2 MiB, is an open file, and a login often allows 1,024 until it is asked for more. */
void cx_fixture_allow_files(void);

/* Opens a file that takes no byte and gives no reason in errno. The caller closes it. */
FILE *cx_fixture_open_full(void);

/* Fails the test if a frame, a current context, a thread's frame or an object is left. */
void cx_fixture_end(void);

/* Fails unless the call gave this status; on failure shows the message of the last error. */
#define cx_assert_status(call, expected)                                                          \
    do {                                                                                          \
        ctxrt_status cx_status_ = (call), cx_expected_ = (expected);                              \
        if (cx_status_ != cx_expected_)                                                           \
            cx_fixture_look_for_device(cx_status_);                                               \
        ck_assert_msg(cx_status_ == cx_expected_, "%s gave %s, not %s: %s", #call,                \
                      ctxrt_status_name(cx_status_), ctxrt_status_name(cx_expected_),             \
                      ctxrt_last_error()->message);                                               \
    } while (0)
#define cx_assert_ok(call) cx_assert_status(call, CTXRT_SUCCESS)

/* Also checks that the last error has the status and a message. */
#define cx_assert_error(call, expected)                                                           \
    do {                                                                                          \
        cx_assert_status(call, expected);                                                         \
        ck_assert_int_eq(ctxrt_last_error()->status, expected);                                   \
        ck_assert_msg(ctxrt_last_error()->message[0] != '\0', "%s left no message", #call);       \
    } while (0)

#endif
