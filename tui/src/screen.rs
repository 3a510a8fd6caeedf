//! The event loop of the live view: keys, signals, snapshots and time in; frames out. It never
//! waits for hardware.

mod moved;

use crate::history::History;
use crate::message::{Command, Message};
use crate::model::Model;
use crate::terminal::{self, RawTerminal, can_be_continued};
use crate::{geometry, picture, source, update, view};
use cli::interrupt::{self, Signals};
use cli::{Screens, say};
use console::exit::{Failure, Outcome};
use console::feed::{Feed, Published};
use console::host_time::now_micros;
use crossterm::event::{Event, EventStream};
use moved::Moved;
use ratatui::Frame;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tokio_stream::StreamExt;

/// The shortest time between two frames.
const DRAW_PAUSE: Duration = Duration::from_millis(33);
/// While no key was pressed for so long, frames of a live mesh take one part in this of the time, and
/// nobody waits longer than this for the next one.
const CALM: Duration = Duration::from_secs(2);
const PART: u32 = 50;
const MOST_PAUSE: Duration = Duration::from_secs(1);
/// The interval at which ages on screen change.
const TICK: Duration = Duration::from_millis(100);

/// Runs the live view until the user quits.
///
/// # Errors
/// `Interrupted` by a signal, `Internal` if the terminal or the probe thread fails.
pub(crate) fn run(
    model: Model,
    mut feed: Feed,
    screens: &'static dyn Screens,
) -> Result<Outcome, Failure> {
    let runtime = interrupt::runtime()?;
    let mut model = model;
    let result = runtime.block_on(turn(&mut model, &mut feed, screens));
    let busy = model.newest.as_ref().is_some_and(|snapshot| snapshot.board.going().is_some());
    if busy {
        say("the run is torn down; Ctrl-C exits at once");
        interrupt::watch(|| None)?;
    }
    // Cores that are halted go on, and a launched kernel is taken away.
    let newest = model.newest.as_ref().map(|snapshot| &snapshot.board);
    feed.end(busy || newest.is_some_and(|board| board.launched || !board.held.is_empty()));
    result
}

fn terminal_failed(error: &std::io::Error) -> Failure {
    Failure::Internal(format!("terminal: {error}"))
}

async fn turn(
    model: &mut Model,
    feed: &mut Feed,
    screens: &'static dyn Screens,
) -> Result<Outcome, Failure> {
    let failed = |e: std::io::Error| Failure::Internal(format!("signals: {e}"));
    let mut signals = Signals::of_screens().map_err(failed)?;
    let (mut suspensions, mut continuations) = interrupt::job_control().map_err(failed)?;
    let mut session = RawTerminal::enter().map_err(|e| terminal_failed(&e))?;
    let mut events = EventStream::new();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut fresh, mut suspended) = (false, false);
    let (mut history, lines) = History::open();
    model.history = lines;
    // When the next frame is due, and when it can be if a person asks for it, who did so last then.
    let (mut next_draw, mut soonest, mut asked) = (Instant::now(), Instant::now(), Instant::now());
    let mut moved = Moved::default();
    // What is done behind the screens says so when it has ended.
    let (behind, mut ended) = mpsc::unbounded_channel();
    loop {
        let message = tokio::select! {
            biased;
            () = signals.any() => return Err(Failure::Interrupted),
            _ = suspensions.recv() => {
                RawTerminal::suspend().map_err(|e| terminal_failed(&e))?;
                suspended = true;
                None
            }
            _ = continuations.recv() => {
                session.resume().map_err(|e| terminal_failed(&e))?;
                (fresh, suspended) = (false, false);
                None
            }
            event = events.next() => match event {
                Some(Ok(event)) => translate(event),
                Some(Err(error)) => return Err(terminal_failed(&error)),
                // The terminal is closed.
                None => return Err(Failure::Interrupted),
            },
            () = sleep_until(next_draw), if !fresh && !suspended => {
                let draw = |frame: &mut Frame<'_>| {
                    view(model, frame);
                    let end = end_of_snapshot(model, frame.area());
                    moved.mark(model.shown.as_ref(), (frame.buffer_mut(), end));
                };
                let began = Instant::now();
                session.terminal.draw(draw).map_err(|e| terminal_failed(&e))?;
                fresh = true;
                soonest = Instant::now() + DRAW_PAUSE;
                let calm = model.ages() && asked.elapsed() > CALM;
                let pause = if calm { began.elapsed() * PART } else { DRAW_PAUSE };
                next_draw = soonest.max(began + pause.min(MOST_PAUSE));
                None
            }
            published = feed.next(), if model.lost.is_none() => Some(match published {
                Published::Opening(stages) => Message::Opening(stages),
                Published::Snapshot(snapshot) => Message::Snapshot(snapshot),
                Published::Closed(failure) => return Err(failure),
                Published::Lost(why) => Message::Lost(why),
                Published::Panicked => return Err(Failure::Internal("the probe thread panicked".into())),
            }),
            Some(notice) = ended.recv() => Some(Message::Notice(notice)),
            _ = ticks.tick(), if model.ages() => Some(Message::Tick(now_micros())),
        };
        let mut messages: VecDeque<Message> = message.into_iter().collect();
        while let Some(message) = messages.pop_front() {
            let by_user = !matches!(message, Message::Snapshot(_) | Message::Tick(_));
            for command in update(model, message) {
                match command {
                    Command::Draw => {
                        fresh = false;
                        moved.touched |= by_user;
                        if by_user {
                            (next_draw, asked) = (soonest, Instant::now());
                        }
                    }
                    Command::Suspend if can_be_continued() => {
                        RawTerminal::suspend().map_err(|e| terminal_failed(&e))?;
                        suspended = true;
                    }
                    // As the kernel does with the jobs of a terminal that has no shell.
                    Command::Suspend => {}
                    Command::Clear => {
                        session.clear().map_err(|e| terminal_failed(&e))?;
                        fresh = false;
                    }
                    Command::Mouse(taken) => {
                        terminal::mouse(taken).map_err(|e| terminal_failed(&e))?;
                    }
                    Command::Copy(text) => {
                        terminal::copy(&text).map_err(|e| terminal_failed(&e))?;
                    }
                    Command::ListFiles(word) => {
                        let names = source::beginning_with(&word);
                        messages.push_back(Message::Files(word, names));
                    }
                    Command::Remember(line) => history.keep(&line),
                    Command::Bundle(bundle) => {
                        let behind = behind.clone();
                        std::thread::spawn(move || {
                            let said = cli::bundle(&bundle, screens);
                            // At the end of the program nobody listens.
                            let _ = behind.send(said.unwrap_or_else(|why| why.to_string()));
                        });
                    }
                    Command::Svg(file) => {
                        messages.push_back(Message::Notice(written(model, &file)));
                    }
                    Command::Quit => return leave(model),
                    Command::Interrupt => return Err(Failure::Interrupted),
                    Command::ReadSource(file) => {
                        let text = source::read(&file);
                        messages.push_back(Message::Source(file, text));
                    }
                    Command::ClearQuarantine => feed.clear_quarantine(),
                    Command::Order(order) => feed.order(order),
                    Command::Read(read_set) => feed.read(read_set),
                }
            }
        }
    }
}

/// Writes what is on screen to a file, as SVG; returns what to say of it.
fn written(model: &Model, file: &Path) -> String {
    let svg = picture::of(model, &model.target).svg;
    match files::write(file, svg.as_bytes()) {
        Ok(()) => format!("{} written", file.display()),
        Err(why) => format!("svg: {why}"),
    }
}

/// Returns the first row below what a snapshot shows: that of the time line or of the keys.
fn end_of_snapshot(model: &Model, area: Rect) -> u16 {
    let [.., foot] = geometry::chrome(area);
    foot.y.saturating_sub(model.time_rows() + u16::from(!model.tour.is_empty()))
}

/// The result at exit: a lost target is a failure.
fn leave(model: &Model) -> Result<Outcome, Failure> {
    match &model.lost {
        Some(why) => Err(Failure::Unreachable(format!("{}: {why}", model.target))),
        None => Ok(Outcome::Healthy),
    }
}

fn translate(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) => Some(Message::Key(key)),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(columns, rows) => Some(Message::Resize(columns, rows)),
        Event::Mouse(event) => Some(Message::Mouse(event)),
        Event::FocusGained | Event::FocusLost => None,
    }
}
