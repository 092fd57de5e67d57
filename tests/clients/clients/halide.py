"""Halide: pipelines compiled at run time, with its own compiler of PTX. Its package brings no tests."""
# PyPI: halide==21.0.0
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
tests = ["test_halide.py"]
preload = ["halide", "numpy"]


def root(client):
    return client.file.parent.parent / "calls"
