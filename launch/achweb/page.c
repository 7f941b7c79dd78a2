/* page.c: the files of the page, which are part of the program: there is no folder that a request could leave. */
#include "launch/achweb/page.h"

#define PAGE_MAIN "/app.js" /* imports the others */
#define MARK "<!-- scripts -->\n"

/* name: of the symbols; file: in launch/achweb/page */
#define PAGE_FILES(FILE)                                           \
	FILE(index, "index.html", "/", "text/html; charset=utf-8") \
	FILE(style, "style.css", "/style.css", "text/css")         \
	FILE(sha256, "sha256.js", "/sha256.js", "text/javascript") \
	FILE(proof, "proof.js", "/proof.js", "text/javascript")    \
	FILE(link, "link.js", "/link.js", "text/javascript")       \
	FILE(act, "act.js", "/act.js", "text/javascript")          \
	FILE(tables, "tables.js", "/tables.js", "text/javascript") \
	FILE(plots, "plots.js", "/plots.js", "text/javascript")    \
	FILE(body, "body.js", "/body.js", "text/javascript")       \
	FILE(dom, "dom.js", "/dom.js", "text/javascript")          \
	FILE(app, "app.js", PAGE_MAIN, "text/javascript")          \
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
static struct page pages[] = { PAGE_FILES(PAGE_ROW) };
#define PAGES (sizeof(pages) / sizeof(*pages))

/* ---- integrity ---- */

static void write_tag(struct text_out *to, const struct page *p)
{
	uint8_t digest[SHA256_BYTES];
	char text[BASE64_LEN(SHA256_BYTES) + 1] = "";
	struct sha256 hash;

	sha256_start(&hash);
	sha256_add(&hash, p->bytes, (size_t)(p->end - p->bytes));
	sha256_end(&hash, digest);
	base64_write(text, digest, sizeof(digest));
	if (!strcmp(p->type, "text/css"))
		text_add(to, "<link rel=\"stylesheet\" href=\"%s\" integrity=\"sha256-%s\">\n", p->path, text);
	else if (!strcmp(p->path, PAGE_MAIN))
		text_add(to, "<script type=\"module\" src=\"%s\" integrity=\"sha256-%s\"></script>\n", p->path, text);
	else if (!strcmp(p->type, "text/javascript"))
		text_add(to, "<link rel=\"modulepreload\" href=\"%s\" integrity=\"sha256-%s\">\n", p->path, text);
}

/* The first file with the tags of styles and scripts, each with the hash of what it has to be: a browser that kept
 * another program's file under the same name does not use it. */
static void complete_index(void)
{
	static char text[16384];
	struct page *index = &pages[0];
	const char *mark = memmem(index->bytes, (size_t)(index->end - index->bytes), MARK, strlen(MARK));
	struct text_out to = text_out(text, sizeof(text));

	if (!mark)
		return;
	text_add(&to, "%.*s", (int)(mark - index->bytes), index->bytes);
	for (size_t i = 1; i < PAGES; i++)
		write_tag(&to, &pages[i]);
	text_add(&to, "%s", mark + strlen(MARK)); /* a zero is behind each file */
	index->bytes = text;
	index->end = text + to.len;
}

const struct page *page_find(const char *path)
{
	static bool complete;

	if (!complete)
		complete_index();
	complete = true;
	for (size_t i = 0; i < PAGES; i++)
		if (!strcmp(path, pages[i].path))
			return &pages[i];
	return NULL;
}
