/* judge.c: what a driver makes of the e-stop channels. */
#include <string.h>

#include "daemons/port.h"
#include "launch/achctl/judge.h"
#include "launch/achstart/terminal.h"

#define AT_ONCE 64 /* as many as a channel retains */

static const char *const channels[DRV_ESTOP_CHANNELS] = { "estop", "estop-b" };

bool judge_open(struct judge *j)
{
	bool all = true;

	memset(j, 0, sizeof(*j));
	drv_estop_start(&j->estop);
	for (unsigned int c = 0; c < DRV_ESTOP_CHANNELS; c++) {
		char name[PORT_NAME_MAX];

		j->open[c] = !port_name(name, channels[c]) && ach_open(&j->chan[c], name, NULL) == ACH_OK;
		j->fresh[c] = true;
		all &= j->open[c];
	}
	return all;
}

void judge_close(struct judge *j)
{
	for (unsigned int c = 0; c < DRV_ESTOP_CHANNELS; c++)
		if (j->open[c])
			ach_close(&j->chan[c]);
	memset(j->open, 0, sizeof(j->open));
}

static void note(struct judge *j, const struct msg_estop *msg)
{
	if (msg->level == MSG_LEVEL_RUN || msg->level <= j->highest)
		return;
	j->highest = msg->level > MSG_LEVEL_ESTOP ? MSG_LEVEL_ESTOP : (enum msg_level)msg->level;
	memcpy(j->who, msg->who, sizeof(j->who));
	memcpy(j->why, msg->why, sizeof(j->why));
	j->who[sizeof(j->who) - 1] = j->why[sizeof(j->why) - 1] = 0;
	terminal_clean(j->who);
	terminal_clean(j->why);
}

/* false: no more now. */
static bool take_one(struct judge *j, unsigned int c)
{
	const struct msg_type *type = msg_type_by_number(msg_estop_number);
	struct msg_estop msg;
	size_t len = 0;
	enum ach_status status = ach_get(&j->chan[c], &msg, sizeof(msg), &len, NULL, ACH_O_FIRST);

	if (status == ACH_EAGAIN)
		return false;
	if (status != ACH_OK && status != ACH_MISSED_FRAME) {
		drv_estop_trouble(&j->estop, c, "its channel cannot be read");
		return false;
	}
	if (status == ACH_MISSED_FRAME && !j->fresh[c])
		drv_estop_trouble(&j->estop, c, "messages were missed");
	j->fresh[c] = false;
	if (msg_check(&msg, len, type, NULL) == MSG_FINE) {
		drv_estop_message(&j->estop, c, &msg, j->chan[c].seq_num);
		note(j, &msg);
	}
	return true;
}

void judge_look(struct judge *j)
{
	drv_estop_begin(&j->estop);
	for (unsigned int c = 0; c < DRV_ESTOP_CHANNELS; c++)
		for (int i = 0; j->open[c] && i < AT_ONCE && take_one(j, c); i++)
			;
	drv_estop_end(&j->estop);
}

void judge_mark(struct judge *j)
{
	j->highest = MSG_LEVEL_RUN;
	*j->who = *j->why = 0;
}
