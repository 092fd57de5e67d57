"""FFmpeg's CUDA devices, hwupload and hwdownload, and its filters, most of which read textures. yadif_cuda and thumbnail_cuda have no
equal on the CPU: they run."""
# Debian: ffmpeg moves frames through a device's memory
limit = 60
misuses = {"thumbnail_cuda": "it unloads its module while no context is current"}
KINDS = ["yuv420p", "nv12", "yuv444p", "p010le", "p016le", "yuv444p16le", "rgb0", "bgr0"]
common = """
frames() # filters, options before them
{
    ffmpeg -nostdin -hide_banner -loglevel error $2 -f lavfi -i testsrc=size=322x242:rate=10:duration=1 -vf "$1" -f framemd5 -
}
same() # filters before, filters of the device, device
{
    frames "$1,$2,hwdownload,$1" "-init_hw_device cuda=gpu:$3 -filter_hw_device gpu" > device
    frames "$1" "" > plain
    test "$(grep -c '^0,' plain)" -eq 10 && cmp plain device
}
"""
commands = {
    **{"hwupload_cuda " + kind: "same format=%s hwupload_cuda 0" % kind for kind in KINDS},
    **{"hwupload " + kind: "same format=%s hwupload 0" % kind for kind in KINDS},
    "last device": "same format=nv12 hwupload 3",
    "primary context": "same format=nv12 hwupload 0,primary_ctx=1",
    "between two devices": "same format=nv12 hwupload_cuda=device=0,hwdownload,format=nv12,hwupload_cuda=device=1 0",
    "no such device": "! same format=nv12 hwupload 4",
    "lazy": "CTXRT_EMU_SCHEDULE=lazy; export CTXRT_EMU_SCHEDULE; same format=nv12 hwupload 0",
    "derived device": "frames format=nv12,hwupload,hwdownload,format=nv12 "
                      "'-init_hw_device cuda=one:0 -init_hw_device cuda=two@one -filter_hw_device two'",
    "scale_cuda to the same size": "same format=nv12 hwupload,scale_cuda=322:242 0",
    "scale_cuda to another format": "same format=yuv420p hwupload,scale_cuda=format=nv12,scale_cuda=format=yuv420p 0",
    "scale_cuda by the nearest": "frames format=yuv420p,hwupload,scale_cuda=644:484:interp_algo=nearest,hwdownload,format=yuv420p "
                                 "'-init_hw_device cuda=gpu -filter_hw_device gpu' > device; "
                                 "frames format=yuv420p,scale=644:484:flags=neighbor '' > plain; cmp plain device",
    "overlay_cuda": "frames '[0]format=yuv420p,hwupload,split[a][b];[a][b]overlay_cuda,hwdownload,format=yuv420p' "
                    "'-init_hw_device cuda=gpu -filter_hw_device gpu' > device; "
                    "frames format=yuv420p '' > plain; cmp plain device",
    "thumbnail_cuda": "frames format=nv12,hwupload,thumbnail_cuda=5,hwdownload,format=nv12 "
                      "'-init_hw_device cuda=gpu -filter_hw_device gpu'",
    "yadif_cuda": "frames format=nv12,hwupload,yadif_cuda,hwdownload,format=nv12 "
                  "'-init_hw_device cuda=gpu -filter_hw_device gpu'",
}
