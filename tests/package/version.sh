#!/bin/sh
# configure.ac, the public header, the newest entry of NEWS.md and Debian's changelog name one version.
set -u
. "$top_srcdir/tests/support/tap.sh"

configured=$(sed -n 's/^AC_INIT(\[ctxrt\], \[\([0-9.]*\)\].*/\1/p' "$top_srcdir/configure.ac")

echo 1..4
echo "$configured" | grep -qx '[0-9]\{1,\}\.[0-9]\{1,\}\.[0-9]\{1,\}'
report $? 'configure_has_a_version_of_three_numbers'
sed -n 's/^#define CTXRT_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$top_srcdir/include/ctxrt/runtime.h" | paste -sd . > "$scratch/out"
[ "$(cat "$scratch/out")" = "$configured" ]
report $? 'the_header_has_the_version_of_configure'
sed -n 's/^## \([0-9.]*\) .*/\1/p' "$top_srcdir/NEWS.md" | head -n 1 > "$scratch/out"
[ "$(cat "$scratch/out")" = "$configured" ]
report $? 'the_newest_news_are_of_the_version_of_configure'

name='debians_changelog_begins_with_the_version_of_configure'
if [ -f "$top_srcdir/debian/changelog" ]; then
    sed -n '1s/^ctxrt (\([0-9.]*\)) .*/\1/p' "$top_srcdir/debian/changelog" > "$scratch/out"
    [ "$(cat "$scratch/out")" = "$configured" ]
    report $? "$name"
else
    skip "$name" 'a distribution has no debian/'
fi
