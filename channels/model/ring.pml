/* ring.pml: the channel as ach_put.c, ach_get.c and ach_wait.c have it, for spin.
 *
 * Writers that may die after every store to shared memory, one reader without
 * a lock, waiters that may die, and a tiny ring.  Each block below is one
 * access to shared memory with the local work around it; README says what was
 * drawn together and why that is sound.  P1 to P5 are the steps of put, R1 to
 * R5 those of get, G1 and G2 those of waiting.  Memory is sequentially
 * consistent here: the orderings are in litmus/.
 *
 * -DM_... are faults put in on purpose; verify checks that each is found.
 */

#ifndef CNT
#define CNT 1		/* messages retained at most */
#endif
#ifndef LSIZE
#define LSIZE 2		/* words retained at most, and the longest message */
#endif
#ifndef ALIGN
#define ALIGN 1		/* a message begins at a multiple of this */
#endif
#ifndef COMMITS
#define COMMITS 4	/* messages put in a run */
#endif
#ifndef DEATHS
#define DEATHS 2	/* of writers and waiters in a run */
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef READERS
#define READERS 1	/* 0 or 1 */
#endif
#ifndef WAITERS
#define WAITERS 1
#endif
#ifndef BOUNDED
#define BOUNDED 0	/* of the waiters, so many have a deadline */
#endif
#ifndef BELL
#define BELL 0		/* 1: some may only read.  Waiters with an odd id are such; no waiter relies on a watcher */
#endif
#ifndef CANCELS
#define CANCELS 0	/* of waiters in a run */
#endif
#ifndef SCRIBBLES
#define SCRIBBLES 0	/* 1: a hint is scribbled on, once: with BELL that of the bell */
#endif

#ifdef RESERVE
#define MAX LSIZE	/* words reserved and written, whatever is committed */
#else
#define MAX length
#endif

#define UP(x) (((x) + ALIGN - 1) / ALIGN * ALIGN)

#ifdef M_NO_SPARE_SLOT
#define SLOTS CNT
#else
#define SLOTS (CNT + 1)
#endif
#ifdef M_NO_SPARE_BYTES
#define PSIZE UP(LSIZE)
#else
#define PSIZE UP(2 * LSIZE + CNT * (ALIGN - 1))
#endif
#ifdef M_HEAD_PAST_END
#define WRAP(x) ((x) > PSIZE -> (x) - PSIZE : (x))
#else
#define WRAP(x) ((x) >= PSIZE -> (x) - PSIZE : (x))
#endif

#define CUM_MODULUS (2 * LSIZE)	/* differences up to LSIZE are all that is looked at; the code has 64 bits */
#define SLOT(seq) ((seq) % SLOTS)
#define TAG(seq, length) ((seq) * 4 + (length))
#define TAG_SEQ(word) ((word) / 4)
#define HINT(seq) ((seq) * 2)
#define HINT_WATCHED(seq) ((seq) * 2 + 1)
#define HINT_SEQ(hint) ((hint) / 2)
#if BELL
#define HIGHER(a, b) ((a) > (b) -> (a) : (b))
#endif

/* ---- shared memory ---- */

byte commit;		/* the newest sequence number, and the futex word */
byte reclaim;		/* bytes and slots of messages before this one may be changing */
byte lock;		/* of the writers: owner's pid or 0 */
byte woken;		/* waiters for messages up to this one have been woken */
byte hint;		/* of those who may write: HINT or HINT_WATCHED of the message that one waits for */
#if BELL
byte bell;		/* of those who may only read: HINT of the message that one waits for */
#endif
byte entry_seq[SLOTS];
byte entry_pos[SLOTS];
byte entry_cum[SLOTS];
byte entry_len[SLOTS];
byte entry_keep[SLOTS];
byte data[PSIZE];	/* each word carries the TAG of its message */
#ifdef M_HEAD_POINTER
byte shared_head;
#endif

/* ---- the kernel and the bookkeeping of the run ---- */

/* Waiters that a scribble may keep from being woken: a process that may only read can disturb no writer. */
#if BELL
#define SCRIBBLED(id) (scribbled && (id) % 2 == 1)
#else
#define SCRIBBLED(id) scribbled
#endif

bool asleep[WAITERS + 1];	/* in FUTEX_WAIT ... */
byte asleep_on[WAITERS + 1];	/* ... because the word had this value */
bool untimed[WAITERS + 1];	/* without a slice: it relies on a watcher, also while not yet asleep */
byte watching[WAITERS + 1];	/* in the handle: the message for whose waiters this one keeps the slice, or 0 */
#ifdef M_WATCHER_TRUSTS_ITS_WAKE
bool woken_up[WAITERS + 1];
#endif
bool given_up;			/* a watcher died, or was cancelled while another began to rely on it */
bool scribbled;			/* the bell was */
byte cancels;
byte deaths;
byte finished;			/* writers that have nothing more to put */

/* ---- what must hold; hidden: no part of the state, so named for free ---- */

hidden byte newest_entry_is_sound;
hidden byte only_one_writer_commits;
hidden byte retention_is_exact;
hidden byte no_sleeper_is_left_behind;
hidden byte sleeper_is_watched;
hidden byte watcher_leaves_none_asleep;
hidden byte commit_never_goes_back;
hidden byte no_false_corrupt;
hidden byte lapped_only_by_a_commit;
hidden byte overflow_reports_length;
hidden byte message_is_whole;
hidden byte message_is_the_one_asked_for;
hidden byte first_is_the_oldest_unseen;
hidden byte status_reports_missed_frames;
#define ENSURE(name, condition) name = (condition); assert(name)

hidden byte j, sum, lapped, missed;	/* scratch, only inside one d_step: it is lost between steps */

/* Killed here?  The kernel frees a dead owner's lock, and the supervisor
 * starts another writer; nothing else is repaired.  A process that is dead
 * but whose lock is not free yet looks as if it did not move, so both
 * happen in one step. */
#if defined(M_LOCK_KEPT_BY_THE_DEAD)
#define FREE_LOCK skip
#elif defined(M_PUT_OF_THE_DEAD_UNDONE)
byte undo;
#define FREE_LOCK undo = (lock == _pid && commit == s); lock = (lock == _pid -> 0 : lock)
#else
#define FREE_LOCK lock = (lock == _pid -> 0 : lock)
#endif
#define WRITER_MAY_DIE \
	if \
	:: true \
	:: deaths < DEATHS -> d_step { deaths++; FREE_LOCK; WRITER_FORGETS }; goto put \
	fi
#define WRITER_FORGETS s = 0; first = 0; head = 0; cum = 0; length = 0; keep = 0; i = 0; h = 0; w = 0
#define WAITER_MAY_DIE \
	if \
	:: true \
	:: deaths < DEATHS -> d_step { WAITER_DIES }; goto wait \
	fi
#define WAITER_DIES \
	deaths++; \
	cursor = 0; \
	given_up = given_up || watching[id] > 0; \
	watching[id] = 0; \
	untimed[id] = false

inline futex_wake()
{
	d_step {
		j = 0;
		do
		:: j < WAITERS ->
			if
			:: asleep[j] ->
				asleep[j] = false;
				asleep_on[j] = 0;
				untimed[j] = false;
#ifdef M_WATCHER_TRUSTS_ITS_WAKE
				woken_up[j] = true;
#endif
#ifdef M_WAKE_ONE
				j = WAITERS - 1
#endif
			:: else
			fi;
			j++
		:: else -> break
		od
	}
}

/* What a watcher leaves behind, and what is given up: some may have seen its
 * bit, are not asleep yet, and will be when there is no watcher. */
#define WATCH_ENDS \
	d_step { \
		j = 0; \
		do \
		:: j < WAITERS -> \
			ENSURE(watcher_leaves_none_asleep, \
				!asleep[j] || !untimed[j] || asleep_on[j] >= watching[id]); \
			given_up = given_up || (untimed[j] && commit < watching[id]); \
			j++ \
		:: else -> break \
		od; \
		j = 0; \
		watching[id] = 0 \
	}

/* commit(len): the oldest message that stays, in i.  Then the same from the
 * contract's words, without cum: at most CNT messages and LSIZE words, and
 * whatever goes does so because it no longer fits. */
inline retain()
{
	d_step {
		i = first;
		if
		:: s - i >= CNT -> i = s - CNT + 1
		:: else
		fi;
		do
#ifdef M_RETAIN_BY_PLACE
		:: i < s && (head + PSIZE - entry_pos[SLOT(i)]) % PSIZE + length > LSIZE -> i++
#else
		:: i < s && (cum + CUM_MODULUS - entry_cum[SLOT(i)]) % CUM_MODULUS + length > LSIZE -> i++
#endif
		:: else -> break
		od;
		keep = s - i + 1;
#ifdef M_KEEP_ONE_MORE
		keep = (keep < s -> keep + 1 : keep);
		i = s - keep + 1;
#endif
#ifdef M_KEEP_ONE_LESS
		keep = (keep > 1 -> keep - 1 : keep);
		i = s - keep + 1;
#endif
		sum = length;
		j = i;
		do
		:: j < s -> sum = sum + entry_len[SLOT(j)]; j++
		:: else -> break
		od;
		ENSURE(retention_is_exact, keep <= CNT && sum <= LSIZE &&
			(i <= first || keep == CNT || sum + entry_len[SLOT(i - 1)] > LSIZE));
		i = 0;
		j = 0;
		sum = 0
	}
}

proctype writer()
{
	byte s;		/* number of the message being put */
	byte first;	/* oldest retained before it */
	byte head, cum, length, keep;
	byte i, h, w;
put:
	/* reserve(): lock; everything a writer has to know is in the newest
	 * entry, which only the owner of the lock changes. */
	atomic {
		lock == 0;
#ifdef M_PUT_OF_THE_DEAD_UNDONE
		commit = commit - undo;
		undo = 0;
#endif
		if
		:: commit == COMMITS -> goto out
		:: else
		fi;
		lock = _pid;
		if
		:: length = 1
#if LSIZE > 1
		:: length = LSIZE
#endif
#if LSIZE > 2 && defined(ALL_LENGTHS)
		:: length = 2
#endif
#ifdef RESERVE
		:: length = 0	/* will be given up */
#endif
		fi;
		d_step {
			s = commit + 1;
			if
			:: commit == 0 ->
				head = 0;
				cum = 0;
				first = 1
			:: else ->
				i = SLOT(commit);
				ENSURE(newest_entry_is_sound, entry_seq[i] == commit && entry_pos[i] < PSIZE &&
					entry_len[i] >= 1 && entry_len[i] <= LSIZE &&
					entry_keep[i] >= 1 && entry_keep[i] <= CNT && entry_keep[i] <= commit);
#ifdef M_HEAD_NOT_ADVANCED
				head = entry_pos[i];
#else
				head = WRAP(UP(entry_pos[i] + entry_len[i]));
#endif
				cum = (entry_cum[i] + entry_len[i]) % CUM_MODULUS;
				first = commit - entry_keep[i] + 1;
				i = 0
			fi
#ifdef M_HEAD_POINTER
			;
			head = shared_head;
			shared_head = WRAP(UP(head + length))
#endif
		};
		WRITER_MAY_DIE
	};

#ifdef M_COMMIT_BEFORE_DATA
	atomic { commit = s; WRITER_MAY_DIE };
#endif

#if READERS || !WAITERS
	/* P1, P2: messages before first are outside the contract since the
	 * last commit; now their bytes and slots will change. */
#if defined(M_RECLAIM_TOO_FAR)
	atomic { retain(); reclaim = s - keep + 1; keep = 0; WRITER_MAY_DIE };
#elif !defined(M_NO_RECLAIM) && !defined(M_RECLAIM_AFTER_DATA)
	atomic { reclaim = first; WRITER_MAY_DIE };
#endif

	/* The caller's bytes; they may run over the end (data is mapped twice). */
fill:
	atomic {
		data[(head + i) % PSIZE] = TAG(s, (i < length -> length : 0));
		i++;
		WRITER_MAY_DIE;
		if
		:: i < MAX -> goto fill
		:: else -> i = 0
		fi
	};
#ifdef RESERVE
	atomic {
		if
		:: length == 0 -> d_step { lock = 0; WRITER_FORGETS }; goto put
		:: else
		fi
	};
#endif

#ifdef M_ENTRY_AFTER_COMMIT
	atomic { commit = s; WRITER_MAY_DIE };
#endif

	/* commit(len): what is retained from now on, and the entry. */
	atomic { retain(); entry_seq[SLOT(s)] = s; WRITER_MAY_DIE };
	atomic {
		d_step {
			entry_pos[SLOT(s)] = head;
			entry_cum[SLOT(s)] = cum;
			entry_len[SLOT(s)] = length;
			entry_keep[SLOT(s)] = keep
		};
		WRITER_MAY_DIE
	};

#ifdef M_RECLAIM_AFTER_DATA
	atomic { reclaim = first; WRITER_MAY_DIE };
#endif
#endif
#ifdef M_HINT_BEFORE_COMMIT
	h = HINT_SEQ(hint);
	w = woken;
#endif
#if BELL && defined(M_BELL_BEFORE_COMMIT)
	h = HINT_SEQ(bell);
#endif
#ifdef M_UNLOCK_BEFORE_COMMIT
	atomic { lock = 0; WRITER_MAY_DIE };
#endif

	/* P3: the message exists, and what it pushes out is gone. */
#if !defined(M_COMMIT_BEFORE_DATA) && !defined(M_ENTRY_AFTER_COMMIT)
	atomic {
#if !READERS && WAITERS
		retain();
#endif
		d_step {
#if !READERS && WAITERS
			entry_seq[SLOT(s)] = s;
			entry_pos[SLOT(s)] = head;
			entry_cum[SLOT(s)] = cum;
			entry_len[SLOT(s)] = length;
			entry_keep[SLOT(s)] = keep;
#endif
			ENSURE(only_one_writer_commits, s == commit + 1);
			commit = s;
			first = 0;
			head = 0;
			cum = 0;
			length = 0;
			keep = 0
		};
		WRITER_MAY_DIE
	};
#endif
#ifndef M_UNLOCK_BEFORE_COMMIT
	atomic { lock = 0; WRITER_MAY_DIE };
#endif

	/* P4: does anybody wait who has not been woken?  P5: only after the
	 * wake.  Nothing of this can be seen by a reader. */
#if !WAITERS
#elif defined(M_BIT_CLEARED_BEFORE_WAKE)
	if
	:: hint != 0 ->
		atomic { hint = 0; WRITER_MAY_DIE };
		atomic { futex_wake(); WRITER_MAY_DIE }
	:: hint == 0
	fi;
#elif defined(M_BIT_CLEARED_AFTER_WAKE)
	if
	:: hint != 0 ->
		atomic { futex_wake(); WRITER_MAY_DIE };
		atomic { hint = 0; WRITER_MAY_DIE }
	:: hint == 0
	fi;
#else
#ifndef M_HINT_BEFORE_COMMIT
#if BELL && defined(M_BELL_BEFORE_COMMIT)
	atomic { h = HIGHER(h, HINT_SEQ(hint)) };
#else
	h = HINT_SEQ(hint);
#endif
#if BELL && !defined(M_BELL_IGNORED) && !defined(M_BELL_BEFORE_COMMIT)
	atomic { h = HIGHER(h, HINT_SEQ(bell)) };
#endif
	w = woken;
#endif
	if
	:: atomic { h > w || w > s -> h = 0; w = 0 };
#ifdef M_WOKEN_BEFORE_WAKE
		atomic { woken = s; WRITER_MAY_DIE };
		atomic { futex_wake(); WRITER_MAY_DIE }
#else
		atomic { futex_wake(); WRITER_MAY_DIE };
		atomic { woken = s; WRITER_MAY_DIE }
#endif
	:: atomic { else -> h = 0; w = 0 }
	fi;
#endif

	/* The put is complete: no waiter sleeps though its message is
	 * there, whatever died before. */
	atomic {
		d_step {
			j = 0;
			do
			:: j < WAITERS ->
				ENSURE(no_sleeper_is_left_behind, !asleep[j] || asleep_on[j] >= s || SCRIBBLED(j));
				j++
			:: else -> break
			od;
			j = 0;
			WRITER_FORGETS
		};
		goto put
	};
out:
	finished++
}

#if READERS
proctype reader()
{
	byte cursor;	/* the handle's */
	byte got;	/* what the caller knows: number of the message it holds, from its bytes */
	byte due;	/* what the contract says at R1: the message this get is to deliver */
	byte c, want, seq, pos, length, i;
	byte word;	/* first word of the caller's buffer */
	bool mixed;	/* another word of it differs */
	bool last;	/* ACH_O_LAST, or ACH_O_COPY when everything is seen */
	bool bad;	/* the entry is not sound */
	bool small;	/* the caller's buffer is smaller than the message */
#if defined(M_CHECK_BEFORE_COPY) || defined(M_CHECK_BEFORE_LAST_WORD)
	byte checked;
#endif
get:
	/* R1 */
	atomic {
		if
		:: last = false
		:: last = true
		fi;
		d_step {
			c = commit;
			ENSURE(commit_never_goes_back, c >= cursor)
		};
		if
		:: c == 0 || (c == cursor && !last) ->	/* EAGAIN */
			d_step { c = 0; last = false };
			if
			:: goto get
			:: goto out	/* at any time: a reader that asks for ever would hide a deadlock */
			fi
		:: else
		fi;
		want = c;
		d_step {
			due = c - entry_keep[SLOT(c)] + 1;
			due = (due > got -> due : got + 1);
			due = (last -> c : due)
		}
	};

	/* R2: the newest entry, then, if there is an older one unseen, that. */
entry:
#ifdef M_CHECK_BEFORE_COPY
	checked = reclaim;
#endif
	seq = entry_seq[SLOT(want)];
	atomic {
		d_step {
			pos = entry_pos[SLOT(want)];
			length = entry_len[SLOT(want)];
			j = entry_keep[SLOT(want)];
			bad = seq != want || pos >= PSIZE || length < 1 || length > LSIZE || j < 1 ||
				j > CNT || j > want;
			seq = 0;
#ifndef M_FIRST_IS_NEWEST
			if
			:: !bad && !last && want == c && j > 1 && c > cursor + 1 ->
				want = c - j + 1;
				want = (want > cursor -> want : cursor + 1);
				pos = 0;
				length = 0	/* not this entry */
			:: else
			fi;
#endif
			j = 0
		};
		if
		:: bad ->
#ifdef M_CORRUPT_BEFORE_CHECK
			ENSURE(no_false_corrupt, false);
#endif
			goto check
		:: !bad && length == 0 -> goto entry
		:: !bad && length >= 1
		:: !bad && length > 1 ->
			small = true;
#ifdef M_OVERFLOW_BEFORE_CHECK
			ENSURE(overflow_reports_length, data[pos] == TAG(want, length));
#endif
			goto check
		fi
	};

	/* The copy. */
copy:
	atomic {
		d_step {
			j = data[(pos + i) % PSIZE];
			word = (i == 0 -> j : word);
			mixed = mixed || j != word;
			j = 0;
#ifdef M_CHECK_BEFORE_LAST_WORD
			checked = (i == 0 -> reclaim : checked);
#endif
			i++
		};
		if
		:: i < length -> goto copy
		:: else -> i = 0
		fi
	};

	/* R3, R4, R5 and the answer. */
check:
	atomic {
		d_step {
#if defined(M_NO_CHECK)
			lapped = false;
#elif defined(M_CHECK_BEFORE_COPY)
			lapped = checked > want;
			checked = 0;
#elif defined(M_CHECK_BEFORE_LAST_WORD)
			lapped = (bad || small -> reclaim : checked) > want;
			checked = 0;
#else
			lapped = reclaim > want;
#endif
			if
			:: lapped ->
				ENSURE(lapped_only_by_a_commit, commit > c && commit >= reclaim)
			:: !lapped ->
				ENSURE(no_false_corrupt, !bad);
				ENSURE(first_is_the_oldest_unseen, want == due);
				if
				:: small ->
					ENSURE(overflow_reports_length, data[pos] == TAG(want, length))
				:: else ->
					ENSURE(message_is_whole, !mixed);
					ENSURE(message_is_the_one_asked_for, word == TAG(want, length));
#ifdef M_COPY_IS_MISSED
					missed = want != cursor + 1;
#else
					missed = want > cursor + 1;
#endif
					cursor = want;
#ifdef M_CURSOR_TO_NEWEST
					cursor = c;
#endif
					ENSURE(status_reports_missed_frames, missed == (TAG_SEQ(word) > got + 1));
					got = TAG_SEQ(word)
				fi
			fi;
			c = 0;
			want = 0;
			due = 0;
			pos = 0;
			length = 0;
			word = 0;
			mixed = false;
			last = false;
			bad = false;
			small = false
		};
		goto get
	};
out:
	skip
}
#endif

proctype waiter(byte id)
{
	byte cursor;
wait:
	/* Get everything there is, or find that the wait was cancelled. */
	atomic {
		if
		:: finished == WRITERS && commit == cursor -> goto out
		:: finished < WRITERS && commit == cursor -> goto ring
		:: commit == cursor && cancels < CANCELS -> cancels++
		:: commit != cursor -> cursor = commit
		fi;
		if
		:: watching[id] == 0 -> goto ring
		:: watching[id] > 0
		fi
	};

	/* A watcher leaves.  Have the others been woken?  P5 shows that; that it
	 * was woken itself says nothing about them. */
unwatch:
	atomic {
		if
#ifdef M_WATCHER_WAKES_NOBODY
		:: true -> WATCH_ENDS; goto ring
#elif defined(M_WATCHER_TRUSTS_ITS_WAKE)
		:: woken_up[id] -> WATCH_ENDS; goto ring
#endif
		:: woken >= watching[id] -> WATCH_ENDS; goto ring
		:: else
		fi
	};
#ifndef M_WATCH_BIT_KEPT
	atomic { hint = (hint == HINT_WATCHED(watching[id]) -> HINT(watching[id]) : hint); WAITER_MAY_DIE };
#endif
	atomic { futex_wake(); WATCH_ENDS };

ring:
#ifdef G2_BEFORE_G1
	atomic {
		if
		:: commit != cursor -> goto wait
		:: else
		fi
	};
#endif

	/* G1: hint = max(hint, cursor + 1), and without a deadline the watch,
	 * if there is none.  Where some may only read, each in its own word, and
	 * every waiter keeps a slice. */
#if BELL
	atomic {
		if
		:: id % 2 == 0 && HINT_SEQ(hint) <= cursor -> hint = HINT(cursor + 1); WAITER_MAY_DIE
#ifndef M_BELL_NOT_RUNG
		:: id % 2 == 1 && HINT_SEQ(bell) <= cursor -> bell = HINT(cursor + 1); WAITER_MAY_DIE
#endif
		:: else
		fi
	};
#elif defined(M_BIT_CLEARED_BEFORE_WAKE) || defined(M_BIT_CLEARED_AFTER_WAKE)
	atomic { hint = HINT(1); WAITER_MAY_DIE };
#elif defined(M_HINT_PLAIN_STORE)
	atomic { hint = HINT(cursor + 1); WAITER_MAY_DIE };
#elif !defined(M_NO_HINT)
	atomic {
		if
#if BOUNDED
		:: id < BOUNDED && HINT_SEQ(hint) <= cursor ->
#ifdef M_DEADLINE_AND_WATCH
			hint = HINT_WATCHED(cursor + 1);
#else
			hint = HINT(cursor + 1);
#endif
			WAITER_MAY_DIE
#endif
		:: id >= BOUNDED && hint < HINT_WATCHED(cursor + 1) ->
#ifdef M_NOBODY_WATCHES
			hint = HINT(cursor + 1);
			untimed[id] = true;
#else
			d_step {
				hint = HINT_WATCHED(cursor + 1);
				watching[id] = cursor + 1;
				sum = 0;
				j = 0;
				do
				:: j < WAITERS -> sum = sum || untimed[j]; j++
				:: else -> break
				od;
				given_up = given_up && sum;	/* no waiter is concerned any more */
				sum = 0;
				j = 0
			};
#endif
			WAITER_MAY_DIE
		:: id >= BOUNDED && hint == HINT_WATCHED(cursor + 1) -> untimed[id] = watching[id] != cursor + 1
		:: else
		fi
	};
#endif

	/* G2 */
#ifndef G2_BEFORE_G1
	atomic {
		if
		:: commit != cursor -> untimed[id] = false; goto wait
		:: else
		fi
	};
#endif

	/* FUTEX_WAIT: the kernel compares the word and queues in one step. */
	atomic {
		if
#ifndef M_NO_COMPARISON_IN_KERNEL
		:: commit != cursor -> untimed[id] = false; goto wait
#endif
		:: else -> asleep[id] = true; asleep_on[id] = cursor
		fi;
#ifdef M_WATCHER_TRUSTS_ITS_WAKE
		woken_up[id] = false;
#endif
		d_step {
			sum = 0;
			j = 0;
			do
			:: j < WAITERS -> sum = sum + (watching[j] == cursor + 1); j++
			:: else -> break
			od;
			ENSURE(sleeper_is_watched, !untimed[id] || sum || given_up || finished == WRITERS);
			sum = 0;
			j = 0
		}
	};

	/* Asleep until woken, killed or cancelled, or until the slice is over:
	 * but that only if a process died that may have owed the wake, or after
	 * the last put.  Without a death a sleeper that missed something is a
	 * deadlock; and without a slice it is one too, except for what is
	 * given up. */
	atomic {
		if
		:: !asleep[id]
		:: asleep[id] && deaths < DEATHS -> WAITER_DIES
		:: asleep[id] && cancels < CANCELS ->
			cancels++;
			asleep[id] = false;
			asleep_on[id] = 0;
			untimed[id] = false;
			if
			:: watching[id] > 0 -> goto unwatch
			:: watching[id] == 0 -> goto wait
			fi
		:: asleep[id] && !untimed[id] && ((deaths > 0 && asleep_on[id] != commit) || SCRIBBLED(id))
		:: asleep[id] && finished == WRITERS && (asleep_on[id] == commit || (untimed[id] && given_up))
		fi;
		asleep[id] = false;
		asleep_on[id] = 0;
		untimed[id] = false;
		goto wait
	};
out:
	skip
}

#if SCRIBBLES
/* A false watcher is the only scribble that is not made up for. */
proctype scribbler()
{
	atomic {
		if
#if BELL
		:: bell = 0
		:: bell = HINT(COMMITS + 2)
#else
		:: hint = 0
		:: hint = HINT(HINT_SEQ(hint))
		:: hint = HINT(COMMITS + 2)
#endif
		fi;
		scribbled = true
	}
}
#endif

init {
	byte n;
	atomic {
		do
		:: n < WRITERS -> run writer(); n++
		:: else -> break
		od;
#if READERS
		run reader();
#endif
		n = 0;
		do
		:: n < WAITERS -> run waiter(n); n++
		:: else -> break
		od;
#if SCRIBBLES
		run scribbler();
#endif
		n = 0
	}
}
