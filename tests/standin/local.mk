STANDIN_TESTS = tests/standin/check_address tests/standin/check_calls_12 tests/standin/check_calls_13 \
	tests/standin/check_interposed
STANDIN_SH = tests/standin/exports.sh tests/standin/exports_facts.sh tests/standin/ffmpeg.sh \
	tests/standin/hashcat.sh tests/standin/interposed.sh tests/standin/large.sh tests/standin/warnings.sh
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

# The stand-in with more exports than ctxrt knows, in place of a driver, and a program that looks for all of them.
check_LTLIBRARIES += tests/standin/larger.la
tests_standin_larger_la_SOURCES = tests/standin/larger.c tests/standin/larger.h lib/shim/version.c
tests_standin_larger_la_CPPFLAGS = $(AM_CPPFLAGS) -DCX_SHIM_VERSION=13000
tests_standin_larger_la_LIBADD = $(SHIM_LIBS)
tests_standin_larger_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -module -avoid-version -rpath /nowhere -Wl,-z,nodelete -Wl,-Bsymbolic \
	-Wl,--version-script=tests/standin/larger.map
EXTRA_tests_standin_larger_la_DEPENDENCIES = tests/standin/larger.map
CLEANFILES += tests/standin/larger.map
tests/standin/larger.map: lib/shim/cuda-13.map $(top_srcdir)/tests/standin/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed 's/^global:/&\n    cuOfNobody*;/' lib/shim/cuda-13.map > $@.new && mv $@.new $@
check_PROGRAMS += tests/standin/loads
tests_standin_loads_SOURCES = tests/standin/loads.c tests/standin/larger.h
tests_standin_loads_LDADD = -ldl
EXTRA_tests_standin_loads_DEPENDENCIES = tests/standin/larger.la

# The Runtime library over it.
