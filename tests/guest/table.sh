#!/bin/sh
# The table of docs/frames.md is what tests/guest/table finds.
. "$top_srcdir/tests/support/table.sh"
compare_tables tests/guest/table docs/frames.md '^| the guest |'
