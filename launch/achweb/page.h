/* page.h: the files of the page, which are part of the program. */
#pragma once

#include "config/base/base.h"

struct page {
	const char *path; /* "/" */
	const char *type; /* of its contents */
	const char *bytes, *end;
};

/* NULL: there is none. */
const struct page *page_find(const char *path);
