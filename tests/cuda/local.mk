# Programs that use CUDA beside ctxrt, the one through the Driver API, the other through the runtime API. Each runs by
# itself on any libcuda.so.1 that has a device.
CUDA_CASES = tests/cuda/cases.h tests/cuda/cuda_calls.h tests/cuda/frames.c tests/cuda/libcuda.c tests/cuda/libcuda.h \
	tests/cuda/main.c tests/cuda/mixed.c tests/cuda/tap.c tests/cuda/tap.h \
	tests/guest/guest.c tests/guest/guest.h tests/guest/play.c tests/guest/play.h
CUDA_CASES_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/cuda -I$(top_srcdir)/tests/guest \
	-DCX_TEST_FRAMES='"$(abs_top_srcdir)/docs/frames.md"'

check_PROGRAMS += tests/cuda/driver_guest
tests_cuda_driver_guest_SOURCES = $(CUDA_CASES) tests/cuda/driver_calls.c
tests_cuda_driver_guest_CPPFLAGS = $(CUDA_CASES_CPPFLAGS)
tests_cuda_driver_guest_LDADD = lib/libctxrt.la

# nvcc links this one, since libtool does not know how to pass it flags for the linker.
EXTRA_DIST += tests/cuda/runtime_calls.cu
if HAVE_NVCC
check_PROGRAMS += tests/cuda/runtime_guest
tests_cuda_runtime_guest_SOURCES = $(CUDA_CASES)
tests_cuda_runtime_guest_CPPFLAGS = $(CUDA_CASES_CPPFLAGS)
tests_cuda_runtime_guest_LINK = $(NVCC) $(NVCC_CCBIN) $(NVCCFLAGS) -cudart static \
	-Xlinker -rpath -Xlinker $(abs_top_builddir)/lib/.libs -o $@
tests_cuda_runtime_guest_LDADD = tests/cuda/runtime_calls.$(OBJEXT) -Llib/.libs -lctxrt
if COVERAGE
tests_cuda_runtime_guest_LDADD += -lgcov
endif
tests_cuda_runtime_guest_DEPENDENCIES = tests/cuda/runtime_calls.$(OBJEXT) lib/libctxrt.la
CLEANFILES += tests/cuda/runtime_calls.$(OBJEXT)
tests/cuda/runtime_calls.$(OBJEXT): tests/cuda/runtime_calls.cu tests/cuda/cuda_calls.h
	$(AM_V_GEN)$(MKDIR_P) tests/cuda && \
	$(NVCC) $(NVCC_CCBIN) $(NVCCFLAGS) -O2 -Xcompiler -fPIE -I$(top_srcdir)/tests/cuda -c \
		-o $@ $(top_srcdir)/tests/cuda/runtime_calls.cu
endif

# Kernels for the embedded driver: without nvcc, and where nvcc is not used, the test says so and is skipped.
EXTRA_DIST += tests/cuda/kernels.cu
check_PROGRAMS += tests/cuda/check_nvcc
TESTS += tests/cuda/check_nvcc
tests_cuda_check_nvcc_SOURCES = tests/cuda/check_nvcc.c
tests_cuda_check_nvcc_LDADD = $(PUBLIC_LIBS) -lm
if HAVE_NVCC
NVCC_FILES = tests/cuda/kernels.ptx tests/cuda/kernels.fatbin tests/cuda/kernels.packed.fatbin tests/cuda/kernels.fast.fatbin
EXTRA_tests_cuda_check_nvcc_DEPENDENCIES = $(NVCC_FILES)
CLEANFILES += $(NVCC_FILES)
NVCC_FOR_EMULATED = $(NVCC) $(NVCC_CCBIN) $(NVCCFLAGS) -gencode arch=compute_75,code=compute_75
tests/cuda/kernels.ptx: tests/cuda/kernels.cu
	$(AM_V_GEN)$(MKDIR_P) tests/cuda && $(NVCC_FOR_EMULATED) -ptx -o $@ $(top_srcdir)/tests/cuda/kernels.cu
tests/cuda/kernels.fatbin: tests/cuda/kernels.cu
	$(AM_V_GEN)$(MKDIR_P) tests/cuda && $(NVCC_FOR_EMULATED) -fatbin --no-compress -o $@ \
		$(top_srcdir)/tests/cuda/kernels.cu
# For two devices, and compressed as nvcc does it unless told otherwise: by zstd; older ones by LZ4, which is now its fast way.
NVCC_FOR_TWO = $(NVCC_FOR_EMULATED) -gencode arch=compute_80,code=compute_80 -fatbin
tests/cuda/kernels.packed.fatbin: tests/cuda/kernels.cu
	$(AM_V_GEN)$(MKDIR_P) tests/cuda && $(NVCC_FOR_TWO) -o $@ $(top_srcdir)/tests/cuda/kernels.cu
tests/cuda/kernels.fast.fatbin: tests/cuda/kernels.cu
	$(AM_V_GEN)$(MKDIR_P) tests/cuda && \
		{ $(NVCC_FOR_TWO) --compress-mode=speed -o $@ $(top_srcdir)/tests/cuda/kernels.cu 2>/dev/null || \
		$(NVCC_FOR_TWO) -o $@ $(top_srcdir)/tests/cuda/kernels.cu; }
endif

CUDA_SH = tests/cuda/driver.sh tests/cuda/runtime.sh
dist_check_SCRIPTS += $(CUDA_SH)
TESTS += $(CUDA_SH)
