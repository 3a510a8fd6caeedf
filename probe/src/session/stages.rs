//! From stage to stage of some parties, back in the past of a mesh, and both ways in a recording.

use super::{Inspected, Session, Watch};
use decode::inspect::{TargetFacts, decode, stage_words};
use decode::state::{MeshState, Party, PartyStage, Stage};
use images::ImageMap;
use layouts::CoreId;
use machine::history::{self, seek_next_change};
use machine::past::PastWatcher;
use machine::snapshot::{Snapshot, Span};
use machine::target::Past;
use std::collections::{BTreeMap, HashMap};

/// A moment at which parties are in another stage than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageChange {
    /// The first cycle, or the time of the moment, that shows it.
    pub at_cycles: u64,
    /// The parties that are in another stage.
    pub moves: Vec<StageMove>,
}

/// A party that goes from a stage to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageMove {
    /// Its core.
    pub core: CoreId,
    /// The party.
    pub party: Party,
    /// The stage before; none if it was not there.
    pub from: Option<&'static Stage>,
    /// The stage after; none if it is no longer there.
    pub to: Option<&'static Stage>,
}

type Stages = BTreeMap<Party, PartyStage>;

impl Session {
    /// Goes to the next moment of a recording at which a party on one of these cores is in another
    /// stage than in the moment before, or back to the previous one. Returns none, and stays, if there
    /// is none, or if the target has no moments.
    pub fn seek_stage(&mut self, cores: &[CoreId], back: bool) -> Option<StageChange> {
        let history = self.target.history()?;
        let stays = history.position();
        let mut watch = Watch::new(0);
        self.look_at(&mut watch, cores);
        let watched: Vec<history::Watched> =
            self.words_of_stages(&watch, cores).1.iter().map(watched).collect();
        loop {
            let history = self.target.history()?;
            if !seek_next_change(history, &watched, back) {
                history.seek(stays);
                return None;
            }
            let (at, at_cycles) = (history.position(), history.moments().get(history.position()));
            let at_cycles = at_cycles.copied().unwrap_or(0);
            let mut stages_at = |moment| {
                self.seek(moment);
                self.look_at(&mut watch, cores);
                watch.newest().map_or_else(Stages::new, |newest| self.stages(&newest.state, cores))
            };
            let (before, after) = (stages_at(at - 1), stages_at(at));
            let moves = moves(&before, &after);
            if !moves.is_empty() {
                return Some(StageChange { at_cycles, moves });
            }
        }
    }

    /// Returns the last change of the stage of a party on one of these cores that shows before a cycle
    /// of a past, of a mesh on which these images are known; none if there was none in the past that is kept. It is exact to the cycle: all
    /// writes to the words that decide the stages are found by running the past again.
    ///
    /// # Errors
    /// Why the past gives no answer, one sentence; or `watcher` returned false.
    pub fn stage_before(
        past: &dyn Past,
        images: ImageMap,
        cores: &[CoreId],
        before_cycles: u64,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Option<StageChange>, String> {
        let copy = past.at(before_cycles, watcher).map_err(|error| error.to_string())?;
        let (mut then, mut watch) = (Self::with_target(copy, images), Watch::new(0));
        then.look_at(&mut watch, cores);
        let (snapshot, spans) = then.words_of_stages(&watch, cores);
        if spans.is_empty() {
            return Ok(None);
        }
        let mut rewound = Rewound { snapshot, spans, values: Vec::new(), known: HashMap::new() };
        // A change of the cycle before shows in it.
        let mut before = before_cycles.saturating_sub(1);
        let first = past.cycles().0;
        while before > first {
            let found = past.last_changes(&rewound.spans, before, watcher);
            let found = found.map_err(|error| error.to_string())?;
            rewound.values = found.bytes;
            let mut after = rewound.stages(&then, cores);
            for (which, write) in found.changes.into_iter().rev() {
                rewound.undo(which, write.offset, &write.old);
                let earlier = rewound.stages(&then, cores);
                let moves = moves(&earlier, &after);
                if !moves.is_empty() {
                    return Ok(Some(StageChange { at_cycles: write.at_cycles + 1, moves }));
                }
                after = earlier;
            }
            before = found.from_cycles;
        }
        Ok(None)
    }

    /// Returns what the newest snapshot has of the tiles of the parties on some cores, and the words that
    /// decide their stages.
    fn words_of_stages(&self, watch: &Watch, cores: &[CoreId]) -> (Snapshot, Vec<Span>) {
        let Some(Inspected { snapshot, state, .. }) = watch.newest() else {
            return (Snapshot::default(), Vec::new());
        };
        let mesh = self.target.mesh();
        let tiles = state.fabric.party_tiles(mesh, cores);
        let words = stage_words(snapshot, mesh, &self.images, &tiles);
        (snapshot.of_tiles(&tiles), words)
    }

    fn stages(&self, state: &MeshState, cores: &[CoreId]) -> Stages {
        let all = state.party_stages(self.target.mesh()).into_iter();
        all.filter(|it| cores.contains(&it.core)).map(|it| (it.party, it)).collect()
    }
}

/// A snapshot in which the words of some ranges are those of an earlier cycle.
struct Rewound {
    snapshot: Snapshot,
    spans: Vec<Span>,
    /// The bytes of each range.
    values: Vec<Vec<u8>>,
    /// The stages for bytes that were there before.
    known: HashMap<Vec<Vec<u8>>, Stages>,
}

impl Rewound {
    /// Gives a range the bytes that a write replaced.
    fn undo(&mut self, which: usize, offset: u64, old: &[u8]) {
        let span = self.spans.get(which).zip(self.values.get_mut(which));
        let Some((span, value)) = span else { return };
        let start = offset.saturating_sub(span.addr.offset) as usize;
        if let Some(place) = value.get_mut(start..start + old.len()) {
            place.copy_from_slice(old);
        }
    }

    fn stages(&mut self, session: &Session, cores: &[CoreId]) -> Stages {
        if let Some(known) = self.known.get(&self.values) {
            return known.clone();
        }
        for (span, value) in self.spans.iter().zip(&self.values) {
            self.snapshot.replace(span.addr, value);
        }
        let facts = TargetFacts::default();
        let state = decode(&self.snapshot, session.target.mesh(), &session.images, &facts);
        let stages = session.stages(&state, cores);
        self.known.insert(self.values.clone(), stages.clone());
        stages
    }
}

fn watched(span: &Span) -> history::Watched {
    let range = span.addr.offset..span.addr.offset + u64::from(span.len);
    history::Watched { chip: span.addr.chip, tile: Some(span.addr.tile), range }
}

/// The parties that are in another stage.
fn moves(before: &Stages, after: &Stages) -> Vec<StageMove> {
    let parties = before.iter().chain(after.iter().filter(|(it, _)| !before.contains_key(it)));
    let moved = parties.filter_map(|(party, PartyStage { core, .. })| {
        let of = |stages: &Stages| stages.get(party).map(|it| it.stage);
        let (core, party, from, to) = (*core, *party, of(before), of(after));
        let is_same = from.map(|it| it.name) == to.map(|it| it.name);
        (!is_same).then_some(StageMove { core, party, from, to })
    });
    moved.collect()
}
