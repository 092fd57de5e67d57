noinst_LTLIBRARIES += lib/work/libwork.la
lib_work_libwork_la_SOURCES = \
	lib/work/capture_gate.c lib/work/capture_gate.h \
	lib/work/current.c \
	lib/work/default_stream.c lib/work/default_stream.h \
	lib/work/event.c lib/work/event.h \
	lib/work/event_share.c \
	lib/work/handoff.c \
	lib/work/image.c lib/work/image.h \
	lib/work/kernel.c lib/work/kernel.h \
	lib/work/launch.c \
	lib/work/module.c lib/work/module.h \
	lib/work/occupancy.c \
	lib/work/stream.c lib/work/stream.h \
	lib/work/stream_work.c \
	lib/work/relaxed_capture.h \
	lib/work/timed_wait.c lib/work/timed_wait.h \
	lib/work/work.c lib/work/work.h
