/* relay_peer.c: the clocks of other machines, by questions and answers. */
#include "launch/achdds/relay_inside.h"

void relay_peer_ask(struct relay *r)
{
	struct cdr_out cdr = cdr_out(r->cdr, sizeof(r->cdr));
	const int64_t now_ns = clock_now_ns();

	cdr_put(&cdr, &r->session, sizeof(r->session), 1);
	cdr_put(&cdr, &now_ns, sizeof(now_ns), 1);
	dds_node_put(r->asks, r->cdr, cdr.len);
}

void relay_peer_answer(struct relay *r, const struct dds_node_sample *question)
{
	struct cdr_in in = cdr_in(question->cdr, question->len);
	struct cdr_out cdr = cdr_out(r->cdr, sizeof(r->cdr));
	int64_t t_ns[3] = { 0, clock_now_ns(), 0 };
	uint64_t who[2] = { 0, r->session };

	cdr_get(&in, &who[0], sizeof(who[0]), 1);
	cdr_get(&in, &t_ns[0], sizeof(t_ns[0]), 1);
	if (in.bad)
		return;
	t_ns[2] = clock_now_ns();
	cdr_put(&cdr, who, sizeof(*who), 2);
	cdr_put(&cdr, t_ns, sizeof(*t_ns), 3);
	dds_node_put(r->answers, r->cdr, cdr.len);
}

/* The peer of that session, or the one that was silent for longest instead. */
static struct relay_peer *peer_of(struct relay *r, uint64_t session)
{
	struct relay_peer *oldest = &r->peers[0];

	for (size_t i = 0; i < RELAY_PEERS_MAX; i++) {
		if (r->peers[i].session == session)
			return &r->peers[i];
		if (r->peers[i].seen_ns < oldest->seen_ns)
			oldest = &r->peers[i];
	}
	*oldest = (struct relay_peer){ .session = session };
	return oldest;
}

void relay_peer_take(struct relay *r, const struct dds_node_sample *sample)
{
	const int64_t now_ns = clock_now_ns();
	struct cdr_in in = cdr_in(sample->cdr, sample->len);
	uint64_t who[2];
	int64_t t_ns[3];
	struct relay_peer *peer;

	cdr_get(&in, who, sizeof(*who), 2);
	cdr_get(&in, t_ns, sizeof(*t_ns), 3);
	if (in.bad || who[0] != r->session || !who[1] || t_ns[0] > now_ns)
		return;
	peer = peer_of(r, who[1]);
	if (relay_clock_add(&peer->clock, t_ns[0], t_ns[1], t_ns[2], now_ns))
		peer->seen_ns = now_ns;
}

bool relay_peer_offset(const struct relay *r, uint64_t session, int64_t now_ns, int64_t *offset_ns, int64_t *error_ns)
{
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++)
		if (r->peers[i].session == session)
			return relay_clock_offset(&r->peers[i].clock, now_ns, offset_ns, error_ns) &&
			       *error_ns <= r->b->file.relay.uncertainty_ns;
	return false;
}
