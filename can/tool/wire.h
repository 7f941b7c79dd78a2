/* wire.h: the commands of canwire.  argv[0] is the command's name. */
#ifndef CAN_TOOL_WIRE_H
#define CAN_TOOL_WIRE_H

int wire_run(int argc, char **argv);
int wire_send(int argc, char **argv);
int wire_dump(int argc, char **argv);
int wire_stats(int argc, char **argv);
int wire_fault(int argc, char **argv);
int wire_link(int argc, char **argv);

#endif
