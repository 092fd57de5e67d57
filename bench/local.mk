# Benchmarks are built with the rest but never run as tests. They link the rooms, for the bare driver's table.
noinst_PROGRAMS += bench/bench_stack
bench_bench_stack_SOURCES = bench/rounds.c bench/rounds.h bench/stack.c
bench_bench_stack_LDADD = $(lib_libctxrt_la_LIBADD)
