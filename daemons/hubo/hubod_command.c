/* hubod_command.c: commands to boards: those of requests and homing; bridges and control on; boards that went off. */
#include "daemons/hubo/hubod.h"

#define ENABLE_CYCLES 50

unsigned int hubod_first_joint(const struct hubod_board *b)
{
	return b->joints_n ? b->joints[0] : DRV_ALL;
}

int hubod_command(struct hubod *h, struct drv *drv, unsigned int board, enum jmc_command command, unsigned int motor,
		  const int32_t *values)
{
	struct hubod_board *b = &h->boards[board];
	struct frame frame;
	const bool moves = command == JMC_HOME || command == JMC_CONTROL_ON || (command == JMC_FET && values[0]);
	int status = jmc_encode(&frame, (unsigned int)b->table->number, command, motor, values);

	if (!status)
		status = drv_send(drv, moves ? b->home : b->command, &frame);
	if (!status)
		hubod_board_param_changed(h, board, command, motor);
	return status;
}

void hubod_enable(struct hubod *h, struct drv *drv, unsigned int board)
{
	const int32_t on = 1;

	hubod_command(h, drv, board, JMC_FET, 0, &on);
	hubod_command(h, drv, board, JMC_CONTROL_ON, 0, NULL);
	h->boards[board].is_on = true; /* until its next status: a second time would end a homing */
	for (int i = 0; i < HUBO_JOINTS; i++)
		h->joints[i].on |= h->joints[i].active && h->joints[i].board == board;
	hubod_set_off(drv, &h->boards[board], false);
}

/* Most often it was without power, and has forgotten its zeros: to switch it on again is for a person to ask. */
void hubod_set_off(struct drv *drv, struct hubod_board *board, bool off)
{
	const unsigned int joint = hubod_first_joint(board);

	if (off && !board->off)
		drv_fault(drv, joint, "off", "%s (%s ...) is off: home it, or activate it if its zero is right",
			  board->table->name, hubo_joint_name((int)joint));
	else if (!off && board->off)
		drv_fault_clear(drv, joint, "off");
	board->off = off;
}

/* Boards that say they are off; each ENABLE_CYCLES, since the next status has to come first. */
void hubod_enable_boards(struct hubod *h, struct drv *drv)
{
	if (!h->settings.enable || !drv_may_move(drv) || h->home.on || h->cycle.now % ENABLE_CYCLES)
		return;
	for (unsigned int i = 0; i < h->boards_n; i++)
		if (h->boards[i].active && h->boards[i].status_known && !h->boards[i].is_on && !h->boards[i].off &&
		    !h->boards[i].silent)
			hubod_enable(h, drv, i);
}

void hubod_quiet(struct hubod *h, int64_t until_ns)
{
	if (h->quiet_until_ns < until_ns)
		h->quiet_until_ns = until_ns;
}
