DRIVER_LIBS = tests/support/libsupport.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)
DRIVER_CPPFLAGS = $(AM_CPPFLAGS)

# The test double of libcuda, once for each fault; libcuda.la carries the real soname.
# -rpath makes libtool build a shared module.
FAKE_SOURCES = tests/driver/fake.c tests/driver/fake.h
FAKE_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
FAKE_MODULES = \
	tests/driver/fake_whole.la \
	tests/driver/libcuda.la \
	tests/driver/fake_cuda12.la \
	tests/driver/fake_proc1.la \
	tests/driver/fake_old.la \
	tests/driver/fake_null.la \
	tests/driver/fake_no_push.la \
	tests/driver/fake_no_id.la \
	tests/driver/fake_init_fails.la \
	tests/driver/fake_init_new.la \
	tests/driver/fake_no_device.la \
	tests/driver/fake_empty.la
check_LTLIBRARIES += $(FAKE_MODULES)

tests_driver_fake_whole_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_whole_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_whole_la_CPPFLAGS = $(DRIVER_CPPFLAGS)
tests_driver_libcuda_la_SOURCES = $(FAKE_SOURCES)
tests_driver_libcuda_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 -rpath /nowhere
tests_driver_libcuda_la_CPPFLAGS = $(DRIVER_CPPFLAGS)
tests_driver_fake_cuda12_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_cuda12_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_cuda12_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_VERSION=12060 -DcuCtxGetDevice_v2=absent_cuCtxGetDevice_v2 \
	-DcuCtxSynchronize_v2=absent_cuCtxSynchronize_v2 -DcuEventElapsedTime_v2=absent_cuEventElapsedTime_v2 \
	-DcuMemGetDefaultMemPool=absent_cuMemGetDefaultMemPool -DcuMemGetMemPool=absent_cuMemGetMemPool \
	-DcuMemSetMemPool=absent_cuMemSetMemPool -DcuMemPrefetchBatchAsync=absent_cuMemPrefetchBatchAsync \
	-DcuMemDiscardBatchAsync=absent_cuMemDiscardBatchAsync \
	-DcuMemDiscardAndPrefetchBatchAsync=absent_cuMemDiscardAndPrefetchBatchAsync
tests_driver_fake_proc1_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_proc1_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_proc1_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_VERSION=11080 -DFAKE_PROC_ADDRESS=1 -DFAKE_OLD
tests_driver_fake_old_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_old_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_old_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_VERSION=11000 -DFAKE_PROC_ADDRESS=0 -DFAKE_OLD
tests_driver_fake_null_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_null_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_null_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_GIVES_NULL=1
tests_driver_fake_no_push_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_no_push_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_no_push_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DcuCtxPushCurrent_v2=absent_cuCtxPushCurrent_v2
tests_driver_fake_no_id_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_no_id_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_no_id_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DcuCtxGetId=absent_cuCtxGetId
tests_driver_fake_init_fails_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_init_fails_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_init_fails_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_INIT=CXU_SYSTEM_DRIVER_MISMATCH
tests_driver_fake_init_new_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_init_new_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_init_new_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_INIT=FAKE_NEW_RESULT
tests_driver_fake_no_device_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_no_device_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_no_device_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_INIT=CXU_NO_DEVICE
tests_driver_fake_empty_la_SOURCES = $(FAKE_SOURCES)
tests_driver_fake_empty_la_LDFLAGS = $(FAKE_LDFLAGS)
tests_driver_fake_empty_la_CPPFLAGS = $(DRIVER_CPPFLAGS) -DFAKE_DEVICES=0

DRIVER_FILES = tests/driver/check_driver.c tests/driver/check_loader.c
check_PROGRAMS += tests/driver/checks_driver
CHECK_FILES += $(DRIVER_FILES)
$(DRIVER_FILES:.c=$(EXEEXT)): tests/driver/checks_driver$(EXEEXT) ; $(LINK_CHECK)
tests_driver_checks_driver_SOURCES = $(DRIVER_FILES)
tests_driver_checks_driver_LDADD = $(DRIVER_LIBS)
EXTRA_tests_driver_checks_driver_DEPENDENCIES = $(FAKE_MODULES)

check_PROGRAMS += tests/driver/test_abi
TESTS += tests/driver/test_abi
# Compares our declarations with cuda.h where that is installed; else it says why not.
tests_driver_test_abi_SOURCES = tests/driver/test_abi.c tests/driver/test_abi.h tests/driver/test_abi_order.c
tests_driver_test_abi_CPPFLAGS = $(DRIVER_CPPFLAGS)
EXTRA_DIST += tests/driver/abi_facts.awk
if HAVE_CUDA_H
ABI_FACTS_FROM = $(top_srcdir)/lib/driver/cuda_abi.h $(top_srcdir)/lib/driver/cuda_abi_copy.h \
	$(top_srcdir)/lib/driver/cuda_abi_graph.h $(top_srcdir)/lib/driver/results.def \
	$(top_srcdir)/lib/driver/attributes.def $(CUDA_DIR)/include/cuda.h \
	$(CUDA_DIR)/include/cudaTypedefs.h $(CUDA_DIR)/include/cudaProfiler.h \
	$(CUDA_DIR)/include/cudaProfilerTypedefs.h
nodist_tests_driver_test_abi_SOURCES = tests/driver/abi_facts.h
tests_driver_test_abi_CPPFLAGS += -DCX_TEST_HAVE_CUDA_H -Itests/driver $(CUDA_CPPFLAGS)
CLEANFILES += tests/driver/abi_facts.h
tests/driver/abi_facts.h: $(top_srcdir)/tests/driver/abi_facts.awk $(ABI_FACTS_FROM)
	$(AM_V_GEN)$(MKDIR_P) tests/driver && \
	$(AWK) -f $(top_srcdir)/tests/driver/abi_facts.awk $(ABI_FACTS_FROM) > $@.new && mv $@.new $@
tests/driver/tests_driver_test_abi-test_abi.$(OBJEXT): tests/driver/abi_facts.h
endif
