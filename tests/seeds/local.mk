tests/seeds/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/runtime

SEEDS_FILES = tests/seeds/check_graph_memory_defects.c tests/seeds/check_memory_defects.c tests/seeds/check_seeds.c
check_PROGRAMS += tests/seeds/checks_seeds
CHECK_FILES += $(SEEDS_FILES)
$(SEEDS_FILES:.c=$(EXEEXT)): tests/seeds/checks_seeds$(EXEEXT) ; $(LINK_CHECK)
tests_seeds_checks_seeds_SOURCES = $(SEEDS_FILES) tests/seeds/sources.h tests/runtime/gate.h
tests_seeds_checks_seeds_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_seeds_checks_seeds_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
TESTS += tests/seeds/rows.sh
dist_check_SCRIPTS += tests/seeds/rows.sh

# Each function of docs/seeds.md is disabled in turn, and its row's test must fail: minutes, so it is no part of `check`.
.PHONY: check-seeds
check-seeds: all $(check_LTLIBRARIES) $(check_PROGRAMS)
	@. ./tests/environment.sh; $(SHELL) $(top_srcdir)/tests/seeds/rows.sh all
