/* budget_frames.h: canbudget over the frames that drivers declare: tables, JSON, and a picture. */
#pragma once

#include "can/load/traffic.h"
#include "config/settings/settings.h"

/* A launch file, of which achstart prints the frames, or files with what DRIVER --frames and achstart --frames print;
 * "-" is standard input.  0, or the exit status after a line. */
int budget_frames_open(struct traffic *traffic, const char *launch, const struct settings_strings *files);

/* After traffic_solve and traffic_offsets.  0, BUDGET_FRAMES_LATE if a bus does not fit or identifiers clash, or the
 * exit status after a line. */
#define BUDGET_FRAMES_LATE 1
int budget_frames_show(const struct traffic *traffic, bool json);

/* The cycle of each bus as SVG: what is on the wire when all drivers tick at once and every frame is as long as it
 * can be.  0, or the exit status after a line. */
int budget_svg(const struct traffic *traffic, const char *path);

/* 123, 00012345 */
#define BUDGET_ID_MAX 9
void budget_id_text(char text[BUDGET_ID_MAX], uint32_t id);
const char *budget_time_text(char text[16], int64_t ns); /* four digits and a unit: 9.713ms */
const char *budget_percent_text(char text[16], double part);
