noinst_LTLIBRARIES += lib/driver/libdriver.la
lib_driver_libdriver_la_SOURCES = \
	lib/driver/attributes.def lib/driver/results.def lib/driver/symbols.def \
	lib/driver/cuda_abi.h lib/driver/parameters.h \
	lib/driver/table.c lib/driver/table.h
