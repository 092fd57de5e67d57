# What a real GPU can be asked, as one file that runs on a machine that has one: docs/gpu-check.md.
GPU_CHECK = tests/gpu/bundle.sh tests/gpu/carry.sh tests/gpu/contents.txt tests/gpu/gpu-check.sh tests/gpu/newer.c tests/gpu/old_libc.awk \
	tests/gpu/old_libc.sh tests/gpu/search_tree.c tests/gpu/start.c tests/gpu/unpack.sh
EXTRA_DIST += $(GPU_CHECK) tests/gpu/check_roots tests/support/root.sh
dist_check_SCRIPTS += tests/gpu/check_gpu_check.sh
TESTS += tests/gpu/check_gpu_check.sh

# carry.sh links programs and these anew, from the objects of the build.
CARRIED = gpu-check.parts/libctxrt.la gpu-check.parts/cuda-12/libcuda.la gpu-check.parts/cuda-13/libcuda.la
.PHONY: carried-libraries
carried-libraries: $(CARRIED)
gpu-check.parts/libctxrt.la: lib/libctxrt.la
	$(AM_V_CCLD)$(lib_libctxrt_la_LINK) -rpath /nowhere $(lib_libctxrt_la_LIBADD) $(LIBS)
gpu-check.parts/cuda-12/libcuda.la: lib/shim/cuda-12/libcuda.la
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(lib_shim_cuda_12_libcuda_la_LINK) -rpath /nowhere $(lib_shim_cuda_12_libcuda_la_OBJECTS) \
		$(lib_shim_cuda_12_libcuda_la_LIBADD) $(LIBS)
gpu-check.parts/cuda-13/libcuda.la: lib/shim/cuda-13/libcuda.la
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(lib_shim_cuda_13_libcuda_la_LINK) -rpath /nowhere $(lib_shim_cuda_13_libcuda_la_OBJECTS) \
		$(lib_shim_cuda_13_libcuda_la_LIBADD) $(LIBS)

CLEANFILES += ctxrt-gpu-check
clean-local: clean-gpu-check
.PHONY: clean-gpu-check gpu-check gpu-check-bundle
clean-gpu-check:
	rm -rf gpu-check.parts gpu-visit

GPU_CHECK_TARGETS = $(shell sed '/^\#/d; s/^[a-z_]* //; s/ .*//' $(top_srcdir)/tests/gpu/contents.txt)
gpu-check-bundle: bench
	$(MAKE) $(AM_MAKEFLAGS) $(GPU_CHECK_TARGETS)
	. ./tests/environment.sh; MAKE='$(MAKE)' CC='$(CC)' $(SHELL) $(top_srcdir)/tests/gpu/bundle.sh ctxrt-gpu-check

# A folder that asks for more, on a machine that has a GPU for minutes.
VISIT = tests/gpu/visit.sh tests/gpu/visit/allocator_torch.py tests/gpu/visit/cupy_two_streams.py tests/gpu/visit/judge.sh \
	tests/gpu/visit/numba_two_streams.py tests/gpu/visit/pairs.c tests/gpu/visit/run.sh tests/gpu/visit/sequence.sh tests/gpu/visit/torch_two_streams.py
EXTRA_DIST += $(VISIT)
dist_check_SCRIPTS += tests/gpu/check_visit.sh
TESTS += tests/gpu/check_visit.sh
# One after the other: they make and use the same parts.
tests/gpu/check_gpu_check.log: gpu-visit.stamp
tests/gpu/check_visit.log: tests/gpu/check_gpu_check.log
.PHONY: gpu-visit gpu-visit.stamp
gpu-visit: gpu-visit.stamp
gpu-visit.stamp: gpu-check-bundle tests/ptx/kernels_on_driver$(EXEEXT) $(KERNEL_PTX)
	. ./tests/environment.sh; MAKE='$(MAKE)' CC='$(CC)' $(SHELL) $(top_srcdir)/tests/gpu/visit.sh gpu-visit

# Without a GPU it says so and exits with 77.
gpu-check: gpu-check-bundle
	./ctxrt-gpu-check $(GPU_CHECK_FLAGS)

# On demand: it fetches an empty Debian.
.PHONY: check-bundle-roots
check-bundle-roots: gpu-visit
	nice $(top_srcdir)/tests/gpu/check_roots $(top_builddir) || test $$? = 77
