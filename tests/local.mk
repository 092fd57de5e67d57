TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
AM_TESTS_ENVIRONMENT = . $(top_builddir)/tests/environment.sh;

# All that tests are compiled with, unless a program needs more. A room whose tests include another room's headers says so for its
# folder in the same way.
tests/%.o tests/%.lo: private AM_CPPFLAGS += -I$(top_srcdir)/tests/support
tests/%.o tests/%.lo: private AM_CFLAGS += $(CHECK_CFLAGS)

# Most of the time to compile goes into the tests, whose speed matters little: bootstrap asks for -O0.
tests/%.o tests/%.lo: private CFLAGS += $(TEST_CFLAGS)

# libtool takes longer to link one of these than the compiler, and longer than gcc to compile a small file. Objects for
# static libraries need its way of compiling. A build with sanitizers is not installed.
$(check_PROGRAMS) $(noinst_PROGRAMS) $(BENCHES): private LIBTOOL = $(SHELL) $(top_srcdir)/tests/support/link.sh
$(check_PROGRAMS): private LDFLAGS += $(TEST_LDFLAGS)
if SANITIZED
$(bin_PROGRAMS): private LIBTOOL = $(SHELL) $(top_srcdir)/tests/support/link.sh
endif
if !STATIC
%.lo: private LIBTOOL = $(SHELL) $(top_srcdir)/tests/support/compile.sh
endif
EXTRA_DIST += tests/support/compile.sh tests/support/link.sh tests/support/unit.sh

# make unit T=emu/event [CASE=name]: compiles and links the program of that test alone, runs the test, and prints what failed. T may
# have several words; a room (T=emu) stands for all its tests but scripts; T=emu/schedules.sh, a script, needs all programs.
.PHONY: unit
UNIT = $(foreach test,$(T),$(or $(filter tests/$(test) tests/$(dir $(test))check_$(notdir $(test)) $(test),$(TESTS)), \
	$(filter-out %.sh,$(filter tests/$(test)/%,$(TESTS)))))
unit: $(BUILT_SOURCES) $(UNPACKED) config.h
	@test -n '$(strip $(UNIT))' || { echo "make unit T=ROOM/TEST [CASE=NAME]: there is no test '$(T)'" >&2; exit 2; }
	@$(MAKE) $(AM_MAKEFLAGS) --no-print-directory TEST_CFLAGS='$(or $(TEST_CFLAGS),-O0)' $(if $(filter %.sh,$(UNIT)),check-programs,$(UNIT))
	@CASE='$(CASE)' $(SHELL) $(top_srcdir)/tests/support/unit.sh $(UNIT)

check_LTLIBRARIES += tests/support/libsupport.la
tests_support_libsupport_la_SOURCES = tests/support/main.c tests/support/test.c tests/support/test.h

check_LTLIBRARIES += tests/support/libfixture.la
tests_support_libfixture_la_SOURCES = tests/support/fixture.c tests/support/fixture.h tests/support/faults.c \
	tests/support/faults.h

# A program tests/ROOM/checks_GROUP has many files of tests in it. tests/support/main.c is its main. Each of its files is a test by the
# name of the file: tests/ROOM/check_NAME, a link to the program, which then runs that file alone. link.sh makes the links with the
# program, for scripts that run them. A room adds its files to CHECK_FILES, and says whose links they are.
CHECK_FILES =
LINK_CHECK = @ln -sf $(<F) $@

# Tests of the insides link the rooms; tests of the public interface link the shared library. Never both.
INSIDE_LIBS = tests/support/libfixture.la tests/support/libsupport.la $(lib_libctxrt_la_LIBADD) $(CHECK_LIBS)
PUBLIC_LIBS = tests/support/libfixture.la tests/support/libsupport.la lib/libctxrt.la $(CHECK_LIBS)

# The longest first, so that none of them is left alone at the end.
include tests/gpu/local.mk
include tests/joints/local.mk
include tests/faults/local.mk
include tests/misuse/local.mk
include tests/probe/local.mk
include tests/scenarios/local.mk
include tests/memory/local.mk
include tests/emu/local.mk
include tests/runtime/local.mk
include tests/base/local.mk
include tests/context/local.mk
include tests/cxx/local.mk
include tests/cuda/local.mk
include tests/cudart/local.mk
include tests/clients/local.mk
include tests/driver/local.mk
include tests/layer/local.mk
include tests/graph/local.mk
include tests/guest/local.mk
include tests/infinirt/local.mk
include tests/lifetimes/local.mk
include tests/module/local.mk
include tests/mutants/local.mk
include tests/observed/local.mk
include tests/play/local.mk
include tests/seeds/local.mk
include tests/standin/local.mk
include tests/tools/local.mk
include tests/package/local.mk

TESTS += $(CHECK_FILES:.c=)
CLEANFILES += $(CHECK_FILES:.c=)
