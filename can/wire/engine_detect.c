/* engine_detect.c: at which bit a listener detects an error.
 *
 * Listeners do not know the frame that was meant.  They detect an error if six bits in a row are equal, up to the end
 * of the CRC, and behind it if a bit that must be recessive is dominant.  They signal a wrong CRC behind the
 * acknowledge slot.
 */
#include "can/wire/engine_inner.h"

/* From the end of a stream: delimiter of the CRC, acknowledge slot, its delimiter, end of frame. */
#define CRC_DELIMITER 10
#define ACK_SLOT BITS_ACK_FROM_END
#define ACK_DELIMITER 8
#define CRC_FD_MAX 32 /* bits with stuff count and fixed stuff bits */

void engine_detect_stream(struct engine_stream *stream, const struct frame *f)
{
	stream->fd = f->flags & FRAME_FD;
	stream->n = stream->fd ? bits_fd_string(stream->bits, stream->stuffed, NULL, f)
			       : bits_string(stream->bits, stream->stuffed, f);
}

/* Bits equal to level at the end of [0, end). */
static unsigned int run(const struct engine_stream *stream, unsigned int end, unsigned int level)
{
	unsigned int n = 0;

	while (n < end && stream->bits[end - 1 - n] == level)
		n++;
	return n;
}

/* A listener: for it the frame on the wire may be longer or shorter than the frame that was sent. */
struct listener {
	unsigned int n, all; /* bits so far, stuff bits apart; up to the end of the CRC, 0: not known yet */
	unsigned int code;   /* the last 32 bits */
	unsigned int run, last;
	unsigned int crc;  /* 0 behind a good one */
	unsigned int tail; /* bits behind it */
	bool extended, remote;
};

static void take(struct listener *listener, unsigned int bit)
{
	const unsigned int over = (listener->crc >> 14 ^ bit) & 1;

	listener->crc = (listener->crc << 1 & 0x7fff) ^ (over ? 0x4599 : 0);
	listener->code = listener->code << 1 | bit;
	listener->n++;
	if (listener->n == 13)
		listener->remote = bit;
	if (listener->n == 14)
		listener->extended = bit;
	if (listener->n == 33 && listener->extended)
		listener->remote = bit;
	if (listener->n == (listener->extended ? 39 : 19)) {
		const unsigned int len = listener->code & 15;

		listener->all =
			listener->n + 15 + (listener->remote ? 0 : 8 * (len < FRAME_DATA_MAX ? len : FRAME_DATA_MAX));
	}
}

/* Returns false at an error. */
static bool listen_to(struct listener *listener, unsigned int bit)
{
	const bool stuff = listener->run == ENGINE_STUFF - 1;

	if (listener->tail || (listener->all && listener->n == listener->all && !stuff)) {
		listener->tail++;
		if (listener->tail == CRC_DELIMITER - ACK_DELIMITER + 1 && listener->crc)
			return false;
		return bit || listener->tail == CRC_DELIMITER - ACK_SLOT + 1;
	}
	listener->run = listener->n && bit == listener->last ? listener->run + 1 : 1;
	listener->last = bit;
	if (listener->run == ENGINE_STUFF)
		return false;
	if (!stuff)
		take(listener, bit);
	return true;
}

/* The same of a CAN FD frame. */
static unsigned int found_fd(const struct engine_stream *stream, unsigned int upto, unsigned int level)
{
	unsigned int equal = 0, last = 0;

	for (unsigned int i = 0; i < stream->n; i++) {
		const unsigned int bit = i < upto ? stream->bits[i] : level, behind = stream->n - i;

		equal = i && bit == last ? equal + 1 : 1;
		last = bit;
		if (behind <= CRC_DELIMITER ? !bit && behind != ACK_SLOT : equal == ENGINE_STUFF)
			return i;
	}
	return stream->n;
}

/* Sent up to bit upto, then level without end. */
static unsigned int found(struct listener *listener, const struct engine_stream *stream, unsigned int upto,
			  unsigned int level)
{
	if (stream->fd)
		return found_fd(stream, upto, level);
	for (unsigned int i = 0;; i++) {
		if (!listen_to(listener, i < upto ? stream->bits[i] : level))
			return i;
		if (listener->tail == CRC_DELIMITER)
			return stream->n;
	}
}

unsigned int engine_detect_after_flag(const struct engine_stream *stream, unsigned int at, unsigned int seen,
				      unsigned int flag)
{
	struct engine_stream wire = *stream;
	struct listener listener = { 0 };

	wire.bits[at] = (uint8_t)seen;
	return found(&listener, &wire, at + 1, flag);
}

unsigned int engine_detect_after_cut(const struct engine_stream *stream, unsigned int cut)
{
	struct listener listener = { 0 };

	return found(&listener, stream, cut, 1);
}

/* Which bit it is without stuff bits. */
static unsigned int plain(const struct engine_stream *stream, unsigned int at)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < at; i++)
		n += !stream->stuffed[i];
	return n;
}

static unsigned int arbitration_bits(const struct frame *f)
{
	return f->id & FRAME_EXT ? 33 : 13;
}

unsigned int engine_detect_last_dominant(const struct engine_stream *stream, unsigned int end)
{
	return end - 1 - run(stream, end, 1);
}

bool engine_detect_arbitrating(const struct engine_stream *stream, const struct frame *f, unsigned int at)
{
	return at && !stream->stuffed[at] && plain(stream, at) < arbitration_bits(f);
}

unsigned int engine_detect_any(const struct engine_stream *stream, const struct frame *f, uint64_t draw)
{
	unsigned int first = 0, end = stream->n - CRC_DELIMITER;

	while (plain(stream, first) < arbitration_bits(f))
		first++;
	return first + (unsigned int)(draw % (end - first));
}

/* Fields of a frame by their last bit, stuff bits apart, and what SocketCAN calls them. */
struct place {
	uint8_t last, place;
};

static const struct place standard[] = {
	{ 0, CAN_ERR_PROT_LOC_SOF },	  { 8, CAN_ERR_PROT_LOC_ID28_21 },
	{ 11, CAN_ERR_PROT_LOC_ID20_18 }, { 12, CAN_ERR_PROT_LOC_RTR },
	{ 13, CAN_ERR_PROT_LOC_IDE },	  { 14, CAN_ERR_PROT_LOC_RES0 },
	{ 18, CAN_ERR_PROT_LOC_DLC },	  { 255, 0 },
};
static const struct place extended[] = {
	{ 0, CAN_ERR_PROT_LOC_SOF },
	{ 8, CAN_ERR_PROT_LOC_ID28_21 },
	{ 11, CAN_ERR_PROT_LOC_ID20_18 },
	{ 12, CAN_ERR_PROT_LOC_SRTR },
	{ 13, CAN_ERR_PROT_LOC_IDE },
	{ 18, CAN_ERR_PROT_LOC_ID17_13 },
	{ 26, CAN_ERR_PROT_LOC_ID12_05 },
	{ 31, CAN_ERR_PROT_LOC_ID04_00 },
	{ 32, CAN_ERR_PROT_LOC_RTR },
	{ 33, CAN_ERR_PROT_LOC_RES1 },
	{ 34, CAN_ERR_PROT_LOC_RES0 },
	{ 38, CAN_ERR_PROT_LOC_DLC },
	{ 255, 0 },
};

uint8_t engine_detect_place(const struct frame *f, unsigned int at)
{
	static const uint8_t tail[] = { CAN_ERR_PROT_LOC_CRC_DEL, CAN_ERR_PROT_LOC_ACK, CAN_ERR_PROT_LOC_ACK_DEL };
	const struct place *p = f->id & FRAME_EXT ? extended : standard;
	struct engine_stream stream;
	unsigned int bit, fixed;

	engine_detect_stream(&stream, f);
	fixed = stream.n - CRC_DELIMITER;
	if (at >= fixed)
		return at - fixed < sizeof(tail) ? tail[at - fixed] : CAN_ERR_PROT_LOC_EOF;
	bit = plain(&stream, at);
	if (stream.fd && bit > arbitration_bits(f))
		return bit < fixed - CRC_FD_MAX ? CAN_ERR_PROT_LOC_DATA : CAN_ERR_PROT_LOC_CRC_SEQ;
	while (bit > p->last)
		p++;
	if (p->place)
		return p->place;
	return bit > p[-1].last + 8 * frame_data_len(f) ? CAN_ERR_PROT_LOC_CRC_SEQ : CAN_ERR_PROT_LOC_DATA;
}
