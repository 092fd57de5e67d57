# The stand-in libcuda.so.1: two export sets of the same objects, outside the default search path.
noinst_LTLIBRARIES += lib/shim/libshim.la
lib_shim_libshim_la_SOURCES = \
	lib/shim/exports.def lib/shim/served.def \
	lib/shim/address.c \
	lib/shim/exports.c lib/shim/exports.h \
	lib/shim/failure.c lib/shim/failure.h \
	lib/shim/own_calls.c \
	lib/shim/passthrough.c lib/shim/passthrough.h \
	lib/shim/real_driver.c lib/shim/real_driver.h \
	lib/shim/runtime_library.c lib/shim/runtime_library.h \
	lib/shim/served.c \
	lib/shim/shim.c lib/shim/shim.h \
	lib/shim/unserved.c
noinst_LTLIBRARIES += lib/shim/libbase.la
lib_shim_libbase_la_SOURCES = $(BASE_SOURCES) lib/shim/error.c
EXTRA_DIST += lib/shim/exports.awk lib/shim/list-exports.sh

cuda12libdir = $(pkglibdir)/cuda-12
cuda13libdir = $(pkglibdir)/cuda-13
cuda12lib_LTLIBRARIES = lib/shim/cuda-12/libcuda.la
cuda13lib_LTLIBRARIES = lib/shim/cuda-13/libcuda.la

SHIM_LIBS = lib/shim/libshim.la lib/layer/libcheck.la lib/layer/libcount.la lib/layer/libtrace.la lib/layer/liblayer.la lib/emu/libemu.la lib/driver/libdriver.la \
	lib/shim/libbase.la
# A driver never leaves the process, and its own table names its own functions.
SHIM_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 1:0:0 -Wl,-z,nodelete -Wl,-Bsymbolic

lib_shim_cuda_12_libcuda_la_SOURCES = lib/shim/version.c
lib_shim_cuda_12_libcuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DCX_SHIM_VERSION=12090
lib_shim_cuda_12_libcuda_la_LIBADD = $(SHIM_LIBS)
lib_shim_cuda_12_libcuda_la_LDFLAGS = $(SHIM_LDFLAGS) -Wl,--version-script=lib/shim/cuda-12.map
EXTRA_lib_shim_cuda_12_libcuda_la_DEPENDENCIES = lib/shim/cuda-12.map folders.stamp

lib_shim_cuda_13_libcuda_la_SOURCES = lib/shim/version.c
lib_shim_cuda_13_libcuda_la_CPPFLAGS = $(AM_CPPFLAGS) -DCX_SHIM_VERSION=13000
lib_shim_cuda_13_libcuda_la_LIBADD = $(SHIM_LIBS)
lib_shim_cuda_13_libcuda_la_LDFLAGS = $(SHIM_LDFLAGS) -Wl,--version-script=lib/shim/cuda-13.map
EXTRA_lib_shim_cuda_13_libcuda_la_DEPENDENCIES = lib/shim/cuda-13.map folders.stamp

SHIM_TABLES = $(top_srcdir)/lib/driver/symbols.def $(top_srcdir)/lib/shim/served.def \
	$(top_srcdir)/lib/shim/exports.def
SHIM_GENERATE = $(AM_V_GEN)$(MKDIR_P) lib/shim && $(AWK) -f $(top_srcdir)/lib/shim/exports.awk
SHIM_GENERATED = lib/shim/unserved.def lib/shim/cuda-12.map lib/shim/cuda-13.map
CLEANFILES += $(SHIM_GENERATED)
$(SHIM_GENERATED): $(SHIM_TABLES) $(top_srcdir)/lib/shim/exports.awk

lib/shim/unserved.def:
	$(SHIM_GENERATE) -v make=unserved $(SHIM_TABLES) > $@.new && mv $@.new $@
lib/shim/cuda-12.map:
	$(SHIM_GENERATE) -v make=map -v newest=12090 $(SHIM_TABLES) > $@.new && mv $@.new $@
lib/shim/cuda-13.map:
	$(SHIM_GENERATE) -v make=map -v newest=13020 $(SHIM_TABLES) > $@.new && mv $@.new $@
lib/shim/exports.lo lib/shim/unserved.lo: lib/shim/unserved.def
