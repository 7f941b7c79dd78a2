/* estop_rule.c: which level of the e-stop holds; the rules are in estop_rule.h.  Checked: covered. */
#include "channels/estop/estop_rule.h"
#include "config/base/base.h"

void estop_rule_start(struct estop_rule *rule, const struct estop_kept *predecessor, const uint64_t boot[2])
{
	memset(rule, 0, sizeof(*rule));
	memcpy(rule->boot, boot, sizeof(rule->boot));
	rule->level = rule->kept.level = MSG_LEVEL_ESTOP;
	if (predecessor && !memcmp(predecessor->boot, boot, sizeof(rule->boot)))
		rule->kept = *predecessor;
}

/* ---- one message ---- */

static const struct msg_estop *at(const struct estop_window *w, uint64_t seq)
{
	return &w->messages[seq % w->room];
}

static bool is_raise(const struct msg_estop *m)
{
	return m->kind == MSG_ESTOP_RAISE && (m->level == MSG_LEVEL_HOLD || m->level == MSG_LEVEL_ESTOP);
}

static bool is_lowering(const struct msg_estop *m, const struct estop_window w[2], uint64_t seq, const uint64_t boot[2])
{
	return m->kind == MSG_ESTOP_LOWER && m->level < MSG_LEVEL_ESTOP && !memcmp(m->boot, boot, sizeof(m->boot)) &&
	       m->chan[0] == w[0].id && m->chan[1] == w[1].id && m->seen[0] + 1 == seq;
}

/* The level that a message other than the base asks for. */
static enum msg_level weight(const struct msg_estop *m, const struct estop_window w[2], uint64_t base)
{
	if (!is_raise(m) || m->chan[0] != w[0].id || m->seen[0] < base)
		return MSG_LEVEL_ESTOP; /* invalid, or its writer had not read the base */
	return (enum msg_level)m->level;
}

/* ---- what a look finds ---- */

/* The level so far, and its reason. */
struct found {
	enum msg_level level;
	const struct msg_estop *because;
	const char *reason;
};

static void find(struct found *f, enum msg_level level, const struct msg_estop *because, const char *reason)
{
	if (level <= f->level)
		return;
	*f = (struct found){ level, because, reason };
}

/* Everything behind `from`, up to the newest. */
static void find_behind(struct found *f, const struct estop_window w[2], int c, uint64_t from, uint64_t base)
{
	if (from + 1 < w[c].oldest)
		find(f, MSG_LEVEL_ESTOP, NULL, "messages were overwritten before they were read");
	for (uint64_t s = from + 1 > w[c].oldest ? from + 1 : w[c].oldest; s && s <= w[c].newest; s++)
		find(f, weight(at(&w[c], s), w, base), at(&w[c], s), NULL);
}

/* The newest message of channel 1 that channel 0 mentions. */
static uint64_t mentioned(const struct estop_window w[2])
{
	uint64_t most = 0;

	for (uint64_t s = w[0].oldest; s && s <= w[0].newest; s++) {
		const struct msg_estop *m = at(&w[0], s);

		if (m->kind != ESTOP_INVALID && m->chan[0] == w[0].id && m->chan[1] == w[1].id && m->seen[1] > most)
			most = m->seen[1];
	}
	return most;
}

/* 0: none.  The newest valid lowering decides, also if it came too late. */
static uint64_t find_base(const struct estop_rule *rule, const struct estop_window w[2], int64_t now_ns)
{
	for (uint64_t s = w[0].newest; s && s >= w[0].oldest; s--) {
		const struct msg_estop *m = at(&w[0], s);

		if (!is_lowering(m, w, s, rule->boot))
			continue;
		if (s <= rule->void_to)
			return 0;
		if (rule->kept.chan == w[0].id && rule->kept.base == s)
			return s;
		return now_ns <= m->until_ns ? s : 0;
	}
	return 0;
}

/* A raise since the last look acts now, even if it was lowered since. */
static void find_news(struct found *f, const struct estop_rule *rule, const struct estop_window w[2], int c)
{
	if (!w[c].readable || !rule->id[c])
		return;
	if (rule->id[c] != w[c].id)
		find(f, MSG_LEVEL_ESTOP, NULL, "the channel was replaced");
	if (rule->high[c] + 1 < w[c].oldest)
		find(f, MSG_LEVEL_ESTOP, NULL, "messages were overwritten before they were read");
	for (uint64_t s = rule->high[c] + 1 > w[c].oldest ? rule->high[c] + 1 : w[c].oldest; s && s <= w[c].newest;
	     s++) {
		const struct msg_estop *m = at(&w[c], s);

		if (c || !is_lowering(m, w, s, rule->boot))
			find(f, is_raise(m) ? (enum msg_level)m->level : MSG_LEVEL_ESTOP, m, NULL);
	}
}

static const char *trouble_with(struct estop_rule *rule, const struct estop_window w[2])
{
	static const char *const unreadable[] = { "estop cannot be read", "estop-b cannot be read" };
	static const char *const went_back[] = { "estop went back", "estop-b went back" };
	const char *trouble = NULL;

	rule->trouble_b = rule->back_b = false;
	for (int c = 0; c < ESTOP_CHANNELS; c++) {
		const bool back = rule->id[c] == w[c].id && w[c].newest < rule->high[c];

		if (w[c].readable && !back)
			continue;
		trouble = w[c].readable ? went_back[c] : unreadable[c];
		rule->trouble_b |= c == 1;
		rule->back_b |= c == 1 && w[c].readable;
	}
	if (w[0].readable && w[1].readable)
		rule->mentioned = mentioned(w);
	if (w[0].readable && w[1].readable && w[1].newest < rule->mentioned) {
		trouble = went_back[1];
		rule->trouble_b = rule->back_b = true;
	}
	return trouble;
}

/* The raise that explains why the robot stands; NULL: there is none. */
static const struct msg_estop *last_raise(const struct estop_window w[2])
{
	const struct msg_estop *last = NULL;

	for (int c = 0; c < ESTOP_CHANNELS; c++)
		for (uint64_t s = w[c].newest; w[c].readable && s && s >= w[c].oldest; s--) {
			const struct msg_estop *m = at(&w[c], s);

			if (!is_raise(m))
				continue;
			if (!last || m->header.t_publish_ns > last->header.t_publish_ns)
				last = m;
			break;
		}
	return last;
}

/* ---- what is remembered ---- */

static bool same(const struct estop_window a[2], const struct estop_window b[2])
{
	for (int c = 0; c < ESTOP_CHANNELS; c++)
		if (!a[c].readable || !b[c].readable || a[c].id != b[c].id || a[c].oldest != b[c].oldest ||
		    a[c].newest != b[c].newest)
			return false;
	return true;
}

/* The first look at some messages takes them as news, the second does not, and a third would find what the second did:
 * a lowering is obeyed by then, or came too late. */
static bool known(struct estop_rule *rule, const struct estop_window w[2])
{
	const bool again = same(rule->evaluated, w), settled = rule->settled;

	rule->settled = again;
	memcpy(rule->evaluated, w, sizeof(rule->evaluated));
	return again && settled;
}

static void remember_channels(struct estop_rule *rule, const struct estop_window w[2], bool trouble)
{
	for (int c = 0; c < ESTOP_CHANNELS; c++) {
		if (!w[c].readable)
			continue;
		if (rule->id[c] != w[c].id) {
			rule->id[c] = w[c].id;
			rule->high[c] = 0;
			if (!c)
				rule->void_to = 0;
		}
		if (w[c].newest > rule->high[c])
			rule->high[c] = w[c].newest;
	}
	rule->unsure |= trouble;
	if (rule->unsure && !trouble) { /* what lies there was written without knowing of the trouble */
		rule->void_to = w[0].newest;
		rule->unsure = false;
	}
}

static void keep(struct estop_rule *rule, uint64_t chan, uint64_t base, enum msg_level level)
{
	rule->kept = (struct estop_kept){ { rule->boot[0], rule->boot[1] }, chan, base, level };
}

static void evaluate_base(struct estop_rule *rule, const struct estop_window w[2], uint64_t base, struct found *f)
{
	const struct msg_estop *m = at(&w[0], base);

	*f = (struct found){ (enum msg_level)m->level, m, NULL };
	find_behind(f, w, 0, base, base);
	find_behind(f, w, 1, m->seen[1], base);
	if (rule->kept.chan == w[0].id && rule->kept.base == base)
		find(f, rule->kept.level, NULL, "it was raised before");
	keep(rule, w[0].id, base, f->level);
	rule->base = m;
}

enum msg_level estop_rule_level(struct estop_rule *rule, const struct estop_window w[ESTOP_CHANNELS], int64_t now_ns)
{
	struct found f = { MSG_LEVEL_ESTOP, NULL, "no valid lowering" }, news = { MSG_LEVEL_RUN, NULL, NULL };
	const char *trouble;
	uint64_t base = 0;

	if (known(rule, w)) /* in most ticks: a walk through all messages costs more than the rest of a look */
		return rule->level;
	trouble = trouble_with(rule, w);
	rule->base = NULL;
	find_news(&news, rule, w, 0);
	find_news(&news, rule, w, 1);
	remember_channels(rule, w, trouble != NULL);
	if (!trouble)
		base = find_base(rule, w, now_ns);
	if (base)
		evaluate_base(rule, w, base, &f);
	else
		keep(rule, 0, 0, MSG_LEVEL_ESTOP);
	if (trouble)
		f.reason = trouble;
	else if (!base)
		f.because = last_raise(w);
	find(&f, news.level, news.because, news.reason);
	rule->because = f.because;
	rule->reason = f.reason;
	return rule->level = f.level;
}

/* ---- for the others ---- */

/* Does channel 0 alone, without channel 1, say estop? */
static bool says_estop(const struct estop_rule *rule, const struct estop_window w[2])
{
	for (uint64_t s = w[0].newest; s && s >= w[0].oldest; s--) {
		const struct msg_estop *m = at(&w[0], s);
		const struct estop_window alone[] = { w[0], { .id = m->chan[1] } };

		if (is_lowering(m, alone, s, rule->boot))
			return false;
		if (!is_raise(m) || m->level == MSG_LEVEL_ESTOP)
			return true;
	}
	return true; /* nothing lowers it */
}

bool estop_rule_must_ratify(const struct estop_rule *rule, const struct estop_window w[ESTOP_CHANNELS])
{
	if (!w[0].readable)
		return false;
	if (rule->trouble_b)
		return !says_estop(rule, w);
	return w[1].newest > rule->mentioned;
}
