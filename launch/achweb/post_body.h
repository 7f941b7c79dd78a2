/* post_body.h: what the body of a POST asks for; pure.
 *
 *	{"level":"estop"}			POST /stop: hold or estop
 *	{"do":"arm","seen":["7","12","8","3"]}	POST /act: what the person had seen of the e-stop's channels
 *	{"do":"home","name":"waist"}		POST /act: home, clear or restart
 *
 * Nothing else can be asked for: no other verb, no value, no reference.
 */
#pragma once

#include "channels/estop/estop.h"
#include "channels/msg/types.h"
#include "config/base/base.h"
#include "config/settings/yaml.h"

enum post_body_kind { POST_BODY_STOP, POST_BODY_ARM, POST_BODY_HOME, POST_BODY_CLEAR, POST_BODY_RESTART };

struct post_body {
	enum post_body_kind kind;
	enum msg_level level;
	char name[TEXT_NAME_MAX + 1];
	struct estop_seen seen;
};

/* kind is POST_BODY_STOP, or POST_BODY_ARM for any action.  0, or -EINVAL with a line in errors. */
int post_body_read(struct post_body *order, enum post_body_kind kind, const char *body, size_t len,
		   struct error_sink *errors);

/* What an action other than a stop is about: seen, or the name of a daemon.  0, or -EINVAL with a line. */
int post_body_read_what(struct post_body *body, const struct yaml_node *root, struct error_sink *errors);

extern const char *const post_body_words[]; /* by kind: "arm" */
