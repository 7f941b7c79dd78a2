"""wire.py LOG [FROM [TO [OFFSET]]]: what a Hubo's buses carried, by a recording: load by exact bits, the phase of references, lost
replies, and the largest step of a reference in counts.

Independent of the project's own code: stuff bits and checksums are computed here.  Times are those of the recording, ends
of frames; FROM and TO are seconds since its first frame; cycles begin at multiples of 5 ms and OFFSET us.  Prints a line
for each bus:

    lower load 0.712 cycles 780 references 7020 late 0 phase_us 87 1043 jitter_us 12.0 requests 18720 unanswered 0 step 1200 ...

first_p50_us, first_p99_us and first_max_us are of the first reference in each cycle.
"""
import sys

PERIOD = 5000  # us
BITS = {}


def bits(number, data):
    """Of a classic frame with the three bits between frames."""
    if (number, data) in BITS:
        return BITS[number, data]
    head = [0] + [number >> i & 1 for i in range(10, -1, -1)] + [0, 0, 0] + [len(data) >> i & 1 for i in (3, 2, 1, 0)]
    stream = head + [byte >> i & 1 for byte in data for i in range(7, -1, -1)]
    crc = 0
    for bit in stream:
        crc = (crc << 1 ^ 0x4599 if bit ^ crc >> 14 & 1 else crc << 1) & 0x7FFF
    stream += [crc >> i & 1 for i in range(14, -1, -1)]
    stuffed, last, run = 0, None, 0
    for bit in stream:
        run = run + 1 if bit == last else 1
        last = bit
        if run == 5:
            stuffed, last, run = stuffed + 1, 1 - bit, 1
    BITS[number, data] = len(stream) + stuffed + 1 + 2 + 7 + 3
    return BITS[number, data]


def is_reference(number, data):
    return 0x10 <= number <= 0x35 or (number == 1 and data[1] == 0x0D)


def reply_of(number, data):
    """Key of the reply that a request wants, or None."""
    if number == 2:
        return (0x40 if data[1] == 0x12 else 0x50) + data[0], 0
    if number != 1:
        return None
    if data[1] == 0x03:
        return 0x60 + data[0], data[2]
    return {0x02: (0x150 + data[0], 0), 0x04: (0x1C0 + data[0], 0), 0x24: (0x1C0 + data[0], 0), 0xE0: (0x6E, 0)}.get(data[1])


def main():
    begin = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    end = float(sys.argv[3]) if len(sys.argv) > 3 else 1e9
    offset = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    buses, zero = {}, None
    for line in open(sys.argv[1], encoding="ascii"):
        stamp, bus, text = line.split()[:3]
        t_us = round(float(stamp[1:-1]) * 1e6) - offset
        zero = t_us if zero is None else zero
        if begin <= (t_us - zero) / 1e6 < end:
            number, data = text.split("#")
            buses.setdefault(bus, []).append((t_us, int(number, 16), bytes.fromhex(data)))
    for bus, frames in sorted(buses.items()):
        report(bus, frames)


def report(bus, frames):
    total, late, references, requests = 0, 0, 0, 0
    phases, pending, unanswered, doubled = {}, {}, 0, 0
    seen, before, steps, at = set(), {}, {}, {}
    first, last = frames[0][0], frames[-1][0]
    for t_us, number, data in frames:
        length = bits(number, data)
        total += length
        cycle, phase = divmod(t_us - (length - 3), PERIOD)
        if is_reference(number, data):
            key = (number, data[0] if number == 1 else 0)
            references += 1
            late += (t_us - 1) // PERIOD != cycle
            doubled += (cycle, key) in seen
            seen.add((cycle, key))
            phases.setdefault(key, []).append(phase)
            at.setdefault(cycle, []).append(phase)
            if number != 1:
                for i in range(0, len(data) - 2, 3):
                    value = int.from_bytes(data[i:i + 3], "little")
                    value = -(value & 0x7FFFFF) if value & 0x800000 else value
                    steps[number, i] = max(steps.get((number, i), 0), abs(value - before.get((number, i), value)))
                    before[number, i] = value
            continue
        want = reply_of(number, data)
        if want:
            requests += 1
            unanswered += want in pending
            pending[want] = t_us
        else:
            pending.pop((number, 1 if number in (0x84, 0x85) and len(data) == 4 else 0), None)
    unanswered += sum(t_us < last - 2 * PERIOD for t_us in pending.values())
    ordered = sorted(min(cycle) for cycle in at.values()) or [0]
    first_us = [ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1]]
    means = sorted(sum(p) / len(p) for p in phases.values()) or [0]
    jitter = max((max(p) - min(p) for p in phases.values()), default=0)
    print(f"{bus} load {total / max(1, last - first):.3f} cycles {len({c for c, k in seen})} references {references} late {late} "
          f"doubled {doubled} phase_us {means[0]:.0f} {means[-1]:.0f} jitter_us {jitter:.0f} requests {requests} "
          f"unanswered {unanswered} step {max(steps.values(), default=0)} "
          f"first_p50_us {first_us[0]} first_p99_us {first_us[1]} first_max_us {first_us[2]}")


main()
