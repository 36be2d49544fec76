# SPDX-License-Identifier: Apache-2.0
"""The packets of a Perfetto trace as Google's own descriptors decode them, with the rules that an importer insists on."""
import collections
import zlib

import clients

MAX_BUNDLE = 512 * 1024
GPU_CORRELATION, COMPUTE_KERNELS, COMPUTE_ARG_NAMES = 3000, 1000, 1001  # extensions that the descriptors do not know
NEEDS_INTERNED, INTERNED_ANEW = 2, 1

Slice = collections.namedtuple("Slice", "track name category begin end notes launches arrows_from arrows_to")
Work = collections.namedtuple("Work", "event queue name category begin duration gpu kernel launch extra")


def _protos():
    clients.on_path(clients.folder_of("perfetto"))
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    return perfetto_trace_pb2


def packets_of(file):
    """All packets, those in bundles too; every bundle holds whole packets and is small enough."""
    protos = _protos()
    whole = protos.Trace()
    whole.ParseFromString(file.read_bytes())
    for packet in whole.packet:
        if not packet.HasField("compressed_packets"):
            yield packet
            continue
        inside = zlib.decompress(packet.compressed_packets)
        assert len(inside) <= MAX_BUNDLE or len(protos.Trace.FromString(inside).packet) == 1, len(inside)
        yield from protos.Trace.FromString(inside).packet


def _unknown(message, field):
    """The bytes of an extension, each time it is there."""
    from google.protobuf.unknown_fields import UnknownFieldSet
    return [f.data for f in UnknownFieldSet(message) if f.field_number == field]


def _varints(data):
    """(field, value) of a message of varints and byte strings alone."""
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, key
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size


class _Sequence:
    def __init__(self):
        self.clock = None
        self.names = collections.defaultdict(dict)  # by kind, then by iid

    def intern(self, data):
        for kind in "event_categories", "event_names", "debug_annotation_names", "graphics_contexts", "gpu_specifications":
            for entry in getattr(data, kind):
                assert entry.iid not in self.names[kind], (kind, entry.iid)
                assert entry.iid != 0, kind
                self.names[kind][entry.iid] = entry
        for number, kind in (COMPUTE_KERNELS, "compute_kernels"), (COMPUTE_ARG_NAMES, "compute_arg_names"):
            for entry in _unknown(data, number):
                fields = list(_varints(entry))
                assert fields[0][1] not in self.names[kind]
                self.names[kind][fields[0][1]] = fields


class Trace:
    """What a file says: tracks, slices of the CPU, work of the GPU, counters; AssertionError where it breaks a rule."""

    def __init__(self, file):
        self.tracks, self.slices, self.work, self.counters, self.specs = {}, [], [], collections.defaultdict(list), {}
        self.track_counters, self.gpus, self.uuid, self.unfinished = collections.defaultdict(list), [], None, 0
        self._sequences, self._open = collections.defaultdict(_Sequence), collections.defaultdict(list)
        for packet in packets_of(file):
            self._take(packet)
        self.unfinished = sum(len(stack) for stack in self._open.values())

    def _take(self, packet):
        sequence = self._sequences[packet.trusted_packet_sequence_id]
        if packet.HasField("clock_snapshot"):
            clocks = {c.clock_id: c for c in packet.clock_snapshot.clocks}
            if 64 in clocks:
                assert clocks[64].is_incremental and clocks[64].timestamp == clocks[1].timestamp
                assert packet.sequence_flags & INTERNED_ANEW
                sequence.clock = clocks[64].timestamp
        if packet.HasField("interned_data"):
            sequence.intern(packet.interned_data)
        if packet.HasField("trace_uuid"):
            self.uuid = (packet.trace_uuid.msb, packet.trace_uuid.lsb)
        if packet.HasField("gpu_info"):
            self.gpus = list(packet.gpu_info.gpus)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in self.tracks, track
            assert not track.parent_uuid or track.parent_uuid in self.tracks, track
            self.tracks[track.uuid] = track
        if not packet.HasField("timestamp"):
            return
        assert packet.sequence_flags == NEEDS_INTERNED and sequence.clock is not None
        sequence.clock = (sequence.clock + packet.timestamp) % (1 << 64)
        if packet.HasField("track_event"):
            self._event(sequence, packet.track_event)
        if packet.HasField("gpu_render_stage_event"):
            self._work(sequence, packet.gpu_render_stage_event)
        if packet.HasField("gpu_counter_event"):
            self._counter(sequence, packet.gpu_counter_event)

    def _event(self, sequence, event):
        assert event.track_uuid in self.tracks, event
        kind, stack = event.type, self._open[event.track_uuid]
        if kind == event.TYPE_SLICE_END:
            begun = stack.pop()
            assert begun.begin <= sequence.clock, begun
            self.slices[begun.end] = begun._replace(end=sequence.clock)
            return
        if kind == event.TYPE_COUNTER:
            self.track_counters[self.tracks[event.track_uuid].name].append((sequence.clock, event.counter_value))
            return
        notes = {sequence.names["debug_annotation_names"][n.name_iid].name if n.name_iid else n.name: getattr(n, n.WhichOneof("value"))
                 for n in event.debug_annotations}
        launches = [value for data in _unknown(event, GPU_CORRELATION) for _, value in _varints(data)]
        name = sequence.names["event_names"][event.name_iid].name
        category = sequence.names["event_categories"][event.category_iids[0]].name
        instant = kind == event.TYPE_INSTANT
        # Until its end comes, a slice has its place in the list there.
        self.slices.append(Slice(event.track_uuid, name, category, sequence.clock, sequence.clock if instant else None, notes, launches,
                                 list(event.terminating_flow_ids), list(event.flow_ids)))
        if not instant:
            assert not stack or stack[-1].begin <= sequence.clock
            stack.append(self.slices[-1]._replace(end=len(self.slices) - 1))

    def _work(self, sequence, event):
        specifications = sequence.names["gpu_specifications"]
        assert event.context in sequence.names["graphics_contexts"], event
        stage, queue = specifications[event.stage_iid], specifications[event.hw_queue_iid].name
        kernel = self._kernel(sequence, event.kernel_iid) if event.kernel_iid else None
        launch = {sequence.names["compute_arg_names"][a.name_iid][1][1].decode(): getattr(a, a.WhichOneof("value")) for a in event.launch.args}
        for name in "grid_size", "workgroup_size":
            if event.launch.HasField(name):
                size = getattr(event.launch, name)
                launch[name] = (size.x, size.y, size.z)
        self.work.append(Work(event.event_id, queue, stage.name, stage.category, sequence.clock, event.duration, event.gpu_id, kernel, launch,
                              {e.name: e.value for e in event.extra_data}))

    @staticmethod
    def _kernel(sequence, iid):
        """Names and arguments of an interned kernel."""
        found = {"args": {}}
        for field, value in sequence.names["compute_kernels"][iid]:
            if field == 5:
                argument = dict(_varints(value))
                found["args"][sequence.names["compute_arg_names"][argument[1]][1][1].decode()] = argument[4] if 4 in argument else argument[6].decode()
            elif field != 1:
                found[{2: "name", 3: "demangled", 4: "arch"}[field]] = value.decode()
        return found

    def _counter(self, sequence, event):
        for spec in event.counter_descriptor.specs:
            assert spec.counter_id not in self.specs
            self.specs[spec.counter_id] = spec
        for counter in event.counters:
            spec = self.specs[counter.counter_id]
            self.counters[(event.gpu_id, spec.name, spec.groups[0])].append((sequence.clock, counter.double_value))
