#!/bin/sh
# Timelines of ctxrt trace in the viewer of chrome://tracing, as Debian's sources of Go carry it: each event is there, on its track.
# CTXRT_TEST_VIEWER is another folder that has the viewer.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/browser.sh"
ctxrt=$top_builddir/ctxrt
left_out='timelines in the viewer of chrome://tracing'
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_TRACE_FOLDER CTXRT_CHECK_FOLDER
TMPDIR=$scratch
CTXRT_LOG=error # the program makes a call that fails
export TMPDIR CTXRT_LOG

find_viewer()
{
    for viewer in ${CTXRT_TEST_VIEWER:-} /usr/share/go-*/src/internal/trace/traceviewer/static /usr/share/go-*/src/cmd/trace/static \
        /usr/share/go-*/misc/trace; do
        [ ! -f "$viewer/trace_viewer_full.html" ] || return 0
    done
    end_without "$left_out" 'the viewer is not installed: Debian has it in golang-1.19-src, golang-1.24-src and others'
}

# The viewer with $scratch/trace.json, which has no < in it. What is in the page needs no rights to open other files.
write_page()
{
    {
        echo '<!DOCTYPE html>'
        echo '<html><head><meta charset="utf-8"><title>Timeline</title><script>'
        cat "$viewer/webcomponents.min.js"
        echo '</script></head><body>'
        cat "$viewer/trace_viewer_full.html"
        echo '<script type="application/json" id="timeline">'
        cat "$scratch/trace.json"
        echo '</script>'
        echo '</body>'
    } > "$scratch/page.html"
}

# What the file has, in the words of the probe.
events_of_file()
{
    grep '^{"ph":' "$scratch/trace.json" > "$scratch/events"
    sed -n 's/^{"ph":"M","pid":\([0-9]*\),.*"name":"process_name","args":{"name":"\(.*\)"}}.*/process \1: \2/p
        s/^{"ph":"M","pid":\([0-9]*\),"tid":\([0-9]*\),"name":"thread_name","args":{"name":"\(.*\)"}}.*/track \1 \2: \3/p' "$scratch/events"
    sed -n 's/^{"ph":"[Xi]","pid":\([0-9]*\),"tid":\([0-9]*\),.*"cat":"\([a-z]*\)".*/slice \1 \2 \3/p
        s/^{"ph":"C","pid":\([0-9]*\),.*"name":"\([^"]*\)".*/counter \1 \2/p
        s/^{"ph":"s",.*"cat":"\([a-z]*\)".*/arrow \1/p' "$scratch/events" |
        LC_ALL=C sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\2: \1/'
}

# The viewer has what the file has: nothing is left out, and nothing else is there.
has_the_same()
{
    events_of_file | LC_ALL=C sort > "$scratch/expected"
    grep '^process \|^track \|^slice \|^counter \|^arrow ' "$scratch/said" | LC_ALL=C sort > "$scratch/seen"
    diff "$scratch/expected" "$scratch/seen" > "$scratch/out"
}

view() # argument of ctxrt trace...
{
    run timeout 600 "$ctxrt" trace -o "$scratch/trace.json" "$@"
    write_page
    open_page "$scratch/page.html" "$top_srcdir/tests/tools/viewer_probe.js" --virtual-time-budget=60000
}

# How many the viewer has of them.
total() # the beginning of a line, its end before the number
{
    sed -n "s/^$1 .*$2: \([0-9]*\)\$/\1/p" "$scratch/said" | awk '{ n += $1 } END { print n + 0 }'
}

opens() # what
{
    said 'done: true' && ! grep -q 'ERROR:CONSOLE\|Uncaught' "$scratch/errors"
    report $? "the_viewer_opens_$1"
    said 'warnings: none'
    report $? "it_warns_of_nothing_in_$1"
    has_the_same
    report $? "it_has_each_process_track_slice_sample_and_arrow_of_$1"
    said 'overlaps: 0'
    report $? "no_slices_overlap_in_$1"
    said 'arrows elsewhere: none'
    report $? "arrows_of_$1_begin_and_end_on_their_calls_and_work"
    said "drawn: $(grep -c '^track ' "$scratch/expected")"
    report $? "it_draws_each_thread_and_stream_of_$1"
}

find_viewer
find_browser "$left_out"
view --check "$top_builddir/tests/tools/traced" misuse
starts_browser "$left_out"
opens 'a_short_timeline'
[ "$(total slice call)" -eq 23 ] && [ "$(total slice context)" -eq 5 ] && [ "$(total slice finding)" -eq 2 ] &&
    said 'arrow work: 3' && said 'arrow event: 2' && said 'drawn: 4'
report $? 'these_are_23_calls_of_2_threads_5_arrows_to_2_streams_and_2_findings'

# 1152 chunks go through 4 GPUs, by 9 threads.
head -c 1152K /dev/zero > "$scratch/zeros"
view "$top_builddir/samples/pipeline/pipeline" --chunk 1K "$scratch/zeros"
opens 'a_long_timeline'
[ "$(wc -l < "$scratch/events")" -ge 100000 ] && said 'arrow work: 4608' && said 'arrow event: 2304'
report $? 'it_has_100000_events'
echo "1..$number"
