/* hung.c: whether a silent daemon is hung, or did not get a processor. */
#include "launch/achstart/hung.h"

#include "channels/client/folder.h"

enum hung_verdict hung_verdict(const struct hung_facts *f)
{
	const int64_t limit_ns = f->patience_ns * HUNG_LIMIT_FACTOR;

	if (f->silent_ns <= f->patience_ns)
		return HUNG_NO;
	if (!f->known || f->state == 'T' || f->silent_ns - f->waited_ns > f->patience_ns)
		return HUNG_YES;
	return f->silent_ns > (limit_ns > HUNG_LIMIT_MIN_NS ? limit_ns : HUNG_LIMIT_MIN_NS) ? HUNG_OVERLOADED
											    : HUNG_WAITS;
}

void hung_sample(struct hung *h, const char *schedstat, char state, int64_t since_ns, bool fresh, int64_t now_ns)
{
	int64_t cpu_ns = 0, delay_ns = 0, runs = 0; /* "0 0 0": a kernel without the accounts */
	const bool known =
		sscanf(schedstat, "%" SCNd64 " %" SCNd64 " %" SCNd64, &cpu_ns, &delay_ns, &runs) == 3 && runs > 0;

	if (h->since_ns != since_ns || !h->facts.known)
		*h = (struct hung){ .since_ns = since_ns,
				    .cpu_ns = fresh ? 0 : cpu_ns,
				    .delay_ns = fresh ? 0 : delay_ns,
				    .seen_cpu_ns = -1 };
	if (h->seen_cpu_ns != cpu_ns)
		h->ran_ns = now_ns;
	h->seen_cpu_ns = cpu_ns;
	h->facts = (struct hung_facts){ .silent_ns = now_ns - since_ns,
					.waited_ns = delay_ns - h->delay_ns + (state == 'R' ? now_ns - h->ran_ns : 0),
					.cpu_ns = cpu_ns - h->cpu_ns,
					.state = state,
					.known = known };
}

void hung_measure(struct hung *h, pid_t pid, int64_t since_ns, bool fresh, int64_t now_ns)
{
	char text[96] = "";

	folder_proc_read(pid, "schedstat", text, sizeof(text));
	hung_sample(h, text, folder_run_state(pid), since_ns, fresh, now_ns);
}
