# The command ctxrt: a client of the public interface, one file for each subcommand. run.c takes the bounds of the
# embedded driver from lib/emu/emu.h.
bin_PROGRAMS += ctxrt
DRAW_SOURCES = tools/draw/blocks.c tools/draw/draw.h tools/draw/snapshot.c tools/draw/stacks.c tools/draw/svg.c tools/draw/svg.h
CHECK_SOURCES = tools/check/alive.c tools/check/command.c tools/check/json.c tools/check/names.c tools/check/names.h tools/check/report.c tools/check/report.h \
	tools/check/symbols.c tools/check/symbols.h tools/check/text.c
LESSON_SOURCES = tools/lesson/check_program.c tools/lesson/check_scenario.c tools/lesson/checks.h tools/lesson/command.c \
	tools/lesson/compile.c tools/lesson/compile.h tools/lesson/copy.c tools/lesson/copy.h tools/lesson/findings.c \
	tools/lesson/findings.h tools/lesson/frame.c tools/lesson/frame.h tools/lesson/job.c tools/lesson/job.h \
	tools/lesson/lesson.c tools/lesson/lesson.h tools/lesson/solved.c tools/lesson/solved.h
ctxrt_SOURCES = tools/main.c tools/command.c tools/command.h $(CHECK_SOURCES) $(LESSON_SOURCES) tools/draw/command.c $(DRAW_SOURCES) tools/info.c lib/layer/handshake.c lib/layer/handshake.h tools/libcuda.c tools/libcuda.h tools/place.c tools/place.h \
	tools/play.c tools/replay.c tools/run.c tools/standin.c tools/standin.h tools/allocation_trace.c tools/allocation_trace.h
ctxrt_CPPFLAGS = -D_GNU_SOURCE -I$(top_srcdir)/include -I$(top_srcdir)/lib -I$(top_srcdir)/tools -I$(top_builddir) \
	-DCTXRT_BINDIR='"$(bindir)"' -DCTXRT_PKGLIBDIR='"$(pkglibdir)"' -DCTXRT_BUILT_SANITIZERS='"$(SANITIZERS)"' \
	-DCTXRT_BUILT_NVCC='"$(NVCC)"' -DCTXRT_PKGLIBEXECDIR='"$(pkglibexecdir)"' -DCTXRT_PKGDATADIR='"$(pkgdatadir)"'
if HAVE_CUDA_H
ctxrt_CPPFLAGS += -DCTXRT_BUILT_CUDA_H
endif
ctxrt_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(LIBDW_CFLAGS)
ctxrt_LDADD = lib/libctxrt.la $(JANSSON_LIBS) $(LIBDW_LIBS)
EXTRA_ctxrt_DEPENDENCIES = tools/lessons ctxrt-play$(EXEEXT) $(cuda12lib_LTLIBRARIES) $(cuda13lib_LTLIBRARIES)

# bash-completion looks for the completion of a command here, under each prefix of XDG_DATA_DIRS.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = tools/completion/ctxrt

# The player holds an embedded driver of its own and opens others, so it is a program without libctxrt.
pkglibexec_PROGRAMS += ctxrt-play
ctxrt_play_SOURCES = tools/play_main.c tools/play_host.c tools/play_host.h tools/play_random.c \
	tools/play_random.h tools/command.c tools/command.h
ctxrt_play_CPPFLAGS = $(AM_CPPFLAGS)
ctxrt_play_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=reallocarray -Wl,--wrap=posix_memalign \
	-Wl,--wrap=free -Wl,--wrap=mmap -Wl,--wrap=pthread_create
ctxrt_play_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
ctxrt_play_LDADD = tools/model/libmodel.la $(PLAY_LIBS) $(JANSSON_LIBS)
