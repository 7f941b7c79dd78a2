/* log_output.h: the bytes of a log that is written, compressed on the fly.  Only for log*.c. */
#pragma once

#include "config/base/base.h"

struct log_output {
	int (*put)(struct log_output *out, const unsigned char *bytes, size_t n, bool last); /* 0 or -errno */
	void (*close)(struct log_output *out);						     /* its own memory */
	int fd;
};

/* NULL: no memory.  Only log_writer.c names them, since the compressor of zstd has half a megabyte. */
struct log_output *log_gzip_output(void);
struct log_output *log_zstd_output(void);

/* Writes all of it.  0 or -errno. */
int log_output_fd(int fd, const void *bytes, size_t n);
