//! What the waypoints of firmware and kernels mean (tt-metal.md 1.3, and the sources of `firmware`).

use crate::function;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The meanings, a line each; the cells are the fields of [`Waypoint`].
const TABLE: &str = include_str!("waypoints.txt");

/// A meaning of a waypoint; the same letters can have several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waypoint {
    /// Its letters; of a wait also those of its end.
    pub waypoints: Vec<String>,
    /// The code that sets it.
    pub set_by: &'static str,
    /// The functions that do nothing but wait so.
    pub functions: Vec<&'static str>,
    /// What that code does then.
    pub meaning: &'static str,
    /// Who must act before it ends; `-` if nobody need.
    pub who_must_act: &'static str,
    /// What bounds the spin; `-` if it does not spin.
    pub spin: &'static str,
    /// How long a healthy one lasts.
    pub healthy: &'static str,
    /// What it means if the waypoint does not change.
    pub if_it_stays: &'static str,
}

impl Waypoint {
    /// All waypoints.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(Self::of)
    }

    /// The meanings of these letters, or of a function that waits.
    pub fn named(name: &str) -> Vec<Self> {
        let code = function::waypoint(name).unwrap_or(name);
        Self::all().filter(|it| it.waypoints.iter().any(|known| known == code)).collect()
    }

    fn of(line: &'static str) -> Option<Self> {
        let mut cells = line.split(" | ");
        let mut codes = Vec::new();
        for code in cells.next()?.split(' ') {
            codes.push(code.to_owned());
            let stem = code.strip_suffix('W').filter(|stem| !stem.is_empty());
            let end = stem.map(|stem| format!("{stem}D"));
            // Some ends have a line of their own.
            let codes_of =
                |line: &'static str| line.split(" | ").take(1).flat_map(|it| it.split(' '));
            let listed = |end: &String| TABLE.lines().flat_map(codes_of).any(|code| code == end);
            codes.extend(end.filter(|end| !listed(end)));
        }
        let waits = |waypoint: &&str| codes.iter().any(|code| code == waypoint);
        let functions = function::all().filter(|(_, waypoint)| waits(waypoint));
        Some(Self {
            functions: functions.map(|(function, _)| function).collect(),
            set_by: cells.next()?,
            meaning: cells.next()?,
            who_must_act: cells.next()?,
            spin: cells.next()?,
            healthy: cells.next()?,
            if_it_stays: cells.next()?,
            waypoints: codes,
        })
    }
}

/// Who must act before a waypoint ends, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Whoever launches kernels: the core is idle.
    Launch,
    /// Nobody: the core runs.
    Nobody,
    /// Another core.
    Core,
    /// The host.
    Host,
    /// The NoC, or what its accesses go to.
    Noc,
    /// The other end of the link.
    Link,
}

impl Awaited {
    /// Returns who must act before a waypoint ends, if the table lists it.
    pub fn of_waypoint(code: &str) -> Option<Self> {
        static KINDS: OnceLock<BTreeMap<String, Awaited>> = OnceLock::new();
        let kinds = || {
            let of = |it: Waypoint| {
                let kind = Self::of(&it);
                it.waypoints.into_iter().map(move |code| (code, kind))
            };
            // The first meaning counts.
            let mut all: Vec<_> = Waypoint::all().flat_map(of).collect();
            all.reverse();
            all.into_iter().collect()
        };
        KINDS.get_or_init(kinds).get(code).copied()
    }

    fn of(waypoint: &Waypoint) -> Self {
        let who = waypoint.who_must_act;
        let noc = ["NoC", "targets of its", "sources of its", "that transaction"];
        match who {
            _ if waypoint.if_it_stays == "nothing: it is idle" => Self::Launch,
            "-" | "itself" => Self::Nobody,
            _ if noc.iter().any(|words| who.contains(words)) => Self::Noc,
            _ if who.contains("host") => Self::Host,
            _ if who.contains("link") => Self::Link,
            _ => Self::Core,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Awaited, Waypoint};

    #[test]
    fn waypoints_say_who_must_act() {
        let of = Awaited::of_waypoint;
        assert_eq!(
            (of("GW"), of("R"), of("D")),
            (Some(Awaited::Launch), Some(Awaited::Nobody), Some(Awaited::Nobody),)
        );
        assert_eq!((of("NRBW"), of("CWFW")), (Some(Awaited::Noc), Some(Awaited::Core)));
        assert_eq!((of("PASW"), of("????")), (Some(Awaited::Host), None));
    }

    #[test]
    fn letters_have_their_meanings_and_waits_their_ends() {
        let all: Vec<_> = Waypoint::all().collect();
        assert!(all.len() > 80 && all.iter().all(|it| !it.if_it_stays.is_empty()), "{}", all.len());
        assert!(all.iter().flat_map(|it| &it.waypoints).all(|code| (1..=4).contains(&code.len())));
        let codes = |code: &str| Waypoint::named(code).into_iter().map(|it| it.waypoints);
        assert_eq!(codes("FWSD").collect::<Vec<_>>(), [["FWSW", "FWSD"]]);
        assert_eq!(codes("GW").collect::<Vec<_>>(), [["GW"]], "its end has its own line");
        assert_eq!(codes("NAWW").count(), 2, "data movement, and the profiler");
        for (function, code) in crate::function::all() {
            let explained = Waypoint::named(function);
            assert!(explained.iter().any(|it| it.waypoints.iter().any(|it| it == code)));
            for one in explained {
                assert!(one.functions.contains(&function), "{function}");
                assert!(one.spin.starts_with("unbounded"), "{function}");
            }
        }
    }
}
