"""GStreamer's cudaupload and cudadownload. cudaconvert needs NVRTC with compute_30, which CUDA 12 dropped."""
# Debian: gstreamer1.0-tools runs pipelines through a device's memory
# Debian: gstreamer1.0-plugins-base makes pictures for them
# Debian: gstreamer1.0-plugins-bad has cudaupload and cudadownload
# Debian: gcc compiles no_decoder.c
limit = 60
KINDS = ["NV12", "I420", "Y444", "P010_10LE", "RGBA", "BGRx", "RGB"]


def common(client):
    """The plugin looks for a decoder's library before it offers its elements."""
    return """
cc -shared -fPIC -o libnvcuvid.so.1 %s/no_decoder.c
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$PWD GST_REGISTRY=$PWD/registry
sums() # format, elements: the checksum of each frame
{
    gst-launch-1.0 -q videotestsrc num-buffers=5 ! "video/x-raw,format=$1,width=328,height=242" $2 ! checksumsink hash=md5
}
same() # format, elements: a device's memory changes no frame
{
    sums "$1" "$2" > device
    sums "$1" "" > plain
    test -s plain && cmp plain device
}
""" % client.file.parent.parent


commands = {
    "elements": "gst-inspect-1.0 cudaupload && gst-inspect-1.0 cudadownload",
    **{"through " + kind: "same %s '! cudaupload ! cudadownload'" % kind for kind in KINDS},
    "twice": "same NV12 '! cudaupload ! cudadownload ! cudaupload ! cudadownload'",
    "two devices": "same NV12 '! cudaupload cuda-device-id=0 ! cudadownload ! cudaupload cuda-device-id=1 ! cudadownload'",
    "threads": "same NV12 '! cudaupload ! queue ! cudadownload ! queue'",
    "two branches": "same NV12 '! tee name=t ! queue ! cudaupload ! fakesink t. ! queue ! cudaupload ! cudadownload'",
    "lazy": "CTXRT_EMU_SCHEDULE=lazy; export CTXRT_EMU_SCHEDULE; same NV12 '! cudaupload ! cudadownload'",
}
