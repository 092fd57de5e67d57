# Writes which functions and errors an installed toolkit declares, for test_abi.c:
#   HAS_cudaMalloc 1             for each function, by the name of its symbol
#   #undef cudaGetDeviceProperties  for each name that a macro gives to another symbol
#   CX_ABI_ERRORS(SAME, ABSENT)  SAME(ours, theirs) for each error of runtime_errors.def that it knows, or ABSENT(ours)
# Usage: awk -f abi_facts.awk runtime_errors.def driver_types.h cuda_runtime_api.h [MORE.h ...]

FNR == 1 { file++; is_internal = 0 }

file == 1 && /^CX_ERROR\(/ {
    split(substr($0, 10), parts, /, */)
    ours[++count] = "CXR_" parts[1]
    theirs[count] = "cuda" parts[2]
}

file > 1 {
    line = $0
    if (line ~ /^ *#define cuda[A-Za-z0-9_]+ +(__CUDART_API_PT[DS][SZ]\()?cuda[A-Za-z0-9_]+\)?$/) {
        split(line, words, / +|[()]/)
        from = words[line ~ /^ / ? 3 : 2]
        to = line
        sub(/\)$/, "", to)
        sub(/.*[ (]/, "", to)
        if (from != to) {
            symbol_of[from] = to
            print "#undef " from
        }
    }
    # What follows is for the build of the library itself.
    if (line ~ /^ *#undef +cuda/)
        is_internal = 1
    if (!is_internal && line ~ /^ *extern / && match(line, /cuda[A-Z][A-Za-z0-9_]*\(/)) {
        name = substr(line, RSTART, RLENGTH - 1)
        print "#define HAS_" (name in symbol_of ? symbol_of[name] : name) " 1"
    }
    while (match(line, /cuda[A-Z][A-Za-z0-9_]*/)) {
        known[substr(line, RSTART, RLENGTH)] = 1
        line = substr(line, RSTART + RLENGTH)
    }
}

END {
    print "#define CX_ABI_ERRORS(SAME, ABSENT) \\"
    for (i = 1; i <= count; i++)
        print "    " (theirs[i] in known ? "SAME(" ours[i] ", " theirs[i] ")" : "ABSENT(" ours[i] ")") " \\"
    print ""
}
