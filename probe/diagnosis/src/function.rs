//! Functions of tt-metal that wait: a program counter within one tells what its waypoint would tell
//! if the kernel had been built with waypoints.

use decode::profile::CoreProfile;

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
