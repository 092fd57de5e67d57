# The pipeline across processes: with configure --with-mpi alone. docs/cluster.md
MPI_SOURCES = samples/mpi/block.c samples/mpi/block.h samples/mpi/choice.c samples/mpi/choice.h \
	samples/mpi/counter.c samples/mpi/counter.h samples/mpi/driver.h samples/mpi/exchange.c samples/mpi/exchange.h \
	samples/mpi/exported.c samples/mpi/exported.h samples/mpi/job.c samples/mpi/job.h samples/mpi/locality.c \
	samples/mpi/locality.h samples/mpi/main.c samples/mpi/options.c samples/mpi/options.h samples/mpi/post.c \
	samples/mpi/post.h samples/mpi/receiver.c samples/mpi/receiver.h samples/mpi/rank_device.c samples/mpi/rank_device.h \
	samples/mpi/sender.c samples/mpi/sender.h samples/mpi/sums.c samples/mpi/sums.h samples/mpi/traffic.c \
	samples/mpi/traffic.h samples/mpi/ways.c samples/mpi/ways.h
nobase_dist_doc_DATA += $(MPI_SOURCES)

if WITH_MPI
noinst_PROGRAMS += samples/mpi/mpi_pipeline
endif
samples_mpi_mpi_pipeline_SOURCES = $(MPI_SOURCES) samples/pipeline/pipeline.h samples/pipeline/source.c
samples_mpi_mpi_pipeline_CPPFLAGS = $(WITH_CUDA_H)
samples_mpi_mpi_pipeline_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) $(MPI_CFLAGS) $(HWLOC_CFLAGS)
samples_mpi_mpi_pipeline_LDFLAGS = $(WITH_LIBCUDA)
samples_mpi_mpi_pipeline_LDADD = lib/libctxrt.la $(MPI_LIBS) $(HWLOC_LIBS) $(ZLIB_LIBS)
EXTRA_samples_mpi_mpi_pipeline_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# The choice of GPUs without MPI, and every way and failure with it.
if WITH_MPI
MPI_TESTS = samples/mpi/check_choice samples/mpi/check_mpi.sh
check_PROGRAMS += samples/mpi/check_choice
TESTS += samples/mpi/check_choice
check_LTLIBRARIES += samples/mpi/check_front.la
else
MPI_TESTS = samples/mpi/check_mpi.sh
endif
samples_mpi_check_choice_SOURCES = samples/mpi/check_choice.c samples/mpi/choice.c samples/mpi/choice.h \
	samples/mpi/locality.c samples/mpi/locality.h
samples_mpi_check_choice_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
samples_mpi_check_choice_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(HWLOC_CFLAGS)
samples_mpi_check_choice_LDADD = tests/support/libsupport.la $(HWLOC_LIBS) $(CHECK_LIBS)
samples_mpi_check_front_la_SOURCES = samples/mpi/check_front.c samples/mpi/driver.h samples/mpi/sender.h
samples_mpi_check_front_la_CPPFLAGS = $(WITH_CUDA_H)
samples_mpi_check_front_la_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS) $(HWLOC_CFLAGS)
samples_mpi_check_front_la_LDFLAGS = $(WITH_LIBCUDA) -module -avoid-version -rpath /nowhere
samples_mpi_check_front_la_LIBADD = $(MPI_LIBS)
EXTRA_samples_mpi_check_front_la_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

dist_check_SCRIPTS += samples/mpi/check_mpi.sh
EXTRA_DIST += samples/mpi/topology.xml

.PHONY: check-mpi
check-mpi: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(MPI_TESTS)' check_PROGRAMS='$(filter samples/mpi/%,$(check_PROGRAMS))' \
		check_LTLIBRARIES='tests/support/libsupport.la $(filter samples/mpi/%,$(check_LTLIBRARIES))'
