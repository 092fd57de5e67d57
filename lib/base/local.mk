noinst_LTLIBRARIES += lib/base/libbase.la
lib_base_libbase_la_SOURCES = $(BASE_SOURCES) lib/base/error.c \
	lib/base/thread_texts.c lib/base/thread_texts.h
# The stand-in has an error.c of its own.
BASE_SOURCES = \
	lib/base/cancel.h \
	lib/base/clock.h \
	lib/base/count.h \
	lib/base/error.h \
	lib/base/eventcount.c lib/base/eventcount.h \
	lib/base/file.h \
	lib/base/fork.c lib/base/fork.h \
	lib/base/handle.c lib/base/handle.h lib/base/hash.h \
	lib/base/lock.c lib/base/lock.h lib/base/locks.def \
	lib/base/log.c lib/base/log.h \
	lib/base/option.c lib/base/option.h \
	lib/base/pool.c lib/base/pool.h \
	lib/base/section.c lib/base/section.h \
	lib/base/spelling.c lib/base/spelling.h \
	lib/base/status.c \
	lib/base/text.c lib/base/text.h \
	lib/base/text_write.c \
	lib/base/thread.h \
	lib/base/utf8.c lib/base/utf8.h \
	lib/base/variable.c lib/base/variable.h lib/base/variables.def
