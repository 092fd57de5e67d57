/*
 * A libnvcuvid.so.1 that decodes nothing. GStreamer's plugin looks for one before it offers
 * cudaupload and cudadownload.
 */
enum { NOT_SUPPORTED = 801 };

#define REFUSED(name) \
    int name(void) \
    { \
        return NOT_SUPPORTED; \
    }

REFUSED(cuvidCreateDecoder)
REFUSED(cuvidCreateVideoParser)
REFUSED(cuvidCtxLock)
REFUSED(cuvidCtxLockCreate)
REFUSED(cuvidCtxLockDestroy)
REFUSED(cuvidCtxUnlock)
REFUSED(cuvidDecodePicture)
REFUSED(cuvidDestroyDecoder)
REFUSED(cuvidDestroyVideoParser)
REFUSED(cuvidGetDecoderCaps)
REFUSED(cuvidMapVideoFrame)
REFUSED(cuvidMapVideoFrame64)
REFUSED(cuvidParseVideoData)
REFUSED(cuvidUnmapVideoFrame)
REFUSED(cuvidUnmapVideoFrame64)
