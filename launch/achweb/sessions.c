/* sessions.c: sessions that outlive the process. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/boot.h"
#include "config/owned.h"
#include "config/text.h"
#include "launch/achweb/sessions.h"

#define LINE_MAX 128
#define TEXT_MAX ((TOKEN_SESSIONS + 1) * LINE_MAX)
#define BOOT "boot %016" PRIx64 "%016" PRIx64 "\n"

/* "boot", text key rights until_ns who */
int sessions_write(const struct token_store *s, int folder, int64_t now_ns)
{
	char text[TEXT_MAX];
	struct text_out o = text_out(text, sizeof(text));
	uint64_t boot[2];

	boot_id_read(boot);
	text_add(&o, BOOT, boot[0], boot[1]);
	for (size_t i = 0; i < TOKEN_SESSIONS; i++) {
		const struct token *t = &s->sessions[i];

		if (*t->text && t->until_ns > now_ns)
			text_add(&o, "%s %s %u %" PRId64 " %s\n", t->text, t->key, t->rights, t->until_ns, t->who);
	}
	return owned_write(folder, SESSIONS_FILE, 0600, text, o.len);
}

static bool read_session(struct token *t, const char *line, int64_t now_ns)
{
	int end = 0;

	memset(t, 0, sizeof(*t));
	return sscanf(line, "%32[0-9a-f] %32[0-9a-f] %u %" SCNd64 " %23[^\n]%n", t->text, t->key, &t->rights,
		      &t->until_ns, t->who, &end) == 5 &&
	       !line[end] && strlen(t->text) == TOKEN_MAX - 1 && strlen(t->key) == TOKEN_MAX - 1 &&
	       (t->rights == TOKEN_LOOK || t->rights == (TOKEN_LOOK | TOKEN_ACT)) && t->until_ns > now_ns &&
	       t->until_ns <= now_ns + TOKEN_SESSION_NS;
}

size_t sessions_read(struct token_store *s, int folder, int64_t now_ns)
{
	char text[TEXT_MAX], head[LINE_MAX];
	char *line, *rest = text;
	size_t n = 0;
	uint64_t boot[2];

	if (boot_id_read(boot) || owned_read(folder, SESSIONS_FILE, text, sizeof(text), &(struct error_sink){ 0 }) <= 0)
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
