/* ach_file.h: the files of a channel.
 *
 * achshm-NAME is the channel.  achbell-NAME-ID is a page with the hint of those
 * who wait, with write permission for all who may read the channel; its name
 * holds the channel's random id, so a re-created channel has a bell of its own.
 */
#ifndef ACH_FILE_H
#define ACH_FILE_H

#include "channels/ach_ring.h"

#define ACH_FILE_DIR "/dev/shm"
#define ACH_FILE_BELL_PREFIX "achbell-%s-"
#define ACH_FILE_BELL_DIGITS 16
#define ACH_FILE_PATH_LEN 160
#define ACH_FILE_ANON "an anonymous channel"
#define ACH_FILE_RACES_MAX 1000 /* times to lose against others who create and remove the same name */

#pragma GCC visibility push(hidden)

/* Names */
enum ach_status ach_file_check_name(const char *name);
void ach_file_channel_path(char *path, const char *name);
void ach_file_bell_path(char *path, const char *name, uint64_t id);
mode_t ach_file_bell_mode(mode_t channel);
enum ach_status ach_file_error(const char *path, const char *doing); /* what errno means for path */

/* Geometry: made once, checked at every open */
uint64_t ach_file_page(void);
enum ach_status ach_geometry_make(struct ach_geometry *g, size_t count, size_t size, const ach_create_attr_t *attr);
bool ach_geometry_ok(const struct ach_geometry *g);
uint64_t ach_geometry_file_size(const struct ach_geometry *g);

/* Opening and mapping */
int ach_file_open(const char *path, int access);
bool ach_file_read_geometry(int fd, struct ach_geometry *g);
void *ach_file_reserve(size_t len); /* addresses to map over */
size_t ach_file_front(void);
size_t ach_file_map_len(const struct ach_geometry *g);
int ach_file_map(void *at, int fd, const struct ach_geometry *g, int prot);

#pragma GCC visibility pop

#endif
