check_PROGRAMS += tests/faults/check_faults
TESTS += tests/faults/check_faults
tests_faults_check_faults_SOURCES = tests/faults/check_faults.c tests/faults/operations.c tests/faults/operations.h \
	tests/faults/stage.c tests/faults/stage.h tests/support/faults.c tests/support/faults.h \
	tests/support/fixture.c tests/support/fixture.h
tests_faults_check_faults_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/faults -I$(top_srcdir)/tests/support
tests_faults_check_faults_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_faults_check_faults_LDADD = $(INSIDE_LIBS)

dist_check_SCRIPTS += tests/faults/complete.sh
TESTS += tests/faults/complete.sh
