SAMPLES = samples/hello_device samples/push_pop samples/scope_return samples/primary_context samples/stream_timing
noinst_PROGRAMS += $(SAMPLES) samples/context_tutorial samples/pipeline/pipeline

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

samples_pipeline_pipeline_SOURCES = samples/pipeline/main.c samples/pipeline/pipeline.h \
	samples/pipeline/report.c samples/pipeline/source.c samples/pipeline/worker.c
samples_pipeline_pipeline_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
samples_pipeline_pipeline_LDADD = lib/libctxrt.la $(ZLIB_LIBS)

# Nothing of ctxrt in it: it is linked with -lcuda alone, by the linker itself so that libtool adds no path.
samples_context_tutorial_SOURCES = samples/context_tutorial.c samples/cuda_min.h
samples_context_tutorial_CPPFLAGS = -I$(top_srcdir)/samples
samples_context_tutorial_LDFLAGS = $(AM_LDFLAGS)
samples_context_tutorial_LDADD = -Llib/shim/cuda-13/.libs -lcuda
EXTRA_samples_context_tutorial_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
if HAVE_CUDA_H
samples_context_tutorial_CPPFLAGS += -DHAVE_CUDA_H $(CUDA_CPPFLAGS)
endif
samples_context_tutorial_LINK = $(CC) $(AM_CFLAGS) $(CFLAGS) $(samples_context_tutorial_LDFLAGS) $(LDFLAGS) -o $@

SAMPLE_SH = samples/check_samples.sh samples/check_pipeline.sh
dist_check_SCRIPTS += $(SAMPLE_SH)
TESTS += $(SAMPLE_SH)
EXTRA_DIST += samples/demo.sh
