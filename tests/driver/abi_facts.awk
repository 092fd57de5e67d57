# Writes what of our declarations cuda.h and cudaTypedefs.h know under their own names:
#   CX_ABI_VALUES(SAME, ABSENT)  SAME(ours, theirs) for each value, or ABSENT(ours)
#   HAS_PFN_cuInit_v2000 1       for each function type
#   the function types of superseded ABIs, which cudaTypedefs.h keeps to itself
# Usage: awk -f abi_facts.awk cuda_abi.h cuda_abi_copy.h cuda_abi_graph.h results.def attributes.def cuda.h cudaTypedefs.h
#            [MORE.h ...]

function ours(name, theirs)
{
    order[++count] = name
    name_in_cuda[name] = theirs
}

# cuda.h spells some families with a longer prefix than ours.
function theirs_of(name)
{
    if (name ~ /^CXU_P2P_/)
        return "CU_DEVICE_P2P_ATTRIBUTE_" substr(name, 9)
    if (name ~ /^CXU_POINTER_/)
        return "CU_POINTER_ATTRIBUTE_" substr(name, 13)
    if (name ~ /^CXU_LAUNCH_PARAM_/)
        return "CU_" substr(name, 5) "_AS_INT"
    if (name ~ /^CXU_GRAPH_INSTANTIATE_/)
        return "CUDA_" substr(name, 5)
    return "CU_" substr(name, 5)
}

function strip_comments(line,    start, end)
{
    if (inside) {
        end = index(line, "*/")
        if (end == 0)
            return ""
        inside = 0
        line = substr(line, end + 2)
    }
    while ((start = index(line, "/*")) > 0) {
        end = index(substr(line, start + 2), "*/")
        if (end == 0) {
            inside = 1
            return substr(line, 1, start - 1)
        }
        line = substr(line, 1, start - 1) " " substr(line, start + end + 3)
    }
    return line
}

FNR == 1 { file++ }

{ line = strip_comments($0) }

file <= 3 {
    while (match(line, /CXU_[A-Z0-9_]+ = /)) {
        name = substr(line, RSTART, RLENGTH - 3)
        ours(name, theirs_of(name))
        line = substr(line, RSTART + RLENGTH)
    }
}

file == 4 && match(line, /^CX_RESULT\([A-Z0-9_]+/) {
    name = substr(line, 11, RLENGTH - 10)
    ours("CXU_" name, name == "SUCCESS" ? "CUDA_SUCCESS" : "CUDA_ERROR_" name)
}

file == 5 && match(line, /^CX_ATTRIBUTE\([A-Z0-9_]+/) {
    name = substr(line, 14, RLENGTH - 13)
    ours("CXU_ATTRIBUTE_" name, "CU_DEVICE_ATTRIBUTE_" name)
}

file == 7 && /__CUDA_API_VERSION_INTERNAL/ { superseded = 1 }

# Those with types of 32 bits' time are nothing that we use.
superseded && /typedef CUresult/ && !/_v1[ *)]/ { typedefs = typedefs line "\n" }

file > 5 {
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
        known[substr(line, RSTART, RLENGTH)] = 1
        line = substr(line, RSTART + RLENGTH)
    }
}

END {
    for (word in known)
        if (word ~ /^PFN_cu/)
            print "#define HAS_" word " 1"
    printf "%s", typedefs
    print "#define CX_ABI_VALUES(SAME, ABSENT) \\"
    for (i = 1; i <= count; i++) {
        theirs = name_in_cuda[order[i]]
        if (theirs in known)
            print "    SAME(" order[i] ", " theirs ") \\"
        else
            print "    ABSENT(" order[i] ") \\"
    }
    print ""
}
