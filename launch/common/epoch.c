/* epoch.c: $RUN/epoch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/owned.h"
#include "config/run.h"
#include "launch/common/epoch.h"

#define LINE_SIZE 64
#define ENDED_WELL " ended well\n"

struct epoch epoch_read(void)
{
	const int folder = run_open(&(struct error_sink){ 0 });
	char line[LINE_SIZE] = "", *end;
	const int n = folder < 0 ? folder : owned_read(folder, "epoch", line, sizeof(line), &(struct error_sink){ 0 });
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
	status = owned_write(folder, "epoch", 0600, line, (size_t)len);
	close(folder);
	if (status)
		error_add(errors, "unable to write $RUN/epoch: %s", strerror(-status));
	return status;
}
