# The lessons of `ctxrt lesson`, which finds them below pkgdatadir, and in a build tree by this link.
LESSONS = 01-what-is-current 02-a-stack-per-thread 03-primary-contexts 04-set-or-push 05-who-pops 06-hand-off \
	07-streams-and-events 08-what-synchronises 09-errors-that-stick 10-capture-and-graphs 11-memory 12-fork-and-exit \
	13-cuda-set-device 14-two-libraries 15-a-race-in-a-graph
LESSON_FILES = README.md exercise.c exercise.scn lesson.txt fixed.c mistake.c picture.scn picture.svg report.txt solution.c solution.scn \
	README.zh.md exercise.zh.scn lesson.zh.txt
LESSON_KERNEL = kernel.c kernel.cu kernel.ptx
nobase_dist_pkgdata_DATA = samples/lessons/lesson.h samples/lessons/lesson_cuda.h samples/lessons/lesson_cudart.h \
	$(foreach lesson,$(LESSONS),$(LESSON_FILES:%=samples/lessons/$(lesson)/%)) $(LESSON_KERNEL:%=samples/lessons/09-errors-that-stick/%)

tools/lessons:
	@$(MKDIR_P) tools
	$(AM_V_GEN)$(LN_S) $(abs_top_srcdir)/samples/lessons $@
CLEANFILES += tools/lessons

dist_check_SCRIPTS += tests/tools/lesson.sh
TESTS += tests/tools/lesson.sh
EXTRA_DIST += samples/lessons/render.sh

# The pages as HTML, with their pictures; and as slides, for lecturers.
LESSON_STYLE = $(top_srcdir)/tools/theme/palette.css $(top_srcdir)/tools/draw/picture.css
LESSON_HTML = $(LESSONS:%=samples/lessons/%.html)
LESSON_HTML_ZH = $(LESSONS:%=samples/lessons/%.zh.html)
LESSON_WORDS = $(top_srcdir)/samples/lessons/words.awk
SLIDES_STYLE = $(LESSON_STYLE) $(top_srcdir)/samples/lessons/slides.css
SLIDES_PAGES = $(LESSONS:%=$(top_srcdir)/samples/lessons/%/README.md)
SLIDES_PICTURES = $(LESSONS:%=$(top_srcdir)/samples/lessons/%/picture.svg)
SLIDES_WORDS = $(SLIDES_PAGES:README.md=slides.txt)
SLIDES_PAGES_ZH = $(SLIDES_PAGES:.md=.zh.md)
SLIDES_WORDS_ZH = $(SLIDES_WORDS:.txt=.zh.txt)
SLIDES_PARTS = $(SLIDES_STYLE) $(SLIDES_PICTURES) $(LESSON_WORDS) $(top_srcdir)/samples/lessons/slides.awk $(top_srcdir)/samples/lessons/slides.js
LESSON_PARTS = $(LESSON_STYLE) $(SLIDES_PICTURES) $(LESSON_WORDS) $(top_srcdir)/samples/lessons/page.awk $(top_srcdir)/samples/lessons/page.css
MAKE_SLIDES = $(AM_V_GEN)$(MKDIR_P) samples/lessons && $(AWK) -f $(LESSON_WORDS) -f $(top_srcdir)/samples/lessons/slides.awk \
	-v style='$(SLIDES_STYLE)' -v script=$(top_srcdir)/samples/lessons/slides.js
MAKE_PAGE = $(AM_V_GEN)$(MKDIR_P) samples/lessons && $(AWK) -f $(LESSON_WORDS) -f $(top_srcdir)/samples/lessons/page.awk \
	-v style='$(LESSON_STYLE) $(top_srcdir)/samples/lessons/page.css'
samples/lessons/slides.html: $(SLIDES_PARTS) $(SLIDES_WORDS) $(SLIDES_PAGES)
	$(MAKE_SLIDES) $(SLIDES_PAGES) > $@.new && mv $@.new $@
samples/lessons/slides.zh.html: $(SLIDES_PARTS) $(SLIDES_WORDS_ZH) $(SLIDES_PAGES_ZH)
	$(MAKE_SLIDES) -v language=zh-CN $(SLIDES_PAGES_ZH) > $@.new && mv $@.new $@
$(LESSON_HTML): $(LESSON_PARTS) $(SLIDES_PAGES)
	$(MAKE_PAGE) $(top_srcdir)/$(@:.html=)/README.md > $@.new && mv $@.new $@
$(LESSON_HTML_ZH): $(LESSON_PARTS) $(SLIDES_PAGES_ZH)
	$(MAKE_PAGE) -v language=zh-CN $(top_srcdir)/$(@:.zh.html=)/README.zh.md > $@.new && mv $@.new $@
OF_LESSONS = samples/lessons/slides.html samples/lessons/slides.zh.html $(LESSON_HTML) $(LESSON_HTML_ZH)
doc_DATA += $(OF_LESSONS)
CLEANFILES += $(OF_LESSONS)
EXTRA_DIST += $(LESSONS:%=samples/lessons/%/slides.txt) $(LESSONS:%=samples/lessons/%/slides.zh.txt)
EXTRA_DIST += samples/lessons/page.awk samples/lessons/page.css samples/lessons/slides.awk samples/lessons/slides.css samples/lessons/slides.js \
	samples/lessons/words.awk tests/tools/lesson_page_probe.js tests/tools/slides_probe.js
dist_check_SCRIPTS += tests/tools/slides.sh
TESTS += tests/tools/slides.sh

# After a change of what the tools say: see the difference with git.
.PHONY: renew-lessons
renew-lessons: all
	@. ./tests/environment.sh; for lesson in $(LESSONS); do \
		sh $(top_srcdir)/samples/lessons/render.sh $(top_srcdir)/samples/lessons/$$lesson lessons.new/$$lesson && \
		cp lessons.new/$$lesson/README.md lessons.new/$$lesson/picture.svg lessons.new/$$lesson/report.txt $(top_srcdir)/samples/lessons/$$lesson || exit 1; \
	done; rm -rf lessons.new
