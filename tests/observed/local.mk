tests/observed/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/standin
OBSERVED_SOURCES = tests/observed/observed.c tests/observed/observed.h tests/observed/contexts.c \
	tests/observed/primaries.c tests/observed/host.c tests/observed/memory.c tests/observed/streams.c \
	tests/observed/virtual.c tests/observed/modules.c tests/observed/launches.c tests/observed/graphs.c \
	tests/observed/captures.c tests/observed/pools.c tests/observed/errors.c tests/observed/misc.c
check_PROGRAMS += tests/observed/observe
dist_check_SCRIPTS += tests/observed/facts.sh
TESTS += tests/observed/facts.sh
EXTRA_DIST += tests/observed/facts.awk tests/observed/facts.tsv

tests_observed_observe_SOURCES = $(OBSERVED_SOURCES)
tests_observed_observe_LDADD = $(cuda13lib_LTLIBRARIES)

# After a change that is meant: which facts hold is written anew.
record-facts: tests/observed/observe
	top_srcdir=$(top_srcdir) top_builddir=. sh $(top_srcdir)/tests/observed/facts.sh record
.PHONY: record-facts
