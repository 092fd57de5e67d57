#!/bin/sh
# The probe's options, and drivers that crash, hang or are not there.
set -u
. "$top_srcdir/tests/support/tap.sh"
probe=$top_builddir/tests/probe/probe
broken=$top_builddir/tests/probe/.libs/broken.so

echo 1..16
run "$probe" --help
printed '--patience MS'
report $? 'help_lists_the_options'
for options in '--only nothing' '--only C' '--seconds 0' '--seconds x' '--patience -1' '--list --times' 'one two' '--child' '--child nothing 1 1 1 driver'; do
    run "$probe" $options
    [ "$status" -eq 2 ] && [ ! -s "$scratch/out" ] || echo "$options: $status"
done > "$scratch/bad"
cp "$scratch/bad" "$scratch/out"
[ ! -s "$scratch/bad" ]
report $? 'wrong_use_prints_nothing_and_gives_2'
run "$probe" "$scratch/no-driver"
failed_with 2 'cannot open.*no-driver'
report $? 'a_driver_that_cannot_be_opened_is_an_error'
run "$probe" --list --only C2.destroy-current-here
printed '^context C2 C2.destroy-current-here.alloc$' && ! grep -qv ' C2.destroy-current-here\.' "$scratch/out"
report $? 'an_experiment_can_be_listed'
run "$probe" --list --only stack
printed '^stack S3 ' && ! grep -qv '^stack ' "$scratch/out"
report $? 'a_group_can_be_listed'
run "$probe" --list --only T1
printed ' T1 T1\.' && ! grep -q ' T11 ' "$scratch/out"
report $? 'a_rule_is_not_those_that_begin_alike'

# cuInit is the second observation of this experiment; then nothing else is reached.
observe() # how the driver is broken, how the children end
{
    run env BROKEN="$1" timeout 120 "$probe" --seconds 1 --only I2.init "$broken"
    [ "$status" -eq 0 ] && grep -q '^# driver: 13.0$' "$scratch/out" &&
        [ "$(grep -c "^I2.init.* = $2\$" "$scratch/out")" -eq 8 ] && grep -q "^I2.init.end = $2\$" "$scratch/out"
    report $? "$3"
}
observe crash 'signal 9' 'a_driver_that_crashes_ends_its_experiment_only'
observe hang timeout 'a_driver_that_hangs_is_ended'
observe deaf timeout 'a_driver_that_hangs_and_hears_nothing_is_ended'
observe exit 'exit 7' 'a_driver_that_exits_is_seen'

run "$probe" --only I2.init "$broken"
printed '^# devices: cuInit ?(100)$' && grep -q '^I2.init.flags-1 = ?(100)$' "$scratch/out" &&
    grep -q '^I2.init.device-count = missing$' "$scratch/out" && ! grep -q '\.end = ' "$scratch/out"
report $? 'a_call_that_is_not_there_is_missing'
run "$probe" --only S1.push "$broken"
printed '^S1.push.depth = not reached: cuInit ?(100)$' && [ "$(grep -c 'not reached' "$scratch/out")" -eq 10 ]
report $? 'what_cannot_begin_says_why'

library=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1
run env CTXRT_LOG=off CTXRT_EMU_DEVICES=1 "$probe" --only peer "$library"
printed '^E1.two-devices.enable = needs 2 devices$' && grep -q '^E1.one-device.itself = PEER_ACCESS_UNSUPPORTED(217)$' "$scratch/out"
report $? 'what_needs_two_devices_says_so'
run env CTXRT_LOG=off "$probe" --only S5.green "$library"
printed '^S5.green.push = \(SUCCESS\|not reached: cuDeviceGetDevResource NOT_SUPPORTED\)'
report $? 'what_the_driver_lacks_is_named'
run "$probe" --only R1 --cudart "$scratch/no-runtime" "$library"
printed '^R1.set-on-empty.depth = not reached: .*no-runtime'
report $? 'a_runtime_that_cannot_be_opened_is_named'
run "$probe" --times "$library"
[ "$status" -eq 0 ] && [ "$(grep -Ec '^times\.[a-z0-9-]+ = [0-9.]+ ns$' "$scratch/out")" -ge 20 ]
report $? 'times_are_nanoseconds'
