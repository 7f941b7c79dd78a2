/* fuzz_frame_text.c: arbitrary bytes as the text of a frame, and as a frame: read back they are the same, or one
 * sentence says what is wrong.
 *
 * Longest: 200 bytes.
 */
#include <stdint.h>
#include <string.h>

#include "can/bus/frame_text.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t len)
{
	char written[FRAME_TEXT_MAX], again[FRAME_TEXT_MAX];
	struct frame f, back;
	const char *wrong;
	size_t n;

	memset(&f, 0xAA, sizeof(f));
	wrong = frame_text_read(&f, text, len);
	if (wrong) {
		must(strlen(wrong) > 10 && !strchr(wrong, '\n'));
		return;
	}
	must(frame_valid(&f));
	for (unsigned int i = frame_data_len(&f); i < FRAME_DATA_MAX_FD; i++)
		must(f.data[i] == 0);
	n = frame_text_write(written, &f);
	must(n == strlen(written) && n < FRAME_TEXT_MAX);
	must(!frame_text_read(&back, written, n) && !memcmp(&f, &back, sizeof(f)));
	frame_text_write(again, &back);
	must(!strcmp(written, again));
}

/* The text of any frame fits its buffer; the text of a valid frame is read back. */
static void check_frame(const struct frame *f)
{
	char written[FRAME_TEXT_MAX];
	struct frame back;
	size_t n = frame_text_write(written, f);

	must(n == strlen(written) && n < FRAME_TEXT_MAX);
	if (frame_valid(f))
		must(!frame_text_read(&back, written, n) && frame_equal(f, &back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame f = { 0 };

	check_text((const char *)data, size);
	memcpy(&f, data, size < sizeof(f) ? size : sizeof(f));
	check_frame(&f);
	return 0;
}
