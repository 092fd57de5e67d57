# Mutants of the embedded driver's rule code: does a scenario or a random run notice? And of other rooms: does a Check
# program? In Perl, which Automake needs too.
.PHONY: check-mutants
MUTANT_OPTIONS = --sample 60
MUTANT_LIBS = $(ctxrt_play_OBJECTS) tools/model/.libs/libmodel.a tools/play/.libs/libplay.a lib/emu/.libs/libemu.a \
	lib/driver/.libs/libdriver.a lib/base/.libs/libbase.a $(JANSSON_LIBS) $(LZ4_LIBS) $(ZSTD_LIBS) -lm $(LIBS)

# What the Check programs of other rooms find at run time.
MUTANT_OTHERS = $(check_LTLIBRARIES) $(cuda13lib_LTLIBRARIES) tests/runtime/ending_program tests/runtime/ending_program_inside

# How one file is compiled, without optimisation, and how the player is linked with it before the libraries.
# For Check programs make compiles it, with optimisation: a variable that a mutant leaves unset then holds a pattern, if the compiler can
# do that. Else the compiler assumes the only value that is ever stored, and the mutant changes nothing. gcc 12 does so all the same where
# it replaces variables by their parts (tree-sra).
MUTANT_UNSET = -ftrivial-auto-var-init=pattern -fno-tree-sra
tests/mutants/commands: Makefile
	@$(MKDIR_P) tests/mutants
	@{ unset=`$(CC) $(MUTANT_UNSET) -E -x c /dev/null >/dev/null 2>&1 && echo ' $(MUTANT_UNSET)'`; \
	echo "MUTANT_COMPILE='$(CC) $(DEFS) -I. $(AM_CPPFLAGS) $(CPPFLAGS) $(SANITIZER_CFLAGS) $(CFLAGS) -O0 -fPIC -Werror=return-type'"; \
	echo "MUTANT_LINK='$(CC) $(SANITIZER_CFLAGS) $(CFLAGS) $(ctxrt_play_LDFLAGS) $(LDFLAGS)'"; echo "MUTANT_LIBS='$(MUTANT_LIBS)'"; \
	echo "MUTANT_CHECKS='$(check_PROGRAMS) $(CHECK_FILES:.c=)'"; echo "MUTANT_OTHERS='$(MUTANT_OTHERS)'"; \
	echo "MUTANT_MAKE='$(MAKE) WARNING_CFLAGS=\"-w$$unset\"'"; \
	echo 'export MUTANT_COMPILE MUTANT_LINK MUTANT_LIBS MUTANT_CHECKS MUTANT_OTHERS MUTANT_MAKE'; } >$@

check-mutants: ctxrt-play$(EXEEXT) tests/mutants/commands
	@. ./tests/environment.sh; . ./tests/mutants/commands; $(top_srcdir)/tests/mutants/run_mutants $(MUTANT_OPTIONS)

MUTANT_SH = tests/mutants/tooling.sh
dist_check_SCRIPTS += $(MUTANT_SH)
TESTS += $(MUTANT_SH)
check_DATA += tests/mutants/commands
EXTRA_DIST += tests/mutants/files tests/mutants/make_mutants tests/mutants/misuse_check tests/mutants/run_mutants tests/mutants/survivors.txt \
	tests/mutants/switch.h
CLEANFILES += tests/mutants/commands tests/mutants/results_emu tests/mutants/results_layer_check tests/mutants/results_memory
