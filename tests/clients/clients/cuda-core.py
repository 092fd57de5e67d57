"""cuda.core: its package brings no tests, so these are our own calls. without_nvjitlink has its Linker use the driver."""
# PyPI: cuda-core==1.2.2
# PyPI: cuda-bindings==13.5.0
# PyPI: nvidia-cuda-nvrtc==13.0.88
# PyPI: nvidia-cuda-runtime==13.0.96
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
cuda = 13
tests = ["test_cuda_core.py"]
preload = ["cuda.core", "numpy"]
reasons = {
    "cudart": "cudart is not served",
}


def root(client):
    return client.file.parent.parent / "calls"


def environment(client):
    folder = client.file.parent.parent
    return {"PYTHONPATH": "%s:%s" % (folder, folder / "without_nvjitlink"), "CUDA_HOME": str(client.site() / "nvidia" / "cu13")}
