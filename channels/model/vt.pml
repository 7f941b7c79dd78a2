/* vt.pml: the token of a virtual clock as vt_page.c hands it over, for spin.
 *
 * Slot 0 is the coordinator, which never dies here; the others may die after
 * every store to shared memory, and are started again.  Labels and inlines
 * have the names of the functions in vt_page.c.  Each statement outside atomic
 * is one access to shared memory; README says what was drawn together.
 *
 * -DM_... are faults put in on purpose; verify checks that each is found.
 */

#ifndef N
#define N 3		/* slots */
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef LEAVES
#define LEAVES 0
#endif
#ifndef POSTS
#define POSTS 1		/* messages put in a run */
#endif
#ifndef REVOKES
#define REVOKES 0	/* of the token of a process that was stopped before it took it */
#endif
#ifndef SWEEPS
#define SWEEPS 0	/* the coordinator asks for the next rest */
#endif
#ifndef T
#define T 1		/* the instant at which a run ends */
#endif

#define NEVER 15
#define BIT(slot) (1 << (slot))
#define ALL (BIT(N) - 2) /* the coordinator is never marked */

/* ---- the page ---- */

byte now_ns, round;	/* the valid core */
byte token;		/* whose */
bit taken;
byte live = 1, held, dirty;
bit limit_0;		/* limit_ns is 0: beyond the present instant only the coordinator advances */
byte deadline[N] = NEVER;
bool granted[N];	/* slot.grant has changed since its owner read it */
bit bell;

/* ---- the processes ---- */

#define NONE 0		/* not started, or reaped */
#define THERE 1
#define LEAVING 2
#define ENDED 3		/* its pidfd says so */
byte state[N];
bool asleep[N];		/* in futex */
bool running[N];
bool unseen[N];		/* a message that it has not looked at */
byte deaths, leaves, posts, revokes, sweeps;
bool over;

/* ---- what must hold; hidden: no part of the state, so named for free ---- */

hidden byte only_one_runs;
hidden byte token_is_its_own;
hidden byte no_early_advance;
#define ENSURE(name, condition) name = (condition); assert(name)

#define MAY_DIE(me) if :: me != 0 && deaths < DEATHS -> deaths++; goto died :: true fi

/* ---- vt_core.c ---- */

/* The next turn by the view, without the slots that are neither live nor held. */
inline vt_core_next() {
	n_now = now_ns;
	n_round = round & v_able;
	if
	:: n_round == 0 ->
		n_round = v_dirty & v_able;
		first = NEVER;
		i = 1;
		do
		:: i < N && (v_able & BIT(i)) && deadline[i] <= n_now -> n_round = n_round | BIT(i); i++
		:: i < N && (v_able & BIT(i)) && deadline[i] > n_now ->
			first = (deadline[i] < first -> deadline[i] : first); i++
		:: i < N && !(v_able & BIT(i)) -> i++
		:: i == N -> break
		od;
		if
		:: n_round == 0 && first <= T && !v_limit_0 ->
			n_now = first;
			i = 1;
			do
			:: i < N && (v_able & BIT(i)) && deadline[i] <= n_now -> n_round = n_round | BIT(i); i++
			:: i < N && !((v_able & BIT(i)) && deadline[i] <= n_now) -> i++
			:: i == N -> break
			od
		:: else
		fi
	:: else
	fi;
	next = 0;
	if
	:: n_round ->
		do
		:: !(n_round & BIT(next)) -> next++
		:: else -> break
		od;
		n_round = n_round & ~BIT(next)
	:: else
	fi
}

/* When time advances no process that is there has an unseen message or an earlier deadline. */
inline check_advance() {
	i = 1;
	do
	:: i < N && n_now > now_ns ->
		ENSURE(no_early_advance, state[i] != THERE || (held & BIT(i)) || (!unseen[i] && deadline[i] >= n_now));
		i++
	:: else -> break
	od
}

inline check_runs() {
	i = 0;
	do
	:: i < N -> ENSURE(only_one_runs, !running[i]); i++
	:: else -> break
	od
}

/* ---- vt_page.c ---- */

inline hand_over(me, without) {
	v_limit_0 = limit_0;
	v_able = live & ~held & ~without & ~1;
	v_dirty = dirty;
	atomic { /* token_swap */
		vt_core_next();
#ifndef M_STORE_WITHOUT_COMPARING
		ENSURE(token_is_its_own, token == me);
#endif
		check_advance();
		now_ns = n_now;
		round = n_round;
		token = next;
		taken = 0;
		running[me] = false;
		v_limit_0 = 0; v_able = 0; v_dirty = 0; n_now = 0; n_round = 0; first = 0; i = 0;
		MAY_DIE(me)
	};
	if
	:: next == me
	:: next != me ->
		atomic { granted[next] = true; bell = (next == 0 -> 1 : bell); MAY_DIE(me) };
		atomic { asleep[next] = false; MAY_DIE(me) };
#ifndef M_NO_SECOND_LOOK
		if
		:: !(live & BIT(next)) -> atomic { bell = 1; MAY_DIE(me) }
		:: else
		fi
#endif
	fi;
	next = 0
}

proctype Participant(byte me) {
	byte i, next, n_now, n_round, v_able, v_dirty, first, without;
	bit v_limit_0;

	MAY_DIE(me);
vt_page_await:
	atomic {
		if
		:: over -> goto end
		:: else -> granted[me] = false
		fi
	};
	if
	:: atomic { token == me ->
			taken = 1;
			check_runs();
			i = 0;
			running[me] = true;
			MAY_DIE(me)
		}
	:: token != me ->
		atomic {
#ifndef M_NO_COMPARISON_IN_KERNEL
			if
			:: granted[me] -> goto vt_page_await
			:: else
			fi;
#endif
			asleep[me] = true
		};
#ifdef M_WOKEN_IS_GRANTED
		atomic { !asleep[me] || over -> check_runs(); i = 0; running[me] = true }
#else
		atomic { !asleep[me] || over -> goto vt_page_await }
#endif
	fi;
	/* First the mark goes, then it looks. */
	atomic { dirty = dirty & ~BIT(me); unseen[me] = false; MAY_DIE(me) };
	if
	:: atomic { posts < POSTS -> /* a message for another one: commit, then mark */
			posts++;
			unseen[1 + me % (N - 1)] = state[1 + me % (N - 1)] == THERE;
			MAY_DIE(me)
		};
#ifndef M_NO_MARK
		atomic { dirty = dirty | BIT(1 + me % (N - 1)); MAY_DIE(me) }
#endif
	:: true
	fi;
	if
	:: deadline[me] = now_ns + 1
	:: deadline[me] = NEVER
	:: atomic { leaves < LEAVES -> leaves++; state[me] = LEAVING; without = BIT(me) }; /* vt_page_leave */
#ifdef M_LEAVE_BEFORE_HAND_OVER
		atomic { live = live & ~BIT(me); MAY_DIE(me) };
#endif
		atomic { dirty = dirty | ALL & ~BIT(me); MAY_DIE(me) }
	fi;
	hand_over(me, without);
	if
	:: without == 0 -> goto vt_page_await
	:: else
	fi;
	atomic { live = live & ~BIT(me); MAY_DIE(me) };
	bell = 1;
died:
	atomic { state[me] = ENDED; running[me] = false; asleep[me] = false; granted[me] = false; unseen[me] = false };
end:	skip
}

/* ---- the coordinator ---- */

inline vt_page_reap(slot) {
	live = live & ~BIT(slot);
	held = held & ~BIT(slot);
#ifndef M_REAP_WITHOUT_MARKS
	dirty = dirty | ALL;
#endif
	if
	:: atomic { token == slot -> token = 0; taken = 0 } /* take_from */
	:: token != slot ->
#ifndef M_NO_WAKING_AGAIN
		if
		:: atomic { token != 0 -> i = token };
			granted[i] = true;
			asleep[i] = false;
			i = 0
		:: token == 0
		fi
#endif
	fi
}

inline vt_page_is_ours() {
	if
	:: atomic { token != 0 -> i = token };
		if
		:: !(live & BIT(i)) -> atomic { if :: token == i -> token = 0; taken = 0 :: else fi }
		:: else
		fi;
		i = 0
	:: token == 0
	fi
}

/* Before its process exists; the holder of the token does it, so it is one step. */
inline vt_page_expect(slot) {
	state[slot] = THERE;
	deadline[slot] = now_ns;
	live = live | BIT(slot);
	run Participant(slot)
}

proctype Coordinator() {
	byte i, slot, next, n_now, n_round, v_able, v_dirty, first;
	bit v_limit_0;

nap:
	if
	:: over -> goto end
	:: atomic { bell && !over -> bell = 0 }
	:: atomic { state[1] == ENDED && !over -> slot = 1; goto reap }
	:: atomic { state[2] == ENDED && !over -> slot = 2; goto reap }
	:: atomic { state[N - 1] == ENDED && !over -> slot = N - 1; goto reap }
	:: atomic { revokes < REVOKES && token != 0 && !over ->
			slot = token;
#if !defined(M_REVOKE_TAKEN) && !defined(M_STORE_WITHOUT_COMPARING)
			if
			:: taken -> slot = 0; goto nap
			:: else
			fi;
#endif
			revokes++;
			token = 0;
			taken = 0
		};
		held = held | BIT(slot);
		limit_0 = 1
	:: atomic { sweeps < SWEEPS && !limit_0 && !over -> sweeps++; limit_0 = 1 }
	fi;
	goto look;
reap:
	vt_page_reap(slot);
	atomic { state[slot] = NONE; limit_0 = 1 };
look:
	slot = 0;
	vt_page_is_ours();
	if
	:: token != 0 -> goto nap
	:: token == 0
	fi;
turn:
	atomic {
		check_runs();
		i = 0;
		if
		:: now_ns >= T -> over = true; goto end
		:: else
		fi;
		limit_0 = 0;
		held = 0; /* they were continued, and are due */
		slot = 1;
		do
		:: slot < N && state[slot] == NONE -> vt_page_expect(slot); slot++
		:: slot < N && state[slot] != NONE -> slot++
		:: slot == N -> break
		od;
		slot = 0
	};
	hand_over(0, 0);
	if
	:: token == 0 -> dirty = dirty | ALL; goto turn /* all at rest: from outside */
	:: token != 0 -> goto nap
	fi;
died:
end:	skip
}

init {
	atomic { bell = 1; run Coordinator() }
}
