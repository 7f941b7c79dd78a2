/* achstart.c: brings a robot up from its launch file, and restarts daemons that die. */
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "config/settings/options.h"
#include "launch/achstart/deadman.h"
#include "launch/achstart/supervise.h"
#include "launch/achstart/virtual.h"
#include "launch/check/check.h"

#define CLAIM_TRIES 20
#define CLAIM_RETRY_NS 5000000

static struct error_sink warnings = { error_to_stderr, &(struct error_who){ "achstart", NULL, ERROR_WARNING }, 0 };

struct achstart_options {
	bool check, frames, graph, name, real;
	const char *group;
	struct virtual_line clock;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("check", struct achstart_options, check, "no",
		      "find everything that can be found without moving, and stop"),
	SETTINGS_BOOL("frames", struct achstart_options, frames, "no",
		      "print the frames of all drivers for canbudget, and stop"),
	SETTINGS_BOOL("graph", struct achstart_options, graph, "no",
		      "print processes, channels and buses for graphviz, and stop"),
	SETTINGS_BOOL("name", struct achstart_options, name, "no",
		      "print the robot's name, for achctl --robot, and stop"),
	SETTINGS_STRING("group", struct achstart_options, group, NULL, "only these daemons, and what they need",
			.value = "NAME"),
	SETTINGS_BOOL("virtual", struct achstart_options, clock.on, "no",
		      "run the robot on a clock of its own, as fast as possible"),
	SETTINGS_BOOL("real", struct achstart_options, real, "no",
		      "run in real time; default: on soft wires alone a virtual clock, in step with life"),
	SETTINGS_INT("seed", struct achstart_options, clock.seed, "", NULL, "0", NULL,
		     "seed of start-up times and noise; default 1", .value = "N"),
	SETTINGS_STRING("rate", struct achstart_options, clock.rate, NULL, "rate of the clock, times life, or max",
			.value = "R"),
	SETTINGS_DURATION("for", struct achstart_options, clock.for_ns, "0", "0", NULL,
			  "stop after that time; 0: run on"),
	SETTINGS_STRINGS("kill", struct achstart_options, clock.kills,
			 "kill NAME@TIME, or at its Nth action then: NAME@TIME+N", .value = "PLAN"),
	SETTINGS_STRINGS("stop", struct achstart_options, clock.stops, "stop NAME@TIME with SIGSTOP", .value = "PLAN"),
	SETTINGS_BOOL("leave", struct achstart_options, clock.leave, "no",
		      "leave a stopped process behind; else the clock stands still with it"),
	SETTINGS_REAL("charge", struct achstart_options, clock.charge, "", "0", "0", "100000",
		      "processor time passes on the clock, multiplied; 0: computing takes no time", .value = "[SCALE]",
		      .bare = "1"),
	SETTINGS_BOOL("uncorrected", struct achstart_options, clock.uncorrected, "no", "charge for the measuring, too"),
	SETTINGS_BOOL("strict", struct achstart_options, clock.strict, "no",
		      "all look outside at every instant: slow, and the same hash"),
	SETTINGS_DURATION("startup", struct achstart_options, clock.startup_ns, "0", "0", "10s",
			  "start-up time of each process; 0: drawn from the seed"),
	SETTINGS_END,
};

static int check(struct launch *launch, const struct virtual_line *clock, struct error_sink *errors)
{
	struct check found;

	virtual_check(clock, launch, errors);
	launch_rights(launch, errors);
	check_robot(&found, launch, CHECK_WITHIN_NS, errors, &warnings);
	check_print(&found, launch, stdout);
	printf("\nclock: %s\n", virtual_name(clock));
	check_frames_free(&found.frames);
	return errors->count ? EXIT_WRONG : warnings.count > found.notes ? EXIT_RETRY : 0;
}

static int print_frames(const struct launch *launch, struct error_sink *errors)
{
	check_frames_print(launch, CHECK_WITHIN_NS, stdout, errors);
	return errors->count ? EXIT_WRONG : fflush(stdout) ? EXIT_RETRY : 0;
}

/* ---- groups ---- */

static bool may_act_for(gid_t group)
{
	const gid_t own = getegid();

	if (setegid(group))
		return false;
	if (setegid(own))
		abort(); /* files made from here on would be the group's */
	return true;
}

static bool is_another(const char *user)
{
	const struct passwd *entry = getpwnam(user);

	return entry && entry->pw_uid && entry->pw_uid != geteuid();
}

/* Is another user in our effective group, as a member or by primary group? */
static bool is_common(void)
{
	const struct group *group = getgrgid(getegid());
	const struct passwd *entry;
	bool common = false;

	for (char **name = group ? group->gr_mem : NULL; name && *name && !common; name++)
		common = is_another(*name);
	setpwent();
	while (!common && (entry = getpwent()))
		common = entry->pw_gid == getegid() && entry->pw_uid && entry->pw_uid != geteuid();
	endpwent();
	return common;
}

static int check_member(const char *key, gid_t group, bool common, struct error_sink *errors)
{
	if (!group_member(group))
		error_add(
			errors,
			"%s: this process is not in the group %u: add its user to the group, or start achstart as root",
			key, (unsigned int)group);
	else if (common)
		error_add(errors,
			  "%s: other users are in group %u, which this process has as its own, and would get the same "
			  "rights: start achstart with a private group (Group=), and this one as a supplementary group",
			  key, (unsigned int)getegid());
	else
		return 0;
	return -EPERM;
}

/* As root, or with CAP_SETGID, the process takes the group operators:.  Otherwise it has to be a member of
 * operators: and moving:, and no other user may be in its own group, which keeps rights to the channels that it
 * makes (ach(7)). */
static int join_groups(const struct launch *l, struct error_sink *errors)
{
	const gid_t none = LAUNCH_NO_GROUP;
	int status = 0;

	if (l->operators != none && l->operators != getegid() && setgid(l->operators))
		status = check_member("operators", l->operators, is_common(), errors);
	if (!status && l->moving != none && l->moving != getegid() && !may_act_for(l->moving))
		status = check_member("moving", l->moving,
				      l->operators == getegid() || l->arming == getegid() || is_common(), errors);
	return status;
}

/* For the daemons. */
static void name_group(const char *variable, gid_t group)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned int)group);
	if (group == LAUNCH_NO_GROUP)
		unsetenv(variable);
	else
		setenv(variable, number, 1);
}

/* Before anything is made: files and channels are for the operators to read; without such a group, for the robot's user
 * alone. */
static int take_groups(struct launch *launch, struct error_sink *errors)
{
	if (launch_rights(launch, errors))
		return EXIT_WRONG;
	umask(launch->operators == LAUNCH_NO_GROUP ? 0077 : 0027);
	if (join_groups(launch, errors))
		return EXIT_RETRY;
	name_group(PORT_OPERATORS, launch->operators);
	name_group(PORT_ARMING, launch->arming);
	return 0;
}

/* ---- starting ---- */

/* Two robots on one machine need different channels: $ENDPLATE_PREFIX. */
static int claim_channels(struct claim_set *set, struct error_sink *errors)
{
	char name[PORT_NAME_MAX], line[ERROR_LINE_MAX] = "";
	struct error_sink last = { error_keep_last, line, 0 };
	int status = -EBUSY;

	if (port_name(name, "estop"))
		return error_refuse(errors, -ENAMETOOLONG, "$ENDPLATE_PREFIX is too long");
	/* A process that a killed achstart was about to start has it until exec. */
	for (int i = 0; i < CLAIM_TRIES && status == -EBUSY; i++) {
		if (i)
			clock_wait(NULL, 0, clock_now_ns() + CLAIM_RETRY_NS);
		status = claim_channel(set, name, &last, &warnings);
	}
	if (status)
		error_add(errors, "%s", line);
	if (status == -EBUSY)
		error_add(errors, "another robot has the channels %s: set ENDPLATE_PREFIX for one of them", name);
	return status;
}

/* Errors of --check; a warning may be resolved later.  What the drivers say is kept in found. */
static void ask_drivers(struct check *found, struct launch *launch, struct error_sink *errors)
{
	struct error_sink quiet = { 0 };

	check_robot(found, launch, CHECK_WITHIN_NS, errors, &quiet);
	launch->channels = found->frames.channels;
	launch->channels_n = found->frames.channels_n;
}

/* True: no errors.  A bus without time for its frames is reported even if that is not an error. */
static bool passes_check(struct check *found, struct launch *launch, struct error_sink *errors)
{
	const unsigned int before = errors->count;

	ask_drivers(found, launch, errors);
	if (launch->overload == LAUNCH_OVERLOAD_REPORT)
		check_frames_times(&found->frames, &warnings);
	check_frames_bounds(&found->frames, launch);
	return errors->count == before;
}

/* Sweeps further channels of drivers that ran already and were not asked for them: they are asked when the robot has
 * stopped, where nothing waits for it. */
static void sweep_further(struct check *found, struct launch *launch)
{
	struct error_sink quiet = { 0 };
	char name[PORT_NAME_MAX];

	if (launch->channels)
		return;
	ask_drivers(found, launch, &quiet);
	for (size_t i = 0; i < launch->channels_n; i++)
		if (!port_name(name, launch->channels[i].name))
			ach_unlink(name);
}

static int start(struct launch *launch, const struct virtual_line *clock, struct error_sink *errors)
{
	static struct check found; /* too large for the stack */
	struct claim_set claims = { 0 };
	int lock, status = take_groups(launch, errors);

	if (status)
		return status;
	/* systemd's AmbientCapabilities= would pass them on with every exec. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (virtual_check(clock, launch, errors))
		return EXIT_WRONG;
	run_robot(launch->name);
	/* Daemons that run already need an achstart, whatever the file says. */
	if (!rundir_has_daemon(launch) && !passes_check(&found, launch, errors))
		return EXIT_WRONG;
	lock = folder_lock(true, errors);
	if (lock < 0)
		return EXIT_RETRY;
	if (folder_make_channels(errors) || claim_channels(&claims, errors) ||
	    folder_share(launch->operators, errors) || folder_robot_write(launch->name, errors) ||
	    virtual_begin(clock, launch, errors)) {
		close(lock);
		status = EXIT_RETRY;
	} else {
		int failed, over;

		if (!clock_used() && deadman_begin(launch, lock, &claims))
			error_say("achstart", NULL, ERROR_WARNING,
				  "unsupervised: unable to start a process: if achstart is killed the daemons run on");
		failed = supervise(launch, lock, &claims, errors);
		over = virtual_end();
		if (!failed) {
			deadman_end();
			sweep_further(&found, launch);
		}
		status = failed ? failed : over;
	}
	claim_release(&claims);
	check_frames_free(&found.frames);
	return status;
}

int main(int argc, char **argv)
{
	struct error_sink errors = ERROR_TO_STDERR("achstart", NULL, ERROR_FATAL);
	struct achstart_options options = { .clock.seed = -1 };
	struct options command = { .program = "achstart",
				   .about = "brings a robot up from its launch file, and restarts daemons that die",
				   .rows = rows,
				   .values = &options,
				   .arguments = "FILE",
				   .arguments_min = 1,
				   .arguments_max = 1,
				   .version = OPTIONS_VERSION };
	struct launch launch;
	int status = options_main(&command, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	status = 0;
	if (!options.check && !options.frames && !options.graph && !options.name)
		supervise_hold_signals();
	if (options.clock.on && options.real)
		return error_refuse(&errors, EXIT_WRONG, "--virtual and --real exclude each other");
	if (launch_open(&launch, argv[0], &errors))
		return EXIT_WRONG;
	virtual_choose(&options.clock, options.real, &launch);
	if (launch_group(&launch, options.group, &errors))
		status = EXIT_WRONG;
	else if (options.name)
		puts(launch.name);
	else if (options.frames)
		status = print_frames(&launch, &errors);
	else if (options.graph)
		graph_print(&launch, stdout);
	else if (options.check)
		status = check(&launch, &options.clock, &errors);
	else
		status = start(&launch, &options.clock, &errors);
	launch_close(&launch);
	return status;
}
