# The command ctxrt: a client of the public interface, one file for each subcommand. run.c takes the bounds of the
# embedded driver from lib/emu/emu.h.
bin_PROGRAMS += ctxrt
noinst_LTLIBRARIES += tools/draw/libdraw.la
tools_draw_libdraw_la_SOURCES = tools/draw/blocks.c tools/draw/draw.h tools/draw/played.c tools/draw/snapshot.c tools/draw/stacks.c tools/draw/svg.c tools/draw/svg.h
tools_draw_libdraw_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
BENCH_SOURCES = tools/bench/command.c tools/bench/plot.c tools/bench/plot.h
CHECK_SOURCES = tools/check/alive.c tools/check/baseline.c tools/check/baseline.h tools/check/github.c tools/check/sarif.c tools/check/command.c tools/check/json.c tools/check/names.c tools/check/names.h tools/check/report.c tools/check/report.h \
	tools/check/symbols.c tools/check/symbols.h tools/check/text.c tools/check/waits.c
COMPARE_SOURCES = tools/compare/command.c tools/compare/differences.c tools/compare/differences.h tools/compare/recording.c tools/compare/recording.h \
	tools/play/rule.c tools/play/rule.h tools/compare/scenario.c tools/compare/scenario.h
COUNT_SOURCES = tools/count/count.h tools/count/json.c tools/count/read.c tools/count/text.c
LESSON_SOURCES = tools/lesson/check_program.c tools/lesson/check_scenario.c tools/lesson/checks.h tools/lesson/command.c \
	tools/lesson/compile.c tools/lesson/compile.h tools/lesson/copy.c tools/lesson/copy.h tools/lesson/findings.c \
	tools/lesson/findings.h tools/lesson/frame.c tools/lesson/frame.h tools/lesson/job.c tools/lesson/job.h \
	tools/lesson/language.c tools/lesson/language.h tools/lesson/lesson.c tools/lesson/lesson.h \
	tools/lesson/messages.zh.def tools/lesson/solved.c tools/lesson/solved.h
TRACE_SOURCES = tools/theme/write.c tools/theme/write.h lib/base/text.c lib/base/text.h lib/base/utf8.c lib/base/utf8.h lib/layer/trace/layout.c lib/layer/trace/layout.h \
	tools/trace/calls.c tools/trace/calls.h tools/trace/command.c tools/trace/json.c tools/trace/json.h tools/trace/marks.c tools/trace/marks.h \
	tools/trace/objects.c tools/trace/objects.h tools/trace/origins.c tools/trace/origins.h tools/trace/page.c tools/trace/page.h tools/trace/pieces.c tools/trace/pieces.h tools/trace/read.c tools/trace/read.h \
	tools/trace/spans.c tools/trace/spans.h tools/trace/stats.c tools/trace/stats.h tools/trace/text.c tools/trace/text.h tools/trace/tracks.c tools/trace/words.c tools/trace/words.h
ctxrt_SOURCES = tools/main.c tools/binary.c tools/binary.h tools/cudart.c tools/cudart.h tools/child.c tools/child.h tools/command.c tools/command.h $(BENCH_SOURCES) $(CHECK_SOURCES) $(COMPARE_SOURCES) $(COUNT_SOURCES) tools/json_text.c tools/json_text.h $(LESSON_SOURCES) tools/draw/command.c tools/info.c tools/joined.c tools/joined.h lib/layer/handshake.c lib/layer/handshake.h lib/shim/real_driver.h lib/shim/own_calls.c tools/libcuda.c tools/libcuda.h tools/place.c tools/place.h \
	tools/nvcc.c tools/play.c tools/replay.c tools/run.c tools/standin.c tools/standin.h $(TRACE_SOURCES) tools/allocation_trace.c tools/allocation_trace.h
ctxrt_CPPFLAGS = -D_GNU_SOURCE -I$(top_srcdir)/include -I$(top_srcdir)/lib -I$(top_srcdir)/tools -I$(top_builddir) \
	-DCTXRT_BINDIR='"$(bindir)"' -DCTXRT_PKGLIBDIR='"$(pkglibdir)"' -DCTXRT_BUILT_SANITIZERS='"$(SANITIZERS)"' \
	-DCTXRT_BUILT_NVCC='"$(NVCC)"' -DCTXRT_BUILT_MPI='"$(MPI_FOUND)"' -DCTXRT_BUILT_PO4A='"$(PO4A)"' \
	-DCTXRT_BUILT_XGETTEXT='"$(XGETTEXT)"' -DCTXRT_BUILT_CHROMIUM='"$(CHROMIUM)"' -DCTXRT_PKGLIBEXECDIR='"$(pkglibexecdir)"' -DCTXRT_PKGDATADIR='"$(pkgdatadir)"'
if HAVE_CUDA_H
ctxrt_CPPFLAGS += -DCTXRT_BUILT_CUDA_H
endif
# `ctxrt info` says how the tree was configured.
tools/ctxrt-info.$(OBJEXT): Makefile
ctxrt_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(LIBDW_CFLAGS)
ctxrt_LDADD = tools/draw/libdraw.la lib/libctxrt.la $(JANSSON_LIBS) $(LIBDW_LIBS)

# The parts of pages and pictures that are no C, as C arrays of lines: each takes the palette.
THEME = $(top_srcdir)/tools/theme
EMBED = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(THEME)/embed.awk
TRACE_PARTS = $(THEME)/palette.css $(THEME)/theme.css $(top_srcdir)/tools/trace/page.css $(top_srcdir)/tools/trace/page.html \
	$(THEME)/theme.js $(top_srcdir)/tools/trace/page.js $(top_srcdir)/tools/trace/page_keys.js
DRAW_PARTS = $(THEME)/palette.css $(top_srcdir)/tools/draw/picture.css
EXTRA_DIST += tools/theme/colours.awk tools/theme/embed.awk tools/theme/theme.js tools/theme/theme.css tools/theme/palette.css \
	tools/draw/picture.css tools/trace/page.css tools/trace/page.html tools/trace/page.js tools/trace/page_keys.js
CLEANFILES += tools/trace/page_parts.h tools/draw/parts.h
tools/trace/page_parts.h: $(TRACE_PARTS) $(THEME)/embed.awk
	$(EMBED) $(TRACE_PARTS) > $@.new && mv $@.new $@
tools/draw/parts.h: $(DRAW_PARTS) $(THEME)/embed.awk $(THEME)/colours.awk
	$(EMBED) $(DRAW_PARTS) > $@.new && $(AWK) -f $(THEME)/colours.awk $(THEME)/palette.css >> $@.new && mv $@.new $@
tools/trace/ctxrt-page.$(OBJEXT): tools/trace/page_parts.h
USES_DRAW_PARTS = tools/draw/libdraw_la-svg.lo
$(USES_DRAW_PARTS): tools/draw/parts.h


# What ctxrt compare knows of the embedded driver.
CLEANFILES += tools/compare/embedded.h
tools/compare/embedded.h: $(PROBE_RECORDINGS) $(THEME)/embed.awk
	$(EMBED) $(PROBE_RECORDINGS:%=$(top_srcdir)/%) > $@.new && mv $@.new $@
tools/compare/ctxrt-recording.$(OBJEXT): tools/compare/embedded.h
tools/play/ctxrt-rule.$(OBJEXT): tools/play/rules.h

EXTRA_ctxrt_DEPENDENCIES = tools/lessons ctxrt-play$(EXEEXT) $(cuda12lib_LTLIBRARIES) $(cuda13lib_LTLIBRARIES) $(RUNTIME_VERSIONS)

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
