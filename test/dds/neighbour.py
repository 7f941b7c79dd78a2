#!/usr/bin/python3
# neighbour.py DOMAIN ADDRESS [--rounds N] [--source ADDRESS --device NAME --mac MAC]: a writer of references on another
# machine that never gets an answer: it sends recorded packets to the ports of a participant, in rounds that are 5 ms
# apart; without --rounds without a pause, until it is killed.
#
# They were recorded from "ear 7 write" on the loopback interface: the announcement of a participant, that of its writer
# of rt/in/joint, and a sample.  Whom they were sent to is zeroed, so that any participant accepts them; each process
# has an identity of its own, and numbers its samples.  With --source the sender is forged, by raw packets.
import argparse
import os
import socket
import struct
import time

PARTICIPANT = bytes.fromhex('''
5254505302010110eeeeeeeeeeeeeeeeeeeeeeee0901080011e4fd6aa1ba68b815053c010000100000000000000100c20000000001000000
000300002c0010000a000000656e636c6176653d2f3b000059005400030000000e0000005f5f50726f636573734e616d6500000004000000
65617200060000005f5f5069640000000600000032343034380000000b0000005f5f486f73746e616d65000003000000766d000000000000
15000400020100001600040001100000020008000a0000000000000050001000eeeeeeeeeeeeeeeeeeeeeeee000001c1580004003ffc0000
0f000400070000003100180001000000cb2300000000000000000000000000007f0000013200180001000000ca2300000000000000000000
000000007f00000107803000000000002c00000000000000000000000000000016000000766d2f302e31302e322f4c696e75782f4c696e75
78000000198004000000200001000000
''')
WRITER = bytes.fromhex('''
5254505302010110eeeeeeeeeeeeeeeeeeeeeeee0e010c000110fd034357298603e17d0c0901080011e4fd6a257351b91505c00000001000
000003c7000003c20000000001000000000300000500180013000000726f735f646973636f766572795f696e666f00000700380034000000
726d775f6464735f636f6d6d6f6e3a3a6d73673a3a6464735f3a3a5061727469636970616e74456e746974696573496e666f5f001d000400
010000001a000c00020000000000000000000000150004000201000016000400011000005a001000eeeeeeeeeeeeeeeeeeeeeeee00000103
0c800400010000000380040000000000010000000901080011e4fd6abdef82b91505ac0000001000000003c7000003c20000000002000000
00030000050010000c00000072742f696e2f6a6f696e7400070028002400000073656e736f725f6d7367733a3a6d73673a3a6464735f3a3a
4a6f696e7453746174655f001a000c0002000000000000000000000040000800000000000a00000015000400020100001600040001100000
5a001000eeeeeeeeeeeeeeeeeeeeeeee000002030c800400010000000380040000000000010000000901080011e4fd6a4b696cb815053000
00001000000200c7000200c2000000000100000000010000eeeeeeeeeeeeeeeeeeeeeeee00000001010000000000000007011c00000003c7
000003c2000000000100000000000000020000000300000007011c00000200c7000200c20000000001000000000000000100000003000000
''')
REFERENCE = bytes.fromhex('''
5254505302010110eeeeeeeeeeeeeeeeeeeeeeee0901080011e4fd6ab88a94e3150558000000100000000000000002030000000009000000
000100000000000000000000010000000000000002000000030000006a300000030000006a31000002000000000000000000e03f00000000
0000d0bf0000000000000000
''')

INFO_DST, DATA = 0x0E, 0x15


def submessages(packet):
    at = 20
    while at + 4 <= len(packet):
        (length,) = struct.unpack_from("<H", packet, at + 2)
        yield packet[at], at + 4
        if not length:
            return
        at += 4 + length


def blind(packet, identity):
    packet = bytearray(packet.replace(b"\xee" * 12, identity))
    for kind, at in submessages(packet):
        if kind == INFO_DST:
            packet[at : at + 12] = bytes(12)
    return packet


def numbered(packet, number):
    for kind, at in submessages(packet):
        if kind == DATA:
            struct.pack_into("<iI", packet, at + 12, 0, number)
    return packet


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def open_sender(args):
    if not args.source:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        return lambda packet, port: udp.sendto(packet, (args.address, port))
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((args.device, 0x0800))
    ethernet = bytes.fromhex(args.mac.replace(":", "")) + raw.getsockname()[4] + b"\x08\x00"

    def send(packet, port):
        udp = struct.pack("!HHHH", 40000, port, 8 + len(packet), 0) + packet
        ends = socket.inet_aton(args.source) + socket.inet_aton(args.address)
        header = struct.pack("!BBHHHBBH8s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, ends)
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        raw.send(ethernet + header + udp)

    return send


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("domain", type=int)
    parser.add_argument("address")
    parser.add_argument("--source")
    parser.add_argument("--device")
    parser.add_argument("--mac")
    parser.add_argument("--rounds", type=int, default=0)
    args = parser.parse_args()
    discovery = 7400 + 250 * args.domain + 10
    identity = os.urandom(12)
    send = open_sender(args)
    participant, writer, reference = (blind(packet, identity) for packet in (PARTICIPANT, WRITER, REFERENCE))
    number = 0
    while number < args.rounds or not args.rounds:
        number += 1
        try:
            send(participant, discovery)
            send(writer, discovery)
            send(numbered(reference, number), discovery + 1)
        except OSError:
            pass  # no participant has the port yet
        if args.rounds:
            time.sleep(0.005)


main()
