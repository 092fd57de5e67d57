"""IREE: its compiler makes PTX without a GPU, its runtime launches it by the driver API: products of matrices in half precision, a
softmax and a convolution. Its packages bring no tests."""
# PyPI: iree-base-compiler==3.13.0
# PyPI: iree-base-runtime==3.13.0
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
tests = ["test_iree.py"]
preload = ["numpy"]
limit = 120


def root(client):
    return client.file.parent.parent / "calls"


def environment(client):
    return {"HOME": str(client.folder)}
