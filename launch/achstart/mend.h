/* mend.h: $RUN, made anew when somebody has removed it, or something in it.
 *
 * A folder of an ordinary user goes with his last session ($XDG_RUNTIME_DIR), and people tidy up.  The daemons run on;
 * but without notify none that is started again would ever be ready, and without control nobody could ask for anything.
 */
#ifndef LAUNCH_ACHSTART_MEND_H
#define LAUNCH_ACHSTART_MEND_H

#include "launch/achstart/supervise.h"

/* As often as one likes; it looks twice a second. */
void mend_look(struct supervisor *s, int64_t now_ns);
/* If daemons do not find notify now, s->deaf_ns is now: that nothing is heard from them is not their fault. */
void mend_listen(struct supervisor *s, int64_t now_ns);

#endif
