/* estop_lower.c: which lowering of the e-stop drivers obey. */
#include <unistd.h>

#include "channels/estop/estop_lower.h"

#define LINE_SIZE 64
#define ENDED_WELL " ended well\n"

bool estop_lower_is_driver(const struct msg_common *state, const uint64_t boot[2])
{
	return (boot[0] || boot[1]) && !memcmp(state->boot, boot, sizeof(state->boot));
}

bool estop_lower_is_taken(const struct msg_common *state, const uint64_t boot[2], uint64_t chan, uint64_t base)
{
	return estop_lower_is_driver(state, boot) && base && state->base_chan == chan && state->base_seq == base &&
	       state->level == MSG_LEVEL_RUN;
}

void estop_lower_add(struct estop_kept *kept, const struct msg_common *state, const uint64_t boot[2], uint64_t chan)
{
	const enum msg_level level =
		state->base_level > MSG_LEVEL_ESTOP ? MSG_LEVEL_ESTOP : (enum msg_level)state->base_level;

	if (!estop_lower_is_driver(state, boot) || state->base_chan != chan || !state->base_seq ||
	    state->base_seq < kept->base)
		return;
	if (state->base_seq == kept->base && level <= kept->level)
		return;
	*kept = (struct estop_kept){ { boot[0], boot[1] }, chan, state->base_seq, level };
}

/* ---- $RUN/epoch ---- */

struct epoch epoch_read(void)
{
	const int folder = run_open(&(struct error_sink){ 0 });
	char line[LINE_SIZE] = "", *end;
	const int n =
		folder < 0 ? folder : safe_path_read(folder, "epoch", line, sizeof(line), &(struct error_sink){ 0 });
	struct epoch epoch = { 0, n == -ENOENT };

	if (folder >= 0)
		close(folder);
	if (n <= 0 || line[0] < '0' || line[0] > '9')
		return epoch;
	errno = 0;
	epoch.last = strtoull(line, &end, 10);
	epoch.ended_well = !strcmp(end, ENDED_WELL);
	return errno || (!epoch.ended_well && strcmp(end, "\n") != 0) ? (struct epoch){ 0, false } : epoch;
}

int epoch_write(const struct epoch *epoch, struct error_sink *errors)
{
	const int folder = run_folder("", errors);
	char line[LINE_SIZE];
	const int len = snprintf(line, sizeof(line), "%llu%s", (unsigned long long)epoch->last,
				 epoch->ended_well ? ENDED_WELL : "\n");
	int status;

	if (folder < 0)
		return folder;
	status = safe_path_write(folder, "epoch", 0600, line, (size_t)len);
	close(folder);
	if (status)
		error_add(errors, "unable to write $RUN/epoch: %s", strerror(-status));
	return status;
}

struct epoch epoch_next(const struct epoch *epoch, uint64_t now)
{
	const uint64_t next = (epoch->last > now ? epoch->last : now) + 1;

	return (struct epoch){ next ? next : 1, false };
}
