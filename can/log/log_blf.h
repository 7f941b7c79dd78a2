/* log_blf.h: numbers of Vector's BLF, and its writer.  Only for log_blf*.c. */
#pragma once

#include "can/log/log_put.h"

#define BLF_FILE_HEADER 144 /* bytes of the header that we write */
#define BLF_BASE 16	    /* of an object: "LOBJ", header size, version, object size, type */
#define BLF_HEADER 32	 /* with flags, and the stamp at 24; version 2 has 40 bytes and the stamp at the same place */
#define BLF_CONTAINER 32 /* before the data of a container: method at 16, size at 24 */
#define BLF_PADDING 3	 /* bytes between objects at most */
#define BLF_OBJECT_MAX 65536 /* a larger object is damaged, or of no interest */

#define BLF_TIME_10US 1 /* the flags of a stamp; 2: nanoseconds */

#define BLF_PLAIN 0
#define BLF_ZLIB 2

enum blf_type {
	BLF_CAN_MESSAGE = 1,
	BLF_CAN_ERROR = 2,
	BLF_LOG_CONTAINER = 10,
	BLF_CAN_ERROR_EXT = 73,
	BLF_CAN_MESSAGE2 = 86,
	BLF_CAN_FD_MESSAGE = 100,
	BLF_CAN_FD_MESSAGE_64 = 101,
	BLF_CAN_FD_ERROR_64 = 104,
};

/* log_blf_write.c */
void log_blf_begin(struct log_writer *w);
void log_blf_put(struct log_writer *w, const struct log_record *r);
void log_blf_end(struct log_writer *w);
