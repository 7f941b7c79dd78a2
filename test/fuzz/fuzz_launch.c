/* fuzz_launch.c: arbitrary bytes as a launch file beside the project's own robot files: error lines, or daemons in an
 * order in which each comes after all it needs, with a command line each.
 *
 * Seeds: launch/?*.launch, test/launch/bad/?*.launch, test/launch/?*.launch.
 * Longest: 8192 bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/file/launch_file.h"
#include "test/fuzz/must.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-launch.XXXXXX", launch_folder[64], config[64], path[80];
static int fd;

static void remove_files(void)
{
	unlink(path);
	unlink(config);
	rmdir(launch_folder);
	rmdir(folder);
}

/* FOLDER/launch/fuzz.launch, and FOLDER/config, which is that of the project: run it from there. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char here[4096], target[4200];

	(void)argc;
	(void)argv;
	must(mkdtemp(folder) && getcwd(here, sizeof(here)));
	snprintf(launch_folder, sizeof(launch_folder), "%s/launch", folder);
	snprintf(config, sizeof(config), "%s/config", folder);
	snprintf(path, sizeof(path), "%s/fuzz.launch", launch_folder);
	snprintf(target, sizeof(target), "%s/config", here);
	must(!mkdir(launch_folder, 0700) && !symlink(target, config));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(fd >= 0);
	atexit(remove_files);
	return 0;
}

/* A line is one line, and begins with the name of a file. */
static void check_line(void *to, const char *line)
{
	(void)to;
	must(*line && *line != ':' && strchr(line, ':') && strlen(line) < ERROR_LINE_MAX);
	for (; *line; line++)
		must((unsigned char)*line >= 0x20 && *line != 0x7F);
}

static void check_daemon(const struct launch *launch, size_t i)
{
	const struct launch_daemon *d = &launch->daemons[i];

	must(launch_daemon(launch, d->name) == d && text_is_name(d->name));
	must(d->argv && d->argv[0] && *d->argv[0] && d->environment);
	for (size_t k = 0; k < d->needs_n; k++)
		must(d->needs[k] < i);
	must(d->buses_n <= LAUNCH_BUSES_MAX && d->priority >= 0 && d->priority <= 99 && d->core >= -1);
	must((d->kind == LAUNCH_DRIVER) == (d->device != NULL));
	must((d->alive == LAUNCH_ALIVE_STATE) == (d->channel != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error_sink errors = { check_line, NULL, 0 };
	struct launch launch;
	int err;

	must(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	err = launch_open(&launch, path, &errors);
	must((err != 0) == (errors.count != 0));
	if (err)
		return 0;
	must(text_is_name(launch.name) && launch.daemons_n <= LAUNCH_DAEMONS_MAX);
	must(!launch.clock || launch_daemon(&launch, launch.clock));
	for (size_t i = 0; i < launch.daemons_n; i++) {
		struct launch_mux mux;

		check_daemon(&launch, i);
		launch_mux(&launch.daemons[i], &mux);
		launch_hash(&launch.daemons[i]);
	}
	for (size_t i = 0; i < launch.groups_n; i++)
		must(!launch_group(&launch, launch.groups[i].name, &errors));
	launch_rights(&launch, &errors);
	launch_close(&launch);
	return 0;
}
