#!/bin/sh
# What ctxrt.hpp has beside its guards, over the embedded driver.
set -u
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/tests/cxx/calls
[ -x "$program" ] || skip_all 'there is no C++ compiler'
CTXRT_DRIVER=emulated exec "$program"
