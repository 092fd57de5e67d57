# Makes from symbols.def, served.def and exports.def, in this order:
#   -v make=unserved            CX_UNSERVED(symbol) for each export that nothing serves
#   -v make=map -v newest=N     a version script of the exports that are not newer than CUDA N
# Fails if something is served that is no export, or at another version.

BEGIN { FS = "[(),] *" }

FNR == 1 { file++ }

file == 1 && $1 == "CX_SYMBOL" {
    serve($3 $4, $5)
    if ($6 != "NONE")
        serve($3 $4 ($6 == "PTDS" ? "_ptds" : "_ptsz"), $5 > 7000 ? $5 : 7000)
}

file == 2 && ($1 == "CX_ALIAS" || $1 == "CX_OWN") { serve($2, 0) }

file == 3 && $1 == "CX_EXPORT" {
    symbol = $2 $3 $4
    order[++count] = symbol
    since[symbol] = $5 + 0
}

function serve(symbol, version)
{
    served[symbol] = version + 0
}

END {
    for (symbol in served)
        if (!(symbol in since) || (served[symbol] != 0 && served[symbol] != since[symbol])) {
            print "exports.awk: exports.def has no " symbol " since " served[symbol] > "/dev/stderr"
            exit 1
        }
    if (make == "map")
        print "{\nglobal:"
    for (i = 1; i <= count; i++) {
        symbol = order[i]
        if (make == "map" && since[symbol] <= newest)
            print "    " symbol ";"
        if (make == "unserved" && !(symbol in served))
            print "CX_UNSERVED(" symbol ")"
    }
    if (make == "map")
        print "local:\n    *;\n};"
}
