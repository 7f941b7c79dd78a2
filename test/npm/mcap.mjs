// mcap.mjs check FILE EXPECTED: reads an MCAP file by its index and as a stream, decodes every message, and compares those
//	of endplate_msgs with the lines of EXPECTED (test/channels/rec/recmake.c), the others with those.
// mcap.mjs copy FILE OUT: writes the messages again as another writer does: without metadata, without compression.
// mcap.mjs frames OUT: writes three frames of can_msgs, without chunks.
import assert from "node:assert";
import fs from "node:fs";
import { McapIndexedReader, McapStreamReader, McapWriter } from "@mcap/core";
import { loadDecompressHandlers } from "@mcap/support";
import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";

const decompressHandlers = await loadDecompressHandlers();
const [command, path, other] = process.argv.slice(2);

class Bytes { // a file as the reader wants it, or as the writer does
  constructor(bytes) { this.bytes = bytes; this.parts = []; this.length = 0n; }
  async size() { return BigInt(this.bytes.length); }
  async read(offset, size) { return new Uint8Array(this.bytes.subarray(Number(offset), Number(offset + size))); }
  async write(part) { this.parts.push(Buffer.from(part)); this.length += BigInt(part.length); }
  position() { return this.length; }
}

async function readIndexed(file) {
  const reader = await McapIndexedReader.Initialize({ readable: new Bytes(fs.readFileSync(file)), decompressHandlers });
  const messages = [];
  for await (const m of reader.readMessages()) messages.push({ ...m, data: Buffer.from(m.data) });
  const metadata = [];
  for await (const m of reader.readMetadata()) metadata.push(m);
  return { reader, messages, metadata };
}

// In the order of the file, with every CRC.
function readStream(file) {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  const messages = [];
  reader.append(fs.readFileSync(file));
  for (let record; (record = reader.nextRecord()); )
    if (record.type === "Message") messages.push({ ...record, data: Buffer.from(record.data) });
  assert.ok(reader.done(), "the file does not end as it should");
  return messages;
}

// Numbers of 64 bits as text, NaN as null, typed arrays as lists.
function plain(value) {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isNaN(value) ? null : value;
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value, plain);
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  return value;
}

const renamed = { endplate: "header", interface_name: "interface", sequence_number: "sequence" };
function endplateNames(value) {
  if (Array.isArray(value)) return value.map(endplateNames);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [renamed[key] ?? key, endplateNames(inner)]));
}

const ns = (stamp) => BigInt(stamp.sec) * 1000000000n + BigInt(stamp.nsec ?? stamp.nanosec);
const float = (list) => list.map((v) => (v === null ? null : Math.fround(v)));

// What the standard types should hold, from the fields of ours.
const standard = {
  "sensor_msgs/msg/JointState": (m, s) => {
    const measured = (list) => (list.some((v) => v !== null) ? list : []);
    assert.deepStrictEqual(s.name, m.joint);
    assert.deepStrictEqual(s.position, measured(m.position));
    assert.deepStrictEqual(s.velocity, measured(m.velocity));
    assert.deepStrictEqual(s.effort, []);
  },
  "sensor_msgs/msg/Imu": (m, s) => {
    const [w, x, y, z] = m.orientation;
    const known = !m.orientation.includes(null);
    assert.deepStrictEqual(s.orientation, known ? { x, y, z, w } : { x: 0, y: 0, z: 0, w: 1 });
    assert.strictEqual(s.orientation_covariance[0], known ? 0 : -1);
    assert.deepStrictEqual(Object.values(s.angular_velocity), m.rate);
    assert.deepStrictEqual(Object.values(s.linear_acceleration), m.acceleration);
  },
  "sensor_msgs/msg/Temperature": (m, s) =>
    assert.strictEqual(s.temperature, m.temperature === null ? null : m.temperature - 273.15),
  "geometry_msgs/msg/WrenchStamped": (m, s) => {
    assert.deepStrictEqual(Object.values(s.wrench.force), m.force);
    assert.deepStrictEqual(Object.values(s.wrench.torque), m.torque);
  },
  "sensor_msgs/msg/BatteryState": (m, s) => {
    assert.deepStrictEqual([s.voltage, s.current, s.percentage], float([m.voltage, m.current, m.charge]));
    assert.deepStrictEqual(s.cell_voltage, float(m.cell));
    assert.deepStrictEqual([s.charge, s.capacity, s.design_capacity], [null, null, null]);
  },
  "rcl_interfaces/msg/Log": (m, s) => {
    assert.strictEqual(s.level, [20, 30, 40, 50][m.severity]);
    assert.deepStrictEqual([s.name, s.msg, s.function], [m.source, m.text, m.code]);
  },
};

async function check() {
  const expected = fs.readFileSync(other, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const { reader, messages, metadata } = await readIndexed(path);
  const streamed = readStream(path);
  const counts = { own: 0, standard: 0, frames: 0, json: 0 };
  const decoders = new Map();
  let last;

  assert.strictEqual(messages.length, streamed.length);
  assert.strictEqual(BigInt(messages.length), reader.statistics.messageCount);
  assert.strictEqual(reader.chunkIndexes.length, reader.statistics.chunkCount);
  assert.strictEqual(metadata.length, reader.statistics.metadataCount);
  for (const [id, n] of reader.statistics.channelMessageCounts)
    assert.strictEqual(BigInt(messages.filter((m) => m.channelId === id).length), n);
  for (const m of streamed) {
    const channel = reader.channelsById.get(m.channelId);
    const schema = reader.schemasById.get(channel.schemaId);
    if (schema.encoding === "jsonschema") {
      assert.strictEqual(channel.messageEncoding, "json");
      JSON.parse(new TextDecoder().decode(schema.data));
      assert.ok(Buffer.from(JSON.parse(m.data.toString()).base64, "base64").length > 0);
      counts.json++;
      continue;
    }
    assert.deepStrictEqual([schema.encoding, channel.messageEncoding], ["ros2msg", "cdr"]);
    if (!decoders.has(schema.name))
      decoders.set(schema.name, new MessageReader(parse(new TextDecoder().decode(schema.data), { ros2: true })));
    const decoded = plain(decoders.get(schema.name).readMessage(m.data));
    if (schema.name === "endplate_msgs/msg/CanFrame") {
      assert.strictEqual(ns(decoded.header.stamp), m.logTime);
      counts.frames++;
    } else if (schema.name.startsWith("endplate_msgs/")) {
      const line = expected[counts.own++];
      const stamp = ns(decoded.header.stamp);
      delete decoded.header;
      last = { topic: channel.topic, sequence: m.sequence, log: m.logTime.toString(), publish: m.publishTime.toString(),
               message: endplateNames(decoded) };
      assert.deepStrictEqual(last, line);
      assert.strictEqual(stamp - BigInt(decoded.endplate.t_sample_ns), m.publishTime - BigInt(decoded.endplate.t_publish_ns));
    } else {
      assert.ok(channel.topic.startsWith(last.topic + "/"));
      assert.deepStrictEqual([m.logTime.toString(), m.sequence], [last.log, last.sequence]);
      standard[schema.name](last.message, decoded);
      counts.standard++;
    }
  }
  assert.strictEqual(counts.own, expected.length);
  console.log(`${counts.own} of endplate_msgs, ${counts.standard} standard, ${counts.frames} frames, ${counts.json} json`);
}

async function start() {
  const out = new Bytes();
  const writer = new McapWriter({ writable: out, useChunks: command === "copy" });
  await writer.start({ profile: "", library: "another writer" });
  return { out, writer };
}

async function end({ out, writer }, to) {
  await writer.end();
  fs.writeFileSync(to, Buffer.concat(out.parts));
}

async function copy() {
  const { reader } = await readIndexed(path);
  const to = await start();
  const channels = new Map();
  for (const m of readStream(path)) {
    const channel = reader.channelsById.get(m.channelId);
    const schema = reader.schemasById.get(channel.schemaId);
    if (!schema.name.startsWith("endplate_msgs/")) continue;
    if (!channels.has(m.channelId)) {
      const schemaId = await to.writer.registerSchema(schema);
      channels.set(m.channelId, await to.writer.registerChannel({ ...channel, schemaId, metadata: new Map() }));
    }
    await to.writer.addMessage({ ...m, channelId: channels.get(m.channelId) });
  }
  await end(to, other);
}

async function frames() {
  const line = "=".repeat(80);
  const text = `std_msgs/Header header\nuint32 id\nbool is_rtr\nbool is_extended\nbool is_error\nuint8 dlc\nuint8[8] data
${line}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id
${line}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n`;
  const encoder = new MessageWriter(parse(text, { ros2: true }));
  const to = await start();
  const schemaId = await to.writer.registerSchema({ name: "can_msgs/msg/Frame", encoding: "ros2msg",
                                                    data: new TextEncoder().encode(text) });
  const channelId = await to.writer.registerChannel({ topic: "/can1/received", messageEncoding: "cdr", schemaId,
                                                      metadata: new Map() });
  for (let i = 0; i < 3; i++) {
    const data = encoder.writeMessage({
      header: { stamp: { sec: 1700000000, nanosec: 1000 * i }, frame_id: "" }, id: i === 2 ? 0x12345678 : 0x100 + i,
      is_rtr: i === 1, is_extended: i === 2, is_error: false, dlc: 3, data: Uint8Array.of(i, 2, 3, 4, 5, 6, 7, 8) });
    await to.writer.addMessage({ channelId, sequence: i, logTime: 1700000001000000000n, publishTime: 0n, data });
  }
  await end(to, path);
}

await { check, copy, frames }[command]();
