#!/bin/sh
# The tools of "make check-mutants" themselves: what is made of known code, and what is said of a mutant that is killed,
# of one that nothing can tell, and of one that does not compile.
set -u
. "$top_srcdir/tests/support/tap.sh"
here=$top_srcdir/tests/mutants

perl -e 'use IO::Handle; use Getopt::Long; use POSIX ();' 2> /dev/null || skip_all 'Perl is not installed'

# ---- making ----

cat > "$scratch/sample.c" <<'END'
/* if (a comment) is no code */
static const int table[] = {7};

static cxu_result choose(int count, const char *name)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS ||
        count < 3)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    note(name ? "if (x) return 5;" : NULL);
    return count > LEAST_COUNT ? CXU_SUCCESS : result;
}

static pair pair_of(bool first)
{
    return first ? (pair){a, b} : (pair){b, a};
}

static bool is_legacy(const ctxrt_stream *stream)
{
    return stream == CTXRT_STREAM_LEGACY;
}
END
cat > "$scratch/wanted" <<'END'
table constant#1: 7 => (7 + 1)
choose remove#1: cxu_result result = cx_emu_enter(); => cxu_result result = {0};
choose negate#1: if (result != CXU_SUCCESS || count < 3) => if (!(result != CXU_SUCCESS || count < 3))
choose relation#1: if (result != CXU_SUCCESS || count < 3) => if (result == CXU_SUCCESS || count < 3)
choose result#1: if (result != CXU_SUCCESS || count < 3) => if (result != CXU_UNKNOWN || count < 3)
choose relation#1: if (result != CXU_SUCCESS || count < 3) => if (result != CXU_SUCCESS || count <= 3)
choose constant#1: if (result != CXU_SUCCESS || count < 3) => if (result != CXU_SUCCESS || count < (3 + 1))
choose remove#1: return CXU_INVALID_VALUE; => ;
choose result#1: return CXU_INVALID_VALUE; => return CXU_UNKNOWN;
choose remove#1: note(name ? "if (x) return 5;" : NULL); => ;
choose negate#1: note(name ? "if (x) return 5;" : NULL); => note(!(name) ? "if (x) return 5;" : NULL);
choose negate#1: return count > LEAST_COUNT ? CXU_SUCCESS : result; => return !(count > LEAST_COUNT) ? CXU_SUCCESS : result;
choose relation#1: return count > LEAST_COUNT ? CXU_SUCCESS : result; => return count >= LEAST_COUNT ? CXU_SUCCESS : result;
choose constant#1: return count > LEAST_COUNT ? CXU_SUCCESS : result; => return count > (LEAST_COUNT + 1) ? CXU_SUCCESS : result;
choose result#1: return count > LEAST_COUNT ? CXU_SUCCESS : result; => return count > LEAST_COUNT ? CXU_UNKNOWN : result;
pair_of negate#1: return first ? (pair){a, b} : (pair){b, a}; => return !(first) ? (pair){a, b} : (pair){b, a};
is_legacy relation#1: return stream == CTXRT_STREAM_LEGACY; => return stream != CTXRT_STREAM_LEGACY;
is_legacy constant#1: return stream == CTXRT_STREAM_LEGACY; => return stream == NULL;
END
"$here/make_mutants" "$top_srcdir/lib/driver/results.def" "$scratch/sample.c" 2> "$scratch/errors" |
    awk -F '\t' '{ print $2 " " $3 ": " $8 " => " $9 }' > "$scratch/made"
sort "$scratch/wanted" > "$scratch/wanted.sorted"
sort "$scratch/made" | diff "$scratch/wanted.sorted" - > "$scratch/out"
report $? 'every_condition_result_constant_and_statement_is_mutated_and_nothing_else'

"$here/make_mutants" --switches 7 "$top_srcdir/lib/driver/results.def" "$scratch/sample.c" > "$scratch/switches.c" 2> "$scratch/errors"
grep -o 'cx_mutant([0-9]*)' "$scratch/switches.c" | tr -dc '0-9\n' | sort -n > "$scratch/numbers"
seq 8 24 | diff - "$scratch/numbers" > "$scratch/out"
report $? 'every_mutant_but_those_of_constants_has_one_switch'

find "$top_srcdir/lib/emu" -name '*.c' | sed 's|.*/||' | sort > "$scratch/there"
awk '!/^#/ && !/^ / { print $2 }' "$here/files" | sort | diff "$scratch/there" - > "$scratch/out"
report $? 'every_file_of_the_embedded_driver_is_said_to_be_rules_or_not'

awk '/^rules/ { file = $2 } /^    but/ { sub(/:.*/, ""); for (i = 2; i <= NF; i++) print file, $i }' "$here/files" |
    while read -r file function; do
        grep -q "\b$function(" "$top_srcdir"/lib/emu/*/"$file" || echo "$file has no $function any more"
    done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_function_that_the_list_excepts_is_there'

"$here/run_mutants" --check > "$scratch/out" 2> "$scratch/errors"
report $? 'every_file_with_survivors_is_there_and_so_is_every_open_mutant'

for room in alloc memory diagnose copy; do
    "$here/run_mutants" --room $room --check || echo "$room"
done > "$scratch/out" 2> "$scratch/errors"
[ ! -s "$scratch/errors" ] && ! grep -qx 'alloc\|memory\|diagnose\|copy' "$scratch/out"
report $? 'so_they_are_in_the_rooms_of_memory'

# ---- running ----

if [ -n "$SANITIZERS" ]; then
    skip 'running mutants' 'with sanitizers each takes long'
    echo "1..$number"
    exit
fi
. "$top_builddir/tests/mutants/commands"

mutate() # file, key of a mutant, option...
{
    file=$1 key=$2
    shift 2
    (cd "$top_builddir" && "$here/run_mutants" --file "$file" --only "$key" --results "$scratch/results" --jobs 1 \
        --sequences 2 --scenarios "${scenarios:-/stack/}" "$@") > "$scratch/out" 2> "$scratch/errors"
}

: > "$scratch/none"
mutate stack.c 'cx_emu_call_ctx_push result#1: return context' --survivors "$scratch/none" &&
    grep -q '^1 of 1 mutants: 1 killed' "$scratch/out" && grep -q '^killed by stack/' "$scratch/results"
report $? 'a_mutant_that_returns_another_error_is_killed'
if [ "$CTXRT_TEST_EXTENT" != soak ]; then
    skip 'running other mutants' 'bootstrap soak does'
    echo "1..$number"
    exit
fi

equivalent='grow_stack constant#1: if (!key_made || mine.capacity > SIZE_MAX / 2 / sizeof *mine.entries) => if (!key_made || mine.capacity > SIZE_MAX / (2'
mutate stack.c "$equivalent" --survivors "$scratch/none"
[ $? -eq 1 ] && grep -q '^stack.c: 1 survive, where .* has 0:' "$scratch/out"
report $? 'more_survivors_than_are_known_are_an_error'

mutate stack.c "$equivalent"
report $? 'a_survivor_of_the_known_number_is_none'

scenarios=/queries/limits
mutate limit.c 'limits constant#1: [CXU_LIMIT_STACK_SIZE] = {true, 1024, 0, (size_t)512 << 10, .multiple = 16, .strict = true} => [CXU_LIMIT_STACK_SIZE] = {f' --survivors "$scratch/none" &&
    grep -q '^1 of 1 mutants: 1 killed' "$scratch/out"
report $? 'a_constant_that_must_be_known_is_compiled_by_itself'

scenarios=/stack/
mutate fill.c 'fill_row constant#1: case 1' --survivors "$scratch/none" &&
    grep -q '0 killed, 0 survived.* 1 not compiled' "$scratch/out"
report $? 'what_does_not_compile_is_not_killed'

scenarios=memory/check_fit
mutate fit.c 'cx_fit_take remove#1: node->owner = owner;' --room alloc --survivors "$scratch/none" &&
    grep -q '^1 of 1 mutants: 1 killed' "$scratch/out" && grep -q '^killed by tests/memory/check_fit' "$scratch/results"
report $? 'a_mutant_of_another_room_is_killed_by_a_check_program'
echo "1..$number"
