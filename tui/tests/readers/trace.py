"""Reads an exported trace by Perfetto's own schema, and by its trace_processor if
MESHSCOPE_TRACE_PROCESSOR names that program.

Prints the numbers of processes, threads, slices, counter values, instants and flows.
"""

import collections
import os
import sys

try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

trace = Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())


def known(message):
    """Every field is one of the schema, down to the last message."""
    assert len(UnknownFieldSet(message)) == 0, message
    for field, value in message.ListFields():
        if field.message_type:
            for below in value if hasattr(value, "__len__") else [value]:
                known(below)


known(trace)
tracks, open_slices, kinds, last = {}, collections.Counter(), collections.Counter(), 0
flows, ended = collections.Counter(), collections.Counter()
for packet in trace.packet:
    assert packet.trusted_packet_sequence_id == 1, packet
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        assert track.uuid and track.uuid not in tracks, track
        assert not track.HasField("parent_uuid") or track.parent_uuid in tracks, track
        tracks[track.uuid] = track
        continue
    event = packet.track_event
    assert packet.timestamp >= last, packet
    last = packet.timestamp
    kinds[event.type] += 1
    flows.update(event.flow_ids)
    ended.update(event.terminating_flow_ids)
    is_counter = tracks[event.track_uuid].HasField("counter")
    assert is_counter == (event.type == TrackEvent.TYPE_COUNTER), packet
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        open_slices[event.track_uuid] += 1
    if event.type == TrackEvent.TYPE_SLICE_END:
        open_slices[event.track_uuid] -= 1
    assert open_slices[event.track_uuid] in (0, 1), "slices of one track do not overlap"
assert not any(open_slices.values()), "each slice ends"

pids = [track.process.pid for track in tracks.values() if track.HasField("process")]
threads = [track.thread for track in tracks.values() if track.HasField("thread")]
tids = [thread.tid for thread in threads]
assert len(set(pids + tids)) == len(pids) + len(tids), "each number is given once"
assert {thread.pid for thread in threads} <= set(pids), "each core is on a chip"
assert flows == ended and set(flows.values()) <= {1}, "each flow begins and ends once"
print("processes", len(pids))
print("threads", len(tids))
print("slices", kinds[TrackEvent.TYPE_SLICE_BEGIN])
print("counters", kinds[TrackEvent.TYPE_COUNTER])
print("instants", kinds[TrackEvent.TYPE_INSTANT])
print("flows", len(flows))

program = os.environ.get("MESHSCOPE_TRACE_PROCESSOR")
if program:
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    config = TraceProcessorConfig(bin_path=program)
    with TraceProcessor(trace=sys.argv[1], config=config) as processor:
        ask = lambda query: list(processor.query(query))[0].n
        assert ask("select count(*) as n from slice where dur >= 0") >= kinds[1]
        assert ask("select count(*) as n from counter") == kinds[TrackEvent.TYPE_COUNTER]
        assert ask("select count(*) as n from flow") == len(flows)
        errors = "select count(*) as n from stats where severity = 'error' and value > 0"
        assert ask(errors) == 0
