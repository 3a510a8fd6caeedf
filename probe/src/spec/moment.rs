//! A moment of a recording as the user names it: `17ms`, `-2ms`, `#12`.

use super::{SpecError, TargetSpec, wrong};
use machine::history::History;
use machine::words::cycles_of;
use std::path::Path;

/// A moment of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The last one that is not later than this time of the target, in cycles.
    At(u64),
    /// The same, counted back from the last one.
    BeforeLast(u64),
    /// By its number, from 0.
    Number(usize),
}

impl Moment {
    /// Parses a time of the target, a time before the last moment, or a number.
    ///
    /// # Errors
    /// Why the words name no moment.
    pub fn parse(words: &str) -> Result<Self, SpecError> {
        let no_moment = || {
            SpecError(format!(
                "`{words}` names no moment: a time of the target such as 17ms, a time before the last moment such as \
                 -2ms, or a number such as #12"
            ))
        };
        if let Some(number) = words.strip_prefix('#') {
            return number.parse().map(Self::Number).map_err(|_| no_moment());
        }
        let (time, before) = match words.strip_prefix('-') {
            Some(time) => (time, true),
            None => (words, false),
        };
        let cycles = cycles_of(time).ok_or_else(no_moment)?;
        Ok(if before { Self::BeforeLast(cycles) } else { Self::At(cycles) })
    }

    /// Returns the cycle that a time names in a run from a first cycle to a last; none if it is
    /// outside, or a number.
    pub fn cycle_in(self, (first, last): (u64, u64)) -> Option<u64> {
        let cycle = match self {
            Self::At(cycles) => Some(cycles),
            Self::BeforeLast(cycles) => last.checked_sub(cycles),
            Self::Number(_) => None,
        };
        cycle.filter(|cycle| (first..=last).contains(cycle))
    }

    /// Goes to the moment.
    ///
    /// # Errors
    /// The recording has no such moment.
    pub fn seek(self, history: &mut dyn History) -> Result<(), SpecError> {
        let times = history.moments();
        let last = times.last().copied().unwrap_or(0);
        let until = |cycles: u64| times.iter().rposition(|time| *time <= cycles);
        let found = match self {
            Self::At(cycles) => until(cycles),
            Self::BeforeLast(cycles) => last.checked_sub(cycles).and_then(until),
            Self::Number(number) => (number < times.len()).then_some(number),
        };
        let Some(found) = found else {
            let first = times.first().copied().unwrap_or(0);
            return wrong(format!(
                "the recording has moments #0 to #{}, from {first} to {last} ns of the target's time",
                times.len().saturating_sub(1)
            ));
        };
        history.seek(found);
        Ok(())
    }
}

/// Parses a file, with `,at=MOMENT` or `,rerun=TIME` behind it unless a file has that name.
pub(super) fn recording(words: &str) -> Result<TargetSpec, SpecError> {
    if let Some((path, time)) = words.rsplit_once(",rerun=")
        && !Path::new(words).is_file()
    {
        return match Moment::parse(time)? {
            Moment::Number(_) => wrong(format!(
                "`rerun={time}`: a time of the target such as 17.3ms, or one before the end of the run such as -2ms"
            )),
            time => Ok(TargetSpec::Rerun(path.into(), time)),
        };
    }
    match words.rsplit_once(",at=") {
        Some((path, moment)) if !Path::new(words).is_file() => {
            Ok(TargetSpec::Recording(path.into(), Some(Moment::parse(moment)?)))
        }
        _ => Ok(TargetSpec::Recording(words.into(), None)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn moments_are_named_by_time_and_number() {
        let parse = |words| Moment::parse(words).map_err(|error| error.to_string());
        assert_eq!(parse("17ms"), Ok(Moment::At(17_000_000)));
        assert_eq!(parse("1.5us"), Ok(Moment::At(1_500)));
        assert_eq!(parse("-2ms"), Ok(Moment::BeforeLast(2_000_000)));
        assert_eq!(parse("#12"), Ok(Moment::Number(12)));
        for words in ["", "-", "2", "#", "#-1", "2 ms", "1.2.3ms", "last"] {
            assert!(parse(words).unwrap_err().contains("names no moment"), "{words}");
        }
        let file = |words| recording(words).unwrap();
        assert_eq!(file("a.mcap"), TargetSpec::Recording("a.mcap".into(), None));
        let at = Moment::BeforeLast(5);
        assert_eq!(file("a,b.mcap,at=-5ns"), TargetSpec::Recording("a,b.mcap".into(), Some(at)));
        assert!(recording("a.mcap,at=5").is_err());
    }
}
