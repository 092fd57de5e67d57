# ctxrt on emulated GPUs, from Debian's packages alone: docker build -t ctxrt . && docker run --rm ctxrt
FROM debian:bookworm
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        autoconf automake check gcc libbsd-dev libc6-dev libdw-dev libjansson-dev liblz4-dev libtool libzstd-dev make pkg-config \
        uthash-dev zlib1g-dev && \
    rm -rf /var/lib/apt/lists/*
COPY . /ctxrt
WORKDIR /ctxrt
RUN ./bootstrap --no-install build && make -C build install && ldconfig
CMD ["./bootstrap", "--no-install", "demo"]
