/* drv_question.c: a driver's questions to its device, between drv_ask.h and the driver.  Checked: covered. */
#include "daemons/drv/drv_inside.h"

_Static_assert(DRV_SENDS_MAX <= DRV_ASK_ROWS_MAX && DRV_RECEIVES_MAX <= DRV_ASK_ROWS_MAX, "every row has its place");

/* ---- declaring ---- */

int drv_add_question(struct drv *drv, const struct drv_question *question, struct error_sink *errors)
{
	const bool there = question->send < drv->sends_n && question->receive < drv->receives_n &&
			   drv->receives[question->receive].row >= 0;
	const unsigned int bus = there ? drv->sends[question->send].bus : 0;
	struct drv_send *send;
	int number;

	if (!there || drv->receives[question->receive].bus != bus)
		return error_refuse(errors, -EINVAL,
				    "a question needs a row to send and a row to receive, on the same bus");
	number = drv_ask_add(&drv->asks, question);
	if (number == -ENOSPC)
		error_add(errors, "more than %d questions", DRV_ASK_QUESTIONS_MAX);
	else if (number < 0)
		error_add(errors, "a question needs late_ns, lost_ns that is not less, and a row to send of its own");
	if (number < 0)
		return number;
	send = &drv->buses[bus].sends[drv->sends[question->send].row];
	send->answered = true;
	send->reply_id = drv->buses[bus].receives[drv->receives[question->receive].row].row.id;
	send->reply_within_ns = question->lost_ns;
	return number;
}

/* ---- asking ---- */

static int ask(struct drv *drv, unsigned int question, const struct frame *request, uint32_t tag, bool stops)
{
	int status = drv_ask_may(&drv->asks, question, request);

	if (!status)
		status = (stops ? drv_send_stop : drv_send)(drv, drv->asks.questions[question].row.send, request);
	if (!status)
		drv_ask_put(&drv->asks, question, request, tag, drv->now_ns);
	return status;
}

int drv_ask(struct drv *drv, unsigned int question, const struct frame *request, uint32_t tag)
{
	return ask(drv, question, request, tag, false);
}

int drv_ask_stop(struct drv *drv, unsigned int question, const struct frame *request, uint32_t tag)
{
	return ask(drv, question, request, tag, true);
}

void drv_await(struct drv *drv, unsigned int bus, unsigned int answers, uint8_t len)
{
	struct drv_bus *b = &drv->buses[bus];

	b->awaited = answers;
	b->awaited_ns = slots_frame_ns(&b->slots, 0, len, b->fd ? FRAME_FD | FRAME_BRS : 0);
}

/* ---- answers ---- */

static void pass_on(struct drv *drv, const struct drv_ask_answer *answer, const struct bus_frame *reply)
{
	struct drv_bus *bus = &drv->buses[drv->sends[drv->asks.questions[answer->question].row.send].bus];

	if (bus->awaited)
		bus->awaited--;
	if (drv->driver->answer && drv->driver->answer(drv->self, drv, answer, reply))
		drv_complete(drv);
}

bool drv_question_reply(struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct drv_ask_answer answer;
	const enum drv_ask_what what = drv_ask_reply(&drv->asks, row, &got->frame, got->t_ns, &answer);

	if (what == DRV_ASK_ANSWER)
		pass_on(drv, &answer, got);
	return what != DRV_ASK_NOTHING;
}

void drv_question_due(struct drv *drv, int64_t now_ns)
{
	struct drv_ask_answer answer;
	enum drv_ask_what what;

	while ((what = drv_ask_due(&drv->asks, now_ns, &answer)) != DRV_ASK_NOTHING) {
		const unsigned int send = drv->asks.questions[answer.question].row.send;

		if (what == DRV_ASK_AGAIN)
			drv_ask_again(&drv->asks, answer.entry, !drv_send(drv, send, &answer.request), now_ns);
		else
			pass_on(drv, &answer, NULL);
	}
}
