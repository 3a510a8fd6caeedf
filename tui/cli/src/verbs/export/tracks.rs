//! The tracks of a trace, and what was seen on each from moment to moment.

use super::proto::{DebugAnnotation, EventType, Trace, TracePacket, TrackEvent};
use super::track::Track;
use prost::Message;
use std::collections::BTreeMap;

/// The writer of all packets: names are not shared between them, so that one is enough.
const SEQUENCE: u32 = 1;

/// A slice or an instant: its name, and values beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) values: Vec<(&'static str, String)>,
}

/// What a moment shows on a track.
pub(super) enum Shown {
    /// A value.
    Known(Event),
    /// Why there is none.
    Missing(&'static str),
    /// The track has none at this moment.
    Nothing,
}

/// What is on a track now.
struct Current {
    uuid: u64,
    slice: Option<String>,
    count: Option<u64>,
}

/// The trace while it is made.
#[derive(Default)]
pub(super) struct Tracks {
    packets: Vec<TracePacket>,
    current: BTreeMap<Track, Current>,
    titles: BTreeMap<Track, String>,
    /// The number of flows.
    flows: u64,
    /// Time of the current moment, in nanoseconds.
    pub(super) now: u64,
}

impl Tracks {
    /// Gives a chip or core another name than its number.
    pub(super) fn title(&mut self, track: Track, title: String) {
        self.titles.insert(track, title);
    }

    /// Adds a track on which nothing is shown yet.
    pub(super) fn add(&mut self, track: &Track) {
        self.on(track);
    }

    /// Shows a slice from now on, if it is another one than before.
    pub(super) fn show(&mut self, track: &Track, shown: Shown) {
        let event = match shown {
            Shown::Known(event) => Some(event),
            // A track begins with its first value.
            Shown::Missing(_) if !self.current.contains_key(track) => return,
            Shown::Missing(word) => Some(Event { name: word.to_owned(), values: Vec::new() }),
            Shown::Nothing => None,
        };
        let before = self.current.get(track).and_then(|it| it.slice.clone());
        let name = event.as_ref().map(|it| it.name.clone());
        if before == name {
            return;
        }
        let now = self.now;
        if before.is_some() {
            self.event(track, now, EventType::SliceEnd, TrackEvent::default());
        }
        if let Some(event) = event {
            self.event(track, now, EventType::SliceBegin, event.into());
        }
        self.on(track).slice = name;
    }

    /// Sets a counter from now on. While it is not read it keeps its value: the format has no gap.
    pub(super) fn count(&mut self, track: &Track, count: Option<u64>) {
        let before = self.current.get(track).and_then(|it| it.count);
        let Some(value) = count.filter(|_| count != before) else { return };
        let event = TrackEvent {
            counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            ..TrackEvent::default()
        };
        self.event(track, self.now, EventType::Counter, event);
        self.on(track).count = count;
    }

    /// Adds an instant, at a time in nanoseconds.
    pub(super) fn instant(&mut self, track: &Track, at: u64, event: Event) {
        self.event(track, at, EventType::Instant, event.into());
    }

    /// Adds a flow: an instant on one track and one on another, at times in nanoseconds, with an arrow
    /// between them.
    pub(super) fn flow(&mut self, from: (&Track, u64), to: (&Track, u64), what: &Event) {
        self.flows += 1;
        let ids = vec![self.flows];
        let begins = TrackEvent { flow_ids: ids.clone(), ..what.clone().into() };
        self.event(from.0, from.1, EventType::Instant, begins);
        let ends = TrackEvent { terminating_flow_ids: ids, ..what.clone().into() };
        self.event(to.0, to.1, EventType::Instant, ends);
    }

    /// Ends all slices, and returns the file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let open: Vec<Track> = self.current.keys().cloned().collect();
        for track in open {
            self.show(&track, Shown::Nothing);
        }
        // Tracks have no time, and come first.
        self.packets.sort_by_key(|packet| packet.timestamp);
        Trace { packet: self.packets }.encode_to_vec()
    }

    fn event(&mut self, track: &Track, at: u64, kind: EventType, event: TrackEvent) {
        let track_uuid = Some(self.on(track).uuid);
        let event = TrackEvent { r#type: Some(kind.into()), track_uuid, ..event };
        self.packets.push(TracePacket {
            timestamp: Some(at),
            trusted_packet_sequence_id: Some(SEQUENCE),
            track_event: Some(event),
            track_descriptor: None,
        });
    }

    /// Returns what is on a track; describes it first if it is new.
    fn on(&mut self, track: &Track) -> &mut Current {
        if !self.current.contains_key(track) {
            self.describe(track);
        }
        // Perfetto's own tracks have the number 0.
        let uuid = self.current.len() as u64 + 1;
        let fresh = || Current { uuid, slice: None, count: None };
        self.current.entry(track.clone()).or_insert_with(fresh)
    }

    fn describe(&mut self, track: &Track) {
        let title = self.titles.get(track).cloned();
        let parent = track.parent().map(|parent| self.on(&parent).uuid);
        let uuid = self.current.len() as u64 + 1;
        let descriptor = track.descriptor(uuid, title, parent);
        self.packets.push(TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        });
    }
}

impl From<Event> for TrackEvent {
    fn from(event: Event) -> Self {
        let value = |(name, value): (&'static str, String)| DebugAnnotation {
            name: Some(name.to_owned()),
            string_value: Some(value),
        };
        Self {
            name: Some(event.name),
            debug_annotations: event.values.into_iter().map(value).collect(),
            ..Self::default()
        }
    }
}
