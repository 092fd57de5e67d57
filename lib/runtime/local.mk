# The CUDA Runtime library: three versions of the same objects, outside the default search path.
noinst_LTLIBRARIES += lib/runtime/libruntime.la
lib_runtime_libruntime_la_SOURCES = \
	lib/runtime/calls.def lib/runtime/exports.def lib/runtime/properties.def \
	lib/runtime/array.c lib/runtime/array.h \
	lib/runtime/array_copy.c \
	lib/runtime/calls.h \
	lib/runtime/code.c lib/runtime/code.h \
	lib/runtime/copy.c lib/runtime/copy.h \
	lib/runtime/copy_batch.c \
	lib/runtime/cudart_abi.h \
	lib/runtime/device.c \
	lib/runtime/driver.c lib/runtime/driver.h \
	lib/runtime/error.c \
	lib/runtime/event.c \
	lib/runtime/fill.c \
	lib/runtime/function.c \
	lib/runtime/graph.c \
	lib/runtime/graph_node.c \
	lib/runtime/launch.c \
	lib/runtime/image.c lib/runtime/image.h \
	lib/runtime/library.c \
	lib/runtime/mapped.c lib/runtime/mapped.h \
	lib/runtime/memory.c \
	lib/runtime/origin.c lib/runtime/origin.h \
	lib/runtime/pool.c \
	lib/runtime/properties.c lib/runtime/properties.h \
	lib/runtime/refusal.c lib/runtime/refusal.h \
	lib/runtime/register.c \
	lib/runtime/stream.c \
	lib/runtime/symbol.c \
	lib/runtime/texture.c lib/runtime/texture_reference.c \
	lib/runtime/thread.c lib/runtime/thread.h
EXTRA_DIST += lib/runtime/exports.awk

cudart11dir = $(pkglibdir)/cudart-11
cudart12dir = $(pkglibdir)/cudart-12
cudart13dir = $(pkglibdir)/cudart-13
cudart11_LTLIBRARIES = lib/runtime/cudart-11/libcudart.la
cudart12_LTLIBRARIES = lib/runtime/cudart-12/libcudart.la
cudart13_LTLIBRARIES = lib/runtime/cudart-13/libcudart.la
RUNTIME_VERSIONS = $(cudart11_LTLIBRARIES) $(cudart12_LTLIBRARIES) $(cudart13_LTLIBRARIES)
RUNTIME_LIBS = lib/runtime/libruntime.la lib/layer/liblayer.la lib/driver/libdriver.la lib/shim/libbase.la
# Host code calls it until the process has ended.
RUNTIME_LDFLAGS = $(AM_LDFLAGS) -no-undefined -avoid-version -module -Wl,-z,nodelete -Wl,-Bsymbolic

lib_runtime_cudart_11_libcudart_la_SOURCES = lib/runtime/entries_11.c lib/runtime/version_11.c lib/runtime/entries.h
lib_runtime_cudart_11_libcudart_la_LIBADD = $(RUNTIME_LIBS)
lib_runtime_cudart_11_libcudart_la_LDFLAGS = $(RUNTIME_LDFLAGS) -shrext .so.11.0 -Wl,--version-script=lib/runtime/cudart-11.map
EXTRA_lib_runtime_cudart_11_libcudart_la_DEPENDENCIES = lib/runtime/cudart-11.map folders.stamp

lib_runtime_cudart_12_libcudart_la_SOURCES = lib/runtime/entries_12.c lib/runtime/version_12.c lib/runtime/entries.h
lib_runtime_cudart_12_libcudart_la_LIBADD = $(RUNTIME_LIBS)
lib_runtime_cudart_12_libcudart_la_LDFLAGS = $(RUNTIME_LDFLAGS) -shrext .so.12 -Wl,--version-script=lib/runtime/cudart-12.map
EXTRA_lib_runtime_cudart_12_libcudart_la_DEPENDENCIES = lib/runtime/cudart-12.map folders.stamp

lib_runtime_cudart_13_libcudart_la_SOURCES = lib/runtime/entries_13.c lib/runtime/version_13.c lib/runtime/entries.h
lib_runtime_cudart_13_libcudart_la_LIBADD = $(RUNTIME_LIBS)
lib_runtime_cudart_13_libcudart_la_LDFLAGS = $(RUNTIME_LDFLAGS) -shrext .so.13 -Wl,--version-script=lib/runtime/cudart-13.map
EXTRA_lib_runtime_cudart_13_libcudart_la_DEPENDENCIES = lib/runtime/cudart-13.map folders.stamp

RUNTIME_TABLES = $(top_srcdir)/lib/runtime/calls.def $(top_srcdir)/lib/runtime/exports.def
RUNTIME_GENERATE = $(AM_V_GEN)$(MKDIR_P) lib/runtime && $(AWK) -f $(top_srcdir)/lib/runtime/exports.awk
RUNTIME_GENERATED = lib/runtime/entries-11.def lib/runtime/entries-12.def lib/runtime/entries-13.def \
	lib/runtime/cudart-11.map lib/runtime/cudart-12.map lib/runtime/cudart-13.map
CLEANFILES += $(RUNTIME_GENERATED)
$(RUNTIME_GENERATED): $(RUNTIME_TABLES) $(top_srcdir)/lib/runtime/exports.awk

lib/runtime/entries-11.def:
	$(RUNTIME_GENERATE) -v make=entries -v column=1 $(RUNTIME_TABLES) > $@.new && mv $@.new $@
lib/runtime/entries-12.def:
	$(RUNTIME_GENERATE) -v make=entries -v column=2 $(RUNTIME_TABLES) > $@.new && mv $@.new $@
lib/runtime/entries-13.def:
	$(RUNTIME_GENERATE) -v make=entries -v column=3 $(RUNTIME_TABLES) > $@.new && mv $@.new $@
lib/runtime/cudart-11.map:
	$(RUNTIME_GENERATE) -v make=map -v column=1 -v version=libcudart.so.11.0 $(RUNTIME_TABLES) > $@.new && mv $@.new $@
lib/runtime/cudart-12.map:
	$(RUNTIME_GENERATE) -v make=map -v column=2 -v version=libcudart.so.12 $(RUNTIME_TABLES) > $@.new && mv $@.new $@
lib/runtime/cudart-13.map:
	$(RUNTIME_GENERATE) -v make=map -v column=3 -v version=libcudart.so.13 $(RUNTIME_TABLES) > $@.new && mv $@.new $@
lib/runtime/entries_11.lo: lib/runtime/entries-11.def
lib/runtime/entries_12.lo: lib/runtime/entries-12.def
lib/runtime/entries_13.lo: lib/runtime/entries-13.def
