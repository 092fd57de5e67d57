#!/bin/sh
# The tests of streams, events, copies and memory once more, under the schedules that are not the default: the
# rules hold under each. Left out are the tests of what only a pool of threads does.
set -u
. "$top_srcdir/tests/support/tap.sh"
tests='order stream event copy callback fill copy_region capture capture_join capture_rules graph graph_copy graph_exec graph_node graph_update value_op ipc_event copy_batch user_object graph_memory condition array discard'
seeds='1 2 3' few=1 # most tests of captures are not about order
if [ "$CTXRT_TEST_EXTENT" = soak ]; then
    seeds=$(seq 1 20) few='1 2 3'
fi

echo 1..32

# pass SCHEDULE TAGS-LEFT-OUT TEST: no test of it fails, and there are some.
pass()
{
    CTXRT_EMU_SCHEDULE=$1 CK_EXCLUDE_TAGS=$2 "$top_builddir/tests/emu/check_$3" >"$scratch/tap" 2>/dev/null &&
        grep -q '^ok' "$scratch/tap" && ! grep -q '^not ok' "$scratch/tap" && return
    sed -n "s/^not ok/# $1:/p" "$scratch/tap"
    return 1
}

# under_seeds TEST
under_seeds()
{
    case $1 in
    capture_* | graph*) list=$few ;;
    *) list=$seeds ;;
    esac
    for seed in $list; do
        pass "random:$seed" 'pool independent' "$1" || return
    done
}

pass lazy pool order && pass lazy pool stream && pass lazy pool event
report $? 'the_order_of_streams_and_events_holds_under_lazy'
pass lazy pool copy && pass lazy pool copy_region && pass lazy pool fill && pass lazy pool array
report $? 'copies_and_fills_are_right_under_lazy'
pass lazy pool value_op && pass lazy pool ipc_event
report $? 'values_are_written_and_waited_for_and_events_are_shared_under_lazy'
pass lazy pool copy_batch && pass lazy pool discard && pass lazy pool user_object && pass lazy pool graph_memory && pass lazy pool condition
report $? 'batches_user_objects_memory_and_conditions_of_graphs_are_right_under_lazy'
pass lazy pool callback
report $? 'callbacks_are_right_under_lazy'
pass lazy pool capture && pass lazy pool capture_join && pass lazy pool capture_rules && pass lazy pool graph &&
    pass lazy pool graph_exec && pass lazy pool graph_update
report $? 'captured_work_is_right_under_lazy'
pass lazy pool sticky && pass random:1 'pool independent' sticky && pass random:2 'pool independent' sticky
report $? 'errors_stick_under_lazy_and_in_random_orders'
pass lazy pool memory && pass lazy pool host_memory
report $? 'memory_is_freed_under_lazy'
pass random:1 'pool independent' memory && pass random:2 'pool independent' host_memory
report $? 'memory_is_freed_in_a_random_order'
for test in $tests; do
    if [ -n "$SANITIZERS" ] && [ "$CTXRT_TEST_EXTENT" != soak ]; then
        skip "check_${test}_passes_in_random_orders" 'the same code as under lazy, one piece after the other'
        continue
    fi
    under_seeds "$test"
    report $? "check_${test}_passes_in_random_orders"
done
