//! The core screen: a core's activity, words, channels, images and memory.

use super::pane::{titled, window};
use super::{halted, hex, tiles};
use crate::geometry;
use crate::lists::core_at;
use crate::model::{CorePane, Model};
use crate::theme::Theme;
use console::glyph::Missing;
use console::members::{self, MemberRow};
use console::reading::{long, short};
use console::words;
use decode::state::{Activity, CoreState, ImageUse, LaunchState};
use images::{Provenance, Reading, SourceLine};
use layouts::EthId;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row as TableRow, Table, Wrap};

/// Draws the core screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(core) = model.core_state() else {
        let text = format!("tile {}:{} has no core to show", model.chip, model.tile);
        frame.render_widget(Paragraph::new(text), area);
        return;
    };
    if let Some(held) = model.held().filter(|_| model.core_pane == CorePane::Code) {
        return halted::draw(model, held, frame, area);
    }
    let areas = geometry::core_areas(area, model.size, model.core_pane);
    frame.render_widget(Paragraph::new(summary(model, core)), areas.summary);
    let focused = |pane| model.core_pane == pane;
    if let Some(area) = areas.words {
        draw_words(model, frame, area, focused(CorePane::Words));
    }
    if let Some(area) = areas.channels {
        draw_channels(model, core, frame, area, focused(CorePane::Channels));
    }
    if let Some(area) = areas.memory {
        hex::draw(model, core, frame, area, focused(CorePane::Memory));
    }
}

fn label(model: &Model, text: &str) -> Span<'static> {
    Span::styled(format!("{text:<11}"), model.theme.dim())
}

fn summary(model: &Model, core: &CoreState) -> Vec<Line<'static>> {
    let g = model.glyphs;
    let waypoint = match core.waypoint.known() {
        Some(_) => tiles::waypoint(model, core),
        None if core.lacks_waypoints() => Span::styled("not built in", model.theme.dim()),
        None => Span::styled(
            long(g, &core.waypoint, Clone::clone),
            model.theme.reading(&core.waypoint, Style::new()),
        ),
    };
    let mut first = vec![label(model, "state")];
    first.extend(tiles::activity_words(model, core));
    first.extend([Span::styled("  waypoint ", model.theme.dim()), waypoint]);
    // The host initialises waypoints to X.
    if core.waypoint.known().is_some_and(|code| code.bytes().all(|letter| letter == b'X')) {
        first.push(Span::styled(" never set", model.theme.dim()));
    }
    let beat = long(g, &core.heartbeat, |beat| format!("{beat:#010x}"));
    first.extend([Span::styled("  heartbeat ", model.theme.dim()), Span::raw(beat)]);
    let go = long(g, &core.go, |s| words::go(*s).to_owned());
    first.extend([Span::styled("  go ", model.theme.dim()), Span::raw(go)]);
    let at = match (core.location.first(), words::sources(core)) {
        (Some(place), _) => place_and_text(model, place),
        (None, Some(candidates)) => vec![Span::raw(candidates)],
        (None, None) => vec![Span::raw(g.missing(Missing::Unknown))],
    };
    let frames = core.location.iter().filter_map(|l| l.function.as_deref());
    let mut frames: Vec<_> = frames.map(without_arguments).collect();
    match core.candidates.len() {
        0 if core.location.is_empty() => frames.push(g.missing(Missing::Unknown).to_owned()),
        0 => {}
        count => frames.push(format!("one of {count} places")),
    }
    let within = frames.join(" < ");
    vec![
        Line::from(first),
        Line::from([vec![label(model, "source")], at].concat()),
        Line::from(vec![label(model, "within"), Span::raw(within)]),
        link_line(model).unwrap_or_default(),
        Line::from(vec![label(model, "launch"), Span::raw(long(g, &core.launch, launch))]),
        Line::from(images(model, core)),
    ]
}

/// A function without its template arguments: the callers need the room.
fn without_arguments(function: &str) -> String {
    let (name, clones) = function.split_at(function.find(" [clone ").unwrap_or(function.len()));
    format!("{}{clones}", name.split('<').next().unwrap_or(name))
}

fn launch(launch: &LaunchState) -> String {
    let mode = match launch.mode {
        0 => "device".to_owned(),
        1 => "host".to_owned(),
        other => format!("mode {other}"),
    };
    let LaunchState { rd_ptr, enables, host_assigned_id, kernel_id, .. } = launch;
    format!(
        "slot {rd_ptr}  enables {enables:#b}  dispatched by {mode}  host id {host_assigned_id}  kernel {kernel_id}"
    )
}

/// A source location with the text of its line; without the text, the whole path.
fn place_and_text(model: &Model, place: &SourceLine) -> Vec<Span<'static>> {
    match model.source_text(place) {
        None => vec![Span::raw(full_source(place))],
        Some(text) => {
            let text = Span::styled(format!("   {text}"), model.theme.title());
            vec![Span::raw(place.to_string()), text]
        }
    }
}

/// The whole path, with line and function where known.
fn full_source(line: &SourceLine) -> String {
    let at = match (&line.file, line.line) {
        (Some(file), Some(n)) => format!("{file}:{n}"),
        (Some(file), None) => file.clone(),
        (None, _) => String::new(),
    };
    line.function.as_ref().map_or(at.clone(), |f| format!("{at} in {f}"))
}

fn link_line(model: &Model) -> Option<Line<'static>> {
    let (link, far) = tiles::link(model, model.chip, model.tile_state()?)?;
    let near = if link.link.a == far { link.link.b } else { link.link.a };
    let route = |end: EthId| {
        let core = core_at(model.mesh()?, end)?;
        Some(short(model.glyphs, &core.waypoint, Clone::clone))
    };
    let text = format!(
        "{} {near} to {far}, where the waypoint is {}",
        words::link(link.condition),
        route(far).unwrap_or_default()
    );
    Some(Line::from(vec![
        label(model, "link"),
        Span::styled(text, model.theme.link(link.condition)),
    ]))
}

fn images(model: &Model, core: &CoreState) -> Vec<Span<'static>> {
    let mut line = vec![label(model, "images")];
    if core.images.is_empty() {
        line.push(Span::styled("none known", model.theme.dim()));
    }
    for (i, ImageUse { name, evidence, .. }) in core.images.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        line.push(Span::raw(format!("{comma}{name} ")));
        line.push(Span::styled(words::evidence(*evidence), model.theme.evidence(*evidence)));
    }
    line
}

fn draw_words(model: &Model, frame: &mut Frame, area: Rect, focused: bool) {
    let words = model.words();
    let all = model.core_state().map_or(0, members::count);
    let title = match &*model.word_filter {
        "" if words.len() == all => format!(" words: {all} "),
        "" => format!(" words: {} of {all} unfolded ", words.len()),
        filter => format!(" words: {} of {all} match '{filter}' ", words.len()),
    };
    let block = titled(model, &title, focused);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let range = window(model.word, words.len(), inner.height);
    // A path needs more room than a name, at the cost of the value.
    let names = words.iter().any(|row| matches!(row, MemberRow::Member(..)));
    let [name, value] = if names && model.word_filter.is_empty() {
        [Constraint::Length(34), Constraint::Min(26)]
    } else {
        [Constraint::Min(30), Constraint::Length(26)]
    };
    let widths = [Constraint::Length(1), name, Constraint::Length(9), value];
    // Values are cut at the right end; a blank column separates them from the next pane.
    let inner = Rect { width: inner.width.saturating_sub(1), ..inner };
    let [_, room, ..] = Layout::horizontal(widths).spacing(1).areas::<4>(inner);
    let rows = range.clone().zip(words.get(range).unwrap_or_default());
    let rows = rows.map(|(i, word)| {
        let chosen = focused && i == model.word;
        let style = if chosen { Theme::selected() } else { Style::new() };
        word_row(model, word, chosen, room.width).style(style)
    });
    frame.render_widget(Table::new(rows, widths), inner);
}

/// The end of a path, which distinguishes it from its neighbours.
fn ending(model: &Model, path: &str, room: u16) -> String {
    let (length, room) = (path.chars().count(), usize::from(room));
    if length <= room {
        return path.to_owned();
    }
    let mark = model.glyphs.cut();
    let rest = path.chars().skip(length + mark.chars().count() - room);
    mark.chars().chain(rest).collect()
}

fn word_row(model: &Model, row: &MemberRow<'_>, chosen: bool, room: u16) -> TableRow<'static> {
    let text = |memory| members::text(model.core_id(), memory, row);
    let reading = model.shown.as_deref().map_or(Reading::Absent, |snapshot| text(&snapshot.memory));
    let style = model.theme.reading(&reading, Style::new());
    let name = match row {
        MemberRow::Member(node, open) if model.word_filter.is_empty() => {
            let mark = open.map_or(" ", |open| model.glyphs.fold(open));
            format!("{}{mark} {}", "  ".repeat(node.depth.into()), node.name())
        }
        _ => ending(model, row.path(), room),
    };
    TableRow::new(vec![
        Cell::from(if chosen { model.glyphs.cursor() } else { " " }),
        Cell::from(name),
        Cell::from(Span::styled(format!("{:#x}", row.addr()), model.theme.dim())),
        Cell::from(Span::styled(long(model.glyphs, &reading, Clone::clone), style)),
    ])
}

/// Why a core has no channels: an image may declare them without using them now.
fn no_channels(core: &CoreState) -> &'static str {
    let shared = core.outlines.iter().filter_map(|outline| outline.nodes().first());
    let mut names = shared.map(|n| n.path.as_str()).chain(core.words.iter().map(|w| &*w.name));
    if !names.any(|name| name.split('.').next() == Some("erisc_info")) {
        return "no channels: no image has erisc_info_t";
    }
    match core.activity {
        Reading::Known(Activity::BaseFirmware) => "no channels: base firmware runs, no application",
        Reading::Known(Activity::InReset) => "no channels: the core is in reset",
        _ => "no channels: their words were not read or hold none",
    }
}

fn draw_channels(model: &Model, core: &CoreState, frame: &mut Frame, area: Rect, focused: bool) {
    let block = titled(model, " channels and images ", focused);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let count = core.channels.len() as u16;
    let rows = [Constraint::Length(if count == 0 { 1 } else { count + 1 }), Constraint::Min(0)];
    let [upper, lower] = Layout::vertical(rows).areas(inner);
    if count == 0 {
        let text = no_channels(core);
        frame.render_widget(Paragraph::new(Line::styled(text, model.theme.dim())), upper);
    } else {
        let head = TableRow::new(["ch", "bytes_sent", "receiver_ack", "src_id", "", "meaning"]);
        let rows = core.channels.iter().map(|c| {
            let style = model.theme.channel(c.meaning);
            TableRow::new(vec![
                Cell::from(c.index.to_string()),
                Cell::from(c.bytes_sent.to_string()),
                Cell::from(c.receiver_ack.to_string()),
                Cell::from(c.src_id.to_string()),
                Cell::from(Span::styled(model.glyphs.channel(c.meaning), style)),
                Cell::from(Span::styled(c.meaning.words(), style)),
            ])
        });
        let widths = [2, 11, 12, 10, 1, 26].map(Constraint::Length);
        frame.render_widget(Table::new(rows, widths).header(head.style(model.theme.dim())), upper);
    }
    let lines = core.images.iter().map(|image| {
        let how =
            Span::styled(words::evidence(image.evidence), model.theme.evidence(image.evidence));
        let text = format!("{:<13} {:#x} {} ", image.role.name(), image.load_addr, image.name);
        Line::from(vec![Span::raw(text), how])
    });
    let wrong = core.findings.iter().map(|finding| {
        Line::styled(finding.to_string(), model.theme.evidence(Provenance::Mismatch))
    });
    let lines = lines.chain(wrong).collect::<Vec<_>>();
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), lower);
}
