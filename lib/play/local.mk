# Scenarios: parsed, printed, played through the driver table. Not part of libctxrt.
noinst_LTLIBRARIES += lib/play/libplay.la
lib_play_libplay_la_SOURCES = \
	lib/play/verbs.def lib/play/words.def \
	lib/play/action.c \
	lib/play/code.c lib/play/code.h \
	lib/play/host.c \
	lib/play/kind.c lib/play/kind.h \
	lib/play/lex.c lib/play/lex.h \
	lib/play/names.c lib/play/names.h \
	lib/play/needs.c \
	lib/play/order.c lib/play/order.h \
	lib/play/page.c lib/play/page.h \
	lib/play/parse.c lib/play/parse.h lib/play/parse_step.c \
	lib/play/parser.c lib/play/parser.h lib/play/read.c \
	lib/play/play.c lib/play/play.h lib/play/player.h \
	lib/play/print.c lib/play/print.h \
	lib/play/process.c lib/play/process.h \
	lib/play/record.c lib/play/record.h \
	lib/play/reference.c lib/play/reference.h \
	lib/play/scenario.c lib/play/scenario.h \
	lib/play/stacks.c lib/play/stacks.h \
	lib/play/step.c \
	lib/play/tape.c lib/play/tape.h \
	lib/play/thread.c \
	lib/play/value.c lib/play/value.h \
	lib/play/verb.c lib/play/verb.h \
	lib/play/watch.c

PLAY_LIBS = lib/play/libplay.la lib/emu/libemu.la lib/driver/libdriver.la lib/base/libbase.la
