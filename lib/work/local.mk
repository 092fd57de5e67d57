noinst_LTLIBRARIES += lib/work/libwork.la
lib_work_libwork_la_SOURCES = \
	lib/work/current.c \
	lib/work/default_stream.c lib/work/default_stream.h \
	lib/work/event.c lib/work/event.h \
	lib/work/stream.c lib/work/stream.h \
	lib/work/uncaptured.h
