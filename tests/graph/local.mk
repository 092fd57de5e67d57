tests/graph/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/runtime

GRAPH_PUBLIC = tests/graph/check_capture.c tests/graph/check_recording.c tests/graph/check_recording_frames.c \
	tests/graph/check_recording_memory.c tests/graph/check_operator.c tests/graph/check_plan.c tests/graph/check_plan_lifetimes.c
check_PROGRAMS += tests/graph/checks_public
CHECK_FILES += $(GRAPH_PUBLIC)
$(GRAPH_PUBLIC:.c=$(EXEEXT)): tests/graph/checks_public$(EXEEXT) ; $(LINK_CHECK)
tests_graph_checks_public_SOURCES = $(GRAPH_PUBLIC) tests/graph/operators.h tests/graph/place.h tests/graph/plan.h
tests_graph_checks_public_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_graph_checks_public_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# These look at the insides of private pools, or fail calls of the driver.
GRAPH_INSIDE = tests/graph/check_private_pool.c tests/graph/check_launch_faults.c
check_PROGRAMS += tests/graph/checks_inside
CHECK_FILES += $(GRAPH_INSIDE)
$(GRAPH_INSIDE:.c=$(EXEEXT)): tests/graph/checks_inside$(EXEEXT) ; $(LINK_CHECK)
tests_graph_checks_inside_SOURCES = $(GRAPH_INSIDE) tests/graph/operators.h tests/graph/place.h
tests_graph_checks_inside_LDADD = $(INSIDE_LIBS)
EXTRA_tests_graph_checks_inside_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
