"""Triton: its compiler makes PTX without a GPU; products of matrices (tl.dot) of all kinds and a softmax, launched by the driver API."""
# PyPI: triton==3.9.0
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
cuda = 13
tests = ["test_triton.py"]
preload = ["triton", "numpy"]
limit = 120
reasons = {
    "PassManager": "its own fault: the compiler does not end well for tensor cores of integers on compute capability 7.5",
}


def root(client):
    return client.file.parent.parent / "calls"


def environment(client):
    return {"TRITON_CACHE_DIR": str(client.folder / "cache"), "HOME": str(client.folder)}
