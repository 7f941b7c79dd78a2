/* peer_ach.c: a channel without copies: ach_reserve and ach_peek; one whose readers are woken less often. */
#include "channels/ach/ach.h"
#include "test/bench/lib.h"
#include "test/bench/peers/peers.h"

static void ach_loan_open(struct transport_link *link)
{
	transport_ach.open(link);
}

static void ach_loan_join_sending(struct transport_link *link)
{
	transport_ach.join_sending(link);
}

static void ach_loan_join_receiving(struct transport_link *link, unsigned reader)
{
	transport_ach.join_receiving(link, reader);
}

static void ach_loan_forget_name(struct transport_link *link)
{
	transport_ach.forget_name(link);
}

static void *ach_loan_loan(struct transport_link *link)
{
	void *room;

	if (ach_reserve(&link->sending, link->size, &room))
		peers_die(link, "ach_reserve", ach_errstr());
	return room;
}

static void ach_loan_publish(struct transport_link *link)
{
	if (ach_commit(&link->sending, link->size))
		peers_die(link, "ach_commit", ach_errstr());
}

static const void *ach_loan_take(struct transport_link *link, unsigned reader)
{
	const void *message;
	size_t size;
	enum ach_status status = ach_peek(&link->receiving, &message, &size, NULL, ACH_O_WAIT);

	(void)reader;
	if (status && status != ACH_MISSED_FRAME)
		peers_die(link, "ach_peek", ach_errstr());
	return message;
}

static bool ach_loan_give_back(struct transport_link *link)
{
	return ach_peek_end(&link->receiving) == ACH_OK;
}

static void ach_loan_close(struct transport_link *link)
{
	transport_ach.close(link);
}

const struct transport peer_ach_loan = {
	.name = "ach-loan",
	.open = ach_loan_open,
	.join_sending = ach_loan_join_sending,
	.join_receiving = ach_loan_join_receiving,
	.forget_name = ach_loan_forget_name,
	.loan = ach_loan_loan,
	.publish = ach_loan_publish,
	.take = ach_loan_take,
	.give_back = ach_loan_give_back,
	.close = ach_loan_close,
};

static void ach_gap_join_receiving(struct transport_link *link, unsigned reader)
{
	link->wake_gap_ns = PEERS_WAKE_GAP_NS;
	transport_ach.join_receiving(link, reader);
}

static void ach_gap_send(struct transport_link *link, const void *message)
{
	transport_ach.send(link, message);
}

static void ach_gap_receive(struct transport_link *link, unsigned reader, void *buf)
{
	transport_ach.receive(link, reader, buf);
}

const struct transport peer_ach_gap = {
	.name = "ach-gap",
	.open = ach_loan_open,
	.join_sending = ach_loan_join_sending,
	.join_receiving = ach_gap_join_receiving,
	.forget_name = ach_loan_forget_name,
	.send = ach_gap_send,
	.receive = ach_gap_receive,
	.close = ach_loan_close,
};
