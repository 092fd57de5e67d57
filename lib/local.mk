# The one shared library, of all rooms; what it exports is what include/ctxrt declares.
lib_LTLIBRARIES += lib/libctxrt.la
lib_libctxrt_la_SOURCES =
lib_libctxrt_la_LIBADD = \
	lib/graph/libgraph.la \
	lib/copy/libcopy.la \
	lib/memory/libmemory.la \
	lib/alloc/liballoc.la \
	lib/work/libwork.la \
	lib/context/libcontext.la \
	lib/device/libdevice.la \
	lib/layer/libcheck.la \
	lib/layer/libcount.la \
	lib/layer/libtrace.la \
	lib/layer/liblayer.la \
	lib/emu/libemu.la \
	lib/driver/libdriver.la \
	lib/base/libbase.la $(JANSSON_LIBS)
lib_libctxrt_la_LIBTOOLFLAGS =
lib_libctxrt_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info $(CTXRT_LT_VERSION) \
	-Wl,-z,nodelete -Wl,--version-script=$(top_srcdir)/lib/ctxrt.map
EXTRA_lib_libctxrt_la_DEPENDENCIES = $(top_srcdir)/lib/ctxrt.map folders.stamp
EXTRA_DIST += lib/ctxrt.map
