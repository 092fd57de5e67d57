#!/bin/sh
# The table of docs/lifetimes.md is what tests/lifetimes/table finds.
. "$top_srcdir/tests/support/table.sh"
compare_tables tests/lifetimes/table docs/lifetimes.md '^1\. `ctxrt_'
