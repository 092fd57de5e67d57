# Makes from calls.def and exports.def, in this order:
#   -v make=entries -v column=N   a row for each symbol of the N-th version, with its body's signature:
#                                 CX_ENTRY, CX_ENTRY_FUNCTION, CX_ENTRY_PROCEDURE, CX_ENTRY_REFUSED
#   -v make=map -v column=N -v version=SONAME   the version script of that library
# Fails if a body of calls.def is no symbol of any version.

/^CX_/ { line = $0 }
/^          / { line = line $0 }
/\)$/ && line != "" { read(line); line = "" }

function read(row,    parts, list, at)
{
    if (row ~ /^CX_(CALL|FUNCTION|PROCEDURE)\(/) {
        at = index(row, "(")
        kind = substr(row, 4, at - 4)
        list = substr(row, at + 1, length(row) - at - 1)
        result = ""
        if (kind == "FUNCTION") {
            result = substr(list, 1, index(list, ",") - 1)
            list = substr(list, index(list, ",") + 2)
        }
        name = substr(list, 1, index(list, ",") - 1)
        kinds[name] = kind
        results[name] = result
        signatures[name] = substr(list, index(list, ",") + 2)
    } else if (row ~ /^CX_EXPORT\(/) {
        gsub(/^CX_EXPORT\(|\)$/, "", row)
        split(row, parts, /, */)
        for (i = 3; i <= 5; i++) {
            if (parts[i] == "SAME")
                parts[i] = parts[1]
            used[parts[i]] = 1
        }
        body = parts[2 + column]
        if (body == "ABSENT")
            return
        add(parts[1], body, 0)
        if (parts[2] != "NONE")
            add(parts[1] (parts[2] == "PTDS" ? "_ptds" : "_ptsz"), body, 1)
    }
}

# As the program says it.
function spoken(symbol)
{
    sub(/^__/, "", symbol)
    sub(/_pt[sd][sz]$/, "", symbol)
    return symbol
}

function add(symbol, body, per_thread)
{
    symbols[++count] = symbol
    bodies[count] = body
    per_threads[count] = per_thread
}

END {
    for (name in kinds)
        if (!(name in used)) {
            print "exports.awk: no symbol of exports.def has the body " name > "/dev/stderr"
            exit 1
        }
    if (make == "map")
        print version " {\nglobal:"
    for (i = 1; i <= count; i++) {
        body = bodies[i]
        if (make == "map")
            print "    " symbols[i] ";"
        else if (!(body in kinds))
            print "CX_ENTRY_REFUSED(" symbols[i] ")"
        else if (kinds[body] == "CALL")
            print "CX_ENTRY(" symbols[i] ", " spoken(symbols[i]) ", " body ", " per_threads[i] ", " signatures[body] ")"
        else
            print "CX_ENTRY_" kinds[body] "(" (results[body] != "" ? results[body] ", " : "") symbols[i] ", " \
                  spoken(symbols[i]) ", " body ", " signatures[body] ")"
    }
    if (make == "map")
        print "    ctxrtRuntimeLibrary;"
    if (make == "map")
        print "local:\n    *;\n};"
}
