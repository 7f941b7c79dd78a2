/* base.h: what nearly every file includes: the C library's types and text, and what config/base offers.
 *
 * math.h is not in it: it costs a third of the time in which a small file compiles.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/base/arena.h"
#include "config/base/base64.h"
#include "config/base/boot_id.h"
#include "config/base/duration.h"
#include "config/base/exit.h"
#include "config/base/grow.h"
#include "config/base/hist.h"
#include "config/base/hmac.h"
#include "config/base/json.h"
#include "config/base/lines.h"
#include "config/base/locked_socket.h"
#include "config/base/nearest.h"
#include "config/base/ns.h"
#include "config/base/num.h"
#include "config/base/read_files.h"
#include "config/base/run_clock.h"
#include "config/base/run_record.h"
#include "config/base/safe_path.h"
#include "config/base/utf8.h"
