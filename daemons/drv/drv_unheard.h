/* unheard.h: the driver of a device publishes no state, for drivers that read one by libendplate.
 *
 * In a pause of this process nothing is heard, and that is no fault of the driver.  No reference follows a state that
 * is too old by the clock, whatever this says: that is what the doubts of the view are for.
 */
#pragma once

#include "channels/client/endplate.h"
#include "daemons/drv/drv.h"

static inline bool unheard(const struct drv *drv, const struct endplate_view *view)
{
	if (!(view->doubts & ENDPLATE_SILENT))
		return false;
	return view->silent_ns == INT64_MAX ||
	       view->silent_ns - drv_paused_ns(drv, DRV_CHANNEL, view->now_ns - view->silent_ns) > ENDPLATE_MAX_AGE_NS;
}
