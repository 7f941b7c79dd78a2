/* check.h: whether a robot can be started, found without moving anything.
 *
 *	struct check check;
 *
 *	check_robot(&check, &launch, &errors, &warnings);
 *	check_print(&check, &launch, stdout);
 *	check_free(&check);
 *
 * Of the daemons that are wanted:
 *	errors		the robot cannot work as written (exit status 100): a program that is not there, a driver or
 *			the simulator that refuses its configuration (DRIVER ... --check, exit status 100), does not
 *			answer or answers nonsense (DRIVER ... --frames), identifiers that two would send on one bus,
 *			something of a bus that two need alone, a bus loaded above 90 %, a core that the machine does
 *			not have, arm: auto with an interface that is not virtual
 *	warnings	it cannot work now (exit status 111), but devices may come later: an interface that is missing
 *			or up with other values, a soft wire that nobody serves, a driver whose --check says 111
 *	notes		are warnings, too, and the exit status is 0: a soft wire that is there, but served by somebody
 *			else than one of the daemons
 * What the files say was found by launch_open already.
 */
#ifndef LAUNCH_CHECK_CHECK_H
#define LAUNCH_CHECK_CHECK_H

#include <stdio.h>

#include "can/link.h"
#include "launch/check/check_claims.h"
#include "launch/check/check_frames.h"
#include "launch/file/launch_file.h"

#define CHECK_WITHIN_NS 5000000000 /* for each program that is asked */

struct check {
	struct check_frames frames;
	struct check_claims claims;
	unsigned int notes; /* of the warnings, those that change nothing: it works as long as others do their part */
};

/* Runs each driver twice and the simulator once, several at a time, and looks at interfaces.  It starts no bus, writes
 * no channel, and takes little more than CHECK_WITHIN_NS for eight drivers that hang.  How many lines were added to
 * both sinks. */
unsigned int check_robot(struct check *check, const struct launch *launch, struct error_sink *errors,
			 struct error_sink *warnings);
unsigned int check_robot_within(struct check *check, const struct launch *launch, int64_t within_ns,
				struct error_sink *errors, struct error_sink *warnings);
void check_free(struct check *check);

/* What is wrong with a link that is there; pure. */
void check_link(const struct launch *launch, const struct robot_bus *bus, const struct link_info *info,
		struct error_sink *errors, struct error_sink *warnings);

/* How the link of a bus is wanted, for link_up. */
struct link_settings check_link_settings(const struct robot_bus *bus);

/* For people: a line for each bus (interface, bit rate, load, frames a second), one for each daemon (program, what it
 * needs, priority, core). */
void check_print(const struct check *check, const struct launch *launch, FILE *to);

#endif
