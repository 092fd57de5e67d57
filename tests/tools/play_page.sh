#!/bin/sh
# The page of ctxrt play in a headless Chromium: what is drawn against its JSON, keys and buttons, rules, texts, light and dark.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/browser.sh"
ctxrt=$top_builddir/ctxrt
page=$scratch/page.html
TMPDIR=$scratch
CTXRT_LOG=error
export TMPDIR CTXRT_LOG

printf 'A: ctx.create a\nA: ctx.get -> SUCCESS none # S4 [D]\n' > "$scratch/wrong.scn"
{
    echo 'devices 8'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
        echo "T$i: ctx.create c$i dev=$((i % 8))"
    done
} > "$scratch/many.scn"

run "$ctxrt" play --html "$page" "$top_srcdir/tests/tools/story.scn" "$scratch/wrong.scn" "$scratch/many.scn" "$top_srcdir"/tests/scenarios/primary/*.scn \
    "$top_srcdir"/tests/scenarios/contexts/d*.scn "$top_srcdir"/tests/scenarios/capture/g*.scn "$top_srcdir"/tests/scenarios/life/fork*.scn
[ "$status" -eq 1 ] && [ "$(grep -c ': passed$' "$scratch/out")" -ge 30 ] && [ "$(tail -n 1 "$page")" = '</html>' ]
report $? 'a_page_is_written'
! grep -q 'src=\|<link\|@import\|url(\|fetch(\|import(' "$page"
report $? 'it_needs_no_other_file'

find_browser 'the page in a browser'
open_page "$page" "$top_srcdir/tests/tools/play_probe.js"
starts_browser 'the page in a browser'
said 'done: true' && [ ! -s "$scratch/errors" ]
report $? 'it_runs_without_a_message_of_the_console'
while IFS='|' read -r what pattern; do
    said "$pattern"
    report $? "$what"
done << 'END'
the_legend_names_contexts_and_marks|legend: a on GPU 0, b on GPU 1, top of a stack: current, ✗ destroyed or inactive, changed by this step, ◔ work that nothing has waited for
each_step_draws_what_its_json_has|different: nothing
a_copy_is_pending_and_memory_as_it_was|6 items: stream s◔ copy.htod_async p h 64 s, pmemory, 64 bytes00 ×64, hpinned memory, 64 bytes07 ×64of context a
a_rule_is_in_words_of_a_student|6 rules: Rule T13: Synchronous copies return when they are done; asynchronous ones and most fills may return before. A copy .*
after_the_wait_memory_has_the_bytes|9 items: stream snothing pending, event erecorded in line 11 in s, ✓ nothing pending before it, pmemory, 64 bytes07 ×64, hpinned memory, 64 bytes07 ×64of context a
pointing_at_work_tells_its_line|6 hover: .*stream s: 1 piece of work that nothing has waited for.*its bytes now: 64 times 00.*
pointing_at_an_entry_tells_its_context|9 hover: the current context . a: context, made in line 4, current on A ; .*
a_destroyed_context_that_is_current_keeps_its_mark|14 stacks: A , B a ✗ destroyed, still current\*/b
a_context_has_its_devices_colour_and_its_pattern|9 looks: context filled gpu0 pattern0
a_destroyed_context_has_none|14 looks: context gone changed, context filled gpu1 pattern1
what_goes_with_its_context_is_told|14 items: stream snothing pending✗ gone with its context, event e.*✗ gone with its context, pmemory, 64 bytes✗ gone with its context, h.*
a_rule_links_to_its_row|link: semantics.md#contexts:~:text=Destroying%20pops%20the%20context docs/semantics.md, Contexts: Destroying pops the context .*(documented, recorded on GPUs)
keys_step_and_change_the_scenario|keys: 1.1 of 15, 1.2 of 15, 1.3 of 15, 1.2 of 15, 1.1 of 15, 1.1 of 15, 1.15 of 15, 1.15 of 15, 1.1 of 15, 2.1 of 2, 2.2 of 2, 3.1 of 24, 2.1 of 2
so_do_buttons|buttons: 2.2 of 2, 2.1 of 2, 2.1 of 2, 2.2 of 2
a_click_on_a_line_goes_there|a click: 1.3 of 15
the_list_has_the_scenarios|the list: 2.1 of 2 wrong.scn
a_verdict_is_at_the_end|verdict: It did not come as the scenario says.
a_wrong_step_tells_what_was_expected|wrong: ✗ The scenario expects SUCCESS none
24_threads_wrap|24 threads: 24 stacks, narrow true, rows true
its_colours_can_be_read|hard to read: nothing
it_is_light|theme: light
END
open_page "$page" "$top_srcdir/tests/tools/play_probe.js" preferredColorScheme=0
said 'theme: dark' && said 'background: rgb(27, 28, 31)' && said 'hard to read: nothing' && said 'different: nothing'
report $? 'it_is_dark_where_that_is_preferred'
echo "1..$number"
