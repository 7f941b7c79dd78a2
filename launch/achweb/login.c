/* login.c: the socket RUN/web. */
#include <sys/random.h>
#include <unistd.h>

#include "channels/client/folder.h"
#include "channels/clock/clock.h"
#include "launch/achweb/login.h"
#include "launch/achweb/sessions.h"
#include "launch/view/member.h"
#include "launch/view/peer.h"

#define PASSWD "/etc/passwd"
#define KEEP_NS 600000000000 /* between two times that the ends of sessions are written */

/* A link, or the address of a studio, which programs resolve that do not know names below localhost. */
static void give(struct login *l, struct rpc_client *client, bool studio, unsigned int rights, int64_t now_ns)
{
	char who[PEER_NAME_MAX], text[256], secret[2 * TOKEN_RANDOM + 1];
	const struct token_holder holder = { rights, client->uid, who };
	const struct token *token;
	uint8_t random[TOKEN_RANDOM];

	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		rpc_answer(client, "error no random numbers");
		return;
	}
	peer_name(who, client->uid, PASSWD);
	token = (studio ? token_begin_studio : token_issue)(l->tokens, random, &holder, now_ns);
	proof_hex(secret, random, sizeof(random));
	if (!token)
		snprintf(text, sizeof(text), "error too many users have links or sessions: try again in 5 minutes");
	else if (studio)
		snprintf(text, sizeof(text), "ok ws://%s/foxglove?key=%s", l->address, token->id);
	else
		snprintf(text, sizeof(text), "ok http://%s%s/#%s", l->suffix ? token->host : "",
			 l->suffix ? l->suffix : l->address, secret);
	rpc_answer(client, text);
}

/* Why that client may not act, or NULL. */
static const char *refusal(const struct login *l, const struct rpc_client *client)
{
	const struct rights_robot robot = { run_owner(), (gid_t)-1, l->arming, (gid_t)-1 };
	uid_t uid;
	int may;

	if (!(peer_rights(client->fd, &robot, &uid) & RIGHTS_ARM))
		return "";
	may = member_may_arm(l->arming, uid);
	if (may > 0)
		return NULL;
	return may ? "; the user database does not say whether you are one of them: try again"
		   : "; this process has that group, but the user database does not list its user";
}

static void answer(void *context, struct rpc_client *client, char *question, int64_t now_ns)
{
	struct login *l = context;
	const bool studio = !strncmp(question, "key ", 4), act = text_ends_with(question, " act");
	const char *why;
	char text[256];

	if ((!studio && strncmp(question, "token ", 6)) || (!act && !text_ends_with(question, " look"))) {
		rpc_answer(client, "error unknown question: is achctl of another version?");
	} else if (act && (why = refusal(l, client))) {
		snprintf(text, sizeof(text), "error acting is for %s%s", l->holders, why);
		rpc_answer(client, text);
	} else {
		give(l, client, studio, act ? TOKEN_LOOK | TOKEN_ACT : TOKEN_LOOK, now_ns);
	}
}

/* A user who was removed from the group while there was no achweb does not act with the next one.  A database that does
 * not answer is not waited for: each action is checked again. */
static void check_sessions(struct login *l)
{
	int may = 1;

	for (size_t i = 0; may >= 0 && i < TOKEN_SESSIONS; i++) {
		struct token *t = &l->tokens->sessions[i];

		if (!*t->id || !(t->rights & TOKEN_ACT))
			continue;
		may = member_may_arm(l->arming, t->uid);
		if (!may)
			token_drop_act(t);
	}
}

int login_open(struct login *l, const char *folder, struct error_sink *errors)
{
	const int at = folder ? safe_path_folder(folder, 0750, errors) : run_folder(NULL, errors);
	int fd;

	if (at < 0)
		return at;
	fd = safe_path_listen(at, LOGIN_SOCKET, 0660, LOGIN_CLIENTS, errors);
	if (fd < 0) {
		close(at);
		return fd;
	}
	if (!folder)
		folder_give(at, LOGIN_SOCKET);
	l->server =
		(struct rpc_server){ .question = answer, .context = l, .clients_max = LOGIN_CLIENTS, .listener = fd };
	rpc_server_init(&l->server);
	l->folder = at;
	sessions_read(l->tokens, at, clock_own_ns());
	check_sessions(l);
	return 0;
}

void login_keep(struct login *l, int64_t now_ns)
{
	if (l->kept == l->tokens->begun && now_ns - l->kept_ns < KEEP_NS)
		return;
	l->kept = l->tokens->begun;
	l->kept_ns = now_ns;
	sessions_write(l->tokens, l->folder, now_ns);
}

void login_close(struct login *l)
{
	rpc_server_close(&l->server);
	close(l->server.listener);
	close(l->folder);
}
