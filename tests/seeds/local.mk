SEEDS_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
SEEDS_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += tests/seeds/check_graph_memory_defects
TESTS += tests/seeds/check_graph_memory_defects
tests_seeds_check_graph_memory_defects_SOURCES = tests/seeds/check_graph_memory_defects.c tests/seeds/sources.h tests/runtime/gate.h
tests_seeds_check_graph_memory_defects_CPPFLAGS = $(SEEDS_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_seeds_check_graph_memory_defects_CFLAGS = $(SEEDS_CFLAGS)
tests_seeds_check_graph_memory_defects_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/seeds/check_memory_defects
TESTS += tests/seeds/check_memory_defects
tests_seeds_check_memory_defects_SOURCES = tests/seeds/check_memory_defects.c tests/seeds/sources.h tests/runtime/gate.h
tests_seeds_check_memory_defects_CPPFLAGS = $(SEEDS_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_seeds_check_memory_defects_CFLAGS = $(SEEDS_CFLAGS)
tests_seeds_check_memory_defects_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/seeds/check_seeds
TESTS += tests/seeds/check_seeds tests/seeds/rows.sh
dist_check_SCRIPTS += tests/seeds/rows.sh
tests_seeds_check_seeds_SOURCES = tests/seeds/check_seeds.c
tests_seeds_check_seeds_CPPFLAGS = $(SEEDS_CPPFLAGS)
tests_seeds_check_seeds_CFLAGS = $(SEEDS_CFLAGS)
tests_seeds_check_seeds_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_seeds_check_seeds_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# Each function of docs/seeds.md is disabled in turn, and its row's test must fail: minutes, so it is no part of `check`.
.PHONY: check-seeds
check-seeds: all $(check_LTLIBRARIES) $(check_PROGRAMS)
	@. ./tests/environment.sh; $(SHELL) $(top_srcdir)/tests/seeds/rows.sh all
