# Writes the table of docs/runtime.md from lib/runtime: calls.def, exports.def, and the bodies (*.c), in this order. A row has a
# function, the versions that export it, its per-thread variant, and the driver's calls that its body makes.
#   awk -f docs/runtime_table.awk lib/driver/symbols.def lib/runtime/calls.def lib/runtime/exports.def lib/runtime/*.c
# docs/check_runtime.sh compares the page with it.

FNR == 1 { file = FILENAME; sub(/.*\//, "", file); body = "" }

file == "symbols.def" && /^CX_SYMBOL\(/ {
    split($0, parts, /[(,] */)
    symbol[parts[2]] = parts[3] parts[4]
}

file == "calls.def" && /^CX_(CALL|FUNCTION|PROCEDURE)\(/ {
    row = $0
    sub(/^CX_FUNCTION\([^,]*, /, "", row)
    sub(/^CX_(CALL|PROCEDURE)\(/, "", row)
    sub(/,.*/, "", row)
    served[row] = 1
}

file == "exports.def" && (/^CX_EXPORT\(/ || /^          /) {
    line = /^CX_EXPORT/ ? $0 : line $0
    if (line ~ /\)$/) {
        gsub(/^CX_EXPORT\(|\)$/, "", line)
        exported[++rows] = line
    }
}

# A body and what it calls, also by way of other bodies and of functions of the same file.
file ~ /\.c$/ {
    if (match($0, /^[a-z].*[ *][a-z_]*[a-zA-Z0-9_]+\(/) && $0 !~ /;$/) {
        body = $0
        sub(/\(.*/, "", body)
        sub(/.*[ *]/, "", body)
    }
    if (body == "")
        next
    rest = $0
    while (match(rest, /(CX_CUDART_PASS\(|driver->|driver\.table\.|table->)[a-z_0-9]+/)) {
        slot = substr(rest, RSTART, RLENGTH)
        sub(/.*[(>.]/, "", slot)
        note(body, slot)
        rest = substr(rest, RSTART + RLENGTH)
    }
    rest = $0
    while (match(rest, /[a-z_]+[a-zA-Z0-9_]*\(/)) {
        other = substr(rest, RSTART, RLENGTH - 1)
        if (other != body && index(uses[body] " ", " " other " ") == 0)
            uses[body] = uses[body] " " other
        rest = substr(rest, RSTART + RLENGTH)
    }
}

function note(of, slot)
{
    if (slot in symbol && index(calls[of] " ", " " symbol[slot] " ") == 0)
        calls[of] = calls[of] " " symbol[slot]
}

# What the library does for every call is not named.
function collect(of, depth,    list, count, i, found)
{
    found = calls[of]
    count = split(uses[of], list, " ")
    for (i = 1; i <= count; i++)
        if (depth > 0 && list[i] !~ /^cx_cudart_(use|primary|current|has|thread|driver|origin)/ && list[i] in known)
            found = found collect(list[i], depth - 1)
    return found
}

function unique(text,    list, count, i, seen, out)
{
    count = split(text, list, " ")
    for (i = 1; i <= count; i++)
        if (!(list[i] in seen)) {
            seen[list[i]] = 1
            out = out (out == "" ? "" : ", ") list[i]
        }
    return out
}

END {
    for (name in calls)
        known[name] = 1
    for (name in uses)
        known[name] = 1
    for (i = 1; i <= rows; i++) {
        split(exported[i], parts, /, */)
        versions = ""
        what = ""
        for (v = 3; v <= 5; v++) {
            if (parts[v] == "ABSENT")
                continue
            versions = versions (versions == "" ? "" : " ") (v + 8)
            name = parts[v] == "SAME" ? parts[1] : parts[v]
            if (name in served)
                what = what " " (name in known ? collect("cxr_" name, 3) : collect("cxr_" name, 3))
            else
                refused = 1
        }
        text = unique(what)
        if (refused)
            text = "refused: cudaErrorNotSupported"
        else if (text == "")
            text = "without the driver"
        refused = 0
        printf "| %s | %s | %s | %s |\n", parts[1], versions, parts[2] == "NONE" ? "" : tolower(parts[2]), text
    }
}
