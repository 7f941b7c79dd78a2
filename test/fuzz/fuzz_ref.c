/* fuzz_ref.c: arbitrary bytes as a reference of every type that a channel may carry: an accepted reference is valid
 * in every field that its reader uses, a refused one is refused for a true reason.
 *
 * Longest: 1536 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemons/drv/drv_ref.h"
#include "test/fuzz/must.h"

#define NOW 1000000000
#define AHEAD 50000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_header(const struct msg_header *h, const struct ref_rules *rules, enum ref_verdict verdict)
{
	bool meant = h->for_incarnation == rules->incarnation || (!h->for_incarnation && rules->any_incarnation);

	switch (verdict) {
	case REF_TAKEN:
	case REF_NOT_FINITE:
		must(meant && h->valid_until_ns >= NOW && h->valid_until_ns <= NOW + AHEAD);
		break;
	case REF_TOO_FAR:
		must(meant && h->valid_until_ns > NOW + AHEAD);
		break;
	case REF_PAST:
		must(meant && h->valid_until_ns > 0 && h->valid_until_ns < NOW);
		break;
	case REF_NO_VALIDITY:
		must(meant && h->valid_until_ns <= 0);
		break;
	case REF_OTHER_INCARNATION:
		must(!meant);
		break;
	default:
		break;
	}
}

static void check_joints(const struct msg_joint_ref *ref, const struct ref_rules *rules, enum ref_verdict verdict)
{
	bool finite = true, words = true;

	must((verdict == REF_OTHER_SIZE) == (ref->count > MSG_JOINTS || (rules->count && ref->count != rules->count)));
	if (verdict == REF_OTHER_SIZE)
		return;
	for (uint32_t i = 0; i < ref->count; i++) {
		finite =
			finite && isfinite(ref->position[i]) && isfinite(ref->velocity[i]) && isfinite(ref->current[i]);
		words = words && ref->mode[i] <= MSG_MODE_CURRENT;
	}
	must((verdict == REF_OTHER_TYPE) == !words);
	must(verdict != REF_TAKEN || finite);
	must(verdict != REF_NOT_FINITE || !finite);
}

static enum ref_verdict check(const uint8_t *bytes, size_t len, const struct ref_rules *rules)
{
	void *msg = malloc(len ? len : 1); /* its very size, so that the sanitizer sees one byte too many */
	struct msg_common common = { 0 };
	enum ref_verdict verdict;
	struct msg_header h;

	if (len)
		memcpy(msg, bytes, len);
	verdict = ref_check(msg, len, rules, NOW);
	must(verdict <= REF_TAKEN);
	ref_count(&common, verdict);
	must(common.refs_taken == (verdict == REF_TAKEN));
	if (len >= sizeof(h)) {
		memcpy(&h, msg, sizeof(h));
		check_header(&h, rules, verdict);
	} else
		must(verdict == REF_OTHER_SIZE);
	free(msg);
	return verdict;
}

/* As it is, and again with a valid header, so that the body is checked. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static union {
		uint8_t bytes[8192];
		struct msg_header header;
		struct msg_joint_ref joints;
	} u;
	static struct ref_layout layout;
	struct ref_rules rules = { .layout = &layout, .incarnation = 7, .max_ahead_ns = AHEAD };
	const uint8_t *body;
	size_t n;

	if (!size)
		return 0;
	body = data + 1;
	n = size - 1;
	if (ref_layout(&layout, &msg_types[data[0] % msg_types_n]))
		return 0; /* none of a reference */
	rules.any_incarnation = data[0] & 0x80;
	rules.count = data[0] & 0x40 ? 3 : 0;
	check(body, n, &rules);

	memset(&u, 0, sizeof(u));
	memcpy(u.bytes, body, n < sizeof(u) ? n : sizeof(u));
	u.header.type = layout.type->number;
	u.header.version = layout.type->version;
	u.header.size = (uint32_t)layout.type->body->size;
	u.header.for_incarnation %= 16;
	check(u.bytes, u.header.size, &rules);
	u.header.for_incarnation = 7;
	u.header.valid_until_ns = NOW;
	if (layout.type->number == msg_joint_ref_number)
		check_joints(&u.joints, &rules, check(u.bytes, u.header.size, &rules));
	else
		check(u.bytes, u.header.size, &rules);
	return 0;
}
