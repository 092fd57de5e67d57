# Mutants of the embedded driver's rule code: does any scenario or random run notice? Needs Perl, as Automake does.
.PHONY: check-mutants
MUTANT_OPTIONS = --sample 60
MUTANT_OBJECTS = $(ctxrt_play_OBJECTS) lib/model/.libs/libmodel.a lib/play/.libs/libplay.a lib/emu/.libs/libemu.a \
	lib/driver/.libs/libdriver.a lib/base/.libs/libbase.a
MUTANT_ENVIRONMENT = . ./tests/environment.sh; \
	MUTANT_COMPILE='$(CC) $(DEFS) -I. $(AM_CPPFLAGS) $(CPPFLAGS) $(SANITIZER_CFLAGS) $(CFLAGS) -O0 -fPIC -Werror=return-type'; \
	MUTANT_LINK='$(CC) $(SANITIZER_CFLAGS) $(CFLAGS) $(LDFLAGS)'; MUTANT_LIBS='$(MUTANT_OBJECTS) $(JANSSON_LIBS) $(LIBS)'; \
	export MUTANT_COMPILE MUTANT_LINK MUTANT_LIBS;

check-mutants: ctxrt-play$(EXEEXT)
	@$(MKDIR_P) tests/mutants
	@$(MUTANT_ENVIRONMENT) $(top_srcdir)/tests/mutants/run_mutants $(MUTANT_OPTIONS)

EXTRA_DIST += tests/mutants/files tests/mutants/make_mutants tests/mutants/run_mutants tests/mutants/survivors.txt
CLEANFILES += tests/mutants/results
