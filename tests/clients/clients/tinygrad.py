"""tinygrad: its CUDA backend by NVRTC, and by its own writer of PTX. Its default, NV, speaks to NVIDIA's kernel module and not to a driver."""
# PyPI: tinygrad==0.14.0
# PyPI: numpy==2.4.6
# PyPI: pytest==9.2.0
# PyPI: nvidia-cuda-nvrtc-cu12==12.9.86
# Debian: python3-venv holds the packages of PyPI
tests = ["test_tinygrad.py"]
preload = ["numpy"]
limit = 120


def root(client):
    return client.file.parent.parent / "calls"


def environment(client):
    nvrtc = client.site() / "nvidia" / "cuda_nvrtc" / "lib"
    return {"LD_LIBRARY_PATH": str(nvrtc), "NVRTC_PATH": str(nvrtc / "libnvrtc.so.12"), "DEV": "CUDA",
            "CACHELEVEL": "0", "HOME": str(client.folder)}
