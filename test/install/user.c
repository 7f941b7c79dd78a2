/* A user's program that uses the installed libach: C and C++ at once. */
#include <ach.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	ach_channel_t chan;
	char got[8] = "";
	size_t size = 0;
	enum ach_status status;

	if (argc != 2)
		return 2;
	status = ach_create(argv[1], 4, 64, NULL);
	if (status == ACH_OK)
		status = ach_open(&chan, argv[1], NULL);
	if (status == ACH_OK)
		status = ach_put(&chan, "hello", 6);
	if (status == ACH_OK)
		status = ach_get(&chan, got, sizeof got, &size, NULL, ACH_O_LAST);
	if (status == ACH_OK && ach_status_match(status, ACH_MASK_OK | ACH_MASK_MISSED_FRAME))
		status = ach_close(&chan);
	ach_unlink(argv[1]);
	printf("%s %zu %s\n", ach_result_to_string(status), size, got);
	return status != ACH_OK || size != 6 || strcmp(got, "hello") != 0;
}
