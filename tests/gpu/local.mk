# What a real GPU can be asked, as a folder that can be carried to a machine that has one: docs/gpu-check.md.
GPU_CHECK = tests/gpu/bundle.sh tests/gpu/contents.txt tests/gpu/gpu-check.sh tests/gpu/play.awk tests/gpu/probe.awk \
	tests/gpu/table.awk
EXTRA_DIST += $(GPU_CHECK)
dist_check_SCRIPTS += tests/gpu/check_gpu_check.sh
TESTS += tests/gpu/check_gpu_check.sh
CLEANFILES += gpu-check.tar.gz

.PHONY: gpu-check gpu-check-bundle
gpu-check-bundle: all $(check_LTLIBRARIES) $(check_PROGRAMS)
	. ./tests/environment.sh; $(SHELL) $(top_srcdir)/tests/gpu/bundle.sh gpu-check
	tar -cf - gpu-check | gzip > gpu-check.tar.gz

# Without a GPU it says so and exits with 77.
gpu-check: gpu-check-bundle
	gpu-check/gpu-check.sh $(GPU_CHECK_FLAGS)
