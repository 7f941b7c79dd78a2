/* facts.h: gathers what the checks of doctor.h compare. */
#pragma once

#include "launch/achdoctor/doctor.h"
#include "launch/file/launch_file.h"

struct facts_scope {
	const char *root;	     /* before /proc, /sys, /dev and /etc; "" but in tests */
	pid_t pid;		     /* whose limits count; 0: this process */
	bool measure;		     /* tries priority and memory, and takes half a second */
	const struct launch *launch; /* or NULL */
	const struct robot *robot;   /* or NULL */
};

void facts_machine(struct doctor_machine *m, const struct facts_scope *scope);

/* The bus as it is now; b->name and b->interface are given, the needs are taken from the scope's files. */
void facts_bus(struct doctor_bus *b, const struct facts_scope *scope);
/* The device behind its interface, as /sys and the rules of udev and systemd below root say; for tests, which have a
 * root of their own. */
void facts_bus_device(struct doctor_bus *b, const char *root);

/* Files and channels of the robot of $ENDPLATE_RUN. */
void facts_robot(struct doctor_robot *r, const struct facts_scope *scope);
/* Adds a folder with logs or recordings; a write rate is measured with a file of 8 MB that has no name. */
void facts_disk(struct doctor_robot *r, const char *path, bool measure);

/* ---- for facts_*.c ---- */

/* The first line of root/path, without its end; "": none.  false: it cannot be read. */
bool facts_line(const char *root, char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The number that it begins with, or DOCTOR_UNKNOWN. */
int64_t facts_number(const char *root, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All of it, up to size.  Bytes; 0: nothing. */
size_t facts_text(const char *root, const char *path, char *text, size_t size);
