# The probe is carried to machines that have a GPU: it includes and links nothing of the project.
check_PROGRAMS += tests/probe/probe
tests_probe_probe_SOURCES = \
	tests/probe/calls.def \
	tests/probe/driver.c tests/probe/driver.h \
	tests/probe/kernels.c tests/probe/kernels.h \
	tests/probe/observe.c tests/probe/observe.h \
	tests/probe/probe.c tests/probe/probes.h \
	tests/probe/probe_argument.c \
	tests/probe/probe_capture.c tests/probe/probe_choice.c \
	tests/probe/probe_context.c tests/probe/probe_copy.c tests/probe/probe_kernel.c tests/probe/probe_launch.c \
	tests/probe/probe_error.c tests/probe/probe_life.c \
	tests/probe/probe_memory.c tests/probe/probe_module.c tests/probe/probe_more.c \
	tests/probe/probe_order.c tests/probe/probe_peer.c tests/probe/probe_pool.c \
	tests/probe/probe_primary.c tests/probe/probe_query.c \
	tests/probe/probe_runtime.c tests/probe/probe_share.c tests/probe/probe_stack.c \
	tests/probe/probe_stream.c tests/probe/probe_value.c tests/probe/probe_virtual.c \
	tests/probe/spawn.c tests/probe/spawn.h \
	tests/probe/steps.c tests/probe/steps.h \
	tests/probe/times.c
tests_probe_probe_CPPFLAGS = -D_GNU_SOURCE
tests_probe_probe_LDADD = -ldl -lpthread
EXTRA_tests_probe_probe_DEPENDENCIES = $(cuda12lib_LTLIBRARIES) $(cuda13lib_LTLIBRARIES)

# A driver that crashes, hangs or exits, as its environment says.
check_LTLIBRARIES += tests/probe/broken.la
tests_probe_broken_la_SOURCES = tests/probe/broken/broken.c
tests_probe_broken_la_CPPFLAGS = -D_GNU_SOURCE
tests_probe_broken_la_CFLAGS = $(WARNING_CFLAGS)
tests_probe_broken_la_LDFLAGS = -module -avoid-version -rpath /nowhere

PROBE_SH = tests/probe/alone.sh tests/probe/command.sh tests/probe/recording.sh \
	tests/probe/rules.sh
dist_check_SCRIPTS += $(PROBE_SH)
TESTS += $(PROBE_SH)

# What the embedded driver does, as the stand-in. A change in these files is a change of its behaviour.
PROBE_RECORDINGS = tests/recorded/embedded-12.9.probe.txt tests/recorded/embedded-13.0.probe.txt
EXTRA_DIST += $(PROBE_RECORDINGS) tests/probe/record.sh

.PHONY: record-probe
record-probe: tests/probe/probe$(EXEEXT)
	. ./tests/environment.sh; for set in 12:12.9 13:13.0; do \
		$(SHELL) $(top_srcdir)/tests/probe/record.sh $${set%:*} \
			$(top_srcdir)/tests/recorded/embedded-$${set#*:}.probe.txt || exit 1; done
