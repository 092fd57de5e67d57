GRAPH_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support -I$(top_srcdir)/tests/runtime -I$(top_srcdir)/tests/graph
GRAPH_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

GRAPH_TESTS = tests/graph/check_capture tests/graph/check_private_pool tests/graph/check_recording \
	tests/graph/check_recording_frames tests/graph/check_recording_memory tests/graph/check_operator \
	tests/graph/check_launch_faults
check_PROGRAMS += $(GRAPH_TESTS)
TESTS += $(GRAPH_TESTS)

tests_graph_check_capture_SOURCES = tests/graph/check_capture.c tests/graph/place.h
tests_graph_check_capture_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_capture_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_capture_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_check_capture_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_graph_check_recording_SOURCES = tests/graph/check_recording.c tests/graph/operators.h tests/graph/place.h
tests_graph_check_recording_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_recording_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_recording_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_check_recording_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# Looks at the insides of private pools, so it links the rooms.
tests_graph_check_private_pool_SOURCES = tests/graph/check_private_pool.c tests/graph/place.h
tests_graph_check_private_pool_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_private_pool_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_private_pool_LDADD = $(INSIDE_LIBS)
EXTRA_tests_graph_check_private_pool_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

check_PROGRAMS += tests/graph/check_plan tests/graph/check_plan_lifetimes
TESTS += tests/graph/check_plan tests/graph/check_plan_lifetimes
tests_graph_check_plan_SOURCES = tests/graph/check_plan.c tests/graph/plan.h
tests_graph_check_plan_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_plan_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_plan_LDADD = $(PUBLIC_LIBS)
tests_graph_check_plan_lifetimes_SOURCES = tests/graph/check_plan_lifetimes.c tests/graph/plan.h
tests_graph_check_plan_lifetimes_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_plan_lifetimes_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_plan_lifetimes_LDADD = $(PUBLIC_LIBS)

tests_graph_check_recording_frames_SOURCES = tests/graph/check_recording_frames.c tests/graph/operators.h \
	tests/graph/place.h
tests_graph_check_recording_frames_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_recording_frames_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_recording_frames_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_check_recording_frames_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_graph_check_recording_memory_SOURCES = tests/graph/check_recording_memory.c tests/graph/operators.h tests/graph/place.h
tests_graph_check_recording_memory_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_recording_memory_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_recording_memory_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_check_recording_memory_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_graph_check_operator_SOURCES = tests/graph/check_operator.c tests/graph/operators.h tests/graph/place.h
tests_graph_check_operator_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_operator_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_operator_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_check_operator_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# Fails calls of the driver, so it links the rooms.
tests_graph_check_launch_faults_SOURCES = tests/graph/check_launch_faults.c tests/graph/operators.h tests/graph/place.h
tests_graph_check_launch_faults_CPPFLAGS = $(GRAPH_CPPFLAGS)
tests_graph_check_launch_faults_CFLAGS = $(GRAPH_CFLAGS)
tests_graph_check_launch_faults_LDADD = $(INSIDE_LIBS)
