/* launch_lib.h: for the tests of launch: a sink that keeps its lines, and a folder of its own. */
#pragma once

#include "config/base/error.h"
#include "launch/achstart/policy.h"

#define LAUNCH_LIB_PATH 512

struct launch_lib_lines {
	struct error_sink sink;
	char text[1 << 16]; /* all lines so far, each with a newline */
};

/* Empty again; returns its sink. */
struct error_sink *launch_lib_start(struct launch_lib_lines *lines);

/* A new folder under $TMPDIR; removed, with what is in it, by the second. */
void launch_lib_folder(char path[LAUNCH_LIB_PATH]);
void launch_lib_remove(const char *folder);

/* Writes a file of that mode; its path. */
const char *launch_lib_write(char path[LAUNCH_LIB_PATH], const char *folder, const char *name, int mode,
			     const char *text);
/* The rules of a daemon without any in its launch file. */
extern const struct policy_rules launch_lib_rules;

/* All of a file, in text. */
size_t launch_lib_read(const char *path, char *text, size_t size);
