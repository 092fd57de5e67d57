"""PyCUDA, compiled from PyPI's source against the stand-in; nvcc_ptx.sh stands in for nvcc, so that modules are PTX."""
import os
import shutil
import subprocess
import tarfile

# PyPI source: pycuda==2026.1
# PyPI: nvidia-cuda-nvcc==13.0.88
# PyPI: nvidia-cuda-crt==13.0.88
# PyPI: nvidia-nvvm==13.0.88
# PyPI: nvidia-cuda-runtime==13.0.96
# PyPI: nvidia-cuda-cccl==13.0.85
# PyPI: nvidia-curand==10.4.0.35
# PyPI: numpy==2.4.6
# PyPI: pytools==2026.1.1
# PyPI: mako==1.4.3
# PyPI: platformdirs==4.14.7
# PyPI: pytest==9.2.0
# Debian: python3-venv holds the packages of PyPI
# Debian: python3-dev compiles PyCUDA
# Debian: g++ compiles PyCUDA, and what nvcc leaves to it
SOURCE = "pycuda==2026.1"
cuda = 13
tests = ["test_driver.py", "test_gpuarray.py"]
preload = ["numpy", "pycuda.driver", "pycuda.compiler"]
limit = 180


def toolkit(client):
    return client.site() / "nvidia" / "cu13"


def root(client):
    return client.folder / "source" / "test"


def environment(client):
    return {"CUDA_HOME": str(toolkit(client)), "CUDA_ROOT": str(toolkit(client)),
            "PATH": "%s:%s/bin:%s" % (client.folder / "bin", toolkit(client), os.environ["PATH"]),
            "LD_LIBRARY_PATH": str(toolkit(client) / "lib"), "XDG_CACHE_HOME": str(client.folder / "cache")}


def put_nvcc(client):
    folder = client.folder / "bin"
    folder.mkdir(exist_ok=True)
    shutil.copy(client.file.parent.parent / "nvcc_ptx.sh", folder / "nvcc")
    (folder / "nvcc").chmod(0o755)


def install(client, pip):
    """Compiles the source that pip loads; its own tests are in it."""
    shutil.rmtree(client.folder / "source", ignore_errors=True)
    loaded = client.folder / "loaded"
    pip_download = [word if word != "install" else "download" for word in pip]
    subprocess.run(pip_download + ["--no-deps", "--no-binary", "pycuda", "--dest", str(loaded), SOURCE], check=True)
    with tarfile.open(next(loaded.glob("pycuda-*.tar.gz"))) as archive:
        archive.extractall(client.folder)
    next(path for path in client.folder.glob("pycuda-*") if path.is_dir()).rename(client.folder / "source")
    put_nvcc(client)
    libraries = client.folder / "lib"
    libraries.mkdir(exist_ok=True)
    for name, file in [("libcuda.so", client.build / "lib" / "shim" / "cuda-13" / ".libs" / "libcuda.so.1"),
                       ("libcurand.so", toolkit(client) / "lib" / "libcurand.so.10")]:
        (libraries / name).unlink(missing_ok=True)
        (libraries / name).symlink_to(file)
    subprocess.run([client.python(), "configure.py", "--cuda-root=%s" % toolkit(client),
                    "--cudadrv-lib-dir=%s" % libraries, "--curand-lib-dir=%s" % libraries],
                   cwd=client.folder / "source", check=True)
    subprocess.run(pip + ["--force-reinstall", "--no-deps", str(client.folder / "source")], check=True)
