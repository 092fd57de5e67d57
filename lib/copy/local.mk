noinst_LTLIBRARIES += lib/copy/libcopy.la
lib_copy_libcopy_la_SOURCES = \
	lib/copy/copy.c lib/copy/copy.h lib/copy/copy_fast_path.h \
	lib/copy/copy_across.c \
	lib/copy/copy_peer.c \
	lib/copy/cross_copy.c lib/copy/cross_copy.h \
	lib/copy/fill.c \
	lib/copy/route.c lib/copy/route.h \
	lib/copy/staging.c lib/copy/staging.h \
	lib/copy/submit.c
