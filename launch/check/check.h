/* check.h: whether a robot can be started, found without moving anything.
 *
 *	struct check check;
 *
 *	check_robot(&check, &launch, CHECK_WITHIN_NS, &errors, &warnings);
 *	check_print(&check, &launch, stdout);
 *	check_frames_free(&check.frames);
 *
 * Of the daemons that are wanted:
 *	errors		the robot cannot work as written (exit status 100): a program that is not there, a driver that
 *			is not a driver, a driver or the simulator that refuses its configuration (DRIVER ... --check,
 *			exit status 100), does not answer or answers nonsense (DRIVER ... --frames), two daemons in
 *			conflict on a bus, a bus loaded above 90 % or without time for a frame, a core that the machine
 *			does not have, arm: auto with an interface that is not virtual, a daemon that listens where no
 *			network socket is allowed
 *	warnings	it cannot work now (exit status 111), but devices may come later: an interface that is missing
 *			or up with other values, a soft wire that is not served, a driver whose --check exits with 111,
 *			a port that another user has
 *	notes		are warnings, too, and the exit status is 0: a soft wire that is there, but not served by one
 *			of the daemons, limits that seem to be in degrees
 * Each has the file and line of the launch file, and one cause is reported once.  Errors within the files were found by
 * launch_open already.
 */
#pragma once

#include "can/bus/link.h"
#include "launch/check/check_frames.h"

#define CHECK_WITHIN_NS 5000000000 /* usual, for each program */

struct check {
	struct check_frames frames;
	unsigned int notes; /* of the warnings, those that change nothing: it works as long as others do their part */
};

/* Prints what the wanted drivers print with --frames, with the bit rates of the buses, for canbudget(1):
 * {robot, buses: [{name, interface, bitrate, data_bitrate}], drivers: [...]}. */
void check_frames_print(const struct launch *launch, int64_t within_ns, FILE *to, struct error_sink *errors);

/* Runs each driver twice and the simulator once, several at a time, each for within_ns at most, and looks at
 * interfaces. It starts no bus and writes no channel.  A program without the mark of a driver (launch_is_driver) is not
 * run. */
void check_robot(struct check *check, const struct launch *launch, int64_t within_ns, struct error_sink *errors,
		 struct error_sink *warnings);

/* What is wrong with a link that is there; pure. */
void check_link(const struct launch *launch, const struct robot_bus *bus, const struct link_info *info,
		struct error_sink *errors, struct error_sink *warnings);

/* How the link of a bus is wanted, for link_up. */
struct link_settings check_link_settings(const struct robot_bus *bus);

/* For people: a line for each bus (interface, bit rate, load, frames a second), one for each daemon (program, what it
 * needs, priority, core). */
void check_print(const struct check *check, const struct launch *launch, FILE *to);

/* ---- the robot as a picture: achstart --graph waist.launch | dot -Tsvg >robot.svg
 *
 * From left to right: channels, the processes that write and read them, buses, devices.  Only wanted daemons.  Pure.
 */

/* Prints it in the language of graphviz. */
void graph_print(const struct launch *launch, FILE *to);
