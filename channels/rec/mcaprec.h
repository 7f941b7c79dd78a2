/* mcaprec.h: recordings as MCAP: the records of reclog.h in a file that other tools read, and back without a loss.
 *
 *	channel waist-state	/waist-state			endplate_msgs/msg/JointState, cdr
 *				/waist-state/joint_states	sensor_msgs/msg/JointState, cdr: for other tools only
 *				/waist-state/exact		json: the bytes of a message that holds more than
 *								endplate_msgs has, before that message
 *				/waist-state/bytes		json: the bytes of messages of other programs
 *	bus can0		/can/can0			endplate_msgs/msg/CanFrame, cdr
 *	all other records	/endplate/recording		json: the start, channels, losses, the end
 *
 * Times are CLOCK_REALTIME: those of CLOCK_MONOTONIC plus an offset which is fixed at the start and stands in the
 * metadata record "endplate".  log_time is when a message was read, publish_time when it was published.
 *
 * The way back reads all but the second.  MCAP has 32 bits for the number of a message; the rest of them follows from
 * the first one of a channel, which is in its metadata.
 *
 * In files of other writers a message of endplate_msgs is one of Endplate, a frame is one of a bus, and what else there
 * is has the bytes that it has.
 */
#pragma once

#include "channels/rec/mcap.h"
#include "channels/rec/reclog.h"

#define MCAPREC_CHUNK_NS 1000000000 /* a chunk is closed after this time, if it is not full before */

/* ---- writing ---- */

struct mcaprec_writer;

/* Writes to mcap, which stays the caller's.  NULL: no memory. */
struct mcaprec_writer *mcaprec_writer_new(struct mcap_writer *mcap);
void mcaprec_writer_free(struct mcaprec_writer *w); /* NULL is fine */
/* The next record, a start first; mcap_write_end follows the last one.  0 or -errno, then no more is written. */
int mcaprec_put(struct mcaprec_writer *w, const struct reclog_record *r);

/* ---- reading ---- */

struct mcaprec_reader;

/* fd can be read twice.  NULL: no memory. */
struct mcaprec_reader *mcaprec_reader_new(int fd);
void mcaprec_reader_free(struct mcaprec_reader *reader); /* NULL is fine; fd stays open */
/* As reclog_read. */
enum reclog_found mcaprec_read(struct mcaprec_reader *reader, struct reclog_record *r);
