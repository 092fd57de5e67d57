"""PyTorch's wheel: devices, allocators, streams, events, graphs and copies, by calls of our own. It finds NVIDIA's runtime library by
an RPATH, and has machine code alone, so that no kernel of its own runs."""
# PyPI: torch==2.15.0
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
cuda = 13
cudart = 13
tests = ["test_pytorch.py"]
preload = ["torch", "numpy"]
reasons = {
    "no kernel image is available": "the wheel has machine code and no PTX",
}


def root(client):
    return client.file.parent.parent / "calls"
