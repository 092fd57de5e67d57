# The lessons of `ctxrt lesson`, which finds them below pkgdatadir, and in a build tree by this link.
LESSONS = 01-what-is-current 02-a-stack-per-thread 03-primary-contexts 04-set-or-push 05-who-pops 06-hand-off \
	07-streams-and-events 08-what-synchronises 09-errors-that-stick 10-capture-and-graphs 11-memory 12-fork-and-exit
LESSON_FILES = README.md exercise.c exercise.scn lesson.txt mended.c mistake.c picture.scn report.txt solution.c solution.scn
LESSON_KERNEL = kernel.c kernel.cu kernel.ptx
nobase_dist_pkgdata_DATA = samples/lessons/lesson.h samples/lessons/lesson_cuda.h \
	$(foreach lesson,$(LESSONS),$(LESSON_FILES:%=samples/lessons/$(lesson)/%)) $(LESSON_KERNEL:%=samples/lessons/09-errors-that-stick/%)

tools/lessons:
	@$(MKDIR_P) tools
	$(AM_V_GEN)$(LN_S) $(abs_top_srcdir)/samples/lessons $@
CLEANFILES += tools/lessons

dist_check_SCRIPTS += tests/tools/lesson.sh
TESTS += tests/tools/lesson.sh
EXTRA_DIST += samples/lessons/render.sh

# The pages as slides, for lecturers.
SLIDES_PARTS = $(top_srcdir)/tools/look/palette.css $(top_srcdir)/samples/lessons/slides.css
SLIDES_PAGES = $(LESSONS:%=$(top_srcdir)/samples/lessons/%/README.md)
samples/lessons/slides.html: $(SLIDES_PARTS) $(SLIDES_PAGES) $(top_srcdir)/samples/lessons/slides.awk $(top_srcdir)/samples/lessons/slides.js
	$(AM_V_GEN)$(MKDIR_P) samples/lessons && $(AWK) -f $(top_srcdir)/samples/lessons/slides.awk -v style='$(SLIDES_PARTS)' \
		-v script=$(top_srcdir)/samples/lessons/slides.js $(SLIDES_PAGES) > $@.new && mv $@.new $@
doc_DATA += samples/lessons/slides.html
CLEANFILES += samples/lessons/slides.html
EXTRA_DIST += samples/lessons/slides.awk samples/lessons/slides.css samples/lessons/slides.js tests/tools/slides_probe.js
dist_check_SCRIPTS += tests/tools/slides.sh
TESTS += tests/tools/slides.sh

# After a change of what the tools say: see the difference with git.
.PHONY: renew-lessons
renew-lessons: all
	@. ./tests/environment.sh; for lesson in $(LESSONS); do \
		sh $(top_srcdir)/samples/lessons/render.sh $(top_srcdir)/samples/lessons/$$lesson lessons.new/$$lesson && \
		cp lessons.new/$$lesson/README.md lessons.new/$$lesson/report.txt $(top_srcdir)/samples/lessons/$$lesson || exit 1; \
	done; rm -rf lessons.new
