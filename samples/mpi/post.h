/* A rank's post office: a Unix socket to which the other ranks of the node bring file descriptors.
 * On Linux nothing else can carry one. */
#ifndef MPI_POST_H
#define MPI_POST_H

#include <stdbool.h>

enum { POST_PATH_BYTES = 100 };

typedef struct post {
    int socket;
    char folder[POST_PATH_BYTES];
    char path[POST_PATH_BYTES]; /* in a folder that only this user may enter */
} post;

/* Opens it; fails the job if the node has no room for a socket. */
void post_open(post *self);
void post_close(post *self);

/* Brings a descriptor to the office at `path`, with a number. Does not wait for its owner. False:
 * there is no way, errno says why. */
bool post_bring(const char *path, int number, int file);

/* Takes a descriptor that was brought; it belongs to the caller. Waits for one. */
int post_take(post *self, int *out_number);

#endif
