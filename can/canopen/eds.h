/* eds.h: electronic data sheets of CANopen devices (CiA 306): the names, types and access of objects.
 *
 *	struct eds eds;
 *
 *	if (eds_read(&eds, "dzcante.eds", &errors))		"dzcante.eds:71: DataType: ..."
 *		return -EINVAL;
 *	object = eds_find(&eds, 0x6041, 0);			NULL: the device does not have it
 *	bytes = eds_bytes(object->type);			0: of no fixed size
 *	eds_free(&eds);
 *
 * For the time at which a program reads its configuration; it allocates.  Other parts of a data sheet are skipped.
 */
#pragma once

#include "config/base/base.h"

#define EDS_NAME_MAX 48 /* longer ones are cut */

struct eds_object {
	uint16_t index;
	uint8_t sub;
	uint16_t type; /* CiA 301: 5 is an unsigned byte; 0: not given */
	char name[EDS_NAME_MAX];
	char access[6]; /* ro wo rw rwr rww const */
};

struct eds {
	struct eds_object *objects; /* in the order of index and sub-index */
	size_t n;
};

/* 0, or -EINVAL or -errno with lines in errors. */
int eds_read(struct eds *eds, const char *path, struct error_sink *errors);
/* The same from memory, for tests; name begins error lines. */
int eds_parse(struct eds *eds, const char *name, const char *text, size_t len, struct error_sink *errors);
void eds_free(struct eds *eds);

const struct eds_object *eds_find(const struct eds *eds, uint16_t index, uint8_t sub);
unsigned int eds_bytes(uint16_t type);
