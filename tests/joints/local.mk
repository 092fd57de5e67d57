tests/joints/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/include/infinirt -I$(top_srcdir)/tests/joints -I$(top_srcdir)/tests/runtime

check_PROGRAMS += tests/joints/check_joints
dist_check_SCRIPTS += tests/joints/pending.sh
TESTS += tests/joints/check_joints tests/joints/pending.sh
EXTRA_DIST += tests/joints/pending tests/joints/run.sh tests/joints/mended.sh
tests_joints_check_joints_SOURCES = tests/joints/check_joints.c tests/joints/suites.h tests/joints/joint.c \
	tests/joints/joint.h tests/joints/handoff.c tests/joints/reset.c tests/joints/peers.c tests/joints/owed.c \
	tests/joints/recording.c tests/joints/pointers.c \
	tests/joints/streams.c tests/joints/capacity.c tests/joints/infinirt.c tests/runtime/gate.h tests/runtime/opener.h
tests_joints_check_joints_LDADD = lib/libinfinirt.la $(PUBLIC_LIBS)

# The whole public API at random. A feature adds its operations to mix/operations.def.
MIX_SOURCES = tests/joints/mix/world.c tests/joints/mix/world.h tests/joints/mix/known.def \
	tests/joints/mix/operations.def tests/joints/mix/blocks.c tests/joints/mix/blocks.h tests/joints/mix/crowd.c \
	tests/joints/mix/crowd.h tests/joints/mix/op_allocators.c tests/joints/mix/op_code.c \
	tests/joints/mix/op_contexts.c tests/joints/mix/op_copies.c tests/joints/mix/op_frames.c \
	tests/joints/mix/op_graphs.c tests/joints/mix/op_memory.c tests/joints/mix/op_streams.c
check_PROGRAMS += tests/joints/check_random
TESTS += tests/joints/check_random
tests_joints_check_random_SOURCES = tests/joints/check_random.c $(MIX_SOURCES)
tests_joints_check_random_LDADD = lib/libctxrt.la

# The same mix by 64 threads beside foreign calls: a few seconds here, minutes by hand.
check_PROGRAMS += tests/joints/soak
TESTS += tests/joints/soak
tests_joints_soak_SOURCES = tests/joints/soak.c tests/joints/resident.h $(MIX_SOURCES)
tests_joints_soak_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/joints/mix \
	-DSTAND_IN=\"$(abs_top_builddir)/lib/shim/cuda-13/.libs/libcuda.so.1\" \
	-DCUDART=\"$(abs_top_builddir)/lib/runtime/cudart-13/.libs/libcudart.so.13\"
tests_joints_soak_LDADD = lib/libctxrt.la -ldl
EXTRA_tests_joints_soak_DEPENDENCIES = $(cuda13lib_LTLIBRARIES) $(cudart13_LTLIBRARIES)

# Servers whose threads come and go, over ctxrt and over the driver alone: seconds here, minutes by hand.
JOINTS_SERVERS = tests/joints/server tests/joints/server_driver
JOINTS_SERVER_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSTAND_IN=\"$(abs_top_builddir)/lib/shim/cuda-13/.libs/libcuda.so.1\"
check_PROGRAMS += $(JOINTS_SERVERS)
TESTS += $(JOINTS_SERVERS)
tests_joints_server_SOURCES = tests/joints/server.c tests/joints/request.h tests/joints/resident.h tests/joints/request_runtime.c
tests_joints_server_CPPFLAGS = $(JOINTS_SERVER_CPPFLAGS)
tests_joints_server_LDADD = lib/libctxrt.la
tests_joints_server_driver_SOURCES = tests/joints/server.c tests/joints/request.h tests/joints/resident.h tests/joints/request_driver.c
tests_joints_server_driver_CPPFLAGS = $(JOINTS_SERVER_CPPFLAGS)
tests_joints_server_driver_LDADD = lib/driver/libdriver.la lib/base/libbase.la -ldl

# By hand: each fault of tests/joints/faults is planted in a copy of the tree and must be noticed.
EXTRA_DIST += tests/joints/planted.sh $(PLANTED_FAULTS)
PLANTED_FAULTS = tests/joints/faults/access_told_before_given.patch \
	tests/joints/faults/beyond_the_block.patch \
	tests/joints/faults/cache_of_any_stream.patch \
	tests/joints/faults/cpu_left_to_do_it_later.patch \
	tests/joints/faults/default_stream_that_is_gone.patch \
	tests/joints/faults/default_stream_that_went_on.patch \
	tests/joints/faults/free_of_any_epoch.patch \
	tests/joints/faults/free_that_waits_for_all.patch \
	tests/joints/faults/freed_without_generation.patch \
	tests/joints/faults/handed_over_and_kept.patch \
	tests/joints/faults/kept_and_not_gone.patch \
	tests/joints/faults/kept_over_a_reset.patch \
	tests/joints/faults/launch_begun_early.patch \
	tests/joints/faults/legacy_stream_elsewhere.patch \
	tests/joints/faults/live_for_stale.patch \
	tests/joints/faults/mapped_and_out_of_reach.patch \
	tests/joints/faults/owed_and_handed_out.patch \
	tests/joints/faults/past_unknown.patch \
	tests/joints/faults/pool_of_any_context.patch \
	tests/joints/faults/pool_of_any_stream.patch \
	tests/joints/faults/recorded_and_unknown.patch \
	tests/joints/faults/reset_and_no_use.patch \
	tests/joints/faults/reset_that_retains_once.patch \
	tests/joints/faults/reset_without_peers.patch \
	tests/joints/faults/retired_before_asked.patch \
	tests/joints/faults/segments_with_tails.patch \
	tests/joints/faults/slab_for_its_first_block.patch \
	tests/joints/faults/stream_of_before_a_reset.patch
check-planted: all
	top_srcdir=$(top_srcdir) sh $(top_srcdir)/tests/joints/planted.sh
.PHONY: check-planted
