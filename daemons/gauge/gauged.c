/* gauged.c: a sensor that is asked and then streams; hw-docs/guides/write-a-driver.md walks through it. */
#include "config/base/base.h"
#include "daemons/drv/drv.h"
#include "daemons/gauge/gauge.h"
#include "daemons/gauge/gauged_settings.h"

#define PERIOD_MS 10
#define PERIOD_NS 10000000
#define SILENT_NS 200000000 /* longer than it takes to ask for the stream */
#define LATE_NS 100000000   /* it answers within 80 ms, a bias included */
#define LOST_NS 500000000

enum { ASK };		/* the row it sends, and the question */
enum { REPLY, SAMPLE }; /* the rows it receives */

static const uint8_t first[][2] = {
	{ GAUGE_FACTOR, 0 }, { GAUGE_FACTOR, 1 }, { GAUGE_FACTOR, 2 }, { GAUGE_STREAM, PERIOD_MS }
};
#define ALL 0xFu

struct gauged {
	struct gauged_settings settings; /* first: the loop fills them in */
	unsigned int answered;		 /* bits of first */
	double newton_per_count[GAUGE_AXES];
	struct gauge_sample got;
};

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	const uint32_t node = (uint32_t)((struct gauged *)self)->settings.node;
	const struct drv_send ask = {
		.row = { .id = GAUGE_ID_ASK + node, .class = SLOTS_QUEUE, .deadline_ns = LATE_NS, .harmless = true },
		.len = GAUGE_ASK_LEN,
	};
	const struct drv_receive reply = { .id = GAUGE_ID_REPLY + node, .len_min = 3, .len_max = 6 };
	const struct drv_receive sample = {
		.id = GAUGE_ID_SAMPLE + node,
		.len_min = GAUGE_SAMPLE_LEN,
		.len_max = GAUGE_SAMPLE_LEN,
		.period_ns = PERIOD_NS,
		.silent_after_ns = SILENT_NS,
		.from = "the gauge",
	};
	const struct drv_question question = {
		.send = ASK,
		.receive = REPLY,
		.echo = { { .request = 0, .reply = 0, .mask = 0xFF }, { .request = 1, .reply = 1, .mask = 0xFF } },
		.late_ns = LATE_NS,
		.lost_ns = LOST_NS,
		.tries = 3,
	};

	drv_add_send(drv, &ask, errors);
	drv_add_receive(drv, &reply, errors);
	drv_add_receive(drv, &sample, errors);
	drv_add_question(drv, &question, errors);
	return errors->count ? -EINVAL : 0;
}

/* While the same request is under way, or its reply is owed, drv_ask returns -EBUSY: the driver itself tracks
 * nothing. */
static int ask(const struct gauged *g, struct drv *drv, uint8_t what, uint8_t index, uint32_t tag)
{
	struct frame frame;

	gauge_encode_ask((unsigned int)g->settings.node, what, index, &frame);
	return drv_ask(drv, ASK, &frame, tag);
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	const struct gauged *g = self;

	(void)orders;
	for (uint32_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		if (!(g->answered & 1u << i))
			ask(g, drv, first[i][0], first[i][1], i);
	return g->answered == ALL ? DRV_DONE : DRV_AGAIN;
}

/* Switched off and on, it has forgotten its stream. */
static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	(void)orders;
	if (!drv_silent(drv, SAMPLE))
		return;
	((struct gauged *)self)->answered = 0;
	drv_start_again(drv);
}

static bool answer(void *self, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply)
{
	struct gauged *g = self;
	struct gauge_reply got = { 0 };
	const int status = reply ? gauge_decode_reply(&got, &reply->frame) : -ETIMEDOUT;

	if (asked->request.data[0] == GAUGE_BIAS) {
		drv_reply(drv, asked->tag, status, "%s", status ? "the gauge did not answer, or refused" : "biased");
	} else if (status) {
		drv_fault(drv, DRV_ALL, "no-answer", "no answer in %u tries, error %u", asked->tries, got.error);
	} else {
		drv_fault_clear(drv, DRV_ALL, "no-answer");
		g->answered |= 1u << asked->tag;
		if (got.what == GAUGE_FACTOR)
			g->newton_per_count[asked->tag] = got.value * 1e-9;
	}
	return false;
}

/* Each sample is a message, however many come in a tick. */
static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct gauged *g = self;

	if (row == SAMPLE && g->answered == ALL && !gauge_decode_sample(&g->got, &got->frame, got->t_ns))
		drv_publish(drv);
	return false;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct gauged *g = self;
	struct msg_ft *s = state;

	(void)drv;
	if (!g->got.t_ns)
		return 0;
	for (unsigned int i = 0; i < GAUGE_AXES; i++)
		s->force[i] = g->got.counts[i] * g->newton_per_count[i];
	s->saturated = g->got.saturated;
	s->age_ns = now_ns - g->got.t_ns;
	return g->got.t_ns;
}

static const struct drv_verb verbs[] = { { .verb = MSG_VERB_BIAS, .exclusive = true }, { 0 } };

/* The handle is the tag of the question. */
static int request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	const int status = ask(self, drv, GAUGE_BIAS, 0, handle);

	(void)request;
	(void)now_ns;
	return status ? status : DRV_LATER;
}

static const struct drv_driver driver = {
	.program = "gauged",
	.about = "drives the example force gauge",
	.size = sizeof(struct gauged),
	.settings = gauged_settings_rows,
	.state = msg_ft_number,
	.streams = true,
	.declare = declare,
	.start = start,
	.tick = tick,
	.rx = rx,
	.answer = answer,
	.fill = fill,
	.verbs = verbs,
	.request = request,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
