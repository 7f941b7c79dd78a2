/* options.h: command lines from a table, the same kind as settings.
 *
 *	struct pciod_options {
 *		const char *name;
 *		struct settings_strings bus, set;
 *		bool check;
 *	};
 *	static const struct settings_row rows[] = {
 *		SETTINGS_STRING("name", struct pciod_options, name, SETTINGS_REQUIRED,
 *				"the device's name", .value = "N"),
 *		SETTINGS_STRINGS("bus", struct pciod_options, bus, "the bus that plays a role", .value = "[ROLE=]BUS"),
 *		SETTINGS_STRINGS("set", struct pciod_options, set, "a setting; wins over the file", .value = "K=V"),
 *		SETTINGS_BOOL("check", struct pciod_options, check, "no", "check everything and stop"),
 *		SETTINGS_END,
 *	};
 *	struct pciod_options options = { 0 };
 *	struct options command = { .program = "pciod", .about = "drives Schunk PowerCube modules",
 *				   .rows = rows, .values = &options, .version = VERSION, .settings = &settings };
 *
 *	status = options_main(&command, &argc, argv);
 *	if (status != OPTIONS_RUN)
 *		return status;
 *
 * Long options: --name VALUE, --name=VALUE, --flag; what begins with no dash, and all behind "--", are arguments.
 * A BOOL is a flag, STRINGS may be repeated, .value names the value in the help, .letter is for an older spelling
 * (-n 64) that must live on.  Values are checked as settings are:
 *
 *	pciod: --buss: unknown option; did you mean --bus? (pciod --help lists them)
 *	ach hz: --for: "long" is not a duration such as 5ms
 */
#pragma once

#include "config/settings/settings.h"

#define OPTIONS_VERSION "2.0.0" /* of all of Endplate */

enum options_outcome {
	OPTIONS_GO,	/* the command line is complete */
	OPTIONS_ANSWER, /* --help, --version or --settings: options_answer, then the end */
	OPTIONS_WRONG,	/* lines in errors */
};

struct options {
	const char *program; /* with its command: "ach echo" */
	const char *about;   /* one line */
	const struct settings_row *rows;
	void *values;
	const char *arguments;		  /* for the help: "CHANNEL..."; NULL: there are none */
	int arguments_min, arguments_max; /* how many; max < 0: any number */
	const char *version;		  /* what --version says behind the program's name; NULL: no --version */
	struct settings *settings;	  /* what --settings lists; NULL: no --settings */
	const char *notes;		  /* printed behind the help as it is; NULL: nothing */

	/* filled in by options_read */
	uint64_t given;	    /* bit per row */
	const char *answer; /* "help", "version", "settings" */
};

/* Reads the line.  The arguments move to the front, argv[0] to argv[*argc - 1]; strings point into argv. */
enum options_outcome options_read(struct options *options, int *argc, char **argv, struct error_sink *errors);

/* Reads the line of a program, and answers --help, --version and --settings on standard output.  Returns OPTIONS_RUN,
 * or the status to exit with: 0 behind an answer, 100 if the line is wrong, behind lines on standard error. */
#define OPTIONS_RUN -1
int options_main(struct options *options, int *argc, char **argv);

/* Prints what was asked for. */
void options_answer(const struct options *options, FILE *to);
