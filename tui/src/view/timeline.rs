//! The time line below every screen. Of a recording: a column per moment, or per several, a row per
//! chip with how much changed, the marks and the notes. Of a live mesh: a column per snapshot, the
//! newest at the right, with rate and waits.

use crate::model::Model;
use crate::pulse::Beat;
use crate::theme::Theme;
use console::player::Timeline;
use console::words;
use ratatui::Frame;
use ratatui::layout::Rect;
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
    let beats = &model.pulse.beats;
    let room = usize::from(area.width).saturating_sub(LIVE_NAME + LIVE_NOW);
    let shown = beats.iter().skip(beats.len().saturating_sub(room));
    let pad = " ".repeat(room.saturating_sub(beats.len()));
    let low = area.height < 3;
    let mark = |mark: char| match mark {
        '!' => Span::styled("!", model.theme.bad()),
        'm' => Span::styled("m", model.theme.title()),
        _ => Span::styled("n", model.theme.dim()),
    };
    let lane = |name: &str, of: fn(&Beat) -> Option<u64>| {
        let most = shown.clone().filter_map(of).max().unwrap_or(0);
        let bar = |beat: &Beat| match (of(beat), beat.mark.filter(|_| low)) {
            (_, Some(marked)) => mark(marked),
            (Some(it), _) => Span::styled(model.glyphs.eighth(it, most), model.theme.traffic()),
            (None, _) => Span::raw(" "),
        };
        let now = beats.back().and_then(of).map_or_else(String::new, words::count);
        let mut line = vec![Span::styled(format!("{name:<LIVE_NAME$}"), model.theme.dim())];
        line.push(Span::raw(pad.clone()));
        line.extend(shown.clone().map(bar));
        line.push(Span::raw(format!(" {now}")));
        Line::from(line)
    };
    let mut marks = vec![Span::raw(" ".repeat(LIVE_NAME) + &pad)];
    marks.extend(shown.clone().map(|beat| beat.mark.map_or(Span::raw(" "), mark)));
    marks.push(Span::styled(format!("{} now", model.glyphs.now()), model.theme.title()));
    let lines = vec![
        lane("packets/s", |beat| beat.rate),
        lane("waiting", |beat| beat.waiting),
        Line::from(marks),
    ];
    frame.render_widget(Paragraph::new(lines), area);
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
