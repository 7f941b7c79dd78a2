/* fuzz_studio.c: what a studio sends: subscriptions, and calls of services.
 *
 * The first byte: 1 is a binary message, 2 gives the right to act.
 * Longest: 8193 bytes.
 */
#include <assert.h>
#include <string.h>

#include "channels/clock/clock.h"
#include "launch/achweb/studio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct client *c;

/* In place of the parts that reach a robot. */
void web_action_begin(struct web_actions *acts, const struct post_body *order, uint64_t client,
		      struct web_action_person person, int64_t now_ns)
{
	(void)acts;
	(void)client;
	(void)person;
	(void)now_ns;
	assert(order->kind == POST_BODY_STOP || c->rights & TOKEN_ACT);
	assert(order->kind != POST_BODY_STOP || order->level != MSG_LEVEL_RUN);
	assert(order->kind < POST_BODY_HOME || text_is_name(order->name));
}

struct estop_seen estop_seen(const struct estop *e)
{
	(void)e;
	return (struct estop_seen){ { 1, 3 }, { 2, 4 } };
}

int64_t clock_now_ns(void)
{
	return 1;
}

int64_t clock_real_ns(void)
{
	return 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct studio_topics topics;
	static struct robot_view view;
	struct web_actions acts = { .view = &view };

	if (!size || size - 1 > WSOCK_TEXT_MAX)
		return 0;
	studio_find_topics(&topics, &view);
	c = client_open(-1, 1, 0);
	c->rights = data[0] & 2 ? TOKEN_LOOK | TOKEN_ACT : TOKEN_LOOK;
	assert(studio_begin(c, &view));
	memcpy(c->ws.text, data + 1, size - 1);
	c->ws.len = size - 1;
	c->ws.text[c->ws.len] = 0;
	studio_take(c, &topics, &acts, data[0] & 1, 1);
	c->studio->left = STUDIO_SUBSCRIPTIONS;
	for (int i = 0; i < 2 * STUDIO_SUBSCRIPTIONS && studio_send(c, &topics, &view, 1); i++) {
		blob_drop(c->blob);
		c->blob = NULL;
	}
	client_close(c);
	return 0;
}
