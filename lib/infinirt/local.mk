# The InfiniRT interface over libctxrt's public one. Programs linked with the original need libinfinirt.so, without a number.
lib_LTLIBRARIES += lib/libinfinirt.la
lib_libinfinirt_la_SOURCES = \
	lib/infinirt/address.c lib/infinirt/address.h \
	lib/infinirt/copy.c \
	lib/infinirt/device.c lib/infinirt/device.h \
	lib/infinirt/event.c \
	lib/infinirt/fill.c \
	lib/infinirt/graph.c \
	lib/infinirt/memory.c \
	lib/infinirt/snapshot.c \
	lib/infinirt/status.c lib/infinirt/status.h \
	lib/infinirt/stream.c lib/infinirt/stream.h
lib_libinfinirt_la_CPPFLAGS = -D_GNU_SOURCE -I$(top_srcdir)/include -I$(top_srcdir)/include/infinirt \
	-I$(top_srcdir)/lib
lib_libinfinirt_la_LIBADD = lib/libctxrt.la
lib_libinfinirt_la_LIBTOOLFLAGS =
# libctxrt is beside it, wherever an installation was moved. (Debian's packages need no run path.)
ORIGIN_RPATH = -Wl,-rpath,'$$ORIGIN'
lib_libinfinirt_la_LDFLAGS = $(AM_LDFLAGS) $(ORIGIN_RPATH) -no-undefined -avoid-version -Wl,-z,nodelete \
	-Wl,--version-script=$(top_srcdir)/lib/infinirt/infinirt.map
EXTRA_lib_libinfinirt_la_DEPENDENCIES = $(top_srcdir)/lib/infinirt/infinirt.map folders.stamp
EXTRA_DIST += lib/infinirt/infinirt.map
