/* http.h: the head of an HTTP/1.1 request, read where it lies.
 *
 *	n = http_read(&request, bytes, len);
 *	if (n > 0)
 *		... request.path, request.host; n bytes were the head, request.length bytes of the body follow
 *	else if (!n)
 *		... read more
 *	else
 *		... answer with the status -n, and close
 *
 * Strict, and small: GET and POST, no chunks, no folded lines, and no header twice that decides anything.
 */
#pragma once

#include "config/base/base.h"

#define HTTP_HEAD_MAX 6144 /* bytes of a head */
#define HTTP_BODY_MAX 1024

struct http {
	bool post, old;		  /* old: HTTP/1.0 */
	const char *path, *query; /* query "" without one */

	/* headers; "" if it is not there */
	const char *host, *origin, *type, *connection, *upgrade, *ws_key, *ws_version, *ws_protocols, *proof;
	size_t length; /* of the body */
};

/* Zeroes are written into the bytes where texts end.  The length of the head; 0: it is not complete; or the negative
 * status of the refusal: 400, 405, 411, 413, 414, 431, 501, 505. */
int http_read(struct http *request, char *bytes, size_t len);

/* Is the word in the list, with commas between its members, whatever its case? */
bool http_lists(const char *list, const char *word);
/* The value of that name in a query; false: it is not there, is there twice, or has no room. */
bool http_value(const char *query, const char *name, char *value, size_t size);

const char *http_reason(int status); /* "Not Found" */
