# Sourced by the tests written in shell: TAP, a scratch folder, and what a command said.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
number=0

skip_all() # reason
{
    echo "1..0 # SKIP $1"
    exit 0
}

report() # status, what; what the last command said explains a failure
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        for said in "$scratch/out" "$scratch/errors"; do
            [ ! -f "$said" ] || sed 's/^/# /' "$said"
        done
    fi
}

skip() # what, reason
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

# Runs a command; its output is in $scratch/out, its errors in $scratch/errors, its exit status in $status.
run()
{
    status=0
    "$@" > "$scratch/out" 2> "$scratch/errors" || status=$?
}

# The last command exited so, printed nothing, and said in one line of error what matches.
failed_with() # exit status, pattern
{
    [ "$status" -eq "$1" ] && [ ! -s "$scratch/out" ] && [ "$(wc -l < "$scratch/errors")" -eq 1 ] &&
        grep -q -- "$2" "$scratch/errors"
}

printed() # pattern
{
    [ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] && grep -q -- "$1" "$scratch/out"
}
