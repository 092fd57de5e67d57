"""numba-cuda: its tests of the driver interface and of kernels. NVVM makes PTX, which the driver gets: without_nvjitlink.py."""
# PyPI: numba-cuda==0.30.4
# PyPI: numba==0.68.1
# PyPI: cuda-core==1.2.2
# PyPI: cuda-bindings==13.5.0
# PyPI: nvidia-nvvm==13.0.88
# PyPI: nvidia-cuda-nvrtc==13.0.88
# PyPI: nvidia-cuda-runtime==13.0.96
# PyPI: pytest==9.2.0
# PyPI: psutil==7.2.2
# PyPI: cffi==2.1.1
# PyPI: filecheck==1.0.3
# PyPI: ml-dtypes==0.6.0
# Debian: python3-venv holds the packages of PyPI
cuda = 13
package = "numba.cuda.tests"
tests = ["cudadrv", "cudapy"]
preload = ["without_nvjitlink", "numba.cuda", "numba.cuda.testing"]
limit = 120
reasons = {
    "context_switch": "its own fault: cuCtxSetCurrent replaces the entry that it then pops",
    "not less than or equal to": "NUM_REGS does not follow CU_JIT_MAX_REGISTERS",
}


def root(client):
    return client.site() / "numba_cuda" / "numba" / "cuda" / "tests"


def environment(client):
    return {"CUDA_HOME": str(client.site() / "nvidia" / "cu13"), "PYTEST_PLUGINS": "numba_fixtures"}
