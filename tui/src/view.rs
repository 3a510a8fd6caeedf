//! Draws the model. Drawing only reads: the same model and size produce the same frame.

mod chip;
mod core;
mod cores;
mod fabric;
mod halted;
mod help;
mod hex;
mod hit;
mod links;
mod listing;
mod map;
mod mesh;
mod opening;
mod pane;
mod pointed;
mod prompt;
mod routes;
mod run;
mod table;
mod tiles;
mod timeline;
mod why;

pub(crate) use hit::hit;
pub(crate) use pointed::Hit;

use crate::geometry;
use crate::model::{Model, Screen};
use crate::theme::Theme;
use console::feed::{MeshSnapshot, Timeline, Traffic};
use console::glyph::Missing;
use console::opening::share;
use console::words;
use diagnosis::Health;
use machine::progress::Progress;
use machine::snapshot::Gap;
use machine::words::counted;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

/// Age above which a snapshot is stale. A live mesh publishes several snapshots per second.
const STALE_MICROS: u64 = 3_000_000;

/// Draws everything. No cell has a character on which the terminal would act, or which it lacks.
pub fn view(model: &Model, frame: &mut Frame) {
    draw(model, frame);
    let ascii = model.glyphs.ascii;
    for cell in &mut frame.buffer_mut().content {
        if cell.symbol().contains(words::acts) || ascii && !cell.symbol().is_ascii() {
            cell.set_char(if ascii { '?' } else { char::REPLACEMENT_CHARACTER });
        }
    }
}

fn draw(model: &Model, frame: &mut Frame) {
    let area = frame.area();
    if geometry::too_small((area.width, area.height)) {
        let text = format!("too small: {}x{}, need 40x10", area.width, area.height);
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return;
    }
    let [status, tabs, body, foot] = geometry::chrome(area);
    frame.render_widget(Paragraph::new(status_line(model, status.width)), status);
    frame.render_widget(Paragraph::new(tab_line(model)), tabs);
    let body = alarm(model, frame, body);
    let body = below(model, frame, body);
    let body = tour(model, frame, body);
    if let Some(first) = model.help {
        help::draw(model, frame, body, first);
    } else if model.shown.is_none() {
        opening::draw(model, frame, body);
    } else {
        match model.screen {
            Screen::Mesh => mesh::draw(model, frame, body),
            Screen::Chip => chip::draw(model, frame, body),
            Screen::Core => core::draw(model, frame, body),
            Screen::Fabric => fabric::draw(model, frame, body),
            Screen::Routes => routes::draw(model, frame, body),
            Screen::Why => why::draw(model, frame, body),
            _ => listing::draw(model, frame, body),
        }
    }
    prompt::draw(model, frame, foot);
}

/// Draws the line about what stands still, if anything does; returns the area below it.
fn alarm(model: &Model, frame: &mut Frame, area: Rect) -> Rect {
    let Some(line) = model.alarm(area.width) else { return area };
    let [above, below] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(Paragraph::new(Line::styled(line, model.theme.bad())), above);
    below
}

/// Draws the step of a tour below the screen; returns the area above it.
fn tour(model: &Model, frame: &mut Frame, area: Rect) -> Rect {
    let Some(step) = model.tour.first() else { return area };
    let [above, below] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(area);
    frame.render_widget(Paragraph::new(Line::styled(step.text, model.theme.title())), below);
    above
}

/// Draws the time line; returns the area above it.
fn below(model: &Model, frame: &mut Frame, area: Rect) -> Rect {
    let rows = Constraint::Length(model.time_rows());
    let [above, below] = Layout::vertical([Constraint::Min(1), rows]).areas(area);
    match model.timeline() {
        Some(timeline) => timeline::draw(model, timeline, frame, below),
        None => timeline::draw_live(model, frame, below),
    }
    above
}

/// The target, the snapshot's time and age, and its cost. Badges at the right end are never cut.
fn status_line(model: &Model, width: u16) -> Line<'static> {
    let badges = badges(model);
    let right: usize = badges.iter().map(|b| b.width() + 1).sum();
    let mut left = vec![Span::styled("meshscope ", model.theme.title())];
    match model.shown.as_deref() {
        None => left.push(Span::raw(model.target.clone())),
        Some(snapshot) => {
            let state = &snapshot.state;
            let health = snapshot.verdict.as_ref();
            let health = health.map_or(Health::Unknown, |diagnosis| Health::of(diagnosis));
            left.push(Span::styled(format!("  {}", health.word()), model.theme.health(health)));
            left.push(Span::raw(format!("  t {}", words::cycles(state.cycles))));
            let age = left.len();
            let shown = model.age_micros().map(words::age).unwrap_or_default();
            left.push(Span::raw(format!("  age {shown}")));
            left.push(traffic(model, snapshot));
            if !state.gaps.is_empty() {
                // What a recording does not have is no fault of the mesh.
                let absent = |gap: &Gap| Missing::of_error(&gap.reason) == Missing::Unread;
                let all_absent = state.gaps.iter().all(absent);
                let style = if all_absent { model.theme.dim() } else { model.theme.warn() };
                let text = format!("  {}", counted(state.gaps.len() as u64, "gap", "gaps"));
                left.push(Span::styled(text, style));
            }
            if !state.problems.is_empty() {
                left.push(Span::styled(
                    format!("  {}", counted(state.problems.len() as u64, "problem", "problems")),
                    model.theme.bad(),
                ));
            }
            // An unknown health says what is missing, where there is room.
            let missing = snapshot.verdict.as_ref().and_then(|verdict| verdict.missing.first());
            let missing = missing.map_or("no verdict yet", String::as_str);
            let facts: usize = left.iter().map(Span::width).sum();
            let name = snapshot.target.chars().count();
            let fits = facts + missing.len() + 2 + name + right <= usize::from(width);
            if let Some(word) = left.get_mut(1).filter(|_| fits && health == Health::Unknown) {
                word.content = format!("{}: {missing}", word.content).into();
            }
            if let Some(past) = &snapshot.past {
                let text = format!("  {}", words::kept_past(past));
                let facts: usize = left.iter().map(Span::width).sum();
                let name = snapshot.target.chars().count();
                if facts + text.len() + name + right <= usize::from(width) {
                    left.push(Span::raw(text));
                }
            }
            // If the line is too long, the program's name is dropped first, then the age: an old
            // snapshot has a badge. The cost is last; the word about health stays.
            let mut name_at = 1;
            for (at, of_name) in [(0, true), (age - 1, false), (age - 1, false)] {
                let facts: usize = left.iter().map(Span::width).sum();
                if facts + LEAST_NAME + right > usize::from(width) {
                    left.remove(at);
                    name_at -= usize::from(of_name);
                }
            }
            let facts: usize = left.iter().map(Span::width).sum();
            let room = usize::from(width).saturating_sub(right + facts);
            left.insert(name_at, Span::raw(shorten(model, &snapshot.target, room)));
            if model.dropped > 0 {
                left.push(Span::styled(format!("  {} dropped", model.dropped), model.theme.dim()));
            }
        }
    }
    let mut line = clip(left, usize::from(width).saturating_sub(right));
    let used: usize = line.iter().map(Span::width).sum();
    line.push(Span::raw(" ".repeat(usize::from(width).saturating_sub(used + right))));
    for badge in badges {
        line.extend([Span::raw(" "), badge]);
    }
    Line::from(line)
}

/// Bus transactions per second, with the budget if there is one.
fn traffic(model: &Model, snapshot: &MeshSnapshot) -> Span<'static> {
    let Traffic { per_second, budget, .. } = snapshot.traffic;
    let rate = words::count(per_second);
    let Some(budget) = budget else { return Span::raw(format!("  {rate} tx/s")) };
    let text = format!("  {rate}/{} tx/s", words::count(budget.into()));
    let over = per_second > budget.into();
    Span::styled(text, if over { model.theme.warn() } else { Style::default() })
}

/// A target name is cut no shorter than this.
const LEAST_NAME: usize = 12;

/// Cuts a long name in the middle: its kind is at the front, what distinguishes it at the end.
fn shorten(model: &Model, name: &str, room: usize) -> String {
    let (room, length) = (room.max(LEAST_NAME), name.chars().count());
    if length <= room {
        return name.to_owned();
    }
    let (head, tail) = (room / 3, room - room / 3 - 2);
    let mut text: String = name.chars().take(head).collect();
    text.push_str(model.glyphs.cut());
    text.extend(name.chars().skip(length - tail));
    text
}

fn badges(model: &Model) -> Vec<Span<'static>> {
    let mut found = Vec::new();
    let age = model.age_micros();
    if model.frozen {
        let age = age.map(words::age).unwrap_or_default();
        found.push(Span::styled(format!(" FROZEN {age} "), model.theme.badge(true)));
    } else if model.lost.is_none()
        && let Some(age) = age.filter(|a| *a > STALE_MICROS)
    {
        let text = format!(" {} STALE {} ", model.glyphs.stale(), words::age(age));
        found.push(Span::styled(text, model.theme.badge(true)));
    }
    if let Some(progress) = model.shown.as_ref().and_then(|snapshot| snapshot.reading)
        && let Some((done, of)) = share(progress)
    {
        let what = if matches!(progress, Progress::Images(_)) { "VERIFYING" } else { "READING" };
        found.push(Span::styled(format!(" {what} {done}/{of} "), model.theme.badge(false)));
    }
    if model.timeline().is_some_and(Timeline::is_past) {
        found.push(Span::styled(" PAST ", model.theme.badge(false)));
    }
    if model.is_paused() {
        found.push(Span::styled(" PAUSED ", model.theme.badge(true)));
    } else if model.runs() {
        found.push(Span::styled(" RUN ", model.theme.badge(false)));
    }
    if model.newest.as_ref().is_some_and(|snapshot| snapshot.board.recording.is_some()) {
        found.push(Span::styled(" REC ", model.theme.badge(false)));
    }
    let held = model.newest.as_ref().map_or(&[][..], |snapshot| &snapshot.board.held);
    let halted: Vec<_> = held.iter().filter(|held| held.pause.is_some()).collect();
    match halted[..] {
        [] => {}
        [only] => {
            let text = format!(" HALTED {} ", only.core);
            found.push(Span::styled(text, model.theme.badge(true)));
        }
        _ => {
            let text = format!(" {} HALTED ", halted.len());
            found.push(Span::styled(text, model.theme.badge(true)));
        }
    }
    if model.lost.is_some() {
        found.push(Span::styled(" LOST ", model.theme.badge(true)));
    }
    let quarantined = model.shown.as_ref().map_or(0, |s| s.quarantined.len());
    if quarantined > 0 {
        let text = format!(" {quarantined} QUARANTINED ");
        found.push(Span::styled(text, model.theme.badge(true)));
    }
    if model.shown.as_ref().is_some_and(|s| s.read_only) {
        found.push(Span::styled(" READ-ONLY ", model.theme.badge(false)));
    }
    found
}

/// The spans that fit into a width, each as a whole: a cut number is another number.
fn clip(spans: Vec<Span<'static>>, width: usize) -> Vec<Span<'static>> {
    let mut room = width;
    let fits = |span: &Span<'_>| {
        let left = room.checked_sub(span.width());
        room = left.unwrap_or(room);
        left.is_some()
    };
    spans.into_iter().filter(fits).collect()
}

/// The tabs and their texts, of at most this many columns together: what does not fit is a key only.
pub(crate) fn tabs(model: &Model) -> Vec<(Screen, String)> {
    let name = |screen: Screen| {
        let name = screen.name();
        let about = match screen {
            Screen::Chip => format!(" {}", model.chip),
            Screen::Core => format!(" {}", model.core_id()),
            _ => String::new(),
        };
        let (first, rest) = name.split_at(1);
        format!("{} {}{rest}{about}", model.keys.of_tab(screen), first.to_uppercase())
    };
    let mut tabs: Vec<_> = Screen::ALL.into_iter().map(|screen| (screen, name(screen))).collect();
    let wide =
        |tabs: &[(Screen, String)]| -> usize { tabs.iter().map(|(_, text)| tab_width(text)).sum() };
    for at in (0..tabs.len()).rev() {
        if wide(&tabs) <= usize::from(model.size.0) {
            break;
        }
        if let Some((screen, text)) = tabs.get_mut(at).filter(|(screen, _)| *screen != model.screen)
        {
            *text = model.keys.of_tab(*screen);
        }
    }
    tabs
}

/// The columns of a tab: a blank on both sides.
pub(crate) fn tab_width(text: &str) -> usize {
    text.chars().count() + 2
}

fn tab_line(model: &Model) -> Line<'static> {
    let mut line = Vec::new();
    for (screen, text) in tabs(model) {
        let chosen = screen == model.screen;
        let style = if chosen { Theme::selected() } else { model.theme.dim() };
        line.push(Span::styled(format!(" {text} "), style));
    }
    Line::from(line)
}
