/* sim_keep.c: where the body is, for the robotsim that follows one that was killed. */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "daemons/robotsim/sim.h"

#define KEEP_NS 5000000000 /* after that it is another run of the robot */
#define MAGIC UINT64_C(0x316b706565626f64)

/* A robotsim may be killed while it writes: it writes the copy that is not valid. */
struct sim_keep {
	uint64_t magic;
	_Atomic uint32_t valid;
	struct sim_place copy[2];
};

void sim_keep_open(struct sim *sim, int folder)
{
	struct error_sink quiet = { 0 };
	const int fd = sim->body.is_there ? safe_path_file(folder, SIM_KEEP, O_RDWR | O_CREAT, 0600, &quiet) : -1;
	void *memory = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(struct sim_keep)))
		memory = mmap(NULL, sizeof(struct sim_keep), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	sim->body.keep = memory == MAP_FAILED ? NULL : memory;
}

void sim_keep_close(struct sim *sim, int folder)
{
	if (sim->body.keep)
		munmap(sim->body.keep, sizeof(struct sim_keep));
	sim->body.keep = NULL;
	unlinkat(folder, SIM_KEEP, 0);
}

bool sim_keep_read(const struct sim_keep *keep, int64_t now_ns, struct sim_place *place)
{
	if (!keep || keep->magic != MAGIC)
		return false;
	*place = keep->copy[atomic_load_explicit(&keep->valid, memory_order_acquire) & 1];
	return place->t_ns <= now_ns && now_ns - place->t_ns < KEEP_NS;
}

void sim_keep_write(struct sim_keep *keep, const struct sim_place *place)
{
	const uint32_t other = !(atomic_load_explicit(&keep->valid, memory_order_relaxed) & 1);

	keep->copy[other] = *place;
	atomic_store_explicit(&keep->valid, other, memory_order_release);
	keep->magic = MAGIC;
}
