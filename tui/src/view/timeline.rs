//! The time line below every screen. Of a recording: a column per moment, or per several, a row per
//! chip with how much changed, the marks and the notes. Of a live mesh: a column per snapshot, the
//! newest at the right, with rate and waits.

use crate::model::Model;
use crate::pulse::Beat;
use crate::theme::Theme;
use console::player::Timeline;
use console::words;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Columns of a row's name.
const NAME: u16 = 4;

/// Draws the time line.
pub(super) fn draw(model: &Model, timeline: &Timeline, frame: &mut Frame, area: Rect) {
    let mut words = timeline.words();
    if let Some(past) = model.shown.as_ref().and_then(|snapshot| snapshot.past) {
        words = format!("{words}, {}", words::kept_past(&past));
    }
    let mut lines = vec![Line::styled(words, model.theme.title())];
    let columns = Columns::new(timeline, area.width.saturating_sub(NAME));
    lines.push(marks(model, timeline, &columns));
    for (name, chips) in timeline.lanes(model.size.1) {
        lines.push(lane(model, timeline, &columns, (&name, &chips)));
    }
    lines.truncate(area.height.into());
    frame.render_widget(Paragraph::new(lines), area);
}

/// Draws the last snapshots of a live mesh: rate, waits and marks, or in one row the marks over the
/// rate.
pub(super) fn draw_live(model: &Model, frame: &mut Frame, area: Rect) {
    const LIVE_NAME: usize = 10;
    const LIVE_NOW: usize = 8;
    let room = usize::from(area.width).saturating_sub(LIVE_NAME + LIVE_NOW);
    let beats = last(model, room);
    let pad = " ".repeat(room.saturating_sub(beats.len()));
    let low = area.height < 3;
    let lane = |name: &str, of: fn(&Beat) -> Option<u64>| {
        let now = beats.last().and_then(|beat| of(beat)).map_or_else(String::new, words::count);
        let mut line = vec![Span::styled(format!("{name:<LIVE_NAME$}"), model.theme.dim())];
        line.push(Span::raw(pad.clone()));
        line.extend(bars(model, &beats, of, low));
        line.push(Span::raw(format!(" {now}")));
        Line::from(line)
    };
    let mut marks = vec![Span::raw(" ".repeat(LIVE_NAME) + &pad)];
    marks.extend(beats.iter().map(|beat| beat.mark.map_or(Span::raw(" "), |it| mark(model, it))));
    marks.push(Span::styled(format!("{} now", model.glyphs.now()), model.theme.title()));
    let lines = vec![
        lane("packets/s", |beat| beat.rate),
        lane("waiting", |beat| beat.waiting),
        Line::from(marks),
    ];
    frame.render_widget(Paragraph::new(lines), area);
}

/// Columns of the time line in the footer, after a blank.
const BRIEF: u16 = 12;

/// Draws the rate and the marks of a live mesh at the right end of the footer if there is no row for
/// them; returns the area left of it.
pub(super) fn draw_brief(model: &Model, frame: &mut Frame, foot: Rect) -> Rect {
    let beats = last(model, BRIEF.into());
    let shows = beats.iter().any(|beat| beat.rate.is_some() || beat.mark.is_some());
    if !shows || model.timeline().is_some() || model.time_rows() > 0 {
        return foot;
    }
    let [left, right] =
        Layout::horizontal([Constraint::Min(0), Constraint::Length(BRIEF)]).areas(foot);
    let line = Line::from(bars(model, &beats, |beat| beat.rate, true)).right_aligned();
    frame.render_widget(Paragraph::new(line), right);
    Rect { width: left.width.saturating_sub(1), ..left }
}

/// The newest snapshots of a live mesh, at most so many.
fn last(model: &Model, most: usize) -> Vec<&Beat> {
    let beats = &model.pulse.beats;
    beats.iter().skip(beats.len().saturating_sub(most)).collect()
}

/// A column for each snapshot, as high as its value against the largest; a mark may stand over it.
fn bars(
    model: &Model,
    beats: &[&Beat],
    of: fn(&Beat) -> Option<u64>,
    marked: bool,
) -> Vec<Span<'static>> {
    let most = beats.iter().filter_map(|beat| of(beat)).max().unwrap_or(0);
    let bar = |beat: &&Beat| match (of(beat), beat.mark.filter(|_| marked)) {
        (_, Some(it)) => mark(model, it),
        (Some(it), _) => Span::styled(model.glyphs.eighth(it, most), model.theme.traffic()),
        (None, _) => Span::raw(" "),
    };
    beats.iter().map(bar).collect()
}

fn mark(model: &Model, mark: char) -> Span<'static> {
    match mark {
        '!' => Span::styled("!", model.theme.bad()),
        'm' => Span::styled("m", model.theme.title()),
        _ => Span::styled("n", model.theme.dim()),
    }
}

/// Which moments a column stands for.
struct Columns {
    count: usize,
    moments: usize,
}

impl Columns {
    fn new(timeline: &Timeline, width: u16) -> Self {
        let moments = timeline.moments.times.len();
        Self { count: moments.min(width.into()).max(1), moments }
    }

    fn of(&self, moment: usize) -> usize {
        moment * self.count / self.moments.max(1)
    }

    fn moments(&self, column: usize) -> std::ops::Range<usize> {
        let start = |column: usize| (column * self.moments).div_ceil(self.count);
        start(column)..start(column + 1)
    }
}

fn marks(model: &Model, timeline: &Timeline, columns: &Columns) -> Line<'static> {
    let at = columns.of(timeline.position);
    let mut line = vec![Span::raw(" ".repeat(NAME.into()))];
    for column in 0..columns.count {
        let here = |(moment, _): &&(usize, _)| columns.of(*moment) == column;
        let mark = timeline.marks.iter().rev().find(here);
        let noted = || !timeline.moments.notes_in(columns.moments(column)).is_empty();
        line.push(match mark {
            _ if column == at => Span::styled(model.glyphs.now(), model.theme.title()),
            Some((_, mark)) if mark.condition.is_some() => Span::styled("!", model.theme.bad()),
            Some(_) => Span::styled("m", model.theme.title()),
            None if noted() => Span::styled("n", model.theme.dim()),
            None => Span::raw(" "),
        });
    }
    Line::from(line)
}

fn lane(
    model: &Model,
    timeline: &Timeline,
    columns: &Columns,
    (name, chips): (&str, &[u16]),
) -> Line<'static> {
    let at = columns.of(timeline.position);
    let mut line = vec![Span::styled(format!("{name:>3} "), model.theme.dim())];
    for column in 0..columns.count {
        let level = columns.moments(column).map(|moment| changed(timeline, moment, chips)).max();
        let glyph = model.glyphs.level(level.flatten());
        let style = if column == at { Theme::selected() } else { model.theme.traffic() };
        line.push(Span::styled(glyph, style));
    }
    Line::from(line)
}

/// Returns the bytes of some chips that changed in a moment; none if none of them was read.
fn changed(timeline: &Timeline, moment: usize, chips: &[u16]) -> Option<u32> {
    let changed = timeline.moments.changed.get(moment)?;
    let of = changed.iter().filter(|(chip, _)| chips.contains(chip)).map(|(_, bytes)| *bytes);
    of.fold(None, |sum, bytes| Some(sum.unwrap_or(0) + bytes))
}
