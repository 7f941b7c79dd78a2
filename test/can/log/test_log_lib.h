/* test_log_lib.h: for the tests of logs: files in memory, and what was read of them. */
#pragma once

#include "can/log/log.h"

#define FILE_PATH "/proc/self/fd/100" /* of the file last made */

#define TIME "(1436509052.249713) "
#define FIRST TIME "vcan0 044#2A366C2BBA\n"
#define SECOND "(1436509052.449847) can0 0F6#7A\n"

extern struct log log_in;
extern struct log_record log_got;
extern char log_said[1 << 14]; /* lines of errors, each with a newline */
extern struct error_sink log_errors;

void log_lib_start(void); /* nothing said, and the time is UTC's */
void log_lib_zone(const char *name);
void log_lib_end(void);

/* A file of these bytes; returns its path. */
const char *log_make_file(const char *bytes, size_t len);
/* Opens one of this text. */
void log_open_text(const char *text, int flags);
/* The rest of the log as lines of candump -L, with directions where it has them. */
const char *log_rest(void);
unsigned int log_count_lines(const char *text);
