/* dds_type.h: a type of Cyclone DDS whose samples are CDR bytes, as they travel.
 *
 * Cyclone asks a type how to serialize its samples.  This one does nothing: what is written was encoded before, and
 * what is taken is decoded by its reader, which trusts no length in it.  All such types have no key, as those of ROS.
 */
#pragma once

#include "config/base/base.h"

struct ddsi_sertype;
struct ddsi_serdata;

#define DDS_TYPE_SIZE_MAX (1u << 20) /* bytes of a sample; longer ones are dropped as they come in */

/* A type of that name, "sensor_msgs::msg::dds_::JointState_", for dds_create_topic_sertype; NULL: no memory. */
struct ddsi_sertype *dds_type_type(const char *name);
/* A sample of the type, a copy of the bytes, header included; NULL: no memory. */
struct ddsi_serdata *dds_type_sample(const struct ddsi_sertype *type, const void *cdr, size_t len);
/* The bytes of a sample of such a type; padded by up to three zeros. */
const uint8_t *dds_type_bytes(const struct ddsi_serdata *sample, size_t *len);
