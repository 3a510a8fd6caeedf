//! The stages of opening a target, as screens and one-shot verbs name them.

use crate::words;
use machine::progress::{ChipCount, Progress};
use machine::words::counted;

/// A stage, as far as it has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// How far.
    pub progress: Progress,
    /// Host time at which it began, in microseconds since the Unix epoch.
    pub began_micros: u64,
}

/// The stages since the target began to be opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages(pub Vec<Stage>);

impl Stages {
    /// Notes how far the target has come; a new kind of progress begins a stage.
    pub fn note(&mut self, progress: Progress, now_micros: u64) {
        match self.0.last_mut() {
            Some(last) if name(last.progress) == name(progress) => last.progress = progress,
            _ => self.0.push(Stage { progress, began_micros: now_micros }),
        }
    }
}

/// The name of a stage.
pub fn name(progress: Progress) -> &'static str {
    progress.into()
}

/// How far a stage has come, in words.
pub fn detail(progress: Progress) -> String {
    match progress {
        Progress::Start(what) => what.to_owned(),
        Progress::Discovery { chips, named, link_ends } => {
            let found = chips_of(ChipCount { done: chips, of: named });
            format!("{found} found, {link_ends} ends of links read")
        }
        Progress::Queues { used_by: Some(pid) } => format!("process {pid} uses them"),
        Progress::Queues { used_by: None } => "this process uses them".to_owned(),
        Progress::Boot { cycles, until_cycles: None } => {
            format!("{} of its own time", words::cycles(cycles))
        }
        Progress::Boot { cycles, until_cycles: Some(until) } => {
            format!("{} of {} of its own time", words::cycles(cycles), words::cycles(until))
        }
        Progress::Images(chips) => format!("{} verified", chips_of(chips)),
        Progress::Snapshot(chips) => format!("{} read", chips_of(chips)),
        Progress::Verdict { snapshot, of, chips } => {
            format!("{} read of snapshot {snapshot} of {of}", chips_of(chips))
        }
    }
}

fn chips_of(ChipCount { done, of }: ChipCount) -> String {
    format!("{done} of {}", counted(of as u64, "chip", "chips"))
}

/// The part that is done, and the whole, of a stage whose end is known.
pub fn share(progress: Progress) -> Option<(u64, u64)> {
    match progress {
        Progress::Boot { cycles, until_cycles } => Some((cycles, until_cycles?)),
        Progress::Images(ChipCount { done, of }) | Progress::Snapshot(ChipCount { done, of }) => {
            Some((done as u64, of as u64))
        }
        Progress::Verdict { snapshot, of, .. } => Some((snapshot - 1, of)),
        Progress::Start(_) | Progress::Discovery { .. } | Progress::Queues { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_lasts_while_its_kind_does() {
        let mut stages = Stages::default();
        let boot = |cycles, until_cycles| Progress::Boot { cycles, until_cycles };
        let found = |chips| Progress::Discovery { chips, named: 4, link_ends: 2 * chips };
        for (now, progress) in
            (1..).zip([found(1), found(3), boot(5, None), boot(70_000, Some(100_000))])
        {
            stages.note(progress, now);
        }
        let said = stages.0.iter().map(|stage| {
            format!("{} {} {}", stage.began_micros, name(stage.progress), detail(stage.progress))
        });
        assert_eq!(
            said.collect::<Vec<_>>(),
            [
                "1 discovery 3 of 4 chips found, 6 ends of links read",
                "3 boot 70.00 us of 100.00 us of its own time"
            ]
        );
        assert_eq!(share(boot(70_000, Some(100_000))), Some((70_000, 100_000)));
        assert_eq!(share(found(1)), None, "links may lead to more");
    }
}
