// fast.cc: CDR bytes through Fast DDS, the second vendor, on the loopback interface.
//
//	fast DOMAIN read		prints "TOPIC HEX" for each sample
//	fast DOMAIN write [HZ]		writes each sample HZ (20) times a second
//
// Standard input has a line for each topic: "TOPIC TYPE reliable|best [HEX]".  Both go on until they are killed.
// "matched TOPIC" is printed as soon as another end is there.
#include <chrono>
#include <cstdio>
#include <cstdlib>
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
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<uint8_t>;

class Raw : public TopicDataType {
      public:
	explicit Raw(const std::string &name)
	{
		setName(name.c_str());
		m_typeSize = 70000;
		m_isGetKeyDefined = false;
		auto_fill_type_object(false);
		auto_fill_type_information(false);
	}
	bool serialize(void *data, SerializedPayload_t *payload) override
	{
		const Bytes &bytes = *static_cast<Bytes *>(data);
		memcpy(payload->data, bytes.data(), bytes.size());
		payload->length = static_cast<uint32_t>(bytes.size());
		return true;
	}
	bool deserialize(SerializedPayload_t *payload, void *data) override
	{
		static_cast<Bytes *>(data)->assign(payload->data, payload->data + payload->length);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *data) override
	{
		return [data] { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
	}
	void *createData() override { return new Bytes; }
	void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
	bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
};

struct End {
	std::string topic;
	Bytes bytes;
	DataReader *reader = nullptr;
	DataWriter *writer = nullptr;
	bool matched = false;
};

static Bytes from_hex(const std::string &hex)
{
	Bytes bytes;
	for (size_t i = 0; i + 1 < hex.size(); i += 2)
		bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
	return bytes;
}

static void print(const End &end, const Bytes &bytes)
{
	std::ostringstream line;
	line << end.topic << " ";
	for (const uint8_t byte : bytes) {
		char digits[3];
		snprintf(digits, sizeof(digits), "%02x", byte);
		line << digits;
	}
	std::cout << line.str() << std::endl;
}

static DomainParticipant *join(int domain)
{
	auto transport = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
	DomainParticipantQos qos;

	transport->interfaceWhiteList.push_back("127.0.0.1");
	qos.transport().use_builtin_transports = false;
	qos.transport().user_transports.push_back(transport);
	return DomainParticipantFactory::get_instance()->create_participant(domain, qos);
}

template <class Qos> static void set(Qos &qos, const std::string &how)
{
	qos.reliability().kind = how == "reliable" ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
	qos.history().depth = 20;
}

static bool matched(const End &end)
{
	SubscriptionMatchedStatus in;
	PublicationMatchedStatus out;

	if (end.reader) {
		end.reader->get_subscription_matched_status(in);
		return in.current_count > 0;
	}
	end.writer->get_publication_matched_status(out);
	return out.current_count > 0;
}

int main(int argc, char **argv)
{
	const bool reads = argc > 2 && !strcmp(argv[2], "read");
	const double hz = argc > 3 ? atof(argv[3]) : reads ? 200 : 20;
	std::vector<End> ends;
	std::string line;

	if (argc < 3)
		return 2;
	DomainParticipant *me = join(atoi(argv[1]));
	if (!me)
		return 1;
	Publisher *publisher = me->create_publisher(PUBLISHER_QOS_DEFAULT);
	Subscriber *subscriber = me->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
	while (std::getline(std::cin, line)) {
		std::istringstream words(line);
		std::string type, how, hex;
		End end;
		words >> end.topic >> type >> how >> hex;
		TypeSupport support(new Raw(type));
		support.register_type(me);
		Topic *topic = me->create_topic(end.topic, type, TOPIC_QOS_DEFAULT);
		if (reads) {
			DataReaderQos qos;
			set(qos, how);
			end.reader = subscriber->create_datareader(topic, qos);
		} else {
			DataWriterQos qos;
			set(qos, how);
			end.bytes = from_hex(hex);
			end.writer = publisher->create_datawriter(topic, qos);
		}
		if (!topic || (!end.reader && !end.writer))
			return 1;
		ends.push_back(end);
	}
	for (;;) {
		for (End &end : ends) {
			Bytes bytes;
			SampleInfo info;
			if (!end.matched && matched(end)) {
				end.matched = true;
				std::cout << "matched " << end.topic << std::endl;
			}
			if (end.writer)
				end.writer->write(&end.bytes);
			while (end.reader && end.reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK)
				if (info.valid_data)
					print(end, bytes);
		}
		std::this_thread::sleep_for(std::chrono::duration<double>(1 / hz));
	}
}
