/* gauge.c: the codec of the example force gauge.  Checked: pure, covered. */
#include "config/base/base.h"
#include "daemons/gauge/gauge.h"

void gauge_encode_ask(unsigned int node, enum gauge_what what, uint8_t index, struct frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	frame->id = GAUGE_ID_ASK + node;
	frame->len = GAUGE_ASK_LEN;
	frame->data[0] = (uint8_t)what;
	frame->data[1] = index;
}

int gauge_decode_reply(struct gauge_reply *reply, const struct frame *frame)
{
	const bool refused = frame->len == GAUGE_REFUSAL_LEN;

	if (frame->len != GAUGE_REPLY_LEN && !refused)
		return -EMSGSIZE;
	reply->what = frame->data[0];
	reply->index = frame->data[1];
	reply->error = refused ? frame->data[2] : 0;
	reply->value = refused ? 0 : (int32_t)frame_le32(frame->data + 2);
	return refused ? -EREMOTEIO : 0;
}

int gauge_decode_sample(struct gauge_sample *sample, const struct frame *frame, int64_t t_ns)
{
	if (frame->len != GAUGE_SAMPLE_LEN)
		return -EMSGSIZE;
	sample->t_ns = t_ns;
	sample->saturated = 0;
	for (unsigned int i = 0; i < GAUGE_AXES; i++) {
		sample->counts[i] = (int16_t)frame_le16(frame->data + 2 * i);
		if (sample->counts[i] == INT16_MAX || sample->counts[i] == INT16_MIN)
			sample->saturated |= 1u << i;
	}
	sample->number = frame->data[6];
	return 0;
}
