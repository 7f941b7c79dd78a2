/* vt_page.c: the page of a virtual clock, and its token. */
#include "channels/clock/vt_page.h"

#include "channels/clock/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATH_LEN 512
#define REAP_TRIES 50000
#define REAP_TRY_NS 100000

/* ---- the token ---- */

#define TAKEN (UINT64_C(1) << 8)

static int token_who(uint64_t token)
{
	return (int)(token & 63);
}

static int token_copy(uint64_t token)
{
	return (int)(token >> 7 & 1);
}

/* The copy may be written again while another thread reads it. */
int64_t vt_page_now(const struct vt_page *page)
{
	for (;;) {
		const uint64_t token = atomic_load_explicit(&page->token, memory_order_acquire);
		const int64_t now_ns = *(const volatile int64_t *)&page->core[token_copy(token)].now_ns;

		atomic_thread_fence(memory_order_acquire);
		if ((atomic_load_explicit(&page->token, memory_order_relaxed) ^ token) >> 16 == 0)
			return now_ns;
	}
}

static uint64_t token_next(uint64_t token, int copy, int who)
{
	return ((token >> 16) + 1) << 16 | (uint64_t)copy << 7 | (uint64_t)who;
}

static bool token_swap(struct vt_page *page, uint64_t *token, uint64_t next)
{
	return atomic_compare_exchange_strong_explicit(&page->token, token, next, memory_order_seq_cst,
						       memory_order_acquire);
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void vt_page_ring(struct vt_end *end)
{
	(void)!write(end->bell, "", 1); /* full: it is rung already */
}

static void wake(struct vt_end *end, int who)
{
	struct vt_slot *slot = &end->page->slot[who];

	if (who == VT_COORDINATOR) {
		vt_page_ring(end);
		return;
	}
	atomic_fetch_add_explicit(&slot->grant, 1, memory_order_release);
	futex(&slot->grant, FUTEX_WAKE, INT_MAX, NULL);
}

void vt_page_mark(struct vt_end *end, uint64_t slots)
{
	atomic_fetch_or_explicit(&end->page->slow, slots, memory_order_release);
	vt_page_mark_light(end, slots);
}

void vt_page_mark_light(struct vt_end *end, uint64_t slots)
{
	atomic_fetch_or_explicit(&end->page->dirty, slots & ~vt_bit(VT_COORDINATOR), memory_order_release);
}

static void read_view(const struct vt_page *page, int64_t limit_ns, struct vt_view *view)
{
	view->live = atomic_load_explicit(&page->live, memory_order_acquire);
	view->held = atomic_load_explicit(&page->held, memory_order_acquire);
	view->dirty = atomic_load_explicit(&page->dirty, memory_order_acquire);
	view->limit_ns = limit_ns;
	for (uint64_t left = view->live; left; left &= left - 1) {
		const int slot = __builtin_ctzll(left);

		view->deadline_ns[slot] = atomic_load_explicit(&page->deadline_ns[slot], memory_order_relaxed);
		view->floor_ns[slot] = atomic_load_explicit(&page->floor_ns[slot], memory_order_relaxed);
	}
}

static void hand_over(struct vt_end *end, uint64_t without)
{
	struct vt_page *page = end->page;
	uint64_t token = atomic_load_explicit(&page->token, memory_order_acquire);
	struct vt_view view;
	int who;

	read_view(page, atomic_load_explicit(&page->limit_ns, memory_order_acquire), &view);
	view.live &= ~without;
	page->core[!token_copy(token)] = vt_core_next(page->core[token_copy(token)], &view, &who);
	if (!token_swap(page, &token, token_next(token, !token_copy(token), who)))
		abort(); /* the token is never taken from the living */
	if (who == end->me)
		return;
	wake(end, who);
	/* Reaped since it was chosen: with vt_page_reap a Dekker pair, one of the two sees the other. */
	if (who && !(atomic_load_explicit(&page->live, memory_order_seq_cst) & vt_bit(who)))
		vt_page_ring(end);
}

void vt_page_pass(struct vt_end *end)
{
	hand_over(end, 0);
}

bool vt_page_await(struct vt_end *end, int64_t while_ns)
{
	const struct timespec nap = { while_ns / NS_PER_S, while_ns % NS_PER_S };
	struct vt_slot *slot = &end->page->slot[end->me];

	for (;;) {
		const uint32_t seen = atomic_load_explicit(&slot->grant, memory_order_acquire);
		uint64_t token = atomic_load_explicit(&end->page->token, memory_order_acquire);

		if (token_who(token) == end->me) {
			/* From here on it is not revoked.  First the mark goes, then its owner looks. */
			if (!token_swap(end->page, &token, token | TAKEN))
				continue;
			atomic_fetch_and_explicit(&end->page->dirty, ~vt_bit(end->me), memory_order_acq_rel);
			atomic_store_explicit(&end->page->now_ns, vt_page_core(end->page)->now_ns,
					      memory_order_relaxed);
			return true;
		}
		if (futex(&slot->grant, FUTEX_WAIT, seen, while_ns ? &nap : NULL) < 0 && errno == ETIMEDOUT)
			return false;
	}
}

void vt_page_leave(struct vt_end *end)
{
	vt_page_mark(end, ~vt_bit(end->me));
	hand_over(end, vt_bit(end->me));
	/* Not before: the coordinator takes the token from a slot that is not live. */
	atomic_fetch_and_explicit(&end->page->live, ~vt_bit(end->me), memory_order_seq_cst);
	vt_page_ring(end);
}

/* ---- starts and ends ---- */

int vt_page_slot(const struct vt_page *page, pid_t pid)
{
	for (int i = 0; i < VT_SLOTS; i++)
		if (atomic_load_explicit(&page->slot[i].pid, memory_order_relaxed) == (uint32_t)pid)
			return i;
	return -1;
}

void vt_page_killed(struct vt_end *end, pid_t pid)
{
	const struct timespec moment = { 0, REAP_TRY_NS };
	const int slot = vt_page_slot(end->page, pid);

	if (slot <= VT_COORDINATOR)
		return;
	vt_page_ring(end);
	for (int i = 0; i < REAP_TRIES && atomic_load(&end->page->live) & vt_bit(slot); i++)
		nanosleep(&moment, NULL);
}

void vt_page_expect(struct vt_end *end, int slot, const char *name, int64_t startup_ns)
{
	struct vt_page *page = end->page;
	const int64_t first_ns = vt_page_core(page)->now_ns + startup_ns;

	if (atomic_load(&page->live) & vt_bit(slot)) /* it has ended, but is not reaped yet */
		vt_page_killed(end, (pid_t)atomic_load(&page->slot[slot].pid));
	snprintf(page->slot[slot].name, VT_NAME_MAX, "%s", name);
	atomic_store_explicit(&page->slot[slot].pid, 0, memory_order_relaxed);
	atomic_fetch_and(&page->sharing, ~vt_bit(slot));
	atomic_store_explicit(&page->slot[slot].kill_after, 0, memory_order_relaxed);
	atomic_store_explicit(&page->deadline_ns[slot], first_ns, memory_order_relaxed);
	atomic_store_explicit(&page->floor_ns[slot], first_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&page->slot[slot].incarnation, 1, memory_order_relaxed);
	atomic_fetch_or_explicit(&page->live, vt_bit(slot), memory_order_release);
}

void vt_page_started(struct vt_end *end, int slot)
{
	atomic_store_explicit(&end->page->slot[slot].pid, (uint32_t)getpid(), memory_order_release);
	vt_page_ring(end);
}

void vt_page_forget(struct vt_end *end, int slot)
{
	atomic_fetch_and_explicit(&end->page->live, ~vt_bit(slot), memory_order_seq_cst);
}

/* Is the token in this slot, and, if so asked, not taken yet?  Then it is the coordinator's. */
static bool take_from(struct vt_page *page, int slot, bool only_untaken)
{
	uint64_t token = atomic_load_explicit(&page->token, memory_order_seq_cst);

	return token_who(token) == slot && !(only_untaken && token & TAKEN) &&
	       token_swap(page, &token, token_next(token, token_copy(token), VT_COORDINATOR));
}

void vt_page_reap(struct vt_end *end, int slot)
{
	struct vt_page *page = end->page;
	int who;

	atomic_fetch_and_explicit(&page->live, ~vt_bit(slot), memory_order_seq_cst);
	atomic_fetch_and_explicit(&page->held, ~vt_bit(slot), memory_order_release);
	vt_page_mark(end, ~UINT64_C(0));
	if (take_from(page, slot, false))
		return;
	/* It may have ended between handing the token over and waking. */
	who = token_who(atomic_load(&page->token));
	if (who)
		wake(end, who);
}

bool vt_page_is_ours(struct vt_end *end)
{
	const int who = token_who(atomic_load_explicit(&end->page->token, memory_order_seq_cst));

	if (who && !(atomic_load_explicit(&end->page->live, memory_order_seq_cst) & vt_bit(who)))
		take_from(end->page, who, false); /* handed to one that was just reaped */
	return token_who(atomic_load_explicit(&end->page->token, memory_order_acquire)) == VT_COORDINATOR;
}

bool vt_page_at_rest(const struct vt_end *end)
{
	const struct vt_core *core = vt_page_core(end->page);
	struct vt_view view;
	int who;

	read_view(end->page, 0, &view);
	return vt_core_next(*core, &view, &who).turns == core->turns;
}

int64_t vt_page_next_ns(const struct vt_end *end)
{
	struct vt_view view;
	int who;

	read_view(end->page, VT_NEVER, &view);
	view.live &= ~vt_bit(VT_COORDINATOR);
	return vt_core_next(*vt_page_core(end->page), &view, &who).now_ns;
}

int64_t vt_page_deadline_ns(const struct vt_end *end)
{
	int64_t soonest_ns = VT_NEVER;
	struct vt_view view;

	read_view(end->page, VT_NEVER, &view);
	for (uint64_t left = view.live & ~view.held & ~vt_bit(VT_COORDINATOR); left; left &= left - 1) {
		const int slot = __builtin_ctzll(left);
		const int64_t floor_ns = view.floor_ns[slot], deadline_ns = view.deadline_ns[slot];
		const int64_t at_ns = deadline_ns > floor_ns ? deadline_ns : floor_ns;

		if (at_ns < soonest_ns)
			soonest_ns = at_ns;
	}
	return soonest_ns;
}

bool vt_page_revoke(struct vt_end *end, int slot)
{
	if (!take_from(end->page, slot, true))
		return false;
	atomic_fetch_or_explicit(&end->page->held, vt_bit(slot), memory_order_release);
	return true;
}

/* ---- objects ---- */

/* Only the holder of the token creates one. */
struct vt_object *vt_page_object(struct vt_page *page, const char *name)
{
	uint32_t n = atomic_load_explicit(&page->objects_n, memory_order_acquire);
	struct vt_object *object;

	for (uint32_t i = 0; i < n && i < VT_OBJECTS; i++)
		if (!strncmp(page->object[i].name, name, VT_NAME_MAX - 1))
			return &page->object[i];
	if (n >= VT_OBJECTS)
		return NULL;
	object = &page->object[n];
	*object = (struct vt_object){ .hash = 0 };
	snprintf(object->name, VT_NAME_MAX, "%s", name);
	atomic_store_explicit(&page->objects_n, n + 1, memory_order_release);
	return object;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = mix(hash, word);
	}
	word = len;
	memcpy(&word, bytes, len);
	return mix(hash, word ^ (uint64_t)len << 56);
}

void vt_page_hash(struct vt_object *object, int64_t t_ns, const void *data, size_t len)
{
	object->hash = mix_bytes(mix(object->hash, (uint64_t)t_ns), data, len);
	object->count++;
}

uint64_t vt_page_hash_all(const struct vt_page *page)
{
	const uint32_t n = atomic_load_explicit(&page->objects_n, memory_order_acquire);
	uint64_t all = 0;

	for (uint32_t i = 0; i < n && i < VT_OBJECTS; i++) {
		const struct vt_object *object = &page->object[i];

		all += mix(mix_bytes(object->hash, object->name, strlen(object->name)), object->count);
	}
	return all;
}

/* ---- the file ---- */

static struct vt_page *map_page(int fd, int protection)
{
	struct vt_page *page = mmap(NULL, sizeof(*page), protection, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static void fill(struct vt_page *page, int64_t begin_ns)
{
	for (int i = 0; i < VT_SLOTS; i++)
		page->deadline_ns[i] = VT_NEVER;
	page->core[0].now_ns = begin_ns;
	page->now_ns = begin_ns;
	page->begun_ns = begin_ns;
	page->epoch_ns = CLOCK_VIRTUAL_EPOCH_NS;
	page->live = vt_bit(VT_COORDINATOR);
	page->limit_ns = VT_NEVER;
	page->magic = VT_PAGE_MAGIC;
}

static const char *bell_path(char bell[PATH_LEN], const char *path)
{
	snprintf(bell, PATH_LEN, "%s.bell", path);
	return bell;
}

void vt_page_remove(const char *path)
{
	char bell[PATH_LEN];

	unlink(bell_path(bell, path));
	unlink(path);
}

int vt_page_create(const char *path, int64_t begin_ns)
{
	char bell[PATH_LEN];
	struct vt_page *page = NULL;
	int fd, err = 0;

	vt_page_remove(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	if (mkfifo(bell_path(bell, path), 0600) || ftruncate(fd, sizeof(*page)) ||
	    !(page = map_page(fd, PROT_READ | PROT_WRITE)))
		err = -errno;
	close(fd);
	if (page) {
		fill(page, begin_ns);
		munmap(page, sizeof(*page));
	}
	return err;
}

struct vt_page *vt_page_open(const char *path, bool writable)
{
	const int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
	struct vt_page *page = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_size != sizeof(*page))
		errno = EPROTO;
	else
		page = map_page(fd, writable ? PROT_READ | PROT_WRITE : PROT_READ);
	close(fd);
	if (page && page->magic != VT_PAGE_MAGIC) {
		munmap(page, sizeof(*page));
		errno = EPROTO;
		return NULL;
	}
	return page;
}

int vt_page_reach(struct vt_end *end, const char *path)
{
	char bell[PATH_LEN];

	*end = (struct vt_end){ .me = -1, .page = vt_page_open(path, true), .bell = -1 };
	if (end->page)
		end->bell = open(bell_path(bell, path), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	return end->bell < 0 ? -errno : 0;
}

int vt_page_join(struct vt_end *end, const char *path, int slot)
{
	const int status = vt_page_reach(end, path);

	if (status)
		return status;
	end->me = slot;
	atomic_store_explicit(&end->page->slot[slot].pid, (uint32_t)getpid(), memory_order_release);
	if (slot == VT_COORDINATOR)
		atomic_store(&end->page->pid, (uint32_t)getpid());
	return 0;
}
