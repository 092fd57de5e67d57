#!/bin/sh
# Every guard of ctxrt.hpp, over the embedded driver.
set -u
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/tests/cxx/guards
[ -x "$program" ] || skip_all 'there is no C++ compiler'
CTXRT_DRIVER=emulated exec "$program"
