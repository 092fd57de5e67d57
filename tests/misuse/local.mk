# Programs with a planted misuse of contexts, and their clean twins: run.sh compiles and runs them.
check_PROGRAMS += tests/misuse/judge
dist_check_SCRIPTS += tests/misuse/run.sh
TESTS += tests/misuse/run.sh
EXTRA_DIST += tests/misuse/README.md tests/misuse/misuse.h tests/misuse/misuse_cuda.h tests/misuse/missing.txt \
	tests/misuse/one.sh tests/misuse/report.sh tests/misuse/planted tests/misuse/clean \
	tests/misuse/cusan tests/misuse/gpu.h

tests_misuse_judge_SOURCES = tests/misuse/judge.c
tests_misuse_judge_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_misuse_judge_LDADD = $(JANSSON_LIBS)
EXTRA_tests_misuse_judge_DEPENDENCIES = ctxrt $(cuda12lib_LTLIBRARIES)
