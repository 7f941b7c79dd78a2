/* The e-stop against a world that raises, arms, dies, replays, removes and scribbles at random.
 *
 * Three drivers and achstart share the rule of channels/estop/estop_rule.c.  People arm, operators raise and
 * scribble in estop-b, writers stop inside put, channels are removed, drivers are killed before they publish and before
 * they ratify, states are lost.  What must hold whenever a driver reads the channels:
 *	I1  no level below that of a raise which the person who armed had not seen; each raise acts at least once
 *	I2  only achstart's own lowering, of these two channels, is obeyed; a copy of it never
 *	I4  an arm that was refused, or that a raise came before, never takes effect
 *	I5  no lowering is taken after its time
 *	I6  the robot can always be armed again
 *	I7  after trouble only a new lowering lowers
 *	I8  no successor is at a lower level than its predecessor under the same lowering
 *
 *	ESTOP_RUNS=N  how many worlds (default 6000)
 */
#include "test/lib/testcase.h"

#include "channels/estop/estop_rule.h"

#define RING 4
#define DRIVERS 3
#define WINDOW 12
#define RAISES_MAX 512
#define LOWERINGS_MAX 512
#define HISTORY_MAX 1024
#define PATIENCE 3
#define STEPS 300

static uint64_t rng;
static unsigned rnd(unsigned n)
{
	rng ^= rng << 13, rng ^= rng >> 7, rng ^= rng << 17;
	return (unsigned)((rng >> 11) % n);
}

/* A message, and what only the model knows of it: which lowering or raise it is, 0: none. */
struct ghost {
	int lowering, raise;
	bool copy, forged;
};
struct item {
	struct msg_estop m;
	struct ghost ghost;
};

static struct channel {
	bool there, condemned, stuck;
	uint64_t id, commit;
	struct msg_estop ring[RING];
	struct ghost ghosts[RING];
} chan[2];
static uint64_t next_id;
static const uint64_t boot[2] = { 77, 78 };
static int64_t now;
/* ghosts */
static struct ghost_raise {
	int64_t at;
	enum msg_level level;
	bool own, witnessed, lost;
} raises[RAISES_MAX];
static int raises_n;
static struct ghost_lowering {
	int64_t seen_at;
	bool refused;
	int64_t refused_at;
	int by;
	int64_t put_at;
} lowerings[LOWERINGS_MAX];
static int lowerings_n;
static struct item history[HISTORY_MAX];
static int history_n;
static unsigned calm = 1;
static bool frail;
static bool tampered; /* since anybody of the robot's user looked */
static long looks, at_run, at_hold, refusals, armed, replays, scribbles, restarts;

static struct driver {
	struct estop_rule rule;
	bool alive;
	struct estop_kept state;
	bool state_there;
	int64_t last_turn, blind_at;
	enum msg_level level;
} drivers[DRIVERS];
static struct estop_rule start_rule; /* achstart's */
static bool start_alive, force_run;
/* achctl and achstart */
static struct {
	enum { IDLE, LOOKED, ASKED, CHECKED, PUT } step;
	uint64_t id[2], seq[2];
	int64_t looked_at, until;
	int lowering;
	uint64_t base;
	enum msg_level level;
} arm;

static long run;
static void fail(const char *what)
{
	char text[200];

	snprintf(text, sizeof(text), "%s: time %lld of world %ld", what, (long long)now, run);
	TEST_FAIL_MESSAGE(text);
}

static void view(struct estop_window w[2])
{
	for (int c = 0; c < 2; c++)
		w[c] = (struct estop_window){ .readable = chan[c].there && !chan[c].condemned,
					      .id = chan[c].id,
					      .oldest = chan[c].commit > RING ? chan[c].commit - RING + 1
									      : chan[c].commit > 0,
					      .newest = chan[c].commit,
					      .messages = chan[c].ring,
					      .room = RING };
}

static const struct ghost *ghost_of(const struct msg_estop *base)
{
	return &chan[0].ghosts[base - chan[0].ring];
}

static bool put(int c, struct item i)
{
	if (!chan[c].there || chan[c].stuck)
		return false;
	chan[c].commit++;
	chan[c].ring[chan[c].commit % RING] = i.m;
	chan[c].ghosts[chan[c].commit % RING] = i.ghost;
	if (history_n < HISTORY_MAX && !i.ghost.copy)
		history[history_n++] = i;
	return true;
}

static void make(int c)
{
	chan[c] = (struct channel){ .there = true, .id = ++next_id };
}

/* put, or else condemn; never waits */
static void raise_on(int c, struct item m)
{
	if (!put(c, m) && chan[c].there)
		chan[c].condemned = true;
}

static int new_raise(enum msg_level level)
{
	if (raises_n + 1 >= RAISES_MAX) {
		raises[0].lost = true;
		return 0;
	}
	raises[++raises_n] = (struct ghost_raise){ .at = now, .level = level };
	return raises_n;
}

/* What its writer had read: now, or some time ago. */
static struct item raise_message(enum msg_level level, bool fresh)
{
	struct item i = { .m = { .kind = MSG_ESTOP_RAISE, .level = level, .boot = { boot[0], boot[1] } } };

	for (int c = 0; c < 2; c++) {
		i.m.chan[c] = chan[c].id;
		i.m.seen[c] = fresh ? chan[c].commit : chan[c].commit - rnd(2) * (chan[c].commit > 0);
	}
	return i;
}

static void ratify(struct estop_rule *rule)
{
	struct estop_window v[2];

	view(v);
	if (estop_rule_must_ratify(rule, v))
		raise_on(0,
			 raise_message(rule->kept.base && rule->kept.level ? rule->kept.level : MSG_LEVEL_ESTOP, true));
	/* A reader that finds a channel going back condemns it, for the others and for achstart, which replaces it. */
	if (rule->back_b && chan[1].there)
		chan[1].condemned = true;
}

static void do_raise(bool own, enum msg_level level)
{
	struct item m = raise_message(level, rnd(2));

	m.ghost.raise = new_raise(level);
	if (!m.ghost.raise)
		return;
	raises[m.ghost.raise].own = own;
	raises[m.ghost.raise].lost = tampered && !own;
	raise_on(1, m);
	if (own)
		raise_on(0, m);
	/* all readers find trouble with a raise through a missing channel */
}

static void witness(void)
{
	tampered = false;
	for (int i = 1; i <= raises_n; i++)
		raises[i].witnessed = true;
}

static void check(struct driver *d, enum msg_level got, const struct msg_estop *base)
{
	const struct ghost *ghost = base ? ghost_of(base) : NULL;

	looks++;
	at_run += got == MSG_LEVEL_RUN;
	at_hold += got == MSG_LEVEL_HOLD;
	for (int i = 1; i <= raises_n; i++) {
		const struct ghost_raise *r = &raises[i];
		if (r->lost)
			continue; /* an operator took another's raise back before anybody of the robot's user looked */
		if (r->at > d->last_turn && d->level < r->level && got < r->level)
			fail("I1b: a raise since the last look does not act");
		if (got < r->level && (!ghost || !ghost->lowering || lowerings[ghost->lowering].seen_at <= r->at))
			fail("I1: a raise that the lowering has not seen does not hold");
	}
	if (got != MSG_LEVEL_ESTOP) {
		if (!ghost || !ghost->lowering || ghost->copy)
			fail("I2: a lowering that is not achstart's, or a copy");
		if (base->chan[0] != chan[0].id || base->chan[1] != chan[1].id)
			fail("I2: a lowering of other channels");
		const struct ghost_lowering *l = &lowerings[ghost->lowering];
		for (int i = 1; i <= raises_n; i++)
			if (!raises[i].lost && raises[i].at > l->seen_at && raises[i].at <= l->put_at)
				fail("I4b: an arm that a raise came before takes effect");
		if (l->put_at <= d->blind_at)
			fail("I7: trouble is forgotten without a new lowering");
		if (l->refused && (!l->by || (raises[l->by].witnessed && !raises[l->by].lost)))
			fail("I4: a refused arm takes effect");
	}
}

static void driver_die(struct driver *d);

static void driver_turn(struct driver *d)
{
	struct estop_window v[2];
	enum msg_level got;
	uint64_t was = d->rule.kept.base, was_id = d->rule.kept.chan;

	if (!d->alive)
		return;
	view(v);
	if (!force_run && !rnd(40 * calm))
		v[rnd(2)].readable = false; /* for once it cannot be opened */
	got = estop_rule_level(&d->rule, v, now);
	check(d, got, d->rule.base);
	if (d->rule.kept.base && (d->rule.kept.base != was || d->rule.kept.chan != was_id) &&
	    now > d->rule.base->until_ns)
		fail("I5: a lowering is taken after its time");
	if (d->state_there && d->rule.kept.base && d->state.base == d->rule.kept.base &&
	    d->state.chan == d->rule.kept.chan && got < d->state.level)
		fail("I8: lower than what it, or its predecessor, had published");
	if ((!v[0].readable && chan[0].there) || (!v[1].readable && chan[1].there))
		d->blind_at = now;
	d->level = got;
	if (!force_run && !rnd(20 * calm)) { /* killed before it publishes */
		driver_die(d);
		return;
	}
	d->state = d->rule.kept;
	d->state_there = true;
	d->last_turn = now;
	if (!force_run && !rnd(frail ? 3 : 20 * calm)) { /* killed before it tells the others */
		driver_die(d);
		return;
	}
	ratify(&d->rule);
	if (d->blind_at != now) /* it has seen both */
		witness();
}

static void driver_die(struct driver *d)
{
	restarts++;
	if (!rnd(4))
		d->state_there = false; /* its state channel was removed, or is garbage */
	estop_rule_start(&d->rule, d->state_there ? &d->state : NULL, boot);
	d->alive = true;
	d->level = MSG_LEVEL_ESTOP;
	d->blind_at = 0;
	d->last_turn = now;
}

static enum msg_level start_turn(void)
{
	struct estop_window v[2];
	enum msg_level l;
	for (int c = 0; c < 2; c++)
		if (!chan[c].there || chan[c].condemned)
			make(c); /* mended: all is at estop by the new id */
	view(v);
	l = estop_rule_level(&start_rule, v, now);
	ratify(&start_rule);
	witness();
	return l;
}

static void refuse_after(bool written)
{
	refusals++;
	if (written) {
		raise_on(0, raise_message(MSG_LEVEL_ESTOP, true));
		lowerings[arm.lowering].refused = true;
		lowerings[arm.lowering].refused_at = now;
	}
	arm.step = IDLE;
}

/* achctl, when its patience is over: raises, then says that it is not armed */
static void give_up(void)
{
	if (arm.step == PUT || arm.step == CHECKED) {
		do_raise(rnd(2), MSG_LEVEL_ESTOP);
		if (arm.lowering) {
			lowerings[arm.lowering].refused = true;
			lowerings[arm.lowering].refused_at = now;
			lowerings[arm.lowering].by = raises_n; /* said once the drivers' states show it */
		}
	}
	arm.step = IDLE;
}

static bool all_run(void)
{
	for (int i = 0; i < DRIVERS; i++)
		if (drivers[i].alive && drivers[i].level != arm.level)
			return false;
	return true;
}

static void arm_step(void)
{
	struct item m;

	switch (arm.step) {
	case IDLE: /* a person looks */
		if (!chan[0].there || !chan[1].there || chan[0].condemned || chan[1].condemned ||
		    lowerings_n + 1 >= LOWERINGS_MAX)
			return;
		arm.looked_at = now;
		arm.lowering = 0;
		for (int c = 0; c < 2; c++)
			arm.id[c] = chan[c].id, arm.seq[c] = chan[c].commit;
		arm.step = LOOKED;
		return;
	case LOOKED: /* and decides */
		arm.until = now + WINDOW;
		arm.step = ASKED;
		return;
	case ASKED:
		if (!start_alive)
			return;
		start_turn();
		for (int c = 0; c < 2; c++)
			if ((chan[c].id != arm.id[c] || chan[c].commit != arm.seq[c])) {
				refuse_after(false);
				return;
			}
		if (now > arm.until) {
			refuse_after(false);
			return;
		}
		arm.step = CHECKED;
		return;
	case CHECKED: /* it may have been stopped for long since the check */
		if (!start_alive)
			return;
		m = (struct item){ .m = { .kind = MSG_ESTOP_LOWER,
					  .level = force_run || rnd(5) ? MSG_LEVEL_RUN : MSG_LEVEL_HOLD,
					  .boot = { boot[0], boot[1] },
					  .until_ns = arm.until } };
		arm.level = m.m.level;
		for (int c = 0; c < 2; c++)
			m.m.chan[c] = arm.id[c], m.m.seen[c] = arm.seq[c];
		lowerings[++lowerings_n] = (struct ghost_lowering){ .seen_at = arm.looked_at, .put_at = now };
		m.ghost.lowering = arm.lowering = lowerings_n;
		if (!put(0, m)) {
			lowerings[lowerings_n].refused = true;
			lowerings[lowerings_n].refused_at = now;
			refuse_after(false);
			return;
		}
		arm.base = chan[0].commit;
		arm.step = PUT;
		return;
	case PUT:
		if (!start_alive)
			return;
		if (start_turn() == MSG_LEVEL_ESTOP || !chan[0].there || chan[0].id != arm.id[0])
			refuse_after(true);
		else if (all_run()) {
			armed++;
			arm.step = IDLE;
		} else if (now > arm.until)
			refuse_after(true);
		return;
	}
}

static void scribble(void)
{
	struct channel *c = &chan[1];
	const bool tampered_before = tampered;
	scribbles++;
	tampered = true;
	if (!c->there)
		return;
	switch (rnd(6)) {
	case 0: {
		struct item g = { .m = { .kind = ESTOP_INVALID } };
		int i = new_raise(MSG_LEVEL_ESTOP);
		raises[i].lost = tampered_before || !put(1, g);
		break;
	}
	case 1: /* back: messages that no process of the robot's user has read are gone */
		if (c->commit) {
			for (int i = 1; i <= raises_n; i++)
				raises[i].lost |= !raises[i].witnessed && !raises[i].own;
			c->commit -= 1 + rnd((unsigned)(c->commit < 3 ? c->commit : 3));
		}
		break;
	case 2:
		for (int i = 1; i <= raises_n; i++)
			raises[i].lost |= !raises[i].witnessed && !raises[i].own;
		c->ring[rnd(RING)] = (struct msg_estop){ .kind = rnd(2) ? rnd(2) : ESTOP_INVALID,
							 .level = rnd(3),
							 .boot = { boot[0], boot[1] },
							 .chan = { chan[0].id, chan[1].id },
							 .seen = { chan[0].commit, c->commit },
							 .until_ns = now + 100 };
		break;
	case 3:
		if (c->condemned)
			for (int i = 1; i <= raises_n; i++)
				raises[i].lost |= !raises[i].witnessed && !raises[i].own;
		c->condemned = false;
		break;
	case 4: { /* a forged lowering, where operators may write */
		struct item g = { .m = { .kind = MSG_ESTOP_LOWER,
					 .level = MSG_LEVEL_RUN,
					 .boot = { boot[0], boot[1] },
					 .chan = { chan[0].id, chan[1].id },
					 .seen = { chan[0].commit, c->commit },
					 .until_ns = now + 100 },
				  .ghost = { .forged = true } };
		put(1, g);
		break;
	}
	case 5:
		c->commit += 1 + rnd(3);
		break; /* ahead: old or foreign messages appear as new */
	}
}

static void replay(void)
{
	struct item m;

	if (!history_n)
		return;
	replays++;
	m = history[rnd((unsigned)history_n)];
	m.ghost.copy = true;
	if (rnd(2) && !m.ghost.forged) /* by the robot's user; what an operator made up he would have to force in */
		put(0, m);
	else
		put(1, m);
}

static void step(bool scribbles_on)
{
	now++;
	if (raises_n > RAISES_MAX - 32 || lowerings_n > LOWERINGS_MAX - 8)
		return;
	switch (rnd(scribbles_on ? 24 : 22)) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
	case 5:
	case 6:
		driver_turn(&drivers[rnd(DRIVERS)]);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
	case 11:
	case 12:
		arm_step();
		break;
	case 13:
		if (start_alive)
			start_turn();
		break;
	case 14:
		if (!rnd(3 * calm))
			do_raise(false, 1 + rnd(2));
		break;
	case 15:
		if (!rnd(3 * calm))
			do_raise(true, 1 + rnd(2));
		else if (!rnd(6 * calm)) { /* more than the ring holds */
			bool own = rnd(2);
			do_raise(own, MSG_LEVEL_ESTOP);
			for (int i = 0; i < RING + 1; i++) {
				struct item m = raise_message(MSG_LEVEL_HOLD, true);

				m.ghost.raise = new_raise(MSG_LEVEL_HOLD);
				raises[m.ghost.raise].own = own;
				raises[m.ghost.raise].lost = tampered && !own;
				raise_on(1, m);
				if (own)
					raise_on(0, m);
			}
		}
		break;
	case 16:
		if (!rnd(calm))
			driver_die(&drivers[rnd(DRIVERS)]);
		break;
	case 17:
		if (!rnd(3)) {
			if (start_alive)
				start_alive = false;
			else {
				start_alive = true;
				estop_rule_start(&start_rule, NULL, boot);
			}
		}
		break;
	case 18:
		if (arm.step >= ASKED && now > arm.until + PATIENCE)
			give_up();
		break;
	case 19:
		if (!rnd(3 * calm))
			replay();
		break;
	case 20: /* removed: an operator cannot, its owner can; and made again by a driver */
		if (!rnd(8 * calm))
			chan[rnd(2)].there = false;
		else if (!rnd(4) && !chan[0].there)
			make(0);
		else if (!rnd(4) && !chan[1].there)
			make(1);
		break;
	case 21: {
		int c = rnd(2);
		chan[c].stuck = !chan[c].stuck && !rnd(4);
		break;
	} /* a writer stopped inside put */
	case 22:
	case 23:
		if (!rnd(2 * calm))
			scribble();
		break;
	}
}

/* After all that: can the robot be armed again? */
static void can_be_armed(void)
{
	start_alive = force_run = true;
	for (int c = 0; c < 2; c++)
		chan[c].stuck = false;
	for (int tries = 0; tries < 6; tries++) {
		arm.step = IDLE;
		start_turn();
		for (int i = 0; i < DRIVERS; i++)
			now++, driver_turn(&drivers[i]);
		start_turn();
		arm_step();
		arm_step();
		arm_step();
		arm_step();
		if (arm.step == PUT) {
			for (int k = 0; k < 2; k++)
				for (int i = 0; i < DRIVERS; i++)
					now++, driver_turn(&drivers[i]);
			if (all_run()) {
				force_run = false;
				return;
			}
		}
	}
	force_run = false;
	if (lowerings_n + 8 < LOWERINGS_MAX && raises_n + 8 < RAISES_MAX)
		fail("I6: the robot cannot be armed any more");
}

static void begin(long r)
{
	run = r;
	rng = ((uint64_t)r + 1) * 0x9e3779b97f4a7c15ull | 1;
	rnd(2);
	raises_n = lowerings_n = history_n = 0;
	tampered = false;
	frail = r % 5 == 1;
	calm = 1 + (unsigned int)(r % 16);
	now = 1;
	memset(&arm, 0, sizeof(arm));
	make(0);
	make(1);
	start_alive = true;
	estop_rule_start(&start_rule, NULL, boot);
	for (int i = 0; i < DRIVERS; i++) {
		drivers[i] = (struct driver){ .alive = true, .level = MSG_LEVEL_ESTOP };
		estop_rule_start(&drivers[i].rule, NULL, boot);
	}
}

TEST(test_no_world_violates_an_invariant)
{
	const char *text = getenv("ESTOP_RUNS");
	const long runs = text ? atol(text) : 6000;

	for (long r = 0; r < runs; r++) {
		begin(r);
		for (int i = 0; i < STEPS; i++)
			step(r & 1);
		can_be_armed();
	}
	printf("%ld worlds: %ld looks, %ld at run, %ld at hold, %ld armed, %ld refused, %ld replays, %ld scribbles, "
	       "%ld restarts\n",
	       runs, looks, at_run, at_hold, armed, refusals, replays, scribbles, restarts);
	TEST_ASSERT_GREATER_THAN(looks / 50, at_run); /* a rule that always says estop proves nothing */
	TEST_ASSERT_GREATER_THAN(looks / 500, at_hold);
}
