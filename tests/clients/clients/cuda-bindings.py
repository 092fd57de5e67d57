"""The bindings of cuda-python: their package brings no tests, so these are our own calls of the driver module."""
# PyPI: cuda-bindings==13.5.0
# PyPI: nvidia-cuda-nvrtc==13.0.88
# PyPI: nvidia-cuda-runtime==13.0.96
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
cuda = 13
tests = ["test_cuda_bindings.py"]
misuses = {"*::test_memory": "frees twice to see the error"}
preload = ["cuda.bindings.driver", "cuda.bindings.nvrtc", "numpy"]


def root(client):
    return client.file.parent.parent / "calls"


def environment(client):
    return {"CUDA_HOME": str(client.site() / "nvidia" / "cu13")}
