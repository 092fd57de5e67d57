"""Python imports this where its folder is in PYTHONPATH. It hides NVIDIA's nvJitLink, which makes machine code: then cuda.core
and numba-cuda hand the driver PTX."""
import cuda.pathfinder

load = cuda.pathfinder.load_nvidia_dynamic_lib


def load_others(name):
    if name == "nvJitLink":
        raise cuda.pathfinder.DynamicLibNotFoundError("hidden, since it makes machine code")
    return load(name)


cuda.pathfinder.load_nvidia_dynamic_lib = load_others
