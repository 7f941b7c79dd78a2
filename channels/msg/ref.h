/* ref.h: which references are taken.
 *
 * Pure: times are arguments.  A reference counts until valid_until_ns, inclusive, and no longer.
 */
#pragma once

#include "channels/msg/msg.h"

/* In the order in which they are asked.  Asked before all: shorter than a header (OTHER_SIZE).  Asked after
 * OTHER_SIZE, when the layout is known: a count beyond its array's room or other than the driver's (OTHER_SIZE), a
 * mode or word that does not exist (OTHER_TYPE). */
enum ref_verdict {
	REF_OTHER_TYPE,
	REF_OTHER_VERSION,
	REF_OTHER_SIZE, /* len, the header's and the table's are not all the same */
	REF_OTHER_INCARNATION,
	REF_NO_VALIDITY, /* valid_until_ns is 0 or less */
	REF_PAST,
	REF_TOO_FAR,
	REF_NOT_FINITE,
	REF_TAKEN,
};

/* Where in a message of a type the counts, words and real numbers are: found once, not by name for each reference. */
#define REF_PARTS_MAX 16

struct ref_part {
	size_t at;	/* offset of the first element */
	size_t used_at; /* of the number of elements that count; 0: all */
	size_t room;
	uint32_t words; /* that there are; 0: no words */
	bool real;
};

struct ref_layout {
	const struct msg_type *type;
	size_t count_at; /* of `count`; 0: there is none */
	unsigned int n;
	struct ref_part parts[REF_PARTS_MAX];
};

/* 0, or -EINVAL for a type that cannot be a reference: with a group besides the header, or too many fields. */
int ref_layout(struct ref_layout *layout, const struct msg_type *type);
/* For a driver that has no compliant joints: mode compliant is one that does not exist. */
void ref_layout_rigid(struct ref_layout *layout);

struct ref_rules {
	const struct ref_layout *layout;
	uint32_t count;	      /* joints: the message's `count` must be this; 0: not looked at */
	uint32_t incarnation; /* the driver's own */
	bool any_incarnation; /* for_incarnation 0 will do */
	int64_t max_ahead_ns; /* farthest valid_until_ns from now */
	int64_t machine_ns; /* CLOCK_MONOTONIC beside a virtual clock (vt_clock_machine_ns); 0: now is of that clock */
	const msg_name *joints; /* their names, for ref_refusal_text; NULL: not known */
};

/* msg is len bytes, aligned as a message is.  Every real number of it that counts (by its array's count) must be
 * finite, every word one of its table. */
enum ref_verdict ref_check(const void *msg, size_t len, const struct ref_rules *rules, int64_t now_ns);

/* The same, for the reader.  The writer may not know of the virtual clock.  Then valid_until_ns is of CLOCK_MONOTONIC:
 * by that clock it must not be past nor too far ahead, and it is changed to the same time from now.  No time of
 * a virtual clock is as early. */
enum ref_verdict ref_take(void *msg, size_t len, const struct ref_rules *rules, int64_t now_ns);

/* Counts it in the common block's refs_taken or refs_refused. */
void ref_count(struct msg_common *common, enum ref_verdict verdict);
/* All that were refused. */
static inline uint64_t ref_refused(const struct msg_refused *r)
{
	return (uint64_t)r->no_validity + r->past + r->too_far + r->other_type + r->other_version + r->other_size +
	       r->not_finite + r->other_incarnation;
}
/* The one that the counters say was refused between two states; of several the first in their order. */
enum ref_verdict ref_counted(const struct msg_refused *before, const struct msg_refused *after);

/* ---- in words: ref_text.c ---- */

#define REF_REFUSED "ref-refused" /* code of a driver's event about a refused reference, whose text is as follows */

/* Why it was refused, with what to write instead: "valid for 900 ms, at most 25 ms: give it less".  Arguments as those
 * of the call that had this verdict, after it. */
void ref_refusal_text(char *text, size_t size, enum ref_verdict verdict, const void *msg, size_t len,
		      const struct ref_rules *rules, int64_t now_ns);
/* The same with its writer before it, who is named by header.incarnation: "process 4711: valid for ..." */
void ref_refusal_by(char *text, size_t size, enum ref_verdict verdict, const void *msg, size_t len,
		    const struct ref_rules *rules, int64_t now_ns);
/* The reason alone, where the reference is not there to be looked at. */
const char *ref_reason_text(enum ref_verdict verdict);
