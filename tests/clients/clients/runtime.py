"""Programs of the CUDA Runtime API, ours: each compares what kernels made with what the CPU computes. `ctxrt nvcc` compiles them.

A line `// nvcc: OPTIONS` of a program has options for its compiler, `// ctxrt: OPTIONS` those for ctxrt run and check; by `// plugin: yes`
its other files make a library for it to open.
"""
import os
import pathlib
import re
import shutil

cuda = 13
limit = 240  # with the compiler's time
reasons = {
    "device_graph: .*JIT compilation": "kernels do not launch graphs: cudaGraphLaunch is an unresolved function",
}
# Under ctxrt check each finding is told of the program: here it is meant.
misuses = {
    "faults": "its kernels fail on purpose",
    "device_graph": "it fails while it captures",
}
NVCC = os.environ.get("CTXRT_NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def folder(client):
    return client.file.parent.parent / "programs"


def missing(client):
    return None if os.access(NVCC, os.X_OK) else "there is no nvcc"


def environment(client):
    return {"CTXRT_NVCC": NVCC}


def said(source, what):
    return " ".join(re.findall(r"^// %s: (.*)$" % what, source.read_text(), re.M))


def sources(client):
    """Files whose names end in `_part` are compiled with the program whose name they begin with."""
    return [source for source in sorted(folder(client).glob("*.cu")) if not source.stem.endswith("_part")]


def commands(client):
    return {source.stem: "exec ./program" for source in sources(client)}


def options(client):
    return {source.stem: said(source, "ctxrt").split() for source in sources(client)}


def before(client):
    """Compiles what is new, before ctxrt runs anything."""
    texts = {}
    for source in sources(client):
        parts = " ".join(map(str, sorted(folder(client).glob(source.stem + "_*part.cu"))))
        nvcc = "'%s' nvcc -I '%s' %s" % (client.build / "ctxrt", folder(client), said(source, "nvcc"))
        lines = ["compile()", "{", "    rm -f program"]
        if said(source, "plugin"):
            lines.append("    %s -shared -Xcompiler -fPIC -o plugin.so %s" % (nvcc, parts))
            parts = ""
        lines += ["    %s -o program '%s' %s" % (nvcc, source, parts), "}",
                  "new=$(find '%s' \\( -name '%s*' -o -name program.cuh \\) -newer program 2>&1 || true)" % (folder(client), source.stem),
                  "[ -z \"$new\" ] || compile", ""]
        texts[source.stem] = "\n".join(lines)
    return texts
