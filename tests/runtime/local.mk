tests/runtime/check_%.o: private AM_CFLAGS += $(JANSSON_CFLAGS)
tests/runtime/check_ending_cancel.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/faults
EVERY_CALL_SOURCES = tests/runtime/every_call.c tests/runtime/every_call.h
CALLS_SOURCES = tests/support/calls.c tests/support/calls.h
dist_check_SCRIPTS += tests/runtime/allocator_snapshot.sh tests/runtime/arguments_complete.sh tests/runtime/every_call_complete.sh \
	tests/runtime/under_lazy.sh
TESTS += tests/runtime/allocator_snapshot.sh tests/runtime/arguments_complete.sh tests/runtime/every_call_complete.sh \
	tests/runtime/under_lazy.sh

# those that a real GPU is asked, too: tests/gpu/contents.txt
RUNTIME_GPU = tests/runtime/check_allocator.c tests/runtime/check_copy.c tests/runtime/check_event.c \
	tests/runtime/check_handle.c tests/runtime/check_life.c tests/runtime/check_memory.c tests/runtime/check_raw.c \
	tests/runtime/check_scope.c tests/runtime/check_snapshot_names.c tests/runtime/check_stack.c tests/runtime/check_stream.c \
	tests/runtime/check_stream_order.c tests/runtime/check_stress.c
check_PROGRAMS += tests/runtime/checks_gpu
CHECK_FILES += $(RUNTIME_GPU)
$(RUNTIME_GPU:.c=$(EXEEXT)): tests/runtime/checks_gpu$(EXEEXT) ; $(LINK_CHECK)
tests_runtime_checks_gpu_SOURCES = $(RUNTIME_GPU) tests/runtime/gate.h tests/runtime/log_lines.h tests/runtime/snapshot.h \
	tests/support/picture.h
tests_runtime_checks_gpu_LDADD = tools/draw/libdraw.la $(PUBLIC_LIBS) $(JANSSON_LIBS)
EXTRA_tests_runtime_checks_gpu_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# the rest of the public interface
RUNTIME_PUBLIC = tests/runtime/check_arguments.c tests/runtime/check_cache.c tests/runtime/check_copy_drivers.c \
	tests/runtime/check_ending_fork.c tests/runtime/check_event_share.c tests/runtime/check_first_call.c tests/runtime/check_message.c tests/runtime/check_pointer.c \
	tests/runtime/check_share_mapped.c tests/runtime/check_sticky.c tests/runtime/check_trace.c
check_PROGRAMS += tests/runtime/checks_public
CHECK_FILES += $(RUNTIME_PUBLIC)
$(RUNTIME_PUBLIC:.c=$(EXEEXT)): tests/runtime/checks_public$(EXEEXT) ; $(LINK_CHECK)
tests_runtime_checks_public_SOURCES = $(RUNTIME_PUBLIC) tests/runtime/gate.h tests/runtime/two_processes.h tests/runtime/log_lines.h tests/runtime/opener.h \
	$(EVERY_CALL_SOURCES)
tests_runtime_checks_public_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_runtime_checks_public_DEPENDENCIES = $(cuda13lib_LTLIBRARIES) tests/runtime/ending_program$(EXEEXT)

# Those that look at the insides, or play foreign code through a driver's table, link the rooms.
RUNTIME_INSIDE = tests/runtime/check_calls.c tests/runtime/check_capture_gate.c tests/runtime/check_ending_restart.c \
	tests/runtime/check_ending_thread.c tests/runtime/check_error.c tests/runtime/check_foreign.c tests/runtime/check_green.c \
	tests/runtime/check_handoff.c tests/runtime/check_limits.c tests/runtime/check_log.c tests/runtime/check_mapped.c tests/runtime/check_named.c tests/runtime/check_out_of_memory.c tests/runtime/check_shared_context.c \
	tests/runtime/check_snapshot.c tests/runtime/check_snapshot_race.c tests/runtime/check_trace_lines.c
check_PROGRAMS += tests/runtime/checks_inside
CHECK_FILES += $(RUNTIME_INSIDE)
$(RUNTIME_INSIDE:.c=$(EXEEXT)): tests/runtime/checks_inside$(EXEEXT) ; $(LINK_CHECK)
tests_runtime_checks_inside_SOURCES = $(RUNTIME_INSIDE) tests/runtime/gate.h tests/runtime/two_processes.h tests/runtime/log_lines.h tests/runtime/snapshot.h \
	$(CALLS_SOURCES)
tests_runtime_checks_inside_LDADD = $(INSIDE_LIBS)
EXTRA_tests_runtime_checks_inside_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# several drivers
RUNTIME_DRIVERS = tests/runtime/check_ending_cancel.c tests/runtime/check_staged.c tests/runtime/check_staged_ends.c \
	tests/runtime/check_staged_memory.c tests/runtime/check_two_drivers.c tests/runtime/check_two_drivers_work.c
check_PROGRAMS += tests/runtime/checks_drivers
CHECK_FILES += $(RUNTIME_DRIVERS)
$(RUNTIME_DRIVERS:.c=$(EXEEXT)): tests/runtime/checks_drivers$(EXEEXT) ; $(LINK_CHECK)
tests_runtime_checks_drivers_SOURCES = $(RUNTIME_DRIVERS) tests/runtime/gate.h tests/runtime/log_lines.h tests/runtime/staged.h \
	tests/runtime/two_drivers.c tests/runtime/two_drivers.h
tests_runtime_checks_drivers_LDADD = tests/faults/liboperations.la $(INSIDE_LIBS)
EXTRA_tests_runtime_checks_drivers_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# The one starts ending_program, with the shared library and with the rooms; the other opens the library itself. They link nothing of it.
RUNTIME_ENDING = tests/runtime/check_ending_process.c tests/runtime/check_ending_unload.c
check_PROGRAMS += tests/runtime/checks_ending
CHECK_FILES += $(RUNTIME_ENDING)
$(RUNTIME_ENDING:.c=$(EXEEXT)): tests/runtime/checks_ending$(EXEEXT) ; $(LINK_CHECK)
tests_runtime_checks_ending_SOURCES = $(RUNTIME_ENDING)
tests_runtime_checks_ending_LDADD = tests/support/libsupport.la $(CHECK_LIBS)
EXTRA_tests_runtime_checks_ending_DEPENDENCIES = lib/libctxrt.la tests/runtime/ending_module.la

check_PROGRAMS += tests/runtime/ending_program tests/runtime/ending_program_inside
tests_runtime_ending_program_SOURCES = tests/runtime/ending_program.c $(EVERY_CALL_SOURCES)
tests_runtime_ending_program_CPPFLAGS = $(AM_CPPFLAGS)
tests_runtime_ending_program_LDADD = lib/libctxrt.la
tests_runtime_ending_program_inside_SOURCES = tests/runtime/ending_program.c $(EVERY_CALL_SOURCES) $(CALLS_SOURCES)
tests_runtime_ending_program_inside_CPPFLAGS = $(AM_CPPFLAGS) -DINSIDE
tests_runtime_ending_program_inside_LDADD = $(lib_libctxrt_la_LIBADD)
# -rpath makes libtool build a shared object of a library that is not installed.
check_LTLIBRARIES += tests/runtime/ending_module.la
tests_runtime_ending_module_la_SOURCES = tests/runtime/ending_module.c
tests_runtime_ending_module_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath $(abs_builddir)

# It writes a sample for allocator_snapshot.sh, too.
check_PROGRAMS += tests/runtime/check_allocator_snapshot
TESTS += tests/runtime/check_allocator_snapshot
tests_runtime_check_allocator_snapshot_SOURCES = tests/runtime/check_allocator_snapshot.c \
	tests/support/picture.h tests/runtime/gate.h
tests_runtime_check_allocator_snapshot_LDADD = tools/draw/libdraw.la $(PUBLIC_LIBS) $(JANSSON_LIBS)
