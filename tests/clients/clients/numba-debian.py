"""Debian's numba 0.56: its tests of the driver interface. Its kernels need NVVM of CUDA 11, which Debian main lacks."""
# Debian: python3-numba a library that brings tests of its driver interface
# Debian: python3-pytest runs the tests of libraries in Python
root = "/usr/lib/python3/dist-packages/numba/cuda/tests"
tests = ["cudadrv"]
preload = ["numba.cuda", "numba.cuda.testing"]
environment = {"CUDA_HOME": "/nonexistent"}
absent = {r"NvvmSupportError|nvvm|test_ptds": "needs NVVM of CUDA 11"}
