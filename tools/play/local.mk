# Scenarios: parsed, printed, played through the driver table. Not part of libctxrt.
noinst_LTLIBRARIES += tools/play/libplay.la
tools_play_libplay_la_SOURCES = \
	tools/play/verbs.def tools/play/words.def \
	tools/play/action.c \
	tools/play/code.c tools/play/code.h \
	tools/play/host.c \
	tools/play/kind.c tools/play/kind.h \
	tools/play/lex.c tools/play/lex.h \
	tools/play/names.c tools/play/names.h tools/play/object.c tools/play/object.h \
	tools/play/needs.c \
	tools/play/order.c tools/play/order.h \
	tools/play/page.c tools/play/page.h \
	tools/play/parse.c tools/play/parse.h tools/play/parse_step.c \
	tools/play/parser.c tools/play/parser.h tools/play/read.c \
	tools/play/play.c tools/play/play.h tools/play/player.h \
	tools/play/print.c tools/play/print.h \
	tools/play/process.c tools/play/process.h \
	tools/play/record.c tools/play/record.h \
	tools/play/reference.c tools/play/reference.h \
	tools/play/rule.c tools/play/rule.h \
	tools/play/scenario.c tools/play/scenario.h \
	tools/play/share.c tools/play/share.h \
	tools/play/stacks.c tools/play/stacks.h \
	tools/play/step.c \
	tools/play/tape.c tools/play/tape.h \
	tools/play/thread.c \
	tools/play/value.c tools/play/value.h \
	tools/play/verb.c tools/play/verb.h \
	tools/play/scene.c tools/play/scene.h \
	tools/play/scene_write.c \
	tools/play/watch.c tools/theme/write.c tools/theme/write.h

# The page that is no C, and the rules in a student's words.
PLAY_PARTS = $(THEME)/palette.css $(THEME)/theme.css $(top_srcdir)/tools/play/page.css $(top_srcdir)/tools/play/page.html \
	$(THEME)/theme.js $(top_srcdir)/tools/play/page.js $(top_srcdir)/tools/play/page_keys.js
PLAY_RULES = $(top_srcdir)/tools/play/rules.awk $(top_srcdir)/tools/play/rules.txt $(top_srcdir)/docs/semantics.md
EXTRA_DIST += tools/play/page.css tools/play/page.html tools/play/page.js tools/play/page_keys.js tools/play/rules.awk tools/play/rules.txt
CLEANFILES += tools/play/page_parts.h tools/play/rules.h
tools/play/page_parts.h: $(PLAY_PARTS) $(THEME)/embed.awk Makefile
	$(EMBED) $(PLAY_PARTS) > $@.new && echo '#define MANUAL "$(docdir)/docs/semantics.md"' >> $@.new && mv $@.new $@
tools/play/rules.h: $(PLAY_RULES)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(PLAY_RULES) > $@.new && mv $@.new $@
USES_PLAY_PARTS = tools/play/page.lo
$(USES_PLAY_PARTS): tools/play/page_parts.h
tools/play/rule.lo: tools/play/rules.h

PLAY_LIBS = tools/play/libplay.la lib/emu/libemu.la lib/driver/libdriver.la lib/base/libbase.la
