/* sessions.c: sessions that outlive the process. */
#include "launch/achweb/sessions.h"

#define LINE_MAX 320
#define TEXT_MAX ((TOKEN_SESSIONS + 1) * LINE_MAX)
#define BOOT "boot %016" PRIx64 "%016" PRIx64 "\n"
#define NONE "-" /* the session of a studio has no host and no keys; act: without that right */

static const char *hex_or_none(char text[PROOF_MAX], const uint8_t key[PROOF_KEY], bool there)
{
	if (!there)
		return NONE;
	proof_hex(text, key, PROOF_KEY);
	return text;
}

/* "boot", id host look act rights uid until_ns who */
int sessions_write(const struct token_store *s, int folder, int64_t now_ns)
{
	char text[TEXT_MAX], look[PROOF_MAX], act[PROOF_MAX];
	struct text_out o = text_out(text, sizeof(text));
	uint64_t boot[2];

	boot_id_read(boot);
	text_add(&o, BOOT, boot[0], boot[1]);
	for (size_t i = 0; i < TOKEN_SESSIONS; i++) {
		const struct token *t = &s->sessions[i];

		if (!*t->id || t->until_ns <= now_ns)
			continue;
		text_add(&o, "%s %s %s %s %u %u %" PRId64 " %s\n", t->id, t->studio ? NONE : t->host,
			 hex_or_none(look, t->look, !t->studio),
			 hex_or_none(act, t->act, !t->studio && t->rights & TOKEN_ACT), t->rights, (unsigned int)t->uid,
			 t->until_ns, t->who);
	}
	return safe_path_write(folder, SESSIONS_FILE, 0600, text, o.len);
}

/* false: it is not a whole key, or there is one where none belongs. */
static bool read_key(uint8_t key[PROOF_KEY], const char *text, bool there)
{
	if (!there || strlen(text) != PROOF_MAX - 1 || strchr(text, '-'))
		return !there && !strcmp(text, NONE);
	for (size_t i = 0; i < PROOF_KEY; i++)
		sscanf(text + 2 * i, "%2hhx", &key[i]);
	return true;
}

static bool read_session(struct token *t, const char *line, int64_t now_ns)
{
	char host[TOKEN_HOST], look[PROOF_MAX], act[PROOF_MAX];
	unsigned int uid;
	int end = 0;

	memset(t, 0, sizeof(*t));
	if (sscanf(line, "%32[0-9a-f] %16[-0-9a-f] %64[-0-9a-f] %64[-0-9a-f] %u %u %" SCNd64 " %23[^\n]%n", t->id, host,
		   look, act, &t->rights, &uid, &t->until_ns, t->who, &end) != 8 ||
	    line[end])
		return false;
	t->uid = uid;
	t->studio = !strcmp(host, NONE);
	if (!t->studio)
		memcpy(t->host, host, sizeof(t->host));
	return strlen(t->id) == TOKEN_ID - 1 && (t->studio || (strlen(host) == TOKEN_HOST - 1 && !strchr(host, '-'))) &&
	       read_key(t->look, look, !t->studio) && read_key(t->act, act, !t->studio && t->rights & TOKEN_ACT) &&
	       (t->rights == TOKEN_LOOK || t->rights == (TOKEN_LOOK | TOKEN_ACT)) && t->until_ns > now_ns &&
	       t->until_ns <= now_ns + TOKEN_SESSION_NS;
}

size_t sessions_read(struct token_store *s, int folder, int64_t now_ns)
{
	char text[TEXT_MAX], head[LINE_MAX];
	char *line, *rest = text;
	size_t n = 0;
	uint64_t boot[2];

	if (boot_id_read(boot) ||
	    safe_path_read(folder, SESSIONS_FILE, text, sizeof(text), &(struct error_sink){ 0 }) <= 0)
		return 0;
	snprintf(head, sizeof(head), BOOT, boot[0], boot[1]);
	if (strncmp(text, head, strlen(head)) != 0)
		return 0;
	rest += strlen(head);
	while (n < TOKEN_SESSIONS && (line = strsep(&rest, "\n")))
		if (read_session(&s->sessions[n], line, now_ns))
			n++;
		else
			memset(&s->sessions[n], 0, sizeof(*s->sessions));
	return n;
}
