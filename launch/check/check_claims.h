/* check_claims.h: what drivers say that only one process may have of a bus (--frames, "claims"): the pacing of it, all
 * modules of a kind.  Pure.
 *
 *	struct check_claims claims = { 0 };
 *
 *	check_claims_read(&claims, waist, root, &errors);		for each driver
 *	check_claims_clashes(&claims, &errors);
 */
#ifndef LAUNCH_CHECK_CHECK_CLAIMS_H
#define LAUNCH_CHECK_CHECK_CLAIMS_H

#include "launch/file/launch_file.h"

#define CHECK_CLAIMS_MAX (16 * LAUNCH_DAEMONS_MAX) /* as many as a driver can make */

struct check_claim {
	const struct launch_daemon *daemon;
	const struct robot_bus *bus;
	char what[TEXT_NAME_MAX + 1];
};

struct check_claims {
	struct check_claim rows[CHECK_CLAIMS_MAX];
	size_t n;
};

/* Adds what a driver printed, if it has claims.  0, or -EINVAL with lines "waist --frames:1: claims: ..." in errors. */
int check_claims_read(struct check_claims *claims, const struct launch_daemon *daemon, const struct yaml_node *root,
		      struct error_sink *errors);
/* A line for each claim that two make.  How many. */
unsigned int check_claims_clashes(const struct check_claims *claims, struct error_sink *errors);

#endif
