/* wire_lib.h: a canwire of one's own, for tests.  Its folder is temporary, so every test has its own buses. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* canwire and robotsim are those of $PLAIN_BUILD, if it is set: without a sanitizer they take a third of the time.  For
 * a test of a driver whose device has tests of its own. */
extern bool wire_lib_plain;
const char *wire_lib_program(const char *name); /* its path, until the next call */
const char *wire_lib_folder(void);		/* $ENDPLATE_RUN, made if need be */
/* Starts canwire for "torso larm" (more options too: "--gap 0 torso") and waits until it listens.  Its pid. */
pid_t wire_lib_start(const char *arguments);
/* Starts a program of ours beside it, on the same clock; what it prints is added to "out" in the folder.  Its pid. */
pid_t wire_lib_launch(const char *name, const char *arguments);
void wire_lib_end(int signal); /* ends it with that signal and waits for it */

/* A command of canwire, "fault torso corrupt 1": its exit status, and what it printed. */
extern char wire_lib_said[1 << 16];
int wire_lib_do(const char *command);

/* A question to it from a test on a virtual clock, "fault stuck 1s", "link down host": its answer. */
const char *wire_lib_ask(const char *bus, const char *question);

/* A number from canwire stats --json: the first behind "key": in the object of that name ("bus", "host"). */
long wire_lib_number(const char *bus, const char *name, const char *key);

void wire_lib_clean(void); /* at the end of a main of one's own */
