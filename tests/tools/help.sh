#!/bin/sh
# ctxrt help: the help of each command, its examples, and the completion of bash.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
commands='bench check compare draw info lesson nvcc play replay run trace'

run "$ctxrt" --help
cp "$scratch/out" "$scratch/help"
run "$ctxrt" help
printed '^  run  ' && cmp -s "$scratch/out" "$scratch/help"
report $? 'help_alone_is_the_help_of_ctxrt'
run "$ctxrt" help help
printed '^  run  '
report $? 'so_is_the_help_of_help'
named=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$scratch/help" | grep -v '^help$' | tr '\n' ' ')
[ "$named" = "$commands " ]
report $? 'it_names_every_command'
for command in $commands; do
    run "$ctxrt" "$command" --help
    cp "$scratch/out" "$scratch/help"
    run "$ctxrt" help "$command"
    printed "^Usage: ctxrt $command " && cmp -s "$scratch/out" "$scratch/help"
    report $? "the_help_of_${command}_is_that_of_its_option"
done
# The manual pages: ctxrt(1) has each command, and the page of each has its long options.
for command in $commands; do
    grep -q "^\.It Cm $command\b" "$top_srcdir/docs/man/ctxrt.1" && grep -q "^\.Xr ctxrt-$command 1 [.,]\$" "$top_srcdir/docs/man/ctxrt.1" ||
        echo "$command"
    "$ctxrt" help "$command" | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}--\([a-z][a-z-]*\).*/\2/p' | while read -r option; do
        [ "$option" = help ] || grep -q -- "^\.\(It\|Op\|Nm\) .*-$option\( \|\$\)" "$top_srcdir/docs/man/ctxrt-$command.1" || echo "$command --$option"
    done
done > "$scratch/out"
: > "$scratch/errors"
[ ! -s "$scratch/out" ]
report $? 'the_manual_pages_have_every_command_and_option'
run "$ctxrt" help paly
failed_with 2 "there is no command 'paly'.*ctxrt --help"
report $? 'help_of_an_unknown_command_is_wrong_use'
run "$ctxrt" help run fast
failed_with 2 "'fast' is one argument too many"
report $? 'help_of_two_commands_is_wrong_use'
run sh -c "'$ctxrt' help > /dev/full"
[ "$status" -eq 1 ] && grep -q 'standard output could not be written' "$scratch/errors"
report $? 'help_that_cannot_be_written_is_a_failure'

# The examples, as they stand in the help, with the files that they name.
mkdir "$scratch/example"
printf 'A: ctx.create a\n' > "$scratch/example/scenario.scn"
printf 'a,0,4096\nf,0\n' > "$scratch/example/allocations.txt"
printf '{"threads": []}\n' > "$scratch/example/stacks.json"
printf 'S2.pop.empty = INVALID_CONTEXT(201)\n' > "$scratch/example/recording.txt"
printf '#!/bin/sh\necho "$CTXRT_EMU_DEVICES"\n' > "$scratch/example/program"
chmod +x "$scratch/example/program"
CTXRT_NVCC=$scratch/example/program
export CTXRT_NVCC
ctxrt()
{
    "$top_builddir/ctxrt" "$@"
}
for command in '' $commands; do
    example=$("$ctxrt" help $command | sed -n 's/^Example: //p')
    run eval "cd '$scratch/example' && $example"
    [ -n "$example" ] && [ "$status" -eq 0 ] && case $example in *"ctxrt $command"*) ;; *) false ;; esac
    report $? "the_example_of_ctxrt${command:+_}${command}_runs"
done

if ! command -v bash > /dev/null; then
    skip 'bash completes' 'bash is not installed'
    echo "1..$number"
    exit 0
fi
# Completes the last word as bash would; prints the completions in one line. `=' is a word of its own there.
cat > "$scratch/complete" << 'EOF'
. "$top_srcdir/tools/completion/ctxrt" || exit 1
PATH=$top_builddir:$PATH
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_ctxrt ctxrt "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo "${COMPREPLY[*]}"
EOF
mkdir "$scratch/files" "$scratch/files/folder"
touch "$scratch/files/first.scn" "$scratch/files/first.txt" "$scratch/files/fine.json" "$scratch/files/far away.scn"
while IFS='|' read -r what words expected; do
    # shellcheck disable=SC2086
    run sh -c 'cd "$1" && shift && exec bash --norc "$@"' sh "$scratch/files" "$scratch/complete" $words
    [ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] && [ "$(cat "$scratch/out")" = "$expected" ]
    report $? "bash_completes_$what"
done << 'EOF'
a_command|ctxrt r|replay run
a_command_of_help|ctxrt help d|draw
nothing_behind_help_of_a_command|ctxrt help draw d|
an_option_of_ctxrt|ctxrt --v|--version
an_option|ctxrt info --j|--json
an_option_with_a_value|ctxrt play --d|--driver=
each_option_once|ctxrt run --|--cuda= --cudart= --driver= --devices= --gpu= --memory= --report --schedule= --help
the_value_of_an_option|ctxrt play --driver l|libcuda
a_value_behind_its_sign|ctxrt run --cuda = 1|12 13
all_values_behind_the_sign|ctxrt replay --driver =|emulated libcuda
a_gpu|ctxrt run --gpu = t|tiny
the_program_behind_a_gpu|ctxrt run --gpu tiny ctxrt-p|ctxrt-play
a_report|ctxrt run --report = fi|fine.json first.scn first.txt
a_program_behind_a_report|ctxrt run --report ctxrt-p|ctxrt-play
a_program_behind_its_file|ctxrt run --report = fine.json ctxrt-p|ctxrt-play
a_bench|ctxrt bench pl|plan
an_option_of_bench|ctxrt bench --p|--plot=
the_driver_of_a_run|ctxrt check --driver e|emulated
a_scenario|ctxrt play fi|first.scn
a_name_with_a_space|ctxrt play fa|far away.scn
a_snapshot|ctxrt draw fi|fine.json
a_recording|ctxrt compare fi|first.txt
a_folder|ctxrt play fo|folder
a_lesson|ctxrt lesson 1|1 10 11 12 13 14 15
an_option_of_a_lesson|ctxrt lesson 1 --c|--check
the_exercise_of_a_lesson|ctxrt lesson 1 --check fi|fine.json first.scn first.txt
a_program|ctxrt run --devices 2 ctxrt-p|ctxrt-play
a_timeline|ctxrt trace -o fi|fine.json first.scn first.txt
the_program_of_a_trace|ctxrt trace --output fine.json ctxrt-p|ctxrt-play
a_file_of_the_program|ctxrt run --devices = 2 ls fi|fine.json first.scn first.txt
EOF
echo "1..$number"
