# Checks of the package as a whole; they use the tools it was configured with.
AM_TESTS_ENVIRONMENT += \
	CC='$(CC)' CXX='$(CXX)' MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)'; export CC CXX MAKE PKG_CONFIG;

PACKAGE_SH = \
	tests/package/layers.sh tests/package/lines.sh tests/package/comments.sh tests/package/exports.sh tests/package/headers.sh \
	tests/package/ci.sh tests/package/pkgconfig.sh tests/package/prefix.sh tests/package/version.sh
EXTRA_DIST += tests/package/comments.awk
dist_check_SCRIPTS += $(PACKAGE_SH)
TESTS += $(PACKAGE_SH)
