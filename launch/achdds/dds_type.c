/* dds_type.c: a type of Cyclone DDS whose samples are CDR bytes. */
#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_radmin.h>

#include "launch/achdds/dds_type.h"

/* The network copies whole words. */
#define PADDED(len) (((len) + 3u) & ~(size_t)3u)

struct raw {
	struct ddsi_serdata c;
	uint32_t size; /* padded */
	uint8_t bytes[];
};

static const struct raw *raw_of(const struct ddsi_serdata *d)
{
	return (const struct raw *)d;
}

/* ---- samples ---- */

static struct raw *make(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind, size_t len)
{
	struct raw *raw = len <= DDS_TYPE_SIZE_MAX ? calloc(1, sizeof(*raw) + PADDED(len)) : NULL;

	if (!raw)
		return NULL;
	ddsi_serdata_init(&raw->c, type, kind);
	raw->c.hash = type->serdata_basehash; /* no key: all samples are of one instance */
	raw->size = (uint32_t)PADDED(len);
	return raw;
}

static void free_sample(struct ddsi_serdata *d)
{
	free(d);
}

static bool same_key(const struct ddsi_serdata *a, const struct ddsi_serdata *b)
{
	(void)a;
	(void)b;
	return true;
}

static uint32_t get_size(const struct ddsi_serdata *d)
{
	return raw_of(d)->size;
}

/* Fragments follow each other, and may overlap. */
static struct ddsi_serdata *from_network(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
					 const struct nn_rdata *fragment, size_t size)
{
	struct raw *raw = make(type, kind, size);
	size_t have = 0;

	for (; raw && fragment && have < size; fragment = fragment->nextfrag) {
		const size_t end = fragment->maxp1 < size ? fragment->maxp1 : size;

		if (fragment->min > have || end <= have)
			continue;
		memcpy(raw->bytes + have,
		       NN_RMSG_PAYLOADOFF(fragment->rmsg, NN_RDATA_PAYLOAD_OFF(fragment)) + (have - fragment->min),
		       end - have);
		have = end;
	}
	return raw ? &raw->c : NULL;
}

static struct ddsi_serdata *from_parts(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
				       ddsrt_msg_iovlen_t n, const ddsrt_iovec_t *parts, size_t size)
{
	struct raw *raw = make(type, kind, size);
	size_t have = 0;

	for (ddsrt_msg_iovlen_t i = 0; raw && i < n && have < size; i++) {
		const size_t len = parts[i].iov_len < size - have ? parts[i].iov_len : size - have;

		memcpy(raw->bytes + have, parts[i].iov_base, len);
		have += len;
	}
	return raw ? &raw->c : NULL;
}

static struct ddsi_serdata *from_keyhash(const struct ddsi_sertype *type, const struct ddsi_keyhash *hash)
{
	struct raw *raw = make(type, SDK_KEY, 0);

	(void)hash;
	return raw ? &raw->c : NULL;
}

static void to_network(const struct ddsi_serdata *d, size_t offset, size_t len, void *to)
{
	memcpy(to, raw_of(d)->bytes + offset, len);
}

static struct ddsi_serdata *lend(const struct ddsi_serdata *d, size_t offset, size_t len, ddsrt_iovec_t *part)
{
	part->iov_base = (void *)(uintptr_t)(raw_of(d)->bytes + offset);
	part->iov_len = len;
	return ddsi_serdata_ref(d);
}

static void give_back(struct ddsi_serdata *d, const ddsrt_iovec_t *part)
{
	(void)part;
	ddsi_serdata_unref(d);
}

static struct ddsi_serdata *to_untyped(const struct ddsi_serdata *d)
{
	struct raw *raw = make(d->type, SDK_KEY, 0);

	if (raw)
		raw->c.type = NULL;
	return raw ? &raw->c : NULL;
}

static size_t print(const struct ddsi_sertype *type, const struct ddsi_serdata *d, char *text, size_t size)
{
	return (size_t)snprintf(text, size, "%s, %u bytes", type->type_name, raw_of(d)->size);
}

static void get_keyhash(const struct ddsi_serdata *d, struct ddsi_keyhash *hash, bool force)
{
	(void)d;
	(void)force;
	memset(hash, 0, sizeof(*hash));
}

/* Without those of samples as structs: samples are written and taken as bytes only (dds_type_sample,
 * dds_type_bytes). */
static const struct ddsi_serdata_ops sample_ops = {
	.eqkey = same_key,
	.get_size = get_size,
	.from_ser = from_network,
	.from_ser_iov = from_parts,
	.from_keyhash = from_keyhash,
	.to_ser = to_network,
	.to_ser_ref = lend,
	.to_ser_unref = give_back,
	.to_untyped = to_untyped,
	.free = free_sample,
	.print = print,
	.get_keyhash = get_keyhash,
};

/* ---- types ---- */

static void free_type(struct ddsi_sertype *type)
{
	ddsi_sertype_fini(type);
	free(type);
}

static bool same_type(const struct ddsi_sertype *a, const struct ddsi_sertype *b)
{
	(void)a;
	(void)b;
	return true; /* the names are the same already */
}

static uint32_t hash_type(const struct ddsi_sertype *type)
{
	(void)type;
	return 0;
}

static const struct ddsi_sertype_ops type_ops = {
	.version = ddsi_sertype_v0,
	.free = free_type,
	.equal = same_type,
	.hash = hash_type,
};

struct ddsi_sertype *dds_type_type(const char *name)
{
	struct ddsi_sertype *type = calloc(1, sizeof(*type));

	if (!type)
		return NULL;
	ddsi_sertype_init_flags(type, name, &type_ops, &sample_ops, DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
	type->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
	return type;
}

struct ddsi_serdata *dds_type_sample(const struct ddsi_sertype *type, const void *cdr, size_t len)
{
	struct raw *raw = make(type, SDK_DATA, len);

	if (!raw)
		return NULL;
	memcpy(raw->bytes, cdr, len);
	return &raw->c;
}

const uint8_t *dds_type_bytes(const struct ddsi_serdata *sample, size_t *len)
{
	*len = raw_of(sample)->size;
	return raw_of(sample)->bytes;
}
