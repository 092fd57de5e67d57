# Checks of the package as a whole; they use the tools it was configured with.
AM_TESTS_ENVIRONMENT += \
	CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)'; export CC CXX MAKE PKG_CONFIG;

PACKAGE_SH = \
	tests/package/layers.sh tests/package/lines.sh tests/package/comments.sh tests/package/exports.sh tests/package/headers.sh \
	tests/package/abi.sh tests/package/ci.sh tests/package/pkgconfig.sh tests/package/prefix.sh tests/package/version.sh
EXTRA_DIST += tests/package/comments.awk
dist_check_SCRIPTS += $(PACKAGE_SH)
TESTS += $(PACKAGE_SH)

# What the libraries export, against the dumps of the last release; a release renews them.
EXTRA_DIST += tests/package/check_abi tests/package/abi/libctxrt.abi tests/package/abi/libinfinirt.abi
.PHONY: check-abi renew-abi
ABI_LIBS = lib/.libs/libctxrt.so lib/.libs/libinfinirt.so
check-abi: all
	$(top_srcdir)/tests/package/check_abi $(top_srcdir)/tests/package/abi $(ABI_LIBS) || test $$? = 77
renew-abi: all
	$(top_srcdir)/tests/package/check_abi --renew $(top_srcdir)/tests/package/abi $(ABI_LIBS)
