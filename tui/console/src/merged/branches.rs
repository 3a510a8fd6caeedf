//! The tree of the places at which cores are: kernel, function, source line; and what moved.

use super::{image, kernel, label};
use crate::glyph::Glyphs;
use decode::profile::{CoreProfile, ProfilePlace};
use decode::state::{Activity, CoreState, MeshState};
use images::{ImageRole, Reading, SourceLine, without_arguments};
use layouts::CoreId;
use std::collections::{BTreeMap, BTreeSet};

/// A place, and the cores at it.
pub struct Branch {
    /// Kernel, or the firmware of a core without one.
    pub kernel: String,
    /// The function; empty if it is unknown.
    pub function: String,
    /// The source line; empty if it is unknown.
    pub line: String,
    /// The waypoints of its cores, or what they do without one.
    pub waypoints: BTreeSet<String>,
    /// Its cores.
    pub cores: BTreeSet<CoreId>,
    /// The names of the words that moved since the snapshot before, of each core with any.
    pub moved: BTreeMap<CoreId, BTreeSet<String>>,
    /// Its cores that run a kernel of which no word shows whether it moves.
    pub silent: BTreeSet<CoreId>,
}

/// Kernel, function and source line.
type Key = [String; 3];

/// The branches of some cores, by kernel, function and line.
pub fn branches(
    glyphs: Glyphs,
    cores: &[&CoreState],
    before: Option<&MeshState>,
    profiles: &[CoreProfile],
) -> Vec<Branch> {
    let mut found: BTreeMap<Key, Branch> = BTreeMap::new();
    for core in cores {
        let profile = profiles.iter().find(|profile| profile.core == core.id);
        let sampled = profile.and_then(|profile| profile.places.first());
        let key =
            sampled.and_then(|place| of_sample(core, place)).unwrap_or_else(|| of_waypoint(core));
        let branch = found.entry(key).or_insert_with_key(|[kernel, function, line]| Branch {
            kernel: kernel.clone(),
            function: function.clone(),
            line: line.clone(),
            waypoints: BTreeSet::new(),
            cores: BTreeSet::new(),
            moved: BTreeMap::new(),
            silent: BTreeSet::new(),
        });
        branch.cores.insert(core.id);
        branch.waypoints.insert(label(glyphs, core));
        let words = before.and_then(|state| state.core(core.id)).map(|then| moved(then, core));
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            branch.moved.insert(core.id, words);
        } else if core.lacks_waypoints() && running(core).is_some() {
            branch.silent.insert(core.id);
        }
    }
    found.into_values().collect()
}

/// The most frequent place of the samples, if its function is known. A kernel is seen in the firmware
/// that it has called.
fn of_sample(core: &CoreState, place: &ProfilePlace) -> Option<Key> {
    let line = place.lines.first().filter(|line| line.function.is_some())?;
    let (function, line) = split(line);
    let image = place.image.clone()?;
    Some(match running(core) {
        Some(kernel) if kernel != image => [kernel, format!("{function} [{image}]"), line],
        _ => [image, function, line],
    })
}

/// The kernel that runs; after its end the core is in firmware again.
fn running(core: &CoreState) -> Option<String> {
    kernel(core).filter(|_| core.activity == Reading::Known(Activity::Running))
}

/// The place that sets the waypoint.
fn of_waypoint(core: &CoreState) -> Key {
    let firmware = || image(core, |role| role == ImageRole::Application);
    let base = || image(core, |role| role == ImageRole::BaseFirmware);
    let runs = running(core).or_else(firmware).or_else(base);
    let kernel = runs.unwrap_or_else(|| "no image known".to_owned());
    let candidates = core.candidates.iter().filter_map(|lines| lines.first());
    let places: BTreeSet<(String, String)> = match core.location.first() {
        Some(line) => BTreeSet::from([split(line)]),
        None => candidates.map(split).collect(),
    };
    let all = |of: fn((String, String)) -> String| {
        let texts: BTreeSet<String> = places.iter().cloned().map(of).collect();
        texts.into_iter().collect::<Vec<_>>().join(" or ")
    };
    [kernel, all(|place| place.0), all(|place| place.1)]
}

/// The function, without template arguments, and file and line.
fn split(line: &SourceLine) -> (String, String) {
    let function = line.function.as_deref().map(without_arguments);
    let at = SourceLine { function: None, ..line.clone() }.to_string();
    (function.unwrap_or_default(), at)
}

/// The names of a core's words that differ. The heartbeat is none of them: base firmware beats
/// under a kernel that stands.
fn moved(then: &CoreState, now: &CoreState) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut note = |differs: bool, name: &str| {
        if differs {
            names.insert(name.to_owned());
        }
    };
    note(then.waypoint != now.waypoint, "waypoint");
    note(then.activity != now.activity, "activity");
    note(then.go != now.go, "go");
    note(then.launch != now.launch, "launch");
    note(then.channels != now.channels, "channels");
    let values: BTreeMap<_, _> = then.words.iter().map(|word| (word.addr, &word.value)).collect();
    for word in &now.words {
        note(values.get(&word.addr).is_some_and(|value| **value != word.value), &word.name);
    }
    names
}
