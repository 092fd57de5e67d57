PLAY_FILES = tests/play/check_parse.c tests/play/check_print.c tests/play/check_play.c
check_PROGRAMS += tests/play/checks_play
CHECK_FILES += $(PLAY_FILES)
$(PLAY_FILES:.c=$(EXEEXT)): tests/play/checks_play$(EXEEXT) ; $(LINK_CHECK)
tests_play_checks_play_SOURCES = $(PLAY_FILES)
tests_play_checks_play_LDADD = tests/support/libsupport.la $(PLAY_LIBS) $(CHECK_LIBS)

# Malformed scenarios and malformed PTX, by libFuzzer: `make fuzz FUZZ_SECONDS=600`, or one of the two. It needs clang.
EXTRA_DIST += tests/play/fuzz_parse.c
FUZZ_CC = clang
FUZZ_SECONDS = 600
FUZZ_FLAGS = -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(AM_CPPFLAGS)
FUZZ_RUN = -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 -use_value_profile=1 corpus
FUZZ_FILES = tests/play/fuzz_parse.c tools/play/code.c tools/play/kind.c tools/play/lex.c tools/play/names.c tools/play/parse.c \
	lib/base/utf8.c tools/play/parse_step.c tools/play/parser.c \
	tools/play/print.c tools/play/read.c tools/play/scenario.c tools/play/verb.c
FUZZ_PTX_FILES = tests/ptx/fuzz_ptx.c lib/base/text.c $(lib_ptx_libptx_la_SOURCES) $(LANES_SOURCES)
.PHONY: fuzz fuzz-clang fuzz-scenarios fuzz-ptx
fuzz: fuzz-scenarios fuzz-ptx
fuzz-clang:
	@$(FUZZ_CC) --version >/dev/null 2>&1 || { echo "make fuzz needs clang" >&2; exit 1; }
fuzz-scenarios: fuzz-clang
	rm -rf fuzz/scenarios && $(MKDIR_P) fuzz/scenarios/corpus
	for source in $(FUZZ_FILES); do echo $(top_srcdir)/$$source; done | \
		xargs $(FUZZ_CC) -O1 $(FUZZ_FLAGS) -o fuzz/scenarios/parse
	find $(top_srcdir)/tests/scenarios -name '*.scn' | while read -r file; do \
		cp "$$file" fuzz/scenarios/corpus/$$(echo "$$file" | cksum | tr ' ' -); done
	cd fuzz/scenarios && ./parse -max_len=4096 $(FUZZ_RUN)
# Not optimised: clang takes a quarter of an hour for the interpreter then.
FUZZ_TEXTS = async composed grammar matrix
fuzz-ptx: fuzz-clang tests/ptx/check_random $(FUZZ_TEXTS:%=tests/ptx/check_%$(EXEEXT))
	rm -rf fuzz/ptx && $(MKDIR_P) fuzz/ptx/corpus
	for source in $(FUZZ_PTX_FILES); do echo $(top_srcdir)/$$source; done | grep '\.c$$' | \
		xargs sh -c '$(FUZZ_CC) $(FUZZ_FLAGS) -DCX_PTX_BASELINE_ONLY "$$@" -o fuzz/ptx/ptx -lm' sh
	cp $(top_srcdir)/tests/ptx/corpus/*.ptx fuzz/ptx/corpus
	for seed in 0 1 2 3 4 5 6 7 8 9; do for shape in 0 1 2 5; do \
		tests/ptx/check_random --print --seed $$seed$$shape > fuzz/ptx/corpus/$$seed$$shape.ptx || exit; done; done
	for name in $(FUZZ_TEXTS); do \
		CTXRT_TEST_TEXTS=fuzz/ptx/corpus tests/ptx/check_$$name >/dev/null 2>&1 || exit; done
	cd fuzz/ptx && ./ptx -max_len=10000 $(FUZZ_RUN)
mostlyclean-local-fuzz:
	-rm -rf fuzz
