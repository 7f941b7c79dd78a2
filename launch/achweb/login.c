/* login.c: the socket RUN/web. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "channels/clock.h"
#include "config/owned.h"
#include "config/run.h"
#include "launch/achweb/login.h"
#include "launch/achweb/sessions.h"
#include "launch/common/folder.h"
#include "launch/common/peer.h"

#define PASSWD "/etc/passwd"
#define KEEP_NS 600000000000 /* between two times that the ends of sessions are written */

static void answer(void *context, struct query_client *client, char *question, int64_t now_ns)
{
	struct login *l = context;
	const struct rights_robot robot = { run_owner(), (gid_t)-1, l->arming, (gid_t)-1 };
	const bool key = !strncmp(question, "key ", 4), act = text_ends_with(question, " act");
	uint8_t random[TOKEN_RANDOM];
	const struct token *token;
	char text[256], who[PEER_NAME_MAX];
	uid_t uid;

	if ((!key && strncmp(question, "token ", 6)) || (!act && !text_ends_with(question, " look"))) {
		query_answer(client, "error unknown question: is achctl of another version?");
		return;
	}
	if (act && !(peer_rights(client->fd, &robot, &uid) & RIGHTS_ARM)) {
		snprintf(text, sizeof(text), "error acting is for %s", rights_holders(RIGHTS_ARM));
		query_answer(client, text);
		return;
	}
	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		query_answer(client, "error no random numbers");
		return;
	}
	peer_name(who, client->uid, PASSWD);
	token = (key ? token_begin_session : token_issue)(l->tokens, random, act ? TOKEN_LOOK | TOKEN_ACT : TOKEN_LOOK,
							  who, now_ns);
	if (key)
		snprintf(text, sizeof(text), "ok ws://%s/foxglove?key=%s", l->address, token->key);
	else
		snprintf(text, sizeof(text), "ok http://%s/#%s", l->address, token->text);
	query_answer(client, text);
}

int login_open(struct login *l, const char *folder, struct error_sink *errors)
{
	const int at = folder ? owned_folder(folder, 0750, errors) : run_folder(NULL, errors);
	int fd;

	if (at < 0)
		return at;
	fd = owned_listen(at, LOGIN_SOCKET, 0660, LOGIN_CLIENTS, errors);
	if (fd < 0) {
		close(at);
		return fd;
	}
	if (!folder)
		folder_give(at, LOGIN_SOCKET);
	l->server =
		(struct query_server){ .question = answer, .context = l, .clients_max = LOGIN_CLIENTS, .listener = fd };
	query_server_init(&l->server);
	l->folder = at;
	sessions_read(l->tokens, at, clock_now_ns());
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
	query_server_close(&l->server);
	close(l->server.listener);
	close(l->folder);
}
