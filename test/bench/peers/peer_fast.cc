// peer_fast.cc: Fast DDS in shared memory, best effort, as many messages kept as in a channel.
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <memory>

#include "test/bench/peers/peers.h"

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

static const int DOMAIN = 77;

// Bytes of one size, the same in memory and on the way: Fast DDS may share its memory with readers.
class Plain : public TopicDataType {
      public:
	explicit Plain(size_t bytes) : size(static_cast<uint32_t>(bytes))
	{
		setName("PeerMessage");
		m_typeSize = size + 4;
		m_isGetKeyDefined = false;
		auto_fill_type_object(false);
		auto_fill_type_information(false);
	}
	bool serialize(void *data, SerializedPayload_t *payload) override
	{
		payload->data[0] = 0, payload->data[1] = 1, payload->data[2] = 0, payload->data[3] = 0;
		memcpy(payload->data + 4, data, size);
		payload->length = size + 4;
		return true;
	}
	bool deserialize(SerializedPayload_t *payload, void *data) override
	{
		memcpy(data, payload->data + 4, size);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *) override
	{
		return [this] { return size + 4; };
	}
	void *createData() override { return new char[size]; }
	void deleteData(void *data) override { delete[] static_cast<char *>(data); }
	bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
	bool is_bounded() const override { return true; }
	bool is_plain() const override { return true; }

      private:
	uint32_t size;
};

struct Peer {
	DomainParticipant *participant;
	Topic *topic;
	DataWriter *writer;
	DataReader *reader;
};

static Peer *fast_join(struct transport_link *link)
{
	Peer *peer = new Peer();
	DomainParticipantQos qos;

	link->peer = peer;
	qos.transport().use_builtin_transports = false;
	qos.transport().user_transports.push_back(
		std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>());
	peer->participant = DomainParticipantFactory::get_instance()->create_participant(DOMAIN, qos);
	if (!peer->participant)
		peers_die(link, "create_participant", nullptr);
	TypeSupport(new Plain(link->size)).register_type(peer->participant);
	peer->topic = peer->participant->create_topic(link->name, "PeerMessage", TOPIC_QOS_DEFAULT);
	return peer;
}

static void fast_join_sending(struct transport_link *link)
{
	Peer *peer = fast_join(link);
	DataWriterQos qos;

	qos.reliability().kind = BEST_EFFORT_RELIABILITY_QOS;
	qos.history().depth = static_cast<int32_t>(link->depth);
	peer->writer = peer->participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(peer->topic, qos);
	if (!peer->writer)
		peers_die(link, "create_datawriter", nullptr);
}

static void fast_join_receiving(struct transport_link *link, unsigned)
{
	Peer *peer = fast_join(link);
	DataReaderQos qos;

	qos.reliability().kind = BEST_EFFORT_RELIABILITY_QOS;
	qos.history().depth = static_cast<int32_t>(link->depth);
	peer->reader =
		peer->participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(peer->topic, qos);
	if (!peer->reader)
		peers_die(link, "create_datareader", nullptr);
}

static void fast_send(struct transport_link *link, const void *message)
{
	static_cast<Peer *>(link->peer)->writer->write(const_cast<void *>(message)); // a full history loses it
}

static void fast_receive(struct transport_link *link, unsigned, void *buf)
{
	DataReader *reader = static_cast<Peer *>(link->peer)->reader;
	SampleInfo info;

	for (;;) {
		while (reader->take_next_sample(buf, &info) == ReturnCode_t::RETCODE_OK)
			if (info.valid_data)
				return;
		reader->wait_for_unread_message(eprosima::fastrtps::Duration_t(1, 0));
	}
}

static void fast_leave(struct transport_link *link)
{
	Peer *peer = static_cast<Peer *>(link->peer);

	if (!peer)
		return;
	peer->participant->delete_contained_entities();
	DomainParticipantFactory::get_instance()->delete_participant(peer->participant);
	delete peer;
}

const struct transport peer_fast = {
	.name = "fastdds",
	.open = peers_open,
	.join_sending = fast_join_sending,
	.join_receiving = fast_join_receiving,
	.forget_name = nullptr,
	.send = fast_send,
	.receive = fast_receive,
	.close = fast_leave,
	.loan = nullptr,
	.publish = nullptr,
	.take = nullptr,
	.give_back = nullptr,
};
