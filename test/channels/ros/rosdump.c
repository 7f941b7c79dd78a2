/* rosdump [FOLDER]: the types of the ROS mapping.  Without FOLDER: name, DDS name and hash of each, in lines, each
 * followed by its schema and a line with a dot.  With FOLDER: writes endplate_msgs there, msg/NAME.msg and
 * idl/NAME.idl. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "channels/ros/ros_own.h"
#include "test/channels/ros/ros_idl.h"

static void write_file(const char *folder, const char *part, const char *name, const char *text)
{
	char path[512];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", folder, part);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s.%s", folder, part, name, part);
	to = fopen(path, "w");
	if (!to || fputs(text, to) < 0 || fclose(to)) {
		perror(path);
		exit(1);
	}
}

static void write_package(const char *folder)
{
	char text[ROS_SCHEMA_MAX], name[ROS_OWN_NAME_MAX];

	for (size_t i = 0; i < msg_structs_n; i++) {
		ros_own_name(name, msg_structs[i].group);
		ros_own_msg(text, sizeof(text), msg_structs[i].group);
		write_file(folder, "msg", name, text);
		ros_own_idl(text, sizeof(text), msg_structs[i].group);
		write_file(folder, "idl", name, text);
	}
	/* Those that are not messages of Endplate have no table; their .idl is written by hand. */
	for (size_t i = 0; i < ros_types_n; i++)
		if (!ros_types[i].own && !strncmp(ros_types[i].name, "endplate_msgs/msg/", 18)) {
			char plain[64];

			snprintf(plain, sizeof(plain), "endplate_msgs/%s", ros_types[i].name + 18);
			ros_definition(plain, text, sizeof(text));
			write_file(folder, "msg", ros_types[i].name + 18, text);
		}
}

int main(int argc, char **argv)
{
	char text[ROS_SCHEMA_MAX];

	if (argc > 1) {
		write_package(argv[1]);
		return 0;
	}
	for (size_t i = 0; i < ros_types_n; i++) {
		ros_schema(&ros_types[i], text);
		printf("%s %s %s\n%s.\n", ros_types[i].name, ros_types[i].dds_name,
		       ros_types[i].hash ? ros_types[i].hash : "-", text);
	}
	return 0;
}
