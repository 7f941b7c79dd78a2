/* log_formats_all.c: all formats. */
#include "can/log/log_formats.h"

const struct log_format *const log_formats_all[] = { LOG_FORMATS_PLAIN, &log_mcap_format, NULL };
