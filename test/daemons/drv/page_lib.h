/* page_lib.h: the vectors of a page of hw-docs/devices. */
#pragma once

#include <stdbool.h>

#include "can/bus/frame.h"

#define PAGE_LIB_TEXT 512

/* Each line of the page's vectors that is not a comment; of how many take returned true. */
unsigned int page_lib_lines(const char *path, bool (*take)(char *line));
/* Each vector of the page that begins with this word: say turns the words behind it into what stands behind " = ".
 * How many. */
unsigned int page_lib_each(const char *path, const char *word, void (*say)(char said[PAGE_LIB_TEXT], char *words));

/* The next of these words, as a frame; false: there is none. */
bool page_lib_frame(char **words, struct frame *frame);
struct frame page_lib_read(const char *text); /* bytes that it does not carry are not 0 */
