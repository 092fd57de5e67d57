#!/bin/sh
# configure.ac, the public header and the newest entry of NEWS.md name one version.
set -u
. "$top_srcdir/tests/support/tap.sh"

configured=$(sed -n 's/^AC_INIT(\[ctxrt\], \[\([0-9.]*\)\].*/\1/p' "$top_srcdir/configure.ac")

echo 1..3
echo "$configured" | grep -qx '[0-9]\{1,\}\.[0-9]\{1,\}\.[0-9]\{1,\}'
report $? 'configure_has_a_version_of_three_numbers'
sed -n 's/^#define CTXRT_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$top_srcdir/include/ctxrt/runtime.h" | paste -sd . > "$scratch/out"
[ "$(cat "$scratch/out")" = "$configured" ]
report $? 'the_header_has_the_version_of_configure'
sed -n 's/^## \([0-9.]*\) .*/\1/p' "$top_srcdir/NEWS.md" | head -n 1 > "$scratch/out"
[ "$(cat "$scratch/out")" = "$configured" ]
report $? 'the_newest_news_are_of_the_version_of_configure'
