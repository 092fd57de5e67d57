"""hashcat: NVRTC compiles its kernels to PTX. One device and few threads, since each start compiles anew."""
# Debian: hashcat compiles, links and runs kernels that look for words
# PyPI: nvidia-cuda-nvrtc==13.0.88
# Debian: python3-venv holds the packages of PyPI
limit = 300


def common(client):
    return """
ln -sf %s/nvidia/cu13/lib/libnvrtc.so.13 libnvrtc.so
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$PWD:%s/nvidia/cu13/lib CTXRT_EMU_DEVICES=1
export HOME=$PWD XDG_CACHE_HOME=$PWD/cache XDG_DATA_HOME=$PWD/share
crack() # number of the kind of hash, hash, word, mask
{
    hashcat --backend-ignore-opencl --force --potfile-disable --quiet -n 1 -u 1 -T 32 -m "$1" -a 3 "$2" "$4" > out
    cat out
    grep -qxF "$2:$3" out
}
""" % (client.site(), client.site())


commands = {
    "list of devices": "hashcat --backend-ignore-opencl -I > out; grep -q 'CUDA.Version' out",
    "MD5": "crack 0 900150983cd24fb0d6963f7d28e17f72 abc '?l?l?l'",
    "SHA-1": "crack 100 a9993e364706816aba3e25717850c26c9cd0d89d abc '?l?l?l'",
    "SHA-256": "crack 1400 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad abc '?l?l?l'",
    "MD4": "crack 900 a448017aaf21d8525fc10ae87aa6729d abc '?l?l?l'",
    "NTLM": "crack 1000 e0fba38268d0ec66ef1cb452d5885e53 abc '?l?l?l'",
}
