/* http.c: the head of an HTTP/1.1 request. */
#include <strings.h>

#include "launch/achweb/http.h"

#define HEADERS_MAX 64
#define PATH_MAX_HERE 1024

/* ---- lines ---- */

/* Printable ASCII, and what is above it; a tab only inside of a header. */
static bool is_clean(const char *text, size_t len, bool blanks)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < 0x20 ? !(blanks && c == '\t') : c == 0x7F || (!blanks && c == ' '))
			return false;
	}
	return true;
}

/* The line at *at, without its end, as a text; *at is behind it.  There is one: the head ends with an empty line. */
static char *take_line(char **at)
{
	char *line = *at, *end = strstr(line, "\r\n");

	*end = 0;
	*at = end + 2;
	return line;
}

/* ---- the request line ---- */

static int read_target(struct http *r, char *target)
{
	char *query;

	if (strlen(target) > PATH_MAX_HERE)
		return -414;
	if (*target != '/' || !is_clean(target, strlen(target), false) || strchr(target, '#'))
		return -400;
	query = strchr(target, '?');
	r->query = query ? query + 1 : "";
	if (query)
		*query = 0;
	r->path = target;
	return 0;
}

static int read_first(struct http *r, char *line)
{
	char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;

	if (!version)
		return -400;
	*target++ = 0;
	*version++ = 0;
	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
		return strncmp(version, "HTTP/", 5) ? -400 : -505;
	r->old = version[7] == '0';
	r->post = !strcmp(line, "POST");
	if (!r->post && strcmp(line, "GET") != 0)
		return -405;
	return read_target(r, target);
}

/* ---- headers ---- */

/* Digits alone; what is too much is HTTP_BODY_MAX + 1. */
static int read_length(struct http *r, const char *text)
{
	if (!*text || strspn(text, "0123456789") != strlen(text))
		return -400;
	for (r->length = 0; *text && r->length <= HTTP_BODY_MAX; text++)
		r->length = 10 * r->length + (size_t)(*text - '0');
	return r->length > HTTP_BODY_MAX ? -413 : 0;
}

static const struct {
	const char *name;
	size_t at; /* a text of struct http; 0: the length of the body */
} known[] = {
	{ "content-length", 0 },
	{ "host", offsetof(struct http, host) },
	{ "origin", offsetof(struct http, origin) },
	{ "content-type", offsetof(struct http, type) },
	{ "connection", offsetof(struct http, connection) },
	{ "upgrade", offsetof(struct http, upgrade) },
	{ "sec-websocket-key", offsetof(struct http, ws_key) },
	{ "sec-websocket-version", offsetof(struct http, ws_version) },
	{ "sec-websocket-protocol", offsetof(struct http, ws_protocols) },
	{ "x-endplate", offsetof(struct http, proof) },
};
#define KNOWN (sizeof(known) / sizeof(*known))

static void set_text(struct http *r, size_t which, const char *value)
{
	*(const char **)((char *)r + known[which].at) = value;
}

static int take_header(struct http *r, const char *name, const char *value, unsigned int *seen)
{
	if (!strcasecmp(name, "transfer-encoding"))
		return -501;
	for (size_t i = 0; i < KNOWN; i++) {
		if (strcasecmp(name, known[i].name) != 0)
			continue;
		if (*seen & 1u << i)
			return -400; /* two programs on the way could each take another one */
		*seen |= 1u << i;
		if (!known[i].at)
			return read_length(r, value);
		set_text(r, i, value);
	}
	return 0;
}

static int read_header(struct http *r, char *line, unsigned int *seen)
{
	char *colon = strchr(line, ':'), *value, *end;

	if (!colon || colon == line)
		return -400;
	*colon = 0;
	if (!is_clean(line, (size_t)(colon - line), false) || strpbrk(line, "\"(),/;<=>?@[\\]{}"))
		return -400;
	value = colon + 1 + strspn(colon + 1, " \t");
	end = value + strlen(value);
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	if (!is_clean(value, (size_t)(end - value), true))
		return -400;
	return take_header(r, line, value, seen);
}

int http_read(struct http *r, char *bytes, size_t len)
{
	const char *empty = memmem(bytes, len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX, "\r\n\r\n", 4);
	const size_t end = empty ? (size_t)(empty - bytes) + 4 : 0;
	unsigned int seen = 0, headers = 0;
	char *at = bytes, *line;
	int status;

	*r = (struct http){ .path = "", .query = "" };
	for (size_t i = 1; i < KNOWN; i++)
		set_text(r, i, "");
	if (!end)
		return len >= HTTP_HEAD_MAX ? -431 : 0;
	if (memchr(bytes, 0, end))
		return -400;
	bytes[end - 2] = 0; /* of the empty line: the last header ends before it */
	status = read_first(r, take_line(&at));
	while (!status && *at) {
		line = take_line(&at);
		status = ++headers > HEADERS_MAX ? -431 : read_header(r, line, &seen);
	}
	if (!status && r->post && !(seen & 1u))
		status = -411;
	return status ? status : (int)end;
}

/* ---- values ---- */

bool http_lists(const char *list, const char *word)
{
	const size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");
		const char *next = list + n + (list[n] == ',');

		for (; n && (*list == ' ' || *list == '\t'); n--)
			list++;
		while (n && (list[n - 1] == ' ' || list[n - 1] == '\t'))
			n--;
		if (n == len && !strncasecmp(list, word, len))
			return true;
		list = next;
	}
	return false;
}

/* The next value of that name, n bytes, not terminated; *text is behind it.  NULL: there is none. */
static const char *find_value(const char **text, const char *name, size_t *n)
{
	const size_t len = strlen(name);

	while (**text) {
		const char *at = *text;

		*n = strcspn(at, "&");
		*text = at + *n + (at[*n] == '&');
		if (*n > len && !strncmp(at, name, len) && at[len] == '=') {
			*n -= len + 1;
			return at + len + 1;
		}
	}
	return NULL;
}

bool http_value(const char *query, const char *name, char *value, size_t size)
{
	size_t n, other;
	const char *found = find_value(&query, name, &n);

	if (!found || n >= size || find_value(&query, name, &other))
		return false;
	memcpy(value, found, n);
	value[n] = 0;
	return true;
}

const char *http_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{ 101, "Switching Protocols" },
		{ 200, "OK" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 409, "Conflict" },
		{ 411, "Length Required" },
		{ 413, "Content Too Large" },
		{ 414, "URI Too Long" },
		{ 415, "Unsupported Media Type" },
		{ 421, "Misdirected Request" },
		{ 426, "Upgrade Required" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Error";
}
