"""Taichi: kernels that its compiler turns into PTX by LLVM. Its package brings no tests."""
# PyPI: taichi==1.7.4
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
tests = ["test_taichi.py"]
preload = ["numpy"]
limit = 120


def root(client):
    return client.file.parent.parent / "calls"


def environment(client):
    return {"HOME": str(client.folder), "TI_OFFLINE_CACHE": "0"}
