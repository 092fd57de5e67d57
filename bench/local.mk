# Benchmarks are built by `make bench`, and never timed as tests. `ctxrt bench` of the build tree runs them. They are not
# installed: they would be half of an installation. They link the rooms, for the bare driver's table.
EXTRA_PROGRAMS = $(BENCHES)
CLEANFILES += $(BENCHES)
.PHONY: bench
bench: all $(BENCHES) $(TRACES) bench/kernels/kernels.ptx

BENCH_TABLES = bench/options.c bench/options.h bench/table.c bench/table.h
BENCH_COMMON = $(BENCH_TABLES) bench/check.c bench/check.h
BENCHES = bench/bench_stack
bench_bench_stack_SOURCES = $(BENCH_COMMON) bench/rounds.c bench/rounds.h bench/stack.c
bench_bench_stack_LDADD = $(lib_libctxrt_la_LIBADD)

BENCHES += bench/bench_graph
bench_bench_graph_SOURCES = $(BENCH_COMMON) bench/graph.c bench/rounds.c bench/rounds.h
bench_bench_graph_LDADD = $(lib_libctxrt_la_LIBADD)

BENCHES += bench/bench_alloc
bench_bench_alloc_SOURCES = \
	bench/alloc/apart.c bench/alloc/apart.h \
	bench/alloc/generate.c bench/alloc/generate.h \
	bench/alloc/handing.c \
	bench/alloc/latency.c \
	bench/alloc/main.c \
	bench/alloc/many.c bench/alloc/many.h \
	bench/alloc/play.c bench/alloc/play.h \
	bench/alloc/report.c bench/alloc/report.h \
	bench/alloc/subject.c bench/alloc/subject.h \
	bench/alloc/subject_driver.c \
	bench/alloc/subject_fit.c \
	bench/alloc/subject_malloc.c \
	bench/alloc/subject_mapped.c \
	bench/alloc/traces.c bench/alloc/traces.h \
	$(BENCH_COMMON) \
	bench/folder.c bench/folder.h \
	tools/allocation_trace.c tools/allocation_trace.h
bench_bench_alloc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench -I$(top_srcdir)/tools \
	-DBENCH_TRACES_FOLDER='"$(abs_top_builddir)/bench/traces"'
bench_bench_alloc_LDADD = $(lib_libctxrt_la_LIBADD) -lm

# The bundle of gpu-check has them beside the folder of the programs, where these look first.
TRACES = bench/traces/hta_df_index.csv bench/traces/minimalloc_A.csv bench/traces/minimalloc_B.csv \
	bench/traces/minimalloc_C.csv bench/traces/minimalloc_D.csv bench/traces/minimalloc_E.csv
EXTRA_DIST += bench/traces/LICENSES.md
UNPACKED += $(TRACES)

dist_check_SCRIPTS += bench/check_alloc.sh bench/check_graph.sh
TESTS += bench/check_alloc.sh bench/check_graph.sh
bench/check_alloc.log bench/check_graph.log tests/tools/bench.log tests/gpu/check_gpu_check.log: $(BENCHES)

# Of the two libraries, as programs have them.
BENCHES += bench/bench_infinirt
bench_bench_infinirt_SOURCES = $(BENCH_COMMON) bench/infinirt.c bench/rounds.c bench/rounds.h
bench_bench_infinirt_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/include/infinirt
bench_bench_infinirt_LDADD = lib/libinfinirt.la lib/libctxrt.la

BENCHES += bench/bench_plan
bench_bench_plan_SOURCES = $(BENCH_COMMON) bench/folder.c bench/folder.h bench/plan.c
bench_bench_plan_CPPFLAGS = $(AM_CPPFLAGS) -DBENCH_TRACES_FOLDER='"$(abs_top_builddir)/bench/traces"'
bench_bench_plan_LDADD = lib/libctxrt.la

BENCHES += bench/bench_ptx
bench_bench_ptx_SOURCES = $(BENCH_TABLES) bench/ptx.c
bench_bench_ptx_LDADD = lib/ptx/libptx.la lib/base/libbase.la

# Kernels in a dialect of both languages, beside the same as C; the PTX is made by hand, as its source says.
BENCHES += bench/bench_kernels
bench_bench_kernels_SOURCES = $(BENCH_TABLES) bench/kernels.c bench/kernels/dialect.h bench/kernels/in_c.c bench/kernels/kernels.h
bench_bench_kernels_CPPFLAGS = $(AM_CPPFLAGS) -DBENCH_KERNELS_FILE='"$(abs_top_builddir)/bench/kernels/kernels.ptx"'
bench_bench_kernels_LDADD = lib/ptx/libptx.la lib/base/libbase.la -lm
EXTRA_DIST += bench/kernels/kernels.cu
UNPACKED += bench/kernels/kernels.ptx

BENCHES += bench/bench_check
bench_bench_check_SOURCES = bench/calls.c bench/calls.h $(BENCH_COMMON) bench/layer_check.c bench/rounds.c bench/rounds.h
bench_bench_check_LDADD = $(lib_libctxrt_la_LIBADD)

BENCHES += bench/bench_trace
bench_bench_trace_SOURCES = bench/calls.c bench/calls.h $(BENCH_COMMON) bench/layer_trace.c bench/rounds.c bench/rounds.h
bench_bench_trace_LDADD = $(lib_libctxrt_la_LIBADD)

# Over the stand-in, as nvcc's programs have both. The declarations are those of the tests.
BENCHES += bench/bench_cudart
bench_bench_cudart_SOURCES = $(BENCH_TABLES) bench/cudart.c bench/rounds.c bench/rounds.h \
	tests/cudart/code.h tests/cudart/declared.h tests/standin/client.h
bench_bench_cudart_LDADD = $(cudart13_LTLIBRARIES) $(cuda13lib_LTLIBRARIES)
$(bench_bench_cudart_OBJECTS): lib/runtime/entries-13.def

# Beside NVIDIA's runtime library, where there is a toolkit. It needs a real GPU: the runtime library talks to NVIDIA's driver alone.
EXTRA_DIST += bench/runtime_api.c
if HAVE_NVCC
BENCHES += bench/bench_runtime_api
bench_bench_runtime_api_SOURCES = $(BENCH_COMMON) bench/rounds.c bench/rounds.h bench/runtime_api.c
bench_bench_runtime_api_CPPFLAGS = $(AM_CPPFLAGS) -isystem $(CUDA_DIR)/include
bench_bench_runtime_api_LDADD = lib/libctxrt.la $(CUDA_DIR)/lib64/libcudart_static.a -lrt -ldl -lpthread
endif

# The tables of docs/performance.md that have a mark, measured anew; and plots beside the build, where gnuplot is installed.
EXTRA_DIST += bench/performance.awk
CLEANFILES += performance.md performance.new performance-graph.svg performance-ptx.svg performance-stack.svg
.PHONY: performance
performance: bench
	./ctxrt bench --all --markdown > performance.new
	$(AWK) -f $(top_srcdir)/bench/performance.awk performance.new $(top_srcdir)/docs/performance.md > performance.md
	cp performance.md $(top_srcdir)/docs/performance.md
	@command -v gnuplot > /dev/null || { echo 'no plots: gnuplot is not installed'; exit 0; }; \
	for bench in graph ptx stack; do ./ctxrt bench --plot performance-$$bench.svg $$bench || exit 1; done
