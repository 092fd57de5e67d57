# Checks of the package as a whole; they use the tools it was configured with.
AM_TESTS_ENVIRONMENT += \
	CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)'; export CC CXX MAKE PKG_CONFIG;

PACKAGE_SH = \
	tests/package/layers.sh tests/package/circles.sh tests/package/locks.sh tests/package/lines.sh tests/package/exports.sh tests/package/headers.sh \
	tests/package/abi.sh tests/package/bootstrap.sh tests/package/ci.sh tests/package/packages.sh tests/package/pkgconfig.sh tests/package/prefix.sh \
	tests/package/projects.sh tests/package/static.sh tests/package/unit.sh tests/package/version.sh
EXTRA_DIST += tests/package/circles.awk tests/package/installed.sh
dist_check_SCRIPTS += $(PACKAGE_SH)
TESTS += $(PACKAGE_SH)

# One installation for the tests of what is installed, made only where one of them runs.
if !SANITIZED
tests/package/pkgconfig.log tests/package/projects.log tests/package/static.log: tests/package/installed.stamp
AM_TESTS_ENVIRONMENT += CTXRT_TEST_INSTALLED=yes; export CTXRT_TEST_INSTALLED;
endif
.PHONY: tests/package/installed.stamp
tests/package/installed.stamp:
	@folder=$(abs_builddir)/tests/package/installed; rm -rf "$$folder" && $(MKDIR_P) "$$folder" && \
	$(MAKE) $(AM_MAKEFLAGS) install DESTDIR="$$folder/root" >"$$folder/log" 2>&1; echo $$? >"$$folder/status"

# Ten lines each, as programs that use ctxrt begin.
EXTRA_DIST += tests/package/projects/program.c tests/package/projects/client.c tests/package/projects/cmake/CMakeLists.txt \
	tests/package/projects/meson/meson.build tests/package/projects/make/Makefile \
	tests/package/projects/autotools/configure.ac tests/package/projects/autotools/Makefile.am

# What the libraries export, against the dumps of the last release; a release renews them.
EXTRA_DIST += tests/package/check_abi tests/package/abi/libctxrt.abi tests/package/abi/libinfinirt.abi
.PHONY: check-abi renew-abi
ABI_LIBS = lib/.libs/libctxrt.so lib/.libs/libinfinirt.so
check-abi: all
	$(top_srcdir)/tests/package/check_abi $(top_srcdir)/tests/package/abi $(ABI_LIBS) || test $$? = 77
renew-abi: all
	$(top_srcdir)/tests/package/check_abi --renew $(top_srcdir)/tests/package/abi $(ABI_LIBS)

# Debian's packages, which the tree in the repository makes.
EXTRA_DIST += tests/package/check_debian
.PHONY: check-debian
check-debian:
	$(top_srcdir)/tests/package/check_debian || test $$? = 77

# README's commands and Debian's packages in empty roots, on demand: it takes hours.
EXTRA_DIST += tests/package/check_roots
.PHONY: check-roots
check-roots:
	nice $(top_srcdir)/tests/package/check_roots || test $$? = 77
.PHONY: check-first-hour
check-first-hour:
	CTXRT_TEST_STEPS=hour nice $(top_srcdir)/tests/package/check_roots || test $$? = 77
EXTRA_DIST += tests/package/first_hour.sh
