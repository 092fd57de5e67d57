#!/bin/sh
# The tables of docs/lifetimes.md are what tests/lifetimes/table finds.
. "$top_srcdir/tests/support/table.sh"
compare_tables tests/lifetimes/table docs/lifetimes.md '^### '
