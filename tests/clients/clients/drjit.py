"""Dr.Jit: arrays, derivatives, loops, calls of functions by address, textures and reductions, whose kernels it writes as PTX. Its package
brings no tests; what needs OptiX is left out."""
# PyPI: drjit==1.5.0
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
cuda = 13
tests = ["test_drjit.py"]
preload = ["numpy"]
limit = 120


def root(client):
    return client.file.parent.parent / "calls"


def environment(client):
    return {"HOME": str(client.folder), "CTXRT_EMU_GPU": "rtx3060"}
