/* fuzz_pcio.c: arbitrary bytes as a frame on the bus of PowerCube modules, and as values that a driver sends: a decoded
 * reply belongs to a request of ours and is finite, an encoded request is a valid frame, a refused one changes nothing.
 *
 * Longest: 176 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemons/pcio/pcio.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The request that a reply answers. */
static void request_of(const struct pcio_reply *r, struct frame *f)
{
	enum pcio_motion motion = (enum pcio_motion)r->parameter;

	switch (r->command) {
	case PCIO_GET:
		must(!pcio_encode_get(r->module, r->parameter, f));
		break;
	case PCIO_SET:
		/* One of another host's, perhaps, of a parameter that we do not set. */
		if (pcio_encode_set(r->module, r->parameter, 1, f))
			*f = (struct frame){ .id = PCIO_ID_PUT + r->module,
					     .len = 2,
					     .data = { PCIO_SET, r->parameter } };
		break;
	case PCIO_MOVE:
		/* Steps are another host's. */
		if (pcio_encode_move(r->module, motion, 0, f))
			*f = (struct frame){ .id = PCIO_ID_PUT + r->module,
					     .len = 8,
					     .data = { PCIO_MOVE, r->parameter } };
		break;
	default:
		must(!pcio_encode_command(r->module, (enum pcio_command)r->command, f));
	}
}

static void check_reply(const struct frame *f)
{
	struct pcio_reply r, before;
	struct frame request;

	memset(&r, 0x5A, sizeof(r));
	before = r;
	if (pcio_decode(&r, f, 7)) {
		must(!memcmp(&r, &before, sizeof(r)));
		return;
	}
	must(r.t_ns == 7 && r.module >= 1 && r.module <= PCIO_MODULE_MAX && isfinite(r.value));
	must(f->len <= FRAME_DATA_MAX && !f->flags);
	request_of(&r, &request);
	must(request.data[0] == f->data[0] && (request.len < 2 || request.data[1] == f->data[1]));
}

static void check_sent(int error, const struct frame *f, const struct frame *before)
{
	if (error)
		must(!memcmp(f, before, sizeof(*f)));
	else
		must(frame_valid(f) && f->len <= FRAME_DATA_MAX);
}

static void check_requests(uint32_t module, uint32_t second, double value)
{
	struct frame f, before;

	memset(&before, 0xA5, sizeof(before));
	f = before;
	check_sent(pcio_encode_set(module, second, value, &f), &f, &before);
	f = before;
	check_sent(pcio_encode_get(module, second, &f), &f, &before);
	f = before;
	check_sent(pcio_encode_move(module, (enum pcio_motion)second, value, &f), &f, &before);
	f = before;
	check_sent(pcio_encode_command(module, (enum pcio_command)second, &f), &f, &before);
	f = before;
	if (!pcio_encode_all((enum pcio_command)second, &f))
		must(frame_valid(&f));
}

static void check_words(uint32_t word, size_t size)
{
	char *text = malloc(size); /* its very size, so that the sanitizer sees one byte too many */

	pcio_text(text, size, word);
	must(strlen(text) < size);
	free(text);
	must(!(pcio_faults(word) & ~word) && (pcio_worst(word) >= PCIO_KIND_FAULT) == !!pcio_faults(word));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct {
		uint32_t module, second, size, word;
		double value;
		struct frame frame;
	} in = { 0 };

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	check_reply(&in.frame);
	/* Few random frames come from a module, so try again with a module's identifier. */
	in.frame.id = PCIO_ID_ACK + (in.frame.id & 0x1F);
	in.frame.flags = 0;
	check_reply(&in.frame);
	check_requests(in.module, in.second, in.value);
	check_requests(in.module % 32, in.second % 160, in.value);
	check_words(in.word, 1 + in.size % PCIO_TEXT_MAX);
	return 0;
}
