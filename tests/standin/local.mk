STANDIN_TESTS = tests/standin/check_address tests/standin/check_calls_12 tests/standin/check_calls_13 \
	tests/standin/check_interposed
STANDIN_SH = tests/standin/exports.sh tests/standin/exports_facts.sh tests/standin/ffmpeg.sh \
	tests/standin/hashcat.sh tests/standin/interposed.sh tests/standin/warnings.sh
check_PROGRAMS += $(STANDIN_TESTS)
dist_check_SCRIPTS += $(STANDIN_SH)
TESTS += $(STANDIN_TESTS) $(STANDIN_SH)

tests_standin_check_address_SOURCES = tests/standin/check_address.c
tests_standin_check_address_LDADD = tests/support/libsupport.la lib/driver/libdriver.la lib/base/libbase.la \
	$(CHECK_LIBS)
EXTRA_tests_standin_check_address_DEPENDENCIES = $(cuda12lib_LTLIBRARIES) $(cuda13lib_LTLIBRARIES)

# Of ctxrt these two link nothing but the stand-in.
tests_standin_check_calls_12_SOURCES = tests/standin/check_calls.c tests/standin/client.h
tests_standin_check_calls_12_CPPFLAGS = $(AM_CPPFLAGS) -DCX_TEST_VERSION=12090
tests_standin_check_calls_12_LDADD = tests/support/libsupport.la $(cuda12lib_LTLIBRARIES) $(CHECK_LIBS)

tests_standin_check_calls_13_SOURCES = tests/standin/check_calls.c tests/standin/client.h
tests_standin_check_calls_13_CPPFLAGS = $(AM_CPPFLAGS) -DCX_TEST_VERSION=13000
tests_standin_check_calls_13_LDADD = tests/support/libsupport.la $(cuda13lib_LTLIBRARIES) $(CHECK_LIBS)

# A libcuda that shares nothing with ours, and a program that comes to one in each way.
check_LTLIBRARIES += tests/standin/other.la
tests_standin_other_la_SOURCES = tests/standin/other.c tests/standin/other.h
tests_standin_other_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
check_PROGRAMS += tests/standin/ways_in
tests_standin_ways_in_SOURCES = tests/standin/ways_in.c tests/standin/client.h
tests_standin_ways_in_LDADD = -Llib/shim/cuda-12/.libs -l:libcuda.so.1
EXTRA_tests_standin_ways_in_DEPENDENCIES = $(cuda12lib_LTLIBRARIES)

tests_standin_check_interposed_SOURCES = tests/standin/check_interposed.c tests/standin/other.h
tests_standin_check_interposed_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/driver
tests_standin_check_interposed_LDADD = tests/support/libsupport.la lib/driver/libdriver.la lib/base/libbase.la \
	$(CHECK_LIBS)
EXTRA_tests_standin_check_interposed_DEPENDENCIES = $(cuda12lib_LTLIBRARIES) $(cuda13lib_LTLIBRARIES) \
	tests/driver/fake_whole.la tests/standin/other.la
check_PROGRAMS += tests/standin/fails
tests_standin_fails_SOURCES = tests/standin/fails.c tests/standin/client.h
tests_standin_fails_LDADD = -Llib/shim/cuda-12/.libs -l:libcuda.so.1
EXTRA_tests_standin_fails_DEPENDENCIES = $(cuda12lib_LTLIBRARIES)
check_PROGRAMS += tests/standin/forks
tests_standin_forks_SOURCES = tests/standin/forks.c tests/standin/client.h
tests_standin_forks_LDADD = -Llib/shim/cuda-12/.libs -l:libcuda.so.1
EXTRA_tests_standin_forks_DEPENDENCIES = $(cuda12lib_LTLIBRARIES)
