RUNTIME_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
RUNTIME_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

RUNTIME_TESTS = \
	tests/runtime/check_allocator \
	tests/runtime/check_copy \
	tests/runtime/check_event \
	tests/runtime/check_memory \
	tests/runtime/check_raw \
	tests/runtime/check_stack \
	tests/runtime/check_message tests/runtime/check_sticky \
	tests/runtime/check_stream \
	tests/runtime/check_stream_order \
	tests/runtime/check_stress
check_PROGRAMS += $(RUNTIME_TESTS)
dist_check_SCRIPTS += tests/runtime/under_lazy.sh
TESTS += $(RUNTIME_TESTS) tests/runtime/under_lazy.sh

tests_runtime_check_stack_SOURCES = tests/runtime/check_stack.c
tests_runtime_check_stack_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_stack_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_stack_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_message_SOURCES = tests/runtime/check_message.c
tests_runtime_check_message_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_message_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_message_LDADD = $(PUBLIC_LIBS)
tests_runtime_check_sticky_SOURCES = tests/runtime/check_sticky.c
tests_runtime_check_sticky_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_sticky_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_sticky_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_event_SOURCES = tests/runtime/check_event.c tests/runtime/gate.h
tests_runtime_check_event_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_event_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_event_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_stream_SOURCES = tests/runtime/check_stream.c tests/runtime/gate.h
tests_runtime_check_stream_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_stream_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_stream_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_stream_order_SOURCES = tests/runtime/check_stream_order.c tests/runtime/gate.h
tests_runtime_check_stream_order_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_stream_order_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_stream_order_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_runtime_check_stream_order_DEPENDENCIES = lib/shim/cuda-13/libcuda.la

tests_runtime_check_stress_SOURCES = tests/runtime/check_stress.c
tests_runtime_check_stress_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_stress_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_stress_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_allocator_SOURCES = tests/runtime/check_allocator.c tests/runtime/gate.h \
	tests/runtime/log_lines.h
tests_runtime_check_allocator_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_allocator_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_allocator_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_copy_SOURCES = tests/runtime/check_copy.c tests/runtime/gate.h
tests_runtime_check_copy_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_copy_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_copy_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_memory_SOURCES = tests/runtime/check_memory.c tests/runtime/gate.h
tests_runtime_check_memory_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_memory_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_memory_LDADD = $(PUBLIC_LIBS)

tests_runtime_check_raw_SOURCES = tests/runtime/check_raw.c tests/runtime/gate.h
tests_runtime_check_raw_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_raw_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_raw_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/runtime/check_mapped
TESTS += tests/runtime/check_mapped
tests_runtime_check_mapped_SOURCES = tests/runtime/check_mapped.c tests/runtime/gate.h
tests_runtime_check_mapped_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_mapped_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_mapped_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/runtime/check_cache
TESTS += tests/runtime/check_cache
tests_runtime_check_cache_SOURCES = tests/runtime/check_cache.c tests/runtime/gate.h tests/runtime/opener.h
tests_runtime_check_cache_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_cache_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_cache_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/runtime/check_arguments
TESTS += tests/runtime/check_arguments tests/runtime/arguments_complete.sh
dist_check_SCRIPTS += tests/runtime/arguments_complete.sh
tests_runtime_check_arguments_SOURCES = tests/runtime/check_arguments.c
tests_runtime_check_arguments_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_arguments_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_arguments_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/runtime/check_scope tests/runtime/check_foreign tests/runtime/check_green
TESTS += tests/runtime/check_scope tests/runtime/check_foreign tests/runtime/check_green
tests_runtime_check_scope_SOURCES = tests/runtime/check_scope.c
tests_runtime_check_scope_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_scope_CFLAGS = $(RUNTIME_CFLAGS) $(JANSSON_CFLAGS)
tests_runtime_check_scope_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS)

# Those that look at other threads' stacks, or play foreign code, link the rooms.
check_PROGRAMS += tests/runtime/check_calls tests/runtime/check_capture_gate tests/runtime/check_error tests/runtime/check_log tests/runtime/check_snapshot \
	tests/runtime/check_snapshot_names tests/runtime/check_snapshot_race
TESTS += tests/runtime/check_calls tests/runtime/check_capture_gate tests/runtime/check_error tests/runtime/check_log tests/runtime/check_snapshot \
	tests/runtime/check_snapshot_names tests/runtime/check_snapshot_race
tests_runtime_check_snapshot_SOURCES = tests/runtime/check_snapshot.c tests/runtime/snapshot.h tests/runtime/gate.h
tests_runtime_check_snapshot_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_snapshot_CFLAGS = $(RUNTIME_CFLAGS) $(JANSSON_CFLAGS)
tests_runtime_check_snapshot_LDADD = $(INSIDE_LIBS)
tests_runtime_check_error_SOURCES = tests/runtime/check_error.c tests/runtime/gate.h
tests_runtime_check_error_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_error_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_error_LDADD = $(INSIDE_LIBS)
tests_runtime_check_calls_SOURCES = tests/runtime/check_calls.c
tests_runtime_check_calls_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_calls_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_calls_LDADD = $(INSIDE_LIBS)
tests_runtime_check_capture_gate_SOURCES = tests/runtime/check_capture_gate.c tests/runtime/gate.h
tests_runtime_check_capture_gate_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_capture_gate_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_capture_gate_LDADD = $(INSIDE_LIBS)
tests_runtime_check_log_SOURCES = tests/runtime/check_log.c tests/runtime/gate.h
tests_runtime_check_log_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_log_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_log_LDADD = $(INSIDE_LIBS)
tests_runtime_check_snapshot_names_SOURCES = tests/runtime/check_snapshot_names.c tests/runtime/snapshot.h \
	tests/support/picture.h tests/runtime/gate.h
tests_runtime_check_snapshot_names_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_snapshot_names_CFLAGS = $(RUNTIME_CFLAGS) $(JANSSON_CFLAGS)
tests_runtime_check_snapshot_names_LDADD = tools/draw/libdraw.la $(PUBLIC_LIBS) $(JANSSON_LIBS)
tests_runtime_check_snapshot_race_SOURCES = tests/runtime/check_snapshot_race.c tests/runtime/snapshot.h \
	tests/runtime/gate.h
tests_runtime_check_snapshot_race_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_snapshot_race_CFLAGS = $(RUNTIME_CFLAGS) $(JANSSON_CFLAGS)
tests_runtime_check_snapshot_race_LDADD = $(INSIDE_LIBS)

# Plays the foreign code through the driver's table, so it links the rooms.
tests_runtime_check_green_SOURCES = tests/runtime/check_green.c
tests_runtime_check_green_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_green_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_green_LDADD = $(INSIDE_LIBS)
tests_runtime_check_foreign_SOURCES = tests/runtime/check_foreign.c
tests_runtime_check_foreign_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_foreign_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_foreign_LDADD = $(INSIDE_LIBS)

# Hand-off and contexts of several threads need other code too.
check_PROGRAMS += tests/runtime/check_handoff
TESTS += tests/runtime/check_handoff
tests_runtime_check_handoff_SOURCES = tests/runtime/check_handoff.c tests/runtime/gate.h
tests_runtime_check_handoff_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_handoff_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_handoff_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/runtime/check_shared_context
TESTS += tests/runtime/check_shared_context
tests_runtime_check_shared_context_SOURCES = tests/runtime/check_shared_context.c
tests_runtime_check_shared_context_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_shared_context_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_shared_context_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/runtime/check_life
TESTS += tests/runtime/check_life
tests_runtime_check_life_SOURCES = tests/runtime/check_life.c
tests_runtime_check_life_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_life_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_life_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_runtime_check_life_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

check_PROGRAMS += tests/runtime/check_pointer
TESTS += tests/runtime/check_pointer
tests_runtime_check_pointer_SOURCES = tests/runtime/check_pointer.c
tests_runtime_check_pointer_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_pointer_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_pointer_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/runtime/check_handle
TESTS += tests/runtime/check_handle
tests_runtime_check_handle_SOURCES = tests/runtime/check_handle.c
tests_runtime_check_handle_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_handle_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_handle_LDADD = $(PUBLIC_LIBS)

# Endings. ending_program is run by check_ending_process, with the shared library and with the rooms.
check_PROGRAMS += tests/runtime/ending_program tests/runtime/ending_program_inside tests/runtime/check_ending_process
TESTS += tests/runtime/check_ending_process tests/runtime/every_call_complete.sh
dist_check_SCRIPTS += tests/runtime/every_call_complete.sh
EVERY_CALL_SOURCES = tests/runtime/every_call.c tests/runtime/every_call.h
CALLS_SOURCES = tests/support/calls.c tests/support/calls.h
tests_runtime_ending_program_SOURCES = tests/runtime/ending_program.c $(EVERY_CALL_SOURCES)
tests_runtime_ending_program_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_ending_program_LDADD = lib/libctxrt.la
tests_runtime_ending_program_inside_SOURCES = tests/runtime/ending_program.c $(EVERY_CALL_SOURCES) $(CALLS_SOURCES)
tests_runtime_ending_program_inside_CPPFLAGS = $(RUNTIME_CPPFLAGS) -DINSIDE
tests_runtime_ending_program_inside_LDADD = $(lib_libctxrt_la_LIBADD)
tests_runtime_check_ending_process_SOURCES = tests/runtime/check_ending_process.c
tests_runtime_check_ending_process_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_ending_process_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_ending_process_LDADD = tests/support/libsupport.la $(CHECK_LIBS)

check_PROGRAMS += tests/runtime/check_first_call
TESTS += tests/runtime/check_first_call
tests_runtime_check_first_call_SOURCES = tests/runtime/check_first_call.c $(EVERY_CALL_SOURCES)
tests_runtime_check_first_call_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_first_call_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_first_call_LDADD = $(PUBLIC_LIBS)

# -rpath makes libtool build a shared object of a library that is not installed.
check_LTLIBRARIES += tests/runtime/ending_module.la
tests_runtime_ending_module_la_SOURCES = tests/runtime/ending_module.c
tests_runtime_ending_module_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath $(abs_builddir)
EXTRA_tests_runtime_check_ending_process_DEPENDENCIES = tests/runtime/ending_module.la

# The other endings. Those that look at the insides, or put tables of their own into the drivers, link the rooms.

check_PROGRAMS += tests/runtime/check_ending_thread
TESTS += tests/runtime/check_ending_thread
tests_runtime_check_ending_thread_SOURCES = tests/runtime/check_ending_thread.c tests/runtime/log_lines.h \
	tests/runtime/gate.h $(CALLS_SOURCES)
tests_runtime_check_ending_thread_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_ending_thread_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_ending_thread_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/runtime/check_ending_fork
TESTS += tests/runtime/check_ending_fork
tests_runtime_check_ending_fork_SOURCES = tests/runtime/check_ending_fork.c tests/runtime/gate.h $(EVERY_CALL_SOURCES)
tests_runtime_check_ending_fork_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_ending_fork_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_ending_fork_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_runtime_check_ending_fork_DEPENDENCIES = tests/runtime/ending_program

check_PROGRAMS += tests/runtime/check_ending_cancel
TESTS += tests/runtime/check_ending_cancel
tests_runtime_check_ending_cancel_SOURCES = tests/runtime/check_ending_cancel.c tests/runtime/log_lines.h tests/runtime/gate.h
tests_runtime_check_ending_cancel_CPPFLAGS = $(RUNTIME_CPPFLAGS) -I$(top_srcdir)/tests/faults
tests_runtime_check_ending_cancel_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_ending_cancel_LDADD = tests/faults/liboperations.la $(INSIDE_LIBS)
EXTRA_tests_runtime_check_ending_cancel_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# Opens the library itself, and links nothing of it.
check_PROGRAMS += tests/runtime/check_ending_unload
TESTS += tests/runtime/check_ending_unload
tests_runtime_check_ending_unload_SOURCES = tests/runtime/check_ending_unload.c
tests_runtime_check_ending_unload_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_ending_unload_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_ending_unload_LDADD = tests/support/libsupport.la $(CHECK_LIBS)
EXTRA_tests_runtime_check_ending_unload_DEPENDENCIES = lib/libctxrt.la

check_PROGRAMS += tests/runtime/check_ending_restart
TESTS += tests/runtime/check_ending_restart
tests_runtime_check_ending_restart_SOURCES = tests/runtime/check_ending_restart.c tests/runtime/gate.h
tests_runtime_check_ending_restart_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_ending_restart_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_ending_restart_LDADD = $(INSIDE_LIBS)
EXTRA_tests_runtime_check_ending_restart_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

check_PROGRAMS += tests/runtime/check_two_drivers tests/runtime/check_two_drivers_work
TESTS += tests/runtime/check_two_drivers tests/runtime/check_two_drivers_work
TWO_DRIVERS_SOURCES = tests/runtime/two_drivers.c tests/runtime/two_drivers.h tests/runtime/gate.h
tests_runtime_check_two_drivers_SOURCES = tests/runtime/check_two_drivers.c $(TWO_DRIVERS_SOURCES)
tests_runtime_check_two_drivers_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_two_drivers_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_two_drivers_LDADD = $(INSIDE_LIBS)
EXTRA_tests_runtime_check_two_drivers_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_runtime_check_two_drivers_work_SOURCES = tests/runtime/check_two_drivers_work.c $(TWO_DRIVERS_SOURCES)
tests_runtime_check_two_drivers_work_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_two_drivers_work_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_two_drivers_work_LDADD = $(INSIDE_LIBS)
EXTRA_tests_runtime_check_two_drivers_work_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

check_PROGRAMS += tests/runtime/check_staged tests/runtime/check_staged_ends
TESTS += tests/runtime/check_staged tests/runtime/check_staged_ends
STAGED_SOURCES = tests/runtime/staged.h tests/runtime/gate.h $(TWO_DRIVERS_SOURCES)
tests_runtime_check_staged_SOURCES = tests/runtime/check_staged.c $(STAGED_SOURCES)
tests_runtime_check_staged_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_staged_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_staged_LDADD = $(INSIDE_LIBS)
EXTRA_tests_runtime_check_staged_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_runtime_check_staged_ends_SOURCES = tests/runtime/check_staged_ends.c $(STAGED_SOURCES)
tests_runtime_check_staged_ends_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_staged_ends_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_staged_ends_LDADD = $(INSIDE_LIBS)
EXTRA_tests_runtime_check_staged_ends_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

check_PROGRAMS += tests/runtime/check_staged_memory
TESTS += tests/runtime/check_staged_memory
tests_runtime_check_staged_memory_SOURCES = tests/runtime/check_staged_memory.c $(STAGED_SOURCES)
tests_runtime_check_staged_memory_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_staged_memory_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_staged_memory_LDADD = $(INSIDE_LIBS)
EXTRA_tests_runtime_check_staged_memory_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

check_PROGRAMS += tests/runtime/check_trace
TESTS += tests/runtime/check_trace
tests_runtime_check_trace_SOURCES = tests/runtime/check_trace.c tests/runtime/log_lines.h
tests_runtime_check_trace_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_trace_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_trace_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/runtime/check_trace_lines
TESTS += tests/runtime/check_trace_lines
tests_runtime_check_trace_lines_SOURCES = tests/runtime/check_trace_lines.c
tests_runtime_check_trace_lines_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_trace_lines_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_trace_lines_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/runtime/check_allocator_snapshot
dist_check_SCRIPTS += tests/runtime/allocator_snapshot.sh
TESTS += tests/runtime/check_allocator_snapshot tests/runtime/allocator_snapshot.sh
tests_runtime_check_allocator_snapshot_SOURCES = tests/runtime/check_allocator_snapshot.c \
	tests/support/picture.h tests/runtime/gate.h
tests_runtime_check_allocator_snapshot_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_allocator_snapshot_CFLAGS = $(RUNTIME_CFLAGS) $(JANSSON_CFLAGS)
tests_runtime_check_allocator_snapshot_LDADD = tools/draw/libdraw.la $(PUBLIC_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += tests/runtime/check_copy_drivers
TESTS += tests/runtime/check_copy_drivers
tests_runtime_check_copy_drivers_SOURCES = tests/runtime/check_copy_drivers.c tests/runtime/gate.h
tests_runtime_check_copy_drivers_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_copy_drivers_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_copy_drivers_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_runtime_check_copy_drivers_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
