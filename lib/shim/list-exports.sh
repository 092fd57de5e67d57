#!/bin/sh
# Writes the rows of exports.def from a CUDA toolkit's headers: names, versions, endings. Run it by hand
# for a new toolkit; tests/standin/exports_facts.sh compares its output with what is committed.
# Usage: list-exports.sh TOOLKIT_DIR
set -eu
[ $# -eq 1 ] || { echo "usage: $0 TOOLKIT_DIR" >&2; exit 2; }
[ -f "$1/include/cudaTypedefs.h" ] || { echo "$0: there is no $1/include/cudaTypedefs.h" >&2; exit 2; }

# Besides the types of cudaTypedefs.h: the graphics calls that a libcuda for Linux exports and no
# toolkit's stub does, three calls that have no type, and three names that clients look up before
# they start.
{
    for header in cudaTypedefs cudaGLTypedefs cudaEGLTypedefs cudaVDPAUTypedefs; do
        grep -oE 'PFN_cu[A-Za-z0-9]+_v[0-9]+(_ptds|_ptsz)?' "$1/include/$header.h"
    done | grep -v '^PFN_cuWGL'
    cat <<'MORE'
PFN_cuProfilerInitialize_v4000
PFN_cuProfilerStart_v4000
PFN_cuProfilerStop_v4000
PFN_cuD3D11GetDevice_v3000
PFN_cuD3D11GetDevices_v3020
PFN_cuGraphicsD3D11RegisterResource_v3000
MORE
} | sed -E 's/^PFN_(cu[A-Za-z0-9]+)_v([0-9]+)(_.*)?$/\1 \2 \3/' | LC_ALL=C sort -u -k1,1 -k2,2n -k3,3 |
awk '
    # A name with ABIs of several versions carries _v2, _v3 and so on from the second. A per-thread
    # symbol is a variant of the newest plain ABI that is not newer than itself.
    $3 == "" { plain[$1] = plain[$1] " " $2 }
    { name[NR] = $1; since[NR] = $2; ending[NR] = $3 }
    END {
        for (row = 1; row <= NR; row++) {
            total = split(plain[name[row]], version, " ")
            number = 0
            for (i = 1; i <= total; i++)
                if (version[i] + 0 <= since[row] + 0)
                    number = i
            suffix = number > 1 ? "_v" number : ""
            printf "CX_EXPORT(%s, %s, %s, %s)\n", name[row], suffix, ending[row], since[row]
        }
    }'
