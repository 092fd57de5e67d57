GRAPH_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support -I$(top_srcdir)/tests/runtime -I$(top_srcdir)/tests/graph
GRAPH_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += tests/graph/check_capture
TESTS += tests/graph/check_capture
tests_graph_check_capture_SOURCES = tests/graph/check_capture.c tests/graph/place.h
tests_graph_check_capture_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_capture_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_capture_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_check_capture_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# Looks at the insides of holds, so it links the rooms.
check_PROGRAMS += tests/graph/check_hold
TESTS += tests/graph/check_hold
tests_graph_check_hold_SOURCES = tests/graph/check_hold.c tests/graph/place.h tests/support/fixture.c \
	tests/support/fixture.h
tests_graph_check_hold_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_hold_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_hold_LDADD = $(INSIDE_LIBS)
EXTRA_tests_graph_check_hold_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

check_PROGRAMS += tests/graph/check_plan
TESTS += tests/graph/check_plan
tests_graph_check_plan_SOURCES = tests/graph/check_plan.c
tests_graph_check_plan_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_plan_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_plan_LDADD = $(PUBLIC_LIBS)
EXTRA_DIST += tests/traces/README.md tests/traces/minimalloc_A.csv tests/traces/minimalloc_B.csv \
	tests/traces/minimalloc_C.csv tests/traces/minimalloc_D.csv tests/traces/minimalloc_E.csv
