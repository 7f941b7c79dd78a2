/* Ach.hpp: channels for C++98 and later: class ach::Channel around the calls of ach.h.
 *
 * The classes and methods of the original's Ach.hpp.  Everything is inline, so a program links with libach only.
 * Each method takes two masks of statuses: a status in allow_mask is returned, one in warn_mask is returned after
 * warn_METHOD was called, any other after error_METHOD.  Channel itself does nothing in these; LogChannel passes them
 * to warn and error, CerrChannel and SyslogChannel write a line there and end the program on an error.
 */
#ifndef ACH_HPP
#define ACH_HPP

#include <ach.h>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <syslog.h>
#include <vector>

/* warn_open, error_open and so on. */
#define ACH_HPP_METHODS(EACH) EACH(open) EACH(close) EACH(put) EACH(get) EACH(flush)
/* clang-format off */
#define ACH_HPP_SILENT(method) \
	virtual void warn_##method(ach_status_t) {} \
	virtual void error_##method(ach_status_t) {}
#define ACH_HPP_LOGGED(method) \
	virtual void warn_##method(ach_status_t status) { warn("ach_" #method, status); } \
	virtual void error_##method(ach_status_t status) { error("ach_" #method, status); }
/* clang-format on */

namespace ach
{

class Channel
{
      public:
	ach_channel_t channel; /* for the calls that have no method */

	Channel()
	{
		std::memset(&channel, 0, sizeof(channel));
	}

	/* An open channel is closed with its object. */
	virtual ~Channel()
	{
		if (channel.handle)
			ach_close(&channel);
	}

	ach_status_t open(const char *name, ach_attr_t *attr = NULL, int allow_mask = ACH_MASK_OK,
			  int warn_mask = ACH_MASK_NONE)
	{
		if (channel.handle)
			ach_close(&channel);
		return report(ach_open(&channel, name, attr), allow_mask, warn_mask, &Channel::warn_open,
			      &Channel::error_open);
	}

	ach_status_t close(int allow_mask = ACH_MASK_OK, int warn_mask = ACH_MASK_NONE)
	{
		return report(ach_close(&channel), allow_mask, warn_mask, &Channel::warn_close, &Channel::error_close);
	}

	ach_status_t put(const void *buf, size_t len, int allow_mask = ACH_MASK_OK, int warn_mask = ACH_MASK_NONE)
	{
		return report(ach_put(&channel, buf, len), allow_mask, warn_mask, &Channel::warn_put,
			      &Channel::error_put);
	}

	ach_status_t get(void *buf, size_t size, size_t *frame_size, const struct timespec *timeout = NULL,
			 int options = 0, int allow_mask = ACH_MASK_OK, int warn_mask = ACH_MASK_NONE)
	{
		return report(ach_get(&channel, buf, size, frame_size, timeout, options), allow_mask, warn_mask,
			      &Channel::warn_get, &Channel::error_get);
	}

	/* Into vec, from offset on.  A vec that is too small grows, which allocates: make it large before a real-time
	 * loop.  It never shrinks; *frame_size is the length of the message. */
	ach_status_t get(std::vector<uint8_t> *vec, size_t offset, size_t *frame_size,
			 const struct timespec *timeout = NULL, int options = 0, int allow_mask = ACH_MASK_OK,
			 int warn_mask = ACH_MASK_NONE)
	{
		ach_status_t status;
		size_t len = 0;

		if (vec->size() <= offset)
			vec->resize(offset + 1);
		while ((status = ach_get(&channel, &(*vec)[offset], vec->size() - offset, &len, timeout, options)) ==
		       ACH_OVERFLOW)
			vec->resize(offset + len);
		if (frame_size && len)
			*frame_size = len;
		return report(status, allow_mask, warn_mask, &Channel::warn_get, &Channel::error_get);
	}

	ach_status_t flush(int allow_mask = ACH_MASK_OK, int warn_mask = ACH_MASK_NONE)
	{
		return report(ach_flush(&channel), allow_mask, warn_mask, &Channel::warn_flush, &Channel::error_flush);
	}

      protected:
	ACH_HPP_METHODS(ACH_HPP_SILENT)

      private:
	typedef void (Channel::*handler)(ach_status_t);

	Channel(const Channel &); /* a handle is not to be copied */
	Channel &operator=(const Channel &);

	ach_status_t report(ach_status_t status, int allow_mask, int warn_mask, handler warn, handler error)
	{
		if (!ach_status_match(status, allow_mask))
			(this->*(ach_status_match(status, warn_mask) ? warn : error))(status);
		return status;
	}
};

/* method is the name of the call: "ach_get". */
class LogChannel : public Channel
{
      protected:
	virtual void warn(const char *method, ach_status_t status) = 0;
	virtual void error(const char *method, ach_status_t status) = 0;

	ACH_HPP_METHODS(ACH_HPP_LOGGED)
};

class CerrChannel : public LogChannel
{
      protected:
	virtual void warn(const char *method, ach_status_t status)
	{
		say("warning", method, status);
	}
	virtual void error(const char *method, ach_status_t status)
	{
		say("error", method, status);
		std::exit(EXIT_FAILURE);
	}

      private:
	static void say(const char *what, const char *method, ach_status_t status)
	{
		std::cerr << what << ": " << method << ": " << ach_result_to_string(status) << ": " << ach_errstr()
			  << std::endl;
	}
};

class SyslogChannel : public LogChannel
{
      protected:
	virtual void warn(const char *method, ach_status_t status)
	{
		syslog(LOG_WARNING, "warning: %s: %s: %s", method, ach_result_to_string(status), ach_errstr());
	}
	virtual void error(const char *method, ach_status_t status)
	{
		syslog(LOG_ERR, "error: %s: %s: %s", method, ach_result_to_string(status), ach_errstr());
		std::exit(EXIT_FAILURE);
	}
};

} // namespace ach

#undef ACH_HPP_METHODS
#undef ACH_HPP_SILENT
#undef ACH_HPP_LOGGED

#endif
