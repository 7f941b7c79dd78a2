/* ach_file.h: the files and the memory of a channel.
 *
 * achshm-NAME is the channel's plate: its geometry and where its memory is.  It
 * is read, never mapped, and only its owner may write it, so whatever happens
 * to it harms no process that has the channel open.  The memory is a System V
 * segment: it has no descriptor, so no process can truncate it or punch a hole.
 * Where some users may only read, the bell is a second segment, which they may
 * write.  achlock-NAME-ID is the lock of a source, made when one asks for it.
 *
 * Offered to other folders:
 *	ach.h ach_ring.h
 */
#pragma once

#include <dirent.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "channels/ach/ach_ring.h"

#define ACH_FILE_PATH_LEN ACH_PATH_LEN
#define ACH_FILE_PREFIX "achshm-"
#define ACH_FILE_DIR_MAX 95 /* a path then has room for the longest name, see ach_file.c */
#define ACH_FILE_ANON "an anonymous channel"
#define ACH_FILE_RACES_MAX 1000 /* times to lose against others who create and remove the same name */

#define ACH_PLATE_MAGIC 0x336574616c504341ull

struct ach_plate {
	uint64_t magic;
	struct ach_geometry geo;
	int32_t shm, bell; /* identifiers of the segments; bell is -1 if there is none */
	uint64_t sum;
};

_Static_assert(sizeof(struct ach_plate) == 88, "a plate has no padding");

#pragma GCC visibility push(hidden)

/* Names.  ach_file_check_name comes first: it checks $ACH_DIR too. */
const char *ach_file_dir(void);
enum ach_status ach_file_check_name(const char *name);
void ach_file_channel_path(char *path, const char *name);
void ach_file_source_path(char *path, const char *name, uint64_t id);
void ach_file_gone_path(char *path, const char *name, uint64_t id);
enum ach_status ach_file_error(const char *path, const char *doing); /* what errno means for path */

/* The channels in the folder, one at a time: their names. */
DIR *ach_file_list(void);
const char *ach_file_next(DIR *folder);

/* Geometry: made once, checked at every open */
uint64_t ach_file_page(void);
uint64_t ach_sum(const void *bytes, size_t len);
enum ach_status ach_geometry_make(struct ach_geometry *g, size_t count, size_t size, const ach_create_attr_t *attr);
bool ach_geometry_ok(const struct ach_geometry *g);
uint64_t ach_geometry_size(const struct ach_geometry *g);

/* Files */
int ach_file_open(const char *path, int access);
int ach_file_nameless(mode_t mode);
int ach_file_give_name(int fd, const char *path);
enum ach_status ach_plate_read(int fd, const char *path, struct ach_plate *plate, struct stat *st);
int ach_plate_write(int fd, struct ach_plate *plate);
mode_t ach_plate_mode(mode_t channel);
bool ach_plate_names(const char *path, int shm); /* is there a plate under that path, and is it of this segment? */

/* Every segment of a channel has a key of this kind, so that one whose maker was killed is known for what it is. */
#define ACH_MEMORY_KEY 0x41600000
#define ACH_MEMORY_KEY_MASK 0xfff00000u

/* Memory.  A mode's readers are some who may read and not write. */
bool ach_memory_readers(mode_t mode);
mode_t ach_memory_bell_mode(mode_t channel);
mode_t ach_memory_mode(const struct ach_handle *h); /* of the channel, by its segment */
int ach_memory_chmod(int id, const struct stat *owner, mode_t mode);
enum ach_status ach_memory_error(const char *path, const char *doing); /* what errno means */
void *ach_memory_make(size_t len, int *id);
void *ach_memory_attach(int id, size_t len, bool writable, struct shmid_ds *d);
int ach_memory_populate(void *at, size_t len, bool write);
int ach_memory_twice(void *at, const struct ach_geometry *g);
bool ach_memory_is_of(const struct shmid_ds *d, uid_t owner);
void ach_memory_remove(const struct ach_plate *plate, uid_t owner);

void *ach_file_reserve(size_t len); /* addresses to map over */
size_t ach_file_front(void);
size_t ach_file_map_len(const struct ach_geometry *g);

/* Makes the handle the source of its channel, whose plate is given. */
enum ach_status ach_source_lock(struct ach_handle *h, const struct stat *plate, mode_t mode);

/* Removes a plate that was put aside, behind its memory and the lock of its source.  Several may do it at once. */
bool ach_plate_remove(const char *path, const char *name);

/* Removes segments and files that creators and removers left when they died: those of the caller's user that are
 * older than age_s and that nothing refers to, and what a removal put aside at any age.  Without everywhere only those
 * of this folder.  How many. */
#define ACH_ORPHAN_AGE_S 10
int ach_orphan_remove(int age_s, bool everywhere);

#pragma GCC visibility pop
