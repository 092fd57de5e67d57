FAULTS_TESTS = tests/faults/check_faults tests/faults/check_lasting tests/faults/check_no_memory
check_LTLIBRARIES += tests/faults/liboperations.la
tests_faults_liboperations_la_SOURCES = tests/faults/operations.c tests/faults/operations.h tests/faults/operations_graph.c \
	tests/faults/operations_memory.c tests/faults/operations_stack.c tests/faults/stage.c tests/faults/stage.h
FAULTS_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/faults -I$(top_srcdir)/tests/support
FAULTS_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_faults_liboperations_la_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_liboperations_la_CFLAGS = $(FAULTS_CFLAGS)
check_LTLIBRARIES += tests/faults/libhost_memory.la tests/faults/libretried.la
tests_faults_libhost_memory_la_SOURCES = tests/faults/host_memory.c tests/faults/host_memory.h
tests_faults_libhost_memory_la_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_libretried_la_SOURCES = tests/faults/retried.c
tests_faults_libretried_la_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_libretried_la_LIBADD = tests/faults/libhost_memory.la
EXTRA_tests_faults_libretried_la_DEPENDENCIES = tests/faults/retried.wraps
tests/faults/retried.wraps: lib/driver/symbols.def
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -n 's/^CX_SYMBOL(\([a-z0-9_]*\),.*/--wrap=cx_emu_call_\1/p' $(top_srcdir)/lib/driver/symbols.def >$@
CLEANFILES += tests/faults/retried.wraps
check_PROGRAMS += $(FAULTS_TESTS)
TESTS += $(FAULTS_TESTS)

tests_faults_check_faults_SOURCES = tests/faults/check_faults.c
tests_faults_check_faults_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_check_faults_CFLAGS = $(FAULTS_CFLAGS)
tests_faults_check_faults_LDADD = tests/faults/liboperations.la $(INSIDE_LIBS)

tests_faults_check_lasting_SOURCES = tests/faults/check_lasting.c
tests_faults_check_lasting_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_check_lasting_CFLAGS = $(FAULTS_CFLAGS)
tests_faults_check_lasting_LDADD = tests/faults/liboperations.la $(INSIDE_LIBS)

tests_faults_check_no_memory_SOURCES = tests/faults/check_no_memory.c
tests_faults_check_no_memory_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_check_no_memory_CFLAGS = $(FAULTS_CFLAGS)
tests_faults_check_no_memory_LDADD = tests/faults/liboperations.la tests/faults/libhost_memory.la $(INSIDE_LIBS)

dist_check_SCRIPTS += tests/faults/complete.sh tests/faults/driver_no_memory.sh
TESTS += tests/faults/complete.sh tests/faults/driver_no_memory.sh
