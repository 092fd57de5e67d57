dist_man_MANS += docs/man/ctxrt.1 docs/man/ctxrt-bench.1 docs/man/ctxrt-check.1 docs/man/ctxrt-compare.1 docs/man/ctxrt-draw.1 docs/man/ctxrt-info.1 docs/man/ctxrt-lesson.1 docs/man/ctxrt-nvcc.1 docs/man/ctxrt-play.1 docs/man/ctxrt-replay.1 docs/man/ctxrt-run.1 docs/man/ctxrt-trace.1 docs/man/ctxrt.7
nobase_dist_doc_DATA += docs/README.md docs/stacks.svg docs/check.md docs/check.schema.json docs/allocator.md docs/architecture.md docs/architecture/driver.md docs/architecture/layers.md docs/architecture/memory.md docs/architecture/threads.md docs/clients.md docs/cluster.md docs/compute-sanitizer.md docs/endings.md docs/frames.md docs/gpu-check.md docs/graphs.md docs/guide.md \
	docs/infinirt.md docs/kernels.md docs/lifetimes.md docs/performance.md docs/runtime.md docs/scenarios.md docs/seeds.md docs/semantics.md docs/teaching.md

dist_check_SCRIPTS += docs/check_endings.sh docs/check_graphs.sh docs/check_guide.sh docs/check_kinds.sh docs/check_recordings.sh docs/check_runtime.sh docs/check_scenarios.sh docs/check_wild.sh
TESTS += docs/check_endings.sh docs/check_graphs.sh docs/check_guide.sh docs/check_kinds.sh docs/check_recordings.sh docs/check_runtime.sh docs/check_scenarios.sh docs/check_wild.sh

# Compared with what the library does by tests/runtime/check_snapshot.c and check_error.c.
nobase_dist_doc_DATA += docs/errors.md docs/found-in-the-wild.md docs/snapshots.md

# The kinds of findings of ctxrt check, written by docs/check_kinds.sh --renew.
nobase_dist_doc_DATA += docs/check/call.md docs/check/capture.md docs/check/current.md docs/check/handle.md docs/check/ignored.md docs/check/kernel.md docs/check/life.md \
	docs/check/memory.md docs/check/order.md docs/check/owner.md docs/check/primary.md docs/check/process.md docs/check/stack.md
EXTRA_DIST += docs/check_kinds.awk

# The pictures of the pages, made by Chromium.
dist_check_SCRIPTS += docs/screenshots.sh
nobase_dist_doc_DATA += docs/play.png docs/trace.png
.PHONY: renew-screenshots
renew-screenshots: all
	. ./tests/environment.sh; $(top_srcdir)/docs/screenshots.sh
# The table of docs/runtime.md.
.PHONY: renew-runtime
renew-runtime:
	. ./tests/environment.sh; sh $(top_srcdir)/docs/check_runtime.sh --renew
EXTRA_DIST += docs/runtime_table.awk

# The reference of the calls: a page of section 3 for each, made from the headers. `make doc` makes HTML of them, with Doxygen.
nobase_dist_doc_DATA += docs/reference.md
EXTRA_DIST += docs/man3.awk docs/doxygen.conf
dist_check_SCRIPTS += docs/check_reference.sh
TESTS += docs/check_reference.sh
OF_REFERENCE = $(filter %.h,$(pkginclude_HEADERS))
noinst_DATA = docs/man3.stamp
CLEANFILES += docs/man3.stamp
docs/man3.stamp: docs/man3.awk $(OF_REFERENCE)
	$(AM_V_GEN)rm -rf docs/man3 && $(MKDIR_P) docs/man3 && \
	awk -v out=docs/man3 -v version=$(PACKAGE_VERSION) -f $(srcdir)/docs/man3.awk $(OF_REFERENCE:%=$(srcdir)/%) && touch $@

.PHONY: doc install-reference uninstall-reference clean-reference
doc: docs/man3.stamp
	@test -n "$(DOXYGEN)" || { echo 'make doc needs Doxygen: install it, and run configure again' >&2; exit 1; }
	$(AM_V_GEN)rm -rf docs/api && $(MKDIR_P) docs/api && { cat $(srcdir)/docs/doxygen.conf; echo 'PROJECT_NUMBER = $(PACKAGE_VERSION)'; \
		echo 'INPUT = $(srcdir)/include/ctxrt $(srcdir)/docs/reference.md'; echo 'USE_MDFILE_AS_MAINPAGE = $(srcdir)/docs/reference.md'; \
		echo 'OUTPUT_DIRECTORY = docs/api'; } | $(DOXYGEN) -
	@echo 'docs/man3 has a page for each call, docs/api/index.html all headers'

install-data-local: install-reference
install-reference: docs/man3.stamp
	$(MKDIR_P) "$(DESTDIR)$(mandir)/man3" && $(INSTALL_DATA) docs/man3/*.3 "$(DESTDIR)$(mandir)/man3"
	test ! -d docs/api || { $(MKDIR_P) "$(DESTDIR)$(docdir)" && cp -R docs/api "$(DESTDIR)$(docdir)"; }
uninstall-local: uninstall-reference
uninstall-reference:
	for page in docs/man3/*.3; do rm -f "$(DESTDIR)$(mandir)/man3/$${page##*/}"; done
	rm -rf "$(DESTDIR)$(docdir)/api"
clean-local: clean-reference
clean-reference:
	rm -rf docs/man3 docs/api
