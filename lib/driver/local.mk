noinst_LTLIBRARIES += lib/driver/libdriver.la
lib_driver_libdriver_la_SOURCES = \
	lib/driver/access_log.c lib/driver/access_log.h \
	lib/driver/attributes.def lib/driver/results.def lib/driver/runtime_errors.def lib/driver/symbols.def \
	lib/driver/cuda_abi.h lib/driver/cuda_abi_array.h lib/driver/cuda_abi_copy.h lib/driver/cuda_abi_graph.h lib/driver/cuda_abi_texture.h lib/driver/handle_types.h \
	lib/driver/driver.c lib/driver/driver.h \
	lib/driver/entry.c lib/driver/entry.h \
	lib/driver/loader.c \
	lib/driver/missing.c \
	lib/driver/parameters.h \
	lib/driver/table.c lib/driver/table.h \
	lib/driver/work_timestamps.c lib/driver/work_timestamps.h
