/* Passes a file descriptor to another process. */
#ifndef CX_TEST_FILE_PASSING_H
#define CX_TEST_FILE_PASSING_H

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static inline bool send_file(int socket, int file)
{
    char byte = 1;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    return sendmsg(socket, &message, 0) == 1;
}

static inline int receive_file(int socket)
{
    char byte;
    int file = -1;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != NULL)
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

#endif
