SAMPLES = samples/hello_device samples/push_pop samples/scope_return samples/primary_context samples/stream_timing \
	samples/wrong_order samples/two_threads samples/hand_off samples/fork_child samples/record_replay \
	samples/runtime_object samples/kernel
# These call the Driver API themselves.
DRIVER_SAMPLES = samples/guest_host samples/foreign_push samples/context_tutorial
noinst_PROGRAMS += $(SAMPLES) $(DRIVER_SAMPLES) samples/pipeline/pipeline

samples_hello_device_SOURCES = samples/hello_device.c
samples_hello_device_LDADD = lib/libctxrt.la
samples_push_pop_SOURCES = samples/push_pop.c
samples_push_pop_LDADD = lib/libctxrt.la
samples_scope_return_SOURCES = samples/scope_return.c
samples_scope_return_LDADD = lib/libctxrt.la
samples_primary_context_SOURCES = samples/primary_context.c
samples_primary_context_LDADD = lib/libctxrt.la
samples_stream_timing_SOURCES = samples/stream_timing.c
samples_stream_timing_LDADD = lib/libctxrt.la
samples_wrong_order_SOURCES = samples/wrong_order.c
samples_wrong_order_LDADD = lib/libctxrt.la
samples_two_threads_SOURCES = samples/two_threads.c
samples_two_threads_LDADD = lib/libctxrt.la
samples_hand_off_SOURCES = samples/hand_off.c
samples_hand_off_LDADD = lib/libctxrt.la
samples_fork_child_SOURCES = samples/fork_child.c
samples_fork_child_LDADD = lib/libctxrt.la
samples_kernel_SOURCES = samples/kernel.c
samples_kernel_LDADD = lib/libctxrt.la
samples_runtime_object_SOURCES = samples/runtime_object.c
samples_runtime_object_LDADD = lib/libctxrt.la

samples_record_replay_SOURCES = samples/record_replay.c
samples_record_replay_LDADD = lib/libctxrt.la

samples_pipeline_pipeline_SOURCES = samples/pipeline/gather.c samples/pipeline/main.c samples/pipeline/pipeline.h \
	samples/pipeline/report.c samples/pipeline/source.c samples/pipeline/worker.c
samples_pipeline_pipeline_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
samples_pipeline_pipeline_LDADD = lib/libctxrt.la $(ZLIB_LIBS)

if HAVE_CXX
noinst_PROGRAMS += samples/pipeline/pipeline_cxx
samples_pipeline_pipeline_cxx_SOURCES = samples/pipeline/pipeline.cc
samples_pipeline_pipeline_cxx_CXXFLAGS = -std=c++17 -Wall -Wextra $(AM_CXXFLAGS) $(ZLIB_CFLAGS)
samples_pipeline_pipeline_cxx_LDADD = lib/libctxrt.la $(ZLIB_LIBS)
samples_pipeline_pipeline_cxx_LDFLAGS = -pthread
endif

# -lcuda is for the linker itself: libtool would add the path of the stand-in, and these are to run on any libcuda.
WITH_CUDA_H = $(AM_CPPFLAGS) -I$(top_srcdir)/samples
if HAVE_CUDA_H
WITH_CUDA_H += -DHAVE_CUDA_H $(CUDA_CPPFLAGS)
endif
WITH_LIBCUDA = $(AM_LDFLAGS) -Wl,--push-state,--no-as-needed,-Llib/shim/cuda-13/.libs,-lcuda,--pop-state

samples_guest_host_SOURCES = samples/guest.h samples/guest_host.c samples/guest_polite.c samples/guest_rude.c
samples_guest_host_CPPFLAGS = $(WITH_CUDA_H)
samples_guest_host_LDFLAGS = $(WITH_LIBCUDA)
samples_guest_host_LDADD = lib/libctxrt.la
EXTRA_samples_guest_host_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
samples_foreign_push_SOURCES = samples/foreign_push.c
samples_foreign_push_CPPFLAGS = $(WITH_CUDA_H)
samples_foreign_push_LDFLAGS = $(WITH_LIBCUDA)
samples_foreign_push_LDADD = lib/libctxrt.la
EXTRA_samples_foreign_push_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# Nothing of ctxrt in it: it is linked with -lcuda alone.
samples_context_tutorial_SOURCES = samples/context_tutorial.c samples/cuda_min.h
samples_context_tutorial_CPPFLAGS = $(WITH_CUDA_H)
samples_context_tutorial_LDFLAGS = $(WITH_LIBCUDA)
EXTRA_samples_context_tutorial_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

nobase_dist_doc_DATA += samples/context_tutorial.c samples/cuda_min.h samples/foreign_push.c samples/fork_child.c \
	samples/guest.h samples/guest_host.c samples/guest_polite.c samples/guest_rude.c samples/hand_off.c \
	samples/hello_device.c samples/kernel.c samples/pipeline/gather.c samples/pipeline/main.c samples/pipeline/pipeline.cc \
	samples/pipeline/pipeline.h samples/pipeline/report.c samples/pipeline/source.c samples/pipeline/worker.c samples/primary_context.c \
	samples/push_pop.c samples/record_replay.c samples/runtime_object.c samples/scope_return.c samples/stream_timing.c \
	samples/two_threads.c samples/wrong_order.c

SAMPLE_SH = samples/check_samples.sh samples/check_pipeline.sh samples/check_demo.sh
dist_check_SCRIPTS += $(SAMPLE_SH)
TESTS += $(SAMPLE_SH)
EXTRA_DIST += samples/demo.sh samples/reader.sh \
	samples/expected/context_tutorial.txt samples/expected/foreign_push.txt samples/expected/fork_child.txt \
	samples/expected/guest_host.txt samples/expected/hand_off.txt samples/expected/hello_device.txt \
	samples/expected/kernel.txt \
	samples/expected/primary_context.txt samples/expected/push_pop.txt samples/expected/record_replay.txt \
	samples/expected/scope_return.txt \
	samples/expected/runtime_object.txt samples/expected/stream_timing.txt samples/expected/two_threads.txt samples/expected/wrong_order.txt
