/* page.c: the files of the page, which are part of the program: there is no folder that a request could leave. */
#include <string.h>

#include "launch/achweb/page.h"

/* name: of the symbols; file: in launch/achweb/page */
#define PAGE_FILES(FILE)                                           \
	FILE(index, "index.html", "/", "text/html; charset=utf-8") \
	FILE(style, "style.css", "/style.css", "text/css")         \
	FILE(app, "app.js", "/app.js", "text/javascript")          \
	FILE(link, "link.js", "/link.js", "text/javascript")       \
	FILE(act, "act.js", "/act.js", "text/javascript")          \
	FILE(tables, "tables.js", "/tables.js", "text/javascript") \
	FILE(plots, "plots.js", "/plots.js", "text/javascript")    \
	FILE(body, "body.js", "/body.js", "text/javascript")       \
	FILE(dom, "dom.js", "/dom.js", "text/javascript")          \
	FILE(icon, "icon.svg", "/icon.svg", "image/svg+xml")

/* The compiler runs in the top folder of the tree; the Makefile knows that this object depends on the files. */
#define PAGE_BYTES(name, file, path, type)                                                        \
	__asm__(".pushsection .rodata\n"                                                          \
		".globl page_" #name "\n.globl page_" #name "_end\n"                              \
		"page_" #name ":\n.incbin \"launch/achweb/page/" file "\"\npage_" #name "_end:\n" \
		".byte 0\n.popsection\n");                                                        \
	extern const char page_##name[], page_##name##_end[];
PAGE_FILES(PAGE_BYTES)

#define PAGE_ROW(name, file, path, type) { path, type, page_##name, page_##name##_end },
static const struct page pages[] = { PAGE_FILES(PAGE_ROW) };

const struct page *page_find(const char *path)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (!strcmp(path, pages[i].path))
			return &pages[i];
	return NULL;
}
