//! The time line of a recording, and how it is played.

use crate::host_time::now_micros;
use crate::past::{Found, PastView, Search, who_wrote};
use crate::words;
use decode::inspect::ReadSet;
use decode::state::{Party, Stage};
use layouts::{CoreId, CoreKind};
use machine::history::{History, Mark, Watched, seek_next_change};
use machine::notes::Note;
use machine::past::PastWatcher;
use machine::snapshot::Span;
use machine::words::counted;
use probe::session::{Inspected, OpenError, Session, StageChange};
use probe::spec::Moment;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Moments per second at first.
pub const USUAL: i32 = 10;

/// What a user orders to be done with a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayOrder {
    /// Go this many moments on.
    Step(isize),
    /// Go to the next change, or back to the previous one, of what is watched.
    Change(Vec<Watched>, bool),
    /// Go to the next change, or back to the previous one, of the stage of a party on these tiles.
    Stage(Vec<Watched>, bool),
    /// Go to a moment.
    Goto(Moment),
    /// Play, or stop.
    Toggle,
    /// Play this many moments per second, backwards if negative.
    Play(i32),
    /// Mark the moment.
    Mark(String),
    /// Search the last write to a range.
    WhoWrote(Span),
}

/// The moments of a recording, as the screens show them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// What does not change while it is played.
    pub moments: Arc<Moments>,
    /// The marks, each with its moment.
    pub marks: Vec<(usize, Mark)>,
    /// The moment on screen.
    pub position: usize,
    /// Moments per second, if it is played.
    pub speed: Option<i32>,
}

/// The times of all moments, and how much changed in each.
#[derive(Debug, Default, PartialEq)]
pub struct Moments {
    /// Target times, in cycles.
    pub times: Vec<u64>,
    /// Per chip read, bytes that differ from the moment before.
    pub changed: Vec<Vec<(u16, u32)>>,
    /// What was done and reported, each with the first moment after it, in their order.
    pub notes: Vec<(usize, Note)>,
}

/// A search that takes longer goes on behind the screens.
const PATIENCE: Duration = Duration::from_secs(1);

/// Snapshots of an emulated mesh to which one can go back.
const MOST_TIMES: usize = 1_000;

/// Shows other moments than the present: plays a recording, or visits the past of an emulated mesh.
#[derive(Default)]
pub struct Player {
    moments: Option<Arc<Moments>>,
    /// Moments per second, and when the last one was shown.
    playing: Option<(i32, Instant)>,
    speed: Option<i32>,
    /// Times of the snapshots of a target without moments.
    times: Vec<u64>,
    past: Option<PastView>,
    marks: Vec<Mark>,
    search: Option<Search>,
    /// The past, if it was not on screen when the search began.
    begun: Option<PastView>,
}

impl Player {
    /// Carries out an order; returns a notice.
    ///
    /// # Errors
    /// Why not, one sentence.
    pub fn order(
        &mut self,
        order: PlayOrder,
        session: &mut Session,
    ) -> Result<Option<String>, String> {
        let Some(history) = session.target().history() else {
            return self.order_past(order, session);
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
                if !seek_next_change(history, &watched, back) {
                    let which = if back { "earlier" } else { "later" };
                    return Err(format!("no {which} change of what is selected"));
                }
            }
            PlayOrder::Stage(tiles, back) => {
                self.playing = None;
                let cores = cores_on(session, &tiles)?;
                let Some(found) = session.seek_stage(&cores, back) else {
                    let which = if back { "earlier" } else { "later" };
                    return Err(format!(
                        "no {which} moment shows another stage of what is selected"
                    ));
                };
                return Ok(Some(moved(&found)));
            }
            PlayOrder::Goto(moment) => {
                self.playing = None;
                moment.seek(history).map_err(|error| error.to_string())?;
            }
            PlayOrder::Toggle => {
                if self.playing.take().is_none() {
                    let speed = self.speed.unwrap_or(USUAL);
                    // At its end it begins again.
                    let end = if speed > 0 { last } else { 0 };
                    if history.position() == end {
                        history.seek(last - end);
                    }
                    self.play(speed);
                }
            }
            PlayOrder::Play(0) => return Err("play: 0 moments per second is no speed".into()),
            PlayOrder::Play(speed) => self.play(speed),
            PlayOrder::Mark(text) => {
                let cycles = history.moments().get(history.position()).copied().unwrap_or(0);
                let kept = history.mark(Mark::new(cycles, now_micros(), text));
                let cycles = words::cycles(cycles);
                return Ok(Some(match kept {
                    Ok(file) => format!("marked {cycles}; kept in {}", file.display()),
                    Err(why) => format!("marked {cycles}; the mark is not kept: {why}"),
                }));
            }
            PlayOrder::WhoWrote(span) => {
                let before = history.moments().get(history.position()).map_or(0, |time| time + 1);
                let run = session.run().cloned();
                let run = run.ok_or_else(|| format!("{}: {{ finds changes", OpenError::NoRun))?;
                let search = Search::begin(write_to(&span), move |watcher| {
                    let past = run.past(watcher).map_err(|why| why.to_string())?;
                    who_wrote(past.as_ref(), span, before, watcher)
                });
                self.search = Some(search);
                return Ok(Some(format!("executes the run again for {}", span.addr)));
            }
        }
        Ok(None)
    }

    /// The same on a target that keeps its past.
    fn order_past(
        &mut self,
        order: PlayOrder,
        session: &mut Session,
    ) -> Result<Option<String>, String> {
        if let PlayOrder::Mark(text) = order {
            let cycles = match self.visited() {
                Some(cycles) => cycles,
                None => session.target().now().map_err(|error| error.to_string())?,
            };
            self.marks.push(Mark::new(cycles, 0, text));
            return Ok(Some(format!("marked {}", words::cycles(cycles))));
        }
        if let PlayOrder::WhoWrote(span) = order {
            return self.search(span, session).map(Some);
        }
        let order = match order {
            PlayOrder::Stage(tiles, true) => {
                let (cores, images) = (cores_on(session, &tiles)?, session.images().clone());
                return self.search_back(session, |view| Ok(view.last_stage(cores, images, moved)));
            }
            PlayOrder::Change(watched, true) => {
                return self.search_back(session, |view| view.last_change(&watched));
            }
            order => order,
        };
        let mut view = match self.past.take() {
            Some(view) => view,
            None => PastView::begin(session, &self.times)?,
        };
        let done = match order {
            PlayOrder::Step(by) => {
                if !view.step(by) {
                    return Ok(Some("this is the present".to_owned()));
                }
                Ok(())
            }
            PlayOrder::Toggle | PlayOrder::Play(_) => {
                return Ok(Some("this is the present".to_owned()));
            }
            PlayOrder::Goto(moment) => view.go_to(moment),
            PlayOrder::Change(..) | PlayOrder::Stage(..) => {
                Err("an emulated mesh is searched backwards only".to_owned())
            }
            PlayOrder::Mark(_) | PlayOrder::WhoWrote(_) => Ok(()),
        };
        // Whoever was in the present stays there if the order failed.
        if done.is_ok() || view.position + 1 < view.times.len() {
            self.past = Some(view);
        }
        done.map(|()| None)
    }

    /// Begins to search back for a change of what is selected. A quick search has ended when this
    /// returns; during a longer one what is on screen stays there.
    fn search_back(
        &mut self,
        session: &mut Session,
        begin: impl FnOnce(&PastView) -> Result<Search, String>,
    ) -> Result<Option<String>, String> {
        if self.search.is_some() {
            return Err("a search goes on: :stop ends it".to_owned());
        }
        let (search, begun) = if let Some(view) = &self.past {
            (begin(view)?, None)
        } else {
            let view = PastView::begin(session, &self.times)?;
            (begin(&view)?, Some(view))
        };
        let found = search.wait(PATIENCE);
        (self.search, self.begun) = (Some(search), begun);
        found.map_or(Ok(None), |found| self.end_search(found))
    }

    /// Shows what a search has found; returns it in words.
    fn end_search(&mut self, found: Result<Found, String>) -> Result<Option<String>, String> {
        self.search = None;
        let begun = self.begun.take();
        let Found { notice, shown_at } = found?;
        if let Some(at) = shown_at {
            self.past = self.past.take().or(begun);
            self.past.as_mut().map_or(Ok(()), |view| view.go_to(Moment::At(at)))?;
        }
        Ok(notice)
    }

    /// Begins to search for the last write before what is on screen.
    fn search(&mut self, span: Span, session: &mut Session) -> Result<String, String> {
        let past = session.target().past().map_err(|why| why.to_string())?;
        let before = self.past.as_ref().map_or(past.cycles().1 + 1, PastView::cycles);
        let search =
            move |watcher: &mut PastWatcher<'_>| who_wrote(past.as_ref(), span, before, watcher);
        self.search = Some(Search::begin(write_to(&span), search));
        Ok(format!("searches the last write to {}", span.addr))
    }

    /// Returns what is new of a search, in a sentence.
    pub fn found(&mut self) -> Option<String> {
        let (progress, ended) = self.search.as_ref()?.poll();
        match ended {
            Some(found) => self.end_search(found).unwrap_or_else(Some),
            None => progress,
        }
    }

    /// Ends a search; returns whether there was one.
    pub fn cancel_search(&mut self) -> bool {
        self.search.as_ref().inspect(|search| search.cancel()).is_some()
    }

    /// Returns the snapshot of the past that is visited, if one is.
    pub fn inspect(
        &mut self,
        session: &mut Session,
        read_set: &ReadSet,
    ) -> Option<Result<Inspected, String>> {
        let inspected = self.past.as_mut()?.inspect(session, read_set);
        if inspected.is_err() {
            self.past = None;
        }
        Some(inspected)
    }

    /// Returns the cycle of the past that is visited, if one is.
    pub fn visited(&self) -> Option<u64> {
        self.past.as_ref().map(PastView::cycles)
    }

    /// Whether a recording is played, or something is searched.
    pub fn is_moving(&self) -> bool {
        self.playing.is_some() || self.search.is_some()
    }

    /// Whether a moment of the past stands on screen, and nothing is searched.
    pub fn rests(&self, session: &mut Session) -> bool {
        !self.is_moving() && (self.past.is_some() || session.target().history().is_some())
    }

    /// Notes the time of a snapshot of the present.
    pub fn note(&mut self, cycles: u64) {
        if self.past.is_some() || self.times.last() == Some(&cycles) {
            return;
        }
        // Another clock, or that of a machine that was reset.
        if self.times.last().is_some_and(|last| *last > cycles) {
            self.times.clear();
        }
        if self.times.len() == MOST_TIMES {
            self.times.remove(0);
        }
        self.times.push(cycles);
    }

    fn play(&mut self, speed: i32) {
        self.speed = Some(speed);
        self.playing = Some((speed, Instant::now()));
    }

    /// Goes on, if it is played and time for it; at an end it stops.
    pub fn turn(&mut self, session: &mut Session) {
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

    /// Returns the time line of a recording, or of the past that is visited.
    pub fn timeline(&mut self, session: &mut Session) -> Option<Timeline> {
        if let Some(view) = &self.past {
            let times = view.times.clone();
            let moments = Arc::new(Moments { times, ..Moments::default() });
            return Some(Timeline::with(moments, &self.marks, view.position));
        }
        let history = session.target().history()?;
        let moments = self.moments.get_or_insert_with(|| Arc::new(Moments::of(history)));
        let speed = self.playing.map(|(speed, _)| speed);
        Some(Timeline { speed, ..Timeline::at(history, Arc::clone(moments)) })
    }
}

/// The cores of the selected tiles.
fn cores_on(session: &mut Session, tiles: &[Watched]) -> Result<Vec<CoreId>, String> {
    let layout = session.target().mesh().layout();
    let mut cores = Vec::new();
    for Watched { chip, tile, .. } in tiles {
        let Some(tile) = tile.and_then(|tile| layout.tile_at(tile)) else { continue };
        let core = |core: &CoreKind| CoreId { chip: *chip, tile: tile.xy, core: *core };
        cores.extend(tile.kind.cores().iter().map(core));
    }
    if cores.is_empty() {
        return Err("select a link, a tile or a core: changes of its stage are searched".into());
    }
    Ok(cores)
}

fn write_to(span: &Span) -> String {
    format!("a write to {}", span.addr)
}

/// What a change of stages is, in words.
fn moved(change: &StageChange) -> String {
    let name = |stage: Option<&'static Stage>, none: &'static str| stage.map_or(none, |it| it.name);
    let moves = change.moves.iter().map(|it| {
        let label = match it.party {
            Party::Channel(..) | Party::Client(..) => format!(" {}", words::party(it.party)),
            _ => String::new(),
        };
        let (from, to) = (name(it.from, "not there"), name(it.to, "no longer there"));
        format!("{}{label}: {from} > {to}", it.core)
    });
    moves.collect::<Vec<_>>().join("; ")
}

impl Moments {
    fn of(history: &dyn History) -> Self {
        let times = history.moments().to_vec();
        let changed = (0..times.len()).map(|at| history.changed_bytes(at).to_vec()).collect();
        Self { times, changed, notes: history.notes() }
    }

    /// Returns what was done and reported before some moments, since those before them.
    pub fn notes_in(&self, moments: Range<usize>) -> &[(usize, Note)] {
        let first = |moment: usize| self.notes.partition_point(|(at, _)| *at < moment);
        self.notes.get(first(moments.start)..first(moments.end)).unwrap_or(&[])
    }
}

impl Timeline {
    /// Returns the time line of a recording that is not played.
    pub fn of(history: &dyn History) -> Self {
        Self::at(history, Arc::new(Moments::of(history)))
    }

    fn at(history: &dyn History, moments: Arc<Moments>) -> Self {
        Self::with(moments, history.marks(), history.position())
    }

    fn with(moments: Arc<Moments>, marks: &[Mark], position: usize) -> Self {
        let at = |mark: &Mark| {
            let after = moments.times.iter().position(|time| *time >= mark.target_cycles);
            after.unwrap_or(moments.times.len().saturating_sub(1))
        };
        let marks = marks.iter().map(|mark| (at(mark), mark.clone())).collect();
        Self { marks, position, speed: None, moments }
    }

    /// Returns the number of rows that it takes on a terminal of this size.
    pub fn rows(&self, size: (u16, u16)) -> u16 {
        /// On a lower terminal only the line about the moment is shown.
        const LOW: u16 = 16;
        let alone = self.moments.times.len() < 2;
        if alone || size.1 < LOW { 1 } else { 2 + self.lanes(size.1).len() as u16 }
    }

    /// Returns the names and chips of its rows: one chip each if there is room, else all in one.
    pub fn lanes(&self, height: u16) -> Vec<(String, Vec<u16>)> {
        let mut chips: Vec<u16> =
            self.moments.changed.iter().flatten().map(|(chip, _)| *chip).collect();
        chips.sort_unstable();
        chips.dedup();
        if chips.is_empty() {
            return Vec::new();
        }
        if chips.len() <= usize::from(height / 16) {
            return chips.iter().map(|chip| (chip.to_string(), vec![*chip])).collect();
        }
        vec![("all".to_owned(), chips)]
    }

    /// Whether a moment before the last one is on screen.
    pub fn is_past(&self) -> bool {
        self.position + 1 < self.moments.times.len()
    }

    /// Returns the line about the moment on screen.
    pub fn words(&self) -> String {
        let times = &self.moments.times;
        let time = times.get(self.position).copied().unwrap_or(0);
        let last = times.last().copied().unwrap_or(0);
        let mut text = format!("moment #{} of {}", self.position, times.len());
        if let Some(before) = last.checked_sub(time).filter(|before| *before > 0) {
            let _ = write!(text, ", {} before the last", words::cycles(before));
        }
        if let Some(speed) = self.speed {
            let count = counted(speed.unsigned_abs().into(), "moment", "moments");
            let backwards = if speed < 0 { " backwards" } else { "" };
            let _ = write!(text, ", plays {count} per second{backwards}");
        }
        let mark = self.marks.iter().rev().find(|(at, _)| *at == self.position);
        if let Some((_, mark)) = mark {
            let _ = write!(text, ", mark: {}", mark.text);
        }
        if let [(_, note), more @ ..] = self.moments.notes_in(self.position..self.position + 1) {
            let _ = write!(text, ", {}: {note}", note.kind());
            if !more.is_empty() {
                let more = counted(more.len() as u64, "more note", "more notes");
                let _ = write!(text, ", and {more}");
            }
        }
        text
    }
}
