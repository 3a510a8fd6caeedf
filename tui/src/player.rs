//! The time line of a recording, and how it is played.

use crate::words;
use machine::history::{History, Mark, Watched, seek_change};
use machine::words::counted;
use probe::session::Session;
use probe::spec::Moment;
use std::sync::Arc;
use std::time::Instant;

/// Moments per second at first.
pub(crate) const USUAL: i32 = 10;

/// What a user orders to be done with a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayOrder {
    /// Go this many moments on.
    Step(isize),
    /// Go to the next change, or back to the previous one, of what is watched.
    Change(Vec<Watched>, bool),
    /// Go to a moment.
    Goto(Moment),
    /// Play, or stop.
    Toggle,
    /// Play this many moments per second, backwards if negative.
    Play(i32),
    /// Mark the moment.
    Mark(String),
}

/// The moments of a recording, as the screens show them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// What does not change while it is played.
    pub(crate) moments: Arc<Moments>,
    /// The marks, each with its moment.
    pub(crate) marks: Vec<(usize, Mark)>,
    /// The moment on screen.
    pub(crate) position: usize,
    /// Moments per second, if it is played.
    pub(crate) speed: Option<i32>,
}

/// The times of all moments, and how much changed in each.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Moments {
    /// Target times, in cycles.
    pub(crate) times: Vec<u64>,
    /// Per chip read, bytes that differ from the moment before.
    pub(crate) changed: Vec<Vec<(u16, u32)>>,
}

/// Plays a recording.
#[derive(Default)]
pub(crate) struct Player {
    moments: Option<Arc<Moments>>,
    /// Moments per second, and when the last one was shown.
    playing: Option<(i32, Instant)>,
    speed: Option<i32>,
}

impl Player {
    /// Carries out an order; returns a notice.
    ///
    /// # Errors
    /// Why not, one sentence.
    pub(crate) fn order(
        &mut self,
        order: PlayOrder,
        session: &mut Session,
    ) -> Result<Option<String>, String> {
        let Some(history) = session.target().history() else {
            return Err("this target has no past: `meshscope record FILE` keeps its moments".into());
        };
        let last = history.moments().len().saturating_sub(1);
        match order {
            PlayOrder::Step(by) => {
                self.playing = None;
                let to = history.position().saturating_add_signed(by);
                history.seek(to);
                return Ok((to > last).then(|| "this is the last moment".to_owned()));
            }
            PlayOrder::Change(watched, back) => {
                self.playing = None;
                if !seek_change(history, &watched, back) {
                    let which = if back { "earlier" } else { "later" };
                    return Err(format!("no {which} change of what is selected"));
                }
            }
            PlayOrder::Goto(moment) => {
                self.playing = None;
                moment.seek(history).map_err(|error| error.to_string())?;
            }
            PlayOrder::Toggle => match self.playing.take() {
                Some(_) => {}
                None => self.play(self.speed.unwrap_or(USUAL)),
            },
            PlayOrder::Play(0) => return Err("play: 0 moments per second is no speed".into()),
            PlayOrder::Play(speed) => self.play(speed),
            PlayOrder::Mark(text) => {
                let cycles = history.moments().get(history.position()).copied().unwrap_or(0);
                history.mark(Mark::new(cycles, 0, text));
                return Ok(Some(format!(
                    "marked {}; the mark is not kept in the file",
                    words::cycles(cycles)
                )));
            }
        }
        Ok(None)
    }

    fn play(&mut self, speed: i32) {
        self.speed = Some(speed);
        self.playing = Some((speed, Instant::now()));
    }

    /// Goes on, if it is played and time for it; at an end it stops.
    pub(crate) fn turn(&mut self, session: &mut Session) {
        let Some((speed, shown)) = self.playing else { return };
        let Some(history) = session.target().history() else { return };
        let due = (shown.elapsed().as_secs_f64() * f64::from(speed.unsigned_abs())) as usize;
        if due == 0 {
            return;
        }
        let (at, last) = (history.position(), history.moments().len().saturating_sub(1));
        let to = if speed > 0 { (at + due).min(last) } else { at.saturating_sub(due) };
        history.seek(to);
        let ends = to == if speed > 0 { last } else { 0 };
        self.playing = (!ends).then(|| (speed, Instant::now()));
    }

    /// Returns the time line; none if the target has no past.
    pub(crate) fn timeline(&mut self, session: &mut Session) -> Option<Timeline> {
        let history = session.target().history()?;
        let moments = self.moments.get_or_insert_with(|| Arc::new(Moments::of(history)));
        let speed = self.playing.map(|(speed, _)| speed);
        Some(Timeline { speed, ..Timeline::at(history, Arc::clone(moments)) })
    }
}

impl Moments {
    fn of(history: &dyn History) -> Self {
        let times = history.moments().to_vec();
        let changed = (0..times.len()).map(|at| history.changed_bytes(at).to_vec()).collect();
        Self { times, changed }
    }
}

impl Timeline {
    /// Returns the time line of a recording that is not played.
    pub fn of(history: &dyn History) -> Self {
        Self::at(history, Arc::new(Moments::of(history)))
    }

    fn at(history: &dyn History, moments: Arc<Moments>) -> Self {
        let at = |mark: &Mark| {
            let after = moments.times.iter().position(|time| *time >= mark.target_cycles);
            after.unwrap_or(moments.times.len().saturating_sub(1))
        };
        let marks = history.marks().iter().map(|mark| (at(mark), mark.clone())).collect();
        Self { marks, position: history.position(), speed: None, moments }
    }

    /// Returns the number of rows that it takes on a terminal of this size.
    pub(crate) fn rows(&self, size: (u16, u16)) -> u16 {
        /// On a lower terminal only the line about the moment is shown.
        const LOW: u16 = 16;
        if size.1 < LOW { 1 } else { 2 + self.lanes(size.1).len() as u16 }
    }

    /// Returns the names and chips of its rows: one chip each if there is room, else all in one.
    pub(crate) fn lanes(&self, height: u16) -> Vec<(String, Vec<u16>)> {
        let mut chips: Vec<u16> =
            self.moments.changed.iter().flatten().map(|(chip, _)| *chip).collect();
        chips.sort_unstable();
        chips.dedup();
        if chips.len() <= usize::from(height / 8) {
            return chips.iter().map(|chip| (chip.to_string(), vec![*chip])).collect();
        }
        vec![("all".to_owned(), chips)]
    }

    /// Returns the line about the moment on screen.
    pub(crate) fn words(&self) -> String {
        let times = &self.moments.times;
        let time = times.get(self.position).copied().unwrap_or(0);
        let last = times.last().copied().unwrap_or(0);
        let mut text = format!("moment #{} of {}", self.position, times.len());
        if let Some(before) = last.checked_sub(time).filter(|before| *before > 0) {
            text += &format!(", {} before the last", words::cycles(before));
        }
        if let Some(speed) = self.speed {
            let count = counted(speed.unsigned_abs().into(), "moment", "moments");
            let backwards = if speed < 0 { " backwards" } else { "" };
            text += &format!(", plays {count} per second{backwards}");
        }
        let mark = self.marks.iter().rev().find(|(at, _)| *at == self.position);
        if let Some((_, mark)) = mark {
            text += &format!(", mark: {}", mark.text);
        }
        text
    }
}
