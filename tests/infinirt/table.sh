#!/bin/sh
# The table of docs/infinirt.md is what every function gives for bad arguments, on the CPU and on emulated GPUs.
. "$top_srcdir/tests/support/table.sh"
CTXRT_DRIVER=emulated
export CTXRT_DRIVER
compare_tables tests/infinirt/table docs/infinirt.md '^| function | status: what gives it |$'
