/* launch_rights.c: the groups of the system that have rights over the robot. */
#include <errno.h>
#include <grp.h>

#include "launch/file/launch_inside.h"

/* A number is a group id, also of a group without a name. */
static bool find_group(const char *word, gid_t *gid)
{
	const struct group *group;
	int64_t number;

	if (!text_int(word, &number)) {
		*gid = (gid_t)number;
		return number >= 0 && number < LAUNCH_NO_GROUP;
	}
	group = getgrnam(word);
	if (group)
		*gid = group->gr_gid;
	return group;
}

int launch_rights(struct launch *launch, struct error_sink *errors)
{
	const struct {
		const char *key;
		gid_t *gid;
	} keys[] = { { "operators", &launch->operators },
		     { "arming", &launch->arming },
		     { "moving", &launch->moving } };
	const unsigned int before = errors->count;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct yaml_node *node = yaml_find(yaml_root(launch->doc), keys[i].key);

		if (node && !find_group(node->text, keys[i].gid))
			yaml_error(errors, node, "there is no group %s on this system", node->text);
	}
	return errors->count == before ? 0 : -EINVAL;
}
