/*
 * The names of a scenario while it is parsed: the kind of each, and the step that each thread has
 * begun.
 */
#ifndef CX_PLAY_NAMES_H
#define CX_PLAY_NAMES_H

#include "play/verb.h"

typedef struct cx_names cx_names;

typedef struct cx_thread_name {
    const char *name;
    const cx_verb *begun; /* NULL: nothing */
    int line;             /* the line where it was begun */
} cx_thread_name;

/* Names are borrowed: they live as long as the scenario. NULL, and false below: out of memory. */
cx_names *cx_names_create(void);
void cx_names_destroy(cx_names *names);

/* Gives the name this kind from here on, in place of an earlier one. */
bool cx_names_declare(cx_names *names, const char *name, cx_kind kind);
bool cx_names_kind(const cx_names *names, const char *name, cx_kind *out_kind);

/* Declares the names of a kind that another table has, too. */
bool cx_names_carry(cx_names *to, const cx_names *from, cx_kind kind);

/* Values, @name: tells whether one has been given. */
bool cx_names_see(cx_names *names, const char *name);
bool cx_names_seen(const cx_names *names, const char *name);

/* The thread of a name; made when it is first asked for. */
cx_thread_name *cx_names_thread(cx_names *names, const char *name);
/* A thread that has begun a step; NULL if none has. */
const cx_thread_name *cx_names_begun(const cx_names *names);

#endif
