# lib/runtime: our libcudart over the stand-in.
dist_check_SCRIPTS += tests/cudart/exports.sh
TESTS += tests/cudart/exports.sh
check_PROGRAMS += tests/cudart/refused
tests_cudart_refused_SOURCES = tests/cudart/refused.c
tests_cudart_refused_LDADD = -ldl
EXTRA_tests_cudart_refused_DEPENDENCIES = $(RUNTIME_VERSIONS)

check_PROGRAMS += tests/cudart/test_abi
TESTS += tests/cudart/test_abi
# Compares our declarations with cuda_runtime_api.h where that is installed; else it says why not.
tests_cudart_test_abi_SOURCES = tests/cudart/test_abi.c tests/cudart/test_abi_calls.h
tests_cudart_test_abi_CPPFLAGS = $(AM_CPPFLAGS)
EXTRA_DIST += tests/cudart/abi_facts.awk
if HAVE_CUDA_H
RUNTIME_API_H = $(wildcard $(CUDA_DIR)/include/cuda_runtime_api.h $(CUDA_DIR)/include/driver_types.h)
CUDART_FACTS_FROM = $(top_srcdir)/lib/driver/runtime_errors.def $(RUNTIME_API_H)
nodist_tests_cudart_test_abi_SOURCES = tests/cudart/cudart_facts.h
tests_cudart_test_abi_CPPFLAGS += -Itests/cudart $(CUDA_CPPFLAGS) \
	$(if $(filter %/cuda_runtime_api.h,$(RUNTIME_API_H)),-DCX_TEST_HAVE_CUDART_H -Wno-deprecated-declarations)
CLEANFILES += tests/cudart/cudart_facts.h
tests/cudart/cudart_facts.h: $(top_srcdir)/tests/cudart/abi_facts.awk $(CUDART_FACTS_FROM)
	$(AM_V_GEN)$(MKDIR_P) tests/cudart && \
	$(AWK) -f $(top_srcdir)/tests/cudart/abi_facts.awk $(CUDART_FACTS_FROM) > $@.new && mv $@.new $@
tests/cudart/tests_cudart_test_abi-test_abi.$(OBJEXT): tests/cudart/cudart_facts.h lib/runtime/entries-11.def lib/runtime/entries-12.def \
	lib/runtime/entries-13.def
endif

# Programs of CUDA 13 over the stand-in of CUDA 13.
tests/cudart/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/standin
CUDART_CALLS = tests/cudart/check_register.c tests/cudart/check_error.c tests/cudart/check_device.c tests/cudart/check_memory.c \
	tests/cudart/check_query.c tests/cudart/check_stream.c tests/cudart/check_graph.c tests/cudart/check_texture.c
check_PROGRAMS += tests/cudart/checks_calls
CHECK_FILES += $(CUDART_CALLS)
$(CUDART_CALLS:.c=$(EXEEXT)): tests/cudart/checks_calls$(EXEEXT) ; $(LINK_CHECK)
tests_cudart_checks_calls_SOURCES = $(CUDART_CALLS) tests/cudart/client.h tests/cudart/code.h tests/cudart/declared.h
tests_cudart_checks_calls_LDADD = tests/support/libsupport.la $(cudart13_LTLIBRARIES) $(cuda13lib_LTLIBRARIES) $(CHECK_LIBS)
$(tests_cudart_checks_calls_OBJECTS): lib/runtime/entries-13.def

# What ends, and what is loaded while the program runs.
CUDART_LIBS = $(cudart13_LTLIBRARIES) $(cuda13lib_LTLIBRARIES)
check_PROGRAMS += tests/cudart/checks_ending tests/cudart/ending
CHECK_FILES += tests/cudart/check_ending.c
tests/cudart/check_ending$(EXEEXT): tests/cudart/checks_ending$(EXEEXT) ; $(LINK_CHECK)
tests_cudart_checks_ending_SOURCES = tests/cudart/check_ending.c
tests_cudart_checks_ending_LDADD = tests/support/libsupport.la $(CUDART_LIBS) $(CHECK_LIBS)
EXTRA_tests_cudart_checks_ending_DEPENDENCIES = tests/cudart/plugin.la tests/cudart/ending$(EXEEXT)
tests_cudart_ending_SOURCES = tests/cudart/ending.c
tests_cudart_ending_LDADD = tests/support/libsupport.la $(CUDART_LIBS) $(CHECK_LIBS)
check_LTLIBRARIES += tests/cudart/plugin.la
tests_cudart_plugin_la_SOURCES = tests/cudart/plugin.c tests/cudart/plugin.h
tests_cudart_plugin_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath $(abs_builddir)
$(tests_cudart_checks_ending_OBJECTS) $(tests_cudart_ending_OBJECTS) $(tests_cudart_plugin_la_OBJECTS): lib/runtime/entries-13.def

# The libraries of all versions, opened by path.
check_PROGRAMS += tests/cudart/checks_version
CHECK_FILES += tests/cudart/check_version.c
tests/cudart/check_version$(EXEEXT): tests/cudart/checks_version$(EXEEXT) ; $(LINK_CHECK)
tests_cudart_checks_version_SOURCES = tests/cudart/check_version.c
tests_cudart_checks_version_LDADD = tests/support/libsupport.la $(CHECK_LIBS) -ldl
EXTRA_tests_cudart_checks_version_DEPENDENCIES = $(RUNTIME_VERSIONS) $(cuda12lib_LTLIBRARIES) $(cuda13lib_LTLIBRARIES)
$(tests_cudart_checks_version_OBJECTS): lib/runtime/entries-13.def

# A program for ctxrt check.
dist_check_SCRIPTS += tests/cudart/checked.sh
TESTS += tests/cudart/checked.sh
check_PROGRAMS += tests/cudart/checked
tests_cudart_checked_SOURCES = tests/cudart/checked.c
tests_cudart_checked_LDADD = $(CUDART_LIBS)
$(tests_cudart_checked_OBJECTS): lib/runtime/entries-13.def

# Many threads at random; --threads 64 and --seconds for more.
check_PROGRAMS += tests/cudart/mix
TESTS += tests/cudart/mix
tests_cudart_mix_SOURCES = tests/cudart/mix.c
tests_cudart_mix_LDADD = tests/support/libsupport.la $(CUDART_LIBS) $(CHECK_LIBS)
$(tests_cudart_mix_OBJECTS): lib/runtime/entries-13.def
