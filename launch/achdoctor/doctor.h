/* doctor.h: is this machine fit to run a robot?
 *
 *	struct doctor_facts *facts = calloc(1, sizeof(*facts));
 *	struct doctor_report report = { 0 };
 *
 *	facts_machine(&facts->machine, &scope);
 *	doctor_machine(&facts->machine, &report);
 *	doctor_print(&report, stdout, false);
 *	return doctor_count(&report, DOCTOR_FAIL) ? 1 : 0;
 *
 * Facts are gathered first (facts_*), and the checks (doctor_*) are pure: they compare the facts with the needs of a
 * robot and add findings to the report.  A finding that keeps a robot from running safely fails; one that makes it late
 * under load, or hard to repair, is a warning.
 *
 * Offered to other folders:
 *	prearm.h
 */
#pragma once

#include <sys/types.h>

#include "can/bus/link.h"
#include "config/base/base.h"
#include "config/settings/robot.h"

#define DOCTOR_UNKNOWN INT64_MIN   /* a number that cannot be read here */
#define DOCTOR_UNLIMITED INT64_MAX /* a limit */

/* ---- the report ---- */

enum doctor_verdict {
	DOCTOR_OK,
	DOCTOR_WARN,
	DOCTOR_FAIL,
	DOCTOR_UNSEEN, /* it cannot be seen here; neither good nor bad */
	DOCTOR_SKIP,   /* it does not apply */
	DOCTOR_VERDICTS,
};

#define DOCTOR_PART_MAX 200
#define DOCTOR_FOUND_MAX 320
#define DOCTOR_MEND_MAX 320
#define DOCTOR_FINDINGS_MAX 320

struct doctor_finding {
	enum doctor_verdict verdict;
	char part[DOCTOR_PART_MAX]; /* "machine", "bus torso, can0", "robot krang" */
	const char *check;	    /* "priority" */
	char found[DOCTOR_FOUND_MAX];
	char mend[DOCTOR_MEND_MAX]; /* the command or the change that helps; "": none */
};

struct doctor_report {
	struct doctor_finding at[DOCTOR_FINDINGS_MAX];
	size_t n;
	char part[DOCTOR_PART_MAX]; /* of the findings that follow */
};

void doctor_part(struct doctor_report *report, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a finding; doctor_mend adds the remedy to the last one if it fails or warns.  A full report drops what does not
 * fit. */
void doctor_add(struct doctor_report *report, enum doctor_verdict verdict, const char *check, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void doctor_mend(struct doctor_report *report, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

size_t doctor_count(const struct doctor_report *report, enum doctor_verdict verdict);
/* For people: a line for each finding, and the remedy below it. */
void doctor_print(const struct doctor_report *report, FILE *to, bool colour);
void doctor_print_json(const struct doctor_report *report, FILE *to);

/* ---- the machine ---- */

struct doctor_machine {
	bool tried;		 /* these two: by a process that may do what the robot's user may */
	int fifo_err, lock_err;	 /* 0 or -errno */
	int64_t priority;	 /* the highest in the launch file, or a usual one */
	int64_t rtprio, memlock; /* limits; bytes */
	bool may_nice, may_lock; /* capabilities */
	int64_t rt_runtime_us, rt_period_us;

	char release[64], version[128]; /* uname -r, -v */
	int64_t realtime;		/* of /sys/kernel */
	char preempt[64];		/* "none voluntary (full)"; "": unknown */

	int64_t governed, slow; /* cores with a governor, and those with another than performance */
	char governor[32];	/* of the first of these */

	int64_t cores;
	bool has_file;		     /* there is a launch file: */
	char pinned[64];	     /* cores that it gives to daemons, "2,3" */
	char isolated[64], nohz[64]; /* lists of the kernel, "2-3" */
	uint64_t pinned_mask, isolated_mask, nohz_mask;

	int64_t smi;	  /* system management interrupts while it measured */
	int64_t hwlat_us; /* longest, of the tracer hwlat if that runs */

	char clocksource[32];
	char services[64]; /* programs that set the clock, "chronyd, phc2sys" */
	int services_n;
	int64_t drift_ppm; /* correction of the clock's frequency */

	int64_t page_port;  /* of achweb: in the launch file, or in achweb@.socket */
	int64_t user_ports; /* from which on ports are for every user */

	bool hypervisor;
	int64_t steal_boot_pm, steal_now_pm; /* of 1000 of the processor's time */
	int64_t quota_pm;		     /* of 1000 of a core, by the control groups; DOCTOR_UNLIMITED */
};

#define DOCTOR_PAGE_PORT 876   /* of achweb@.socket */
#define DOCTOR_USER_PORTS 1024 /* of the kernel, by default */

void doctor_machine(const struct doctor_machine *m, struct doctor_report *report);

/* ---- a bus ---- */

struct doctor_bus {
	char name[TEXT_NAME_MAX + 1];
	char interface[ROBOT_INTERFACE_MAX];
	bool wanted; /* the robot file says how it should be: */
	struct link_settings want;
	bool links;   /* achstart brings it up and resets it */
	bool running; /* drivers use it: if it is missing, then for this process alone */

	int err; /* of link_query, with a line */
	char why[ERROR_LINE_MAX];
	struct link_info link;

	char device[64]; /* in sysfs, by bus path: "1-2:1.0"; "": none */
	int64_t port;	 /* channel of a device that has several */
	int64_t others;	 /* CAN controllers of this machine on other devices */
	bool named;	 /* a rule of udev or systemd gives it its name */
};

void doctor_bus(const struct doctor_bus *b, struct doctor_report *report);

/* ---- the robot's files and channels, disks ---- */

struct doctor_file {
	char name[96];
	bool channel;
	uid_t owner;
	int64_t mode; /* of a channel that of its memory */
};

struct doctor_disk {
	char path[256];
	int err; /* -errno: it cannot be examined */
	int64_t free_bytes;
	int64_t bytes_per_s; /* written and synchronized */
};

#define DOCTOR_FILES_MAX 320
#define DOCTOR_DISKS_MAX 8
struct doctor_robot {
	bool there; /* it has a folder: */
	char folder[256];
	char prefix[64]; /* of its channels */
	uid_t owner;
	bool operators, moving; /* it has these groups */
	struct doctor_file files[DOCTOR_FILES_MAX];
	size_t files_n;
	size_t unseen; /* channels that this user may not open */
	struct doctor_disk disks[DOCTOR_DISKS_MAX];
	size_t disks_n;
};

void doctor_files(const struct doctor_robot *r, struct doctor_report *report);
void doctor_disks(const struct doctor_robot *r, struct doctor_report *report);
