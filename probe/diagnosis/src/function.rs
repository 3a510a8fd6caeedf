//! Functions of tt-metal that wait: a program counter within one tells what its waypoint would tell
//! if the kernel had been built with waypoints.

use decode::profile::CoreProfile;

/// Waypoints of `noc_semaphore_wait` and `noc_semaphore_wait_min`.
pub(crate) const WAITS_FOR_SEMAPHORE: [&str; 2] = ["NSW", "NSMW"];
/// Waypoints of `cb_wait_front` and `cb_reserve_back` (tt-metal.md 1.3).
pub(crate) const WAITS_FOR_PAGES: &str = "CWFW";
pub(crate) const WAITS_FOR_ROOM: &str = "CRBW";
/// Fewer samples do not tell that a core stays in a function.
const LEAST_SAMPLES: u32 = 2;

/// Returns the waypoint of the wait in which all samples of a core are.
pub(crate) fn wait_of(profile: &CoreProfile) -> Option<&'static str> {
    let mut waits = profile.places.iter().map(|place| {
        place.lines.iter().filter_map(|line| line.function.as_deref()).find_map(waypoint)
    });
    let first = waits.next()??;
    (profile.samples >= LEAST_SAMPLES && waits.all(|wait| wait == Some(first))).then_some(first)
}

/// Whether instructions can tell more of the wait of a core than its samples: which semaphore or circular
/// buffer it is, or that it waits at all.
pub fn needs_instructions(profile: &CoreProfile) -> bool {
    let tell = [&WAITS_FOR_SEMAPHORE[..], &[WAITS_FOR_PAGES, WAITS_FOR_ROOM]].concat();
    wait_of(profile).is_none_or(|wait| tell.contains(&wait))
}

/// Returns the waypoint of a function's wait; none if it does not wait.
pub fn waypoint(function: &str) -> Option<&'static str> {
    let name = function.split(['(', '<']).next()?;
    let name = name.rsplit([':', ' ']).next()?;
    all().find(|(known, _)| *known == name).map(|(_, waypoint)| waypoint)
}

/// Returns the functions with their waypoints.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("functions.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" | "))
}
