#!/bin/sh
# The page of ctxrt trace in a headless Chromium: counts, texts of what is pointed at, search, keys and the wheel; long traces.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
traced=$top_builddir/tests/tools/traced
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_TRACE_FOLDER CTXRT_CHECK_FOLDER
TMPDIR=$scratch
CTXRT_LOG=error
export TMPDIR CTXRT_LOG

page() # argument of the program...
{
    run timeout 600 "$ctxrt" trace --check -o "$scratch/trace.html" "$traced" "$@"
}

page misuse
[ "$status" -eq 0 ] && [ ! -s "$scratch/out" ] && [ "$(tail -n 1 "$scratch/trace.html")" = '</html>' ]
report $? 'a_page_is_written'
! grep -q 'src=\|href=\|@import\|url(\|fetch(\|import(' "$scratch/trace.html"
report $? 'it_needs_no_other_file'
! grep -q '<.*ctxrt check: error' "$scratch/trace.html" && grep -q 'ctxrt check: error HANDLE-ENDED' "$scratch/trace.html"
report $? 'texts_of_the_program_do_not_end_its_script'

. "$top_srcdir/tests/tools/browser.sh"
find_browser 'the page in a browser'

probe() # name=value of Chromium's settings...
{
    open_page "$scratch/trace.html" "$top_srcdir/tests/tools/page_probe.js" "$@"
}

probe
starts_browser 'the page in a browser'
said 'done: true' && [ ! -s "$scratch/errors" ]
report $? 'it_runs_without_a_message_of_the_console'
while IFS='|' read -r what pattern; do
    said "$pattern"
    report $? "$what"
done << 'END'
the_title_counts|title: traced: 23 calls, 2 threads, 2 streams, 2 findings
each_thread_and_stream_has_a_lane|lanes: main, worker, stream 1 of context 2 of GPU 0, stream 2 of context 2 of GPU 0
the_legend_has_contexts_and_kinds_of_work|legend: context 2 of GPU 0, context 1 of GPU 1, call, failed call (×), C: copy or fill, H: host function, E: event, wait or free, finding: ▲ error, ◆ warning, ● note
a_device_has_a_colour_and_a_context_a_pattern|looks: context 1 of GPU 1 filled gpu1 pattern0, context 2 of GPU 0 filled gpu0 pattern1
its_colours_can_be_read|hard to read: nothing
pointing_at_a_call_tells_arguments_result_and_stack|call: cuMemcpyHtoDAsync_v2(destination=0x[0-9a-f]*, source=0x[0-9a-f]*, bytes=4096, stream 1) = SUCCESS . thread main, at [0-9.]* [um]s, took [0-9.]* [num]*s . current: context 2 of GPU 0, stack of 1 . called at traced[.+].*
pointing_at_work_tells_its_time_and_its_call|work: host function in stream 1 of context 2 of GPU 0 . ran at [0-9.]* [um]s, for [0-9.]* [num]*s . submitted by thread main at [0-9.]* [um]s: cuLaunchHostFunc(.*) = SUCCESS
pointing_at_a_layer_tells_the_entry_of_the_stack|layer: context 2 of GPU 0 . entry 2 of the stack of thread worker, from [0-9.]* [um]s to [0-9.]* [um]s
pointing_beside_tells_nothing|beside: nothing
pointing_at_a_mark_tells_the_finding|mark: ctxrt check: error HANDLE-ENDED: .*advice: end an object only after its last use.*
plus_zooms|plus zooms: true
an_arrow_key_moves|right moves: true
0_shows_all_again|0 shows all: true
the_wheel_zooms|the wheel zooms: true
what_is_at_the_pointer_stays_there|at the pointer: true
with_shift_the_wheel_moves|with shift it moves: true
so_does_dragging|dragging moves: true
a_slash_goes_to_the_search|/ searches: true
a_search_counts_what_it_found|found: 4 found
n_goes_to_the_next_match|second match: 2 of 4 cuEventRecord(event 1, stream 1) = SUCCESS
and_N_to_the_one_before|first match: 1 of 4 cuEventCreate(-> event 1, flags=0x0) = SUCCESS
a_dot_goes_to_the_next_call|next call: cuLaunchHostFunc(stream 1, .*) = SUCCESS
a_comma_to_the_one_before|call before: cuEventCreate(-> event 1, flags=0x0) = SUCCESS
e_goes_to_the_first_call_that_failed|first trouble: cuCtxSynchronize() = INVALID_CONTEXT
escape_selects_nothing|nothing selected: true
something_is_drawn|something is drawn: true
END

probe preferredColorScheme=0
said 'theme: dark' && said 'background: rgb(27, 28, 31)' && said 'hard to read: nothing' && said 'something is drawn: true'
report $? 'it_is_dark_where_that_is_preferred'

page return 100000
probe
said 'done: true' && said 'events: 100026' && [ ! -s "$scratch/errors" ]
report $? 'a_page_of_100000_events_opens_and_is_moved'
[ "$(wc -c < "$scratch/trace.html")" -le 15000000 ]
report $? 'it_has_at_most_15_MB'
echo "1..$number"
