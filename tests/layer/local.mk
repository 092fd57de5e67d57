check_PROGRAMS += tests/layer/check_layer
TESTS += tests/layer/check_layer
tests_layer_check_layer_SOURCES = tests/layer/check_layer.c
tests_layer_check_layer_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_layer_check_layer_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_layer_LDADD = tests/support/libsupport.la lib/layer/liblayer.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)

# libctxrt with CTXRT_LAYERS=check.
check_PROGRAMS += tests/layer/checked
tests_layer_checked_SOURCES = tests/layer/checked.c
tests_layer_checked_LDADD = lib/libctxrt.la
dist_check_SCRIPTS += tests/layer/own_calls.sh tests/layer/runtime.sh tests/layer/scenarios.sh
TESTS += tests/layer/own_calls.sh tests/layer/runtime.sh tests/layer/scenarios.sh
EXTRA_DIST += tests/layer/own_calls.txt

check_PROGRAMS += tests/layer/own_calls
tests_layer_own_calls_SOURCES = tests/layer/own_calls.c
tests_layer_own_calls_LDADD = lib/libctxrt.la

check_PROGRAMS += tests/layer/check_stress
TESTS += tests/layer/check_stress
tests_layer_check_stress_SOURCES = tests/layer/check_stress.c
tests_layer_check_stress_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_layer_check_stress_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_stress_LDADD = tests/support/libsupport.la lib/layer/libcheck.la lib/layer/liblayer.la lib/emu/libemu.la lib/driver/libdriver.la \
	lib/base/libbase.la $(CHECK_LIBS)

check_PROGRAMS += tests/layer/check_calls tests/layer/check_capture tests/layer/check_capture_edges tests/layer/check_capture_end tests/layer/check_order tests/layer/check_order_bytes tests/layer/check_order_rows tests/layer/check_pending tests/layer/check_per_thread tests/layer/check_seen
TESTS += tests/layer/check_calls tests/layer/check_capture tests/layer/check_capture_edges tests/layer/check_capture_end tests/layer/check_order tests/layer/check_order_bytes tests/layer/check_order_rows tests/layer/check_pending tests/layer/check_per_thread tests/layer/check_seen
tests_layer_check_order_SOURCES = tests/layer/check_order.c tests/layer/checking.h tests/layer/ordering.h
tests_layer_check_order_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support -I$(top_srcdir)/tests
tests_layer_check_order_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_order_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_seen_SOURCES = tests/layer/check_seen.c tests/layer/checking.h
tests_layer_check_seen_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_seen_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_seen_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_order_bytes_SOURCES = tests/layer/check_order_bytes.c tests/layer/checking.h tests/layer/ordering.h
tests_layer_check_order_bytes_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_order_bytes_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_order_bytes_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_capture_SOURCES = tests/layer/check_capture.c tests/layer/capturing.h tests/layer/checking.h
tests_layer_check_capture_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_capture_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_capture_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_order_rows_SOURCES = tests/layer/check_order_rows.c tests/layer/checking.h tests/layer/ordering.h
tests_layer_check_order_rows_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_order_rows_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_order_rows_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_capture_end_SOURCES = tests/layer/check_capture_end.c tests/layer/capturing.h tests/layer/checking.h
tests_layer_check_capture_end_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_capture_end_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_capture_end_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_capture_edges_SOURCES = tests/layer/check_capture_edges.c tests/layer/capturing.h tests/layer/checking.h
tests_layer_check_capture_edges_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_capture_edges_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_capture_edges_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_per_thread_SOURCES = tests/layer/check_per_thread.c tests/layer/checking.h tests/layer/ordering.h
tests_layer_check_per_thread_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_per_thread_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_per_thread_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_pending_SOURCES = tests/layer/check_pending.c tests/layer/checking.h tests/layer/ordering.h
tests_layer_check_pending_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_pending_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_pending_LDADD = $(tests_layer_check_stress_LDADD)
tests_layer_check_calls_SOURCES = tests/layer/check_calls.c tests/layer/checking.h
tests_layer_check_calls_CPPFLAGS = $(tests_layer_check_order_CPPFLAGS)
tests_layer_check_calls_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_calls_LDADD = $(tests_layer_check_stress_LDADD)

# It takes the place of calls of the system.
check_PROGRAMS += tests/layer/check_room
TESTS += tests/layer/check_room
tests_layer_check_room_SOURCES = tests/layer/check_room.c
tests_layer_check_room_CPPFLAGS = $(tests_layer_check_stress_CPPFLAGS)
tests_layer_check_room_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_room_LDADD = $(tests_layer_check_stress_LDADD)

check_PROGRAMS += tests/layer/check_trace
TESTS += tests/layer/check_trace
tests_layer_check_trace_SOURCES = tests/layer/check_trace.c
tests_layer_check_trace_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_layer_check_trace_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_trace_LDADD = tests/support/libsupport.la lib/layer/libtrace.la lib/layer/liblayer.la lib/emu/libemu.la lib/driver/libdriver.la \
	lib/base/libbase.la $(CHECK_LIBS)

check_PROGRAMS += tests/layer/check_count
TESTS += tests/layer/check_count
tests_layer_check_count_SOURCES = tests/layer/check_count.c
tests_layer_check_count_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_layer_check_count_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_count_LDADD = tests/support/libsupport.la lib/layer/libcount.la lib/layer/liblayer.la lib/emu/libemu.la lib/driver/libdriver.la \
	lib/base/libbase.la $(CHECK_LIBS)

check_PROGRAMS += tests/layer/check_fork
TESTS += tests/layer/check_fork
tests_layer_check_fork_SOURCES = tests/layer/check_fork.c
tests_layer_check_fork_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_layer_check_fork_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_layer_check_fork_LDADD = tests/support/libsupport.la lib/layer/libcheck.la lib/layer/libcount.la lib/layer/libtrace.la lib/layer/liblayer.la \
	lib/emu/libemu.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)
