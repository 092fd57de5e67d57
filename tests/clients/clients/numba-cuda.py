"""numba-cuda: its tests of the driver interface and of kernels. NVVM makes PTX, which the driver gets: see without_nvjitlink."""
# PyPI: numba-cuda==0.30.4
# PyPI: numba==0.68.1
# PyPI: cuda-core==1.2.2
# PyPI: cuda-bindings==13.5.0
# PyPI: nvidia-nvvm==13.0.88
# PyPI: nvidia-cuda-nvrtc==13.0.88
# PyPI: nvidia-cuda-runtime==13.0.96
# PyPI: nvidia-curand==10.4.0.35
# PyPI: pytest==9.2.0
# PyPI: psutil==7.2.2
# PyPI: cffi==2.1.1
# PyPI: filecheck==1.0.3
# PyPI: ml-dtypes==0.6.0
# Debian: python3-venv holds the packages of PyPI
cuda = 13
package = "numba.cuda.tests"
tests = ["cudadrv", "cudapy"]
preload = ["numba.cuda", "numba.cuda.testing"]
limit = 120
# A launch of 5,663,031,296 threads, which would take an hour.
left_out = ["*::test_issue_9229"]
reasons = {
    "context_switch": "its own fault: cuCtxSetCurrent replaces the entry that it then pops",
    "CUipcMemHandle": "its own fault: cuda-bindings 13.5 has no such field",
    "test_cpu_and_cuda": "numba caches fewer files for the CPU than it expects",
    "cpointer_arguments|struct_model_type_arr": "its own fault: it goes past the end of its arrays, which is found here",
}


def root(client):
    return client.site() / "numba_cuda" / "numba" / "cuda" / "tests"


def environment(client):
    folder = client.file.parent.parent
    return {"PYTHONPATH": "%s:%s" % (folder, folder / "without_nvjitlink"), "PYTEST_PLUGINS": "numba_fixtures",
            "CUDA_HOME": str(client.site() / "nvidia" / "cu13")}
