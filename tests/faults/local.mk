FAULTS_TESTS = tests/faults/check_faults tests/faults/check_lasting tests/faults/check_no_memory
OPERATIONS_SOURCES = tests/faults/operations.c tests/faults/operations.h tests/faults/operations_graph.c \
	tests/faults/operations_memory.c tests/faults/operations_stack.c tests/faults/stage.c tests/faults/stage.h
FAULTS_SOURCES = $(OPERATIONS_SOURCES) \
	tests/support/faults.c tests/support/faults.h tests/support/fixture.c tests/support/fixture.h
FAULTS_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/faults -I$(top_srcdir)/tests/support
FAULTS_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
check_PROGRAMS += $(FAULTS_TESTS)
TESTS += $(FAULTS_TESTS)

tests_faults_check_faults_SOURCES = tests/faults/check_faults.c $(FAULTS_SOURCES)
tests_faults_check_faults_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_check_faults_CFLAGS = $(FAULTS_CFLAGS)
tests_faults_check_faults_LDADD = $(INSIDE_LIBS)

tests_faults_check_lasting_SOURCES = tests/faults/check_lasting.c $(FAULTS_SOURCES)
tests_faults_check_lasting_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_check_lasting_CFLAGS = $(FAULTS_CFLAGS)
tests_faults_check_lasting_LDADD = $(INSIDE_LIBS)

tests_faults_check_no_memory_SOURCES = tests/faults/check_no_memory.c tests/faults/host_memory.c tests/faults/host_memory.h \
	$(FAULTS_SOURCES)
tests_faults_check_no_memory_CPPFLAGS = $(FAULTS_CPPFLAGS)
tests_faults_check_no_memory_CFLAGS = $(FAULTS_CFLAGS)
tests_faults_check_no_memory_LDADD = $(INSIDE_LIBS)

dist_check_SCRIPTS += tests/faults/complete.sh
TESTS += tests/faults/complete.sh
