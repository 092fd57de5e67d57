GRAPH_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support -I$(top_srcdir)/tests/runtime -I$(top_srcdir)/tests/graph
GRAPH_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += tests/graph/check_capture
TESTS += tests/graph/check_capture
tests_graph_check_capture_SOURCES = tests/graph/check_capture.c tests/graph/place.h
tests_graph_check_capture_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_capture_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_capture_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_check_capture_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
