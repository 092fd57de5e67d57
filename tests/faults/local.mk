check_LTLIBRARIES += tests/faults/liboperations.la
tests_faults_liboperations_la_SOURCES = tests/faults/operations.c tests/faults/operations.h tests/faults/operations_graph.c \
	tests/faults/operations_memory.c tests/faults/operations_stack.c tests/faults/stage.c tests/faults/stage.h
check_LTLIBRARIES += tests/faults/libhost_memory.la tests/faults/libretried.la
tests_faults_libhost_memory_la_SOURCES = tests/faults/host_memory.c tests/faults/host_memory.h
tests_faults_libretried_la_SOURCES = tests/faults/retried.c
tests_faults_libretried_la_LIBADD = tests/faults/libhost_memory.la
EXTRA_tests_faults_libretried_la_DEPENDENCIES = tests/faults/retried.wraps
tests/faults/retried.wraps: lib/driver/symbols.def
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -n 's/^CX_SYMBOL(\([a-z0-9_]*\),.*/--wrap=cx_emu_call_\1/p' $(top_srcdir)/lib/driver/symbols.def >$@
CLEANFILES += tests/faults/retried.wraps

FAULTS_FILES = tests/faults/check_faults.c tests/faults/check_lasting.c
check_PROGRAMS += tests/faults/checks_faults
CHECK_FILES += $(FAULTS_FILES)
$(FAULTS_FILES:.c=$(EXEEXT)): tests/faults/checks_faults$(EXEEXT) ; $(LINK_CHECK)
tests_faults_checks_faults_SOURCES = $(FAULTS_FILES)
tests_faults_checks_faults_LDADD = tests/faults/liboperations.la $(INSIDE_LIBS)

# It has a malloc of its own.
check_PROGRAMS += tests/faults/check_no_memory
TESTS += tests/faults/check_no_memory
tests_faults_check_no_memory_SOURCES = tests/faults/check_no_memory.c
tests_faults_check_no_memory_LDADD = tests/faults/liboperations.la tests/faults/libhost_memory.la $(INSIDE_LIBS)

# The driver tells the layers of work from within its calls, which do not lack memory.
check_PROGRAMS += tests/faults/check_layers
TESTS += tests/faults/check_layers
tests_faults_check_layers_SOURCES = tests/faults/check_layers.c
tests_faults_check_layers_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cx_access_log_watch -Wl,--wrap=cx_work_timestamps_watch \
	-Wl,--wrap=__cxa_thread_atexit_impl
tests_faults_check_layers_LDADD = tests/support/libsupport.la tests/faults/libhost_memory.la lib/layer/libcheck.la lib/layer/libcount.la \
	lib/layer/libtrace.la lib/layer/liblayer.la lib/emu/libemu.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)

dist_check_SCRIPTS += tests/faults/complete.sh tests/faults/driver_no_memory.sh
TESTS += tests/faults/complete.sh tests/faults/driver_no_memory.sh
