noinst_LTLIBRARIES += lib/diagnose/libdiagnose.la
lib_diagnose_libdiagnose_la_SOURCES = \
	lib/diagnose/allocator_info.c \
	lib/diagnose/allocator_snapshot.c lib/diagnose/allocator_snapshot.h \
	lib/diagnose/allocator_snapshot_write.c \
	lib/diagnose/guard.c lib/diagnose/guard.h \
	lib/diagnose/guard_mark.c \
	lib/diagnose/origin.c lib/diagnose/origin.h \
	lib/diagnose/report.c lib/diagnose/report.h \
	lib/diagnose/trace.c lib/diagnose/trace.h \
	lib/diagnose/trace_write.c \
	lib/diagnose/watch.c lib/diagnose/watch.h
