#include "post.h"

#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A message of one number and one descriptor. */
typedef struct letter {
    int number;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct iovec part;
    struct msghdr message;
} letter;

static void letter_prepare(letter *self)
{
    memset(self, 0, sizeof *self);
    self->part = (struct iovec){&self->number, sizeof self->number};
    self->message = (struct msghdr){.msg_iov = &self->part,
                                    .msg_iovlen = 1,
                                    .msg_control = self->control,
                                    .msg_controllen = sizeof self->control};
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

void post_open(post *self)
{
    const char *where = getenv("TMPDIR");
    if (where == NULL || strlen(where) > POST_PATH_BYTES - 32)
        where = "/tmp";
    snprintf(self->folder, sizeof self->folder, "%s/ctxrt-mpi-XXXXXX", where);
    if (mkdtemp(self->folder) == NULL)
        job_fail("cannot make a folder in %s: %s", where, strerror(errno));
    snprintf(self->path, sizeof self->path, "%.90s/post", self->folder);
    struct sockaddr_un address = address_of(self->path);
    self->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (self->socket < 0 ||
        bind(self->socket, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(self->socket, 8) != 0)
        job_fail("cannot open the socket %s: %s", self->path, strerror(errno));
}

void post_close(post *self)
{
    close(self->socket);
    unlink(self->path);
    rmdir(self->folder);
}

bool post_bring(const char *path, int number, int file)
{
    letter one;
    struct sockaddr_un address = address_of(path);
    int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0)
        return false;
    letter_prepare(&one);
    one.number = number;
    struct cmsghdr *head = CMSG_FIRSTHDR(&one.message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    bool brought = connect(line, (const struct sockaddr *)&address, sizeof address) == 0 &&
                   sendmsg(line, &one.message, MSG_NOSIGNAL) == sizeof one.number;
    int error = errno;
    close(line); /* what was sent stays in the owner's queue */
    errno = error;
    return brought;
}

int post_take(post *self, int *out_number)
{
    letter one;
    int file;
    int line = accept4(self->socket, NULL, NULL, SOCK_CLOEXEC);
    if (line < 0)
        job_fail("accept4: %s", strerror(errno));
    letter_prepare(&one);
    ssize_t bytes = recvmsg(line, &one.message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = CMSG_FIRSTHDR(&one.message);
    if (bytes != sizeof one.number || head == NULL || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len != CMSG_LEN(sizeof file))
        job_fail("a message to the socket %s has no file descriptor", self->path);
    memcpy(&file, CMSG_DATA(head), sizeof file);
    close(line);
    *out_number = one.number;
    return file;
}
