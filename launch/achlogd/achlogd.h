/* achlogd.h: what the parts of achlogd share. */
#ifndef LAUNCH_ACHLOGD_ACHLOGD_H
#define LAUNCH_ACHLOGD_ACHLOGD_H

#define ACHLOGD_DIGITS 8 /* of the number of a piece: names sort */

#endif
