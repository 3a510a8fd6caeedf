//! A picture as SVG: a rectangle for each background, and a text for each run of cells of one style.

use console::words::acts;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;

/// Size of a cell, in pixels.
const CELL: (usize, usize) = (9, 18);
/// From the top of a cell to the line on which its letters stand, in pixels.
const BASE_LINE: usize = 14;
/// The colours of a terminal that has its own: dark.
const FOREGROUND: &str = "#d0d0d0";
const BACKGROUND: &str = "#101010";

/// Cells beside each other with one style.
struct Run<'a> {
    column: usize,
    row: usize,
    cells: &'a [Cell],
}

/// Returns the picture.
pub(crate) fn svg(buffer: &Buffer, title: &str) -> String {
    let columns = usize::from(buffer.area.width).max(1);
    let (width, height) = (columns * CELL.0, usize::from(buffer.area.height) * CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"15\" \
         xml:space=\"preserve\">\n",
        escaped(title)
    );
    let runs = buffer.content.chunks(columns).enumerate().flat_map(|(row, cells)| runs(row, cells));
    for run in runs {
        run.draw(&mut svg);
    }
    svg + "</g>\n</svg>\n"
}

fn runs(row: usize, cells: &[Cell]) -> Vec<Run<'_>> {
    let mut column = 0;
    let run = |cells| {
        let run = Run { column, row, cells };
        column += run.cells.len();
        run
    };
    cells.chunk_by(|a, b| a.style() == b.style()).map(run).collect()
}

impl Run<'_> {
    fn draw(&self, svg: &mut String) {
        let Some(first) = self.cells.first() else { return };
        let (x, y) = (self.column * CELL.0, self.row * CELL.1);
        let width = self.cells.len() * CELL.0;
        let (foreground, background) = colors(first);
        if background != BACKGROUND {
            let height = CELL.1;
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 fill=\"{background}\"/>"
            );
        }
        let text: String = self.cells.iter().map(Cell::symbol).collect();
        if text.trim().is_empty() {
            return;
        }
        let (y, style, text) = (y + BASE_LINE, attributes(first.modifier), escaped(&text));
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\" fill=\"{foreground}\"{style}>\
             {text}</text>"
        );
    }
}

/// Foreground and background.
fn colors(cell: &Cell) -> (&'static str, &'static str) {
    let (foreground, background) = (color(cell.fg, FOREGROUND), color(cell.bg, BACKGROUND));
    if cell.modifier.contains(Modifier::REVERSED) {
        return (background, foreground);
    }
    (foreground, background)
}

fn attributes(modifier: Modifier) -> String {
    let all = [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::DIM, " opacity=\"0.6\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
    ];
    all.iter().filter(|(which, _)| modifier.contains(*which)).map(|(_, text)| *text).collect()
}

/// The colours of the theme as a dark terminal shows them; `usual` is the terminal's own.
fn color(color: Color, usual: &'static str) -> &'static str {
    match color {
        Color::Black => "#000000",
        Color::Red => "#e5342f",
        Color::LightRed => "#ff6b6b",
        Color::Green | Color::LightGreen => "#5fd75f",
        Color::Yellow | Color::LightYellow => "#ffd75f",
        Color::Blue => "#3a5fcd",
        Color::LightBlue => "#5f87ff",
        Color::Magenta | Color::LightMagenta => "#ff87ff",
        Color::Cyan => "#2fa8c8",
        Color::LightCyan => "#5fd7ff",
        Color::Gray => "#bcbcbc",
        Color::DarkGray => "#8a8a8a",
        Color::White => "#ffffff",
        // The only one of the theme: the grey of tiles where nothing runs.
        Color::Indexed(_) => "#444444",
        Color::Reset | Color::Rgb(..) => usual,
    }
}

/// Text in XML; characters that XML does not have are replaced.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            c if acts(c) => xml.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            c => xml.push(c),
        }
    }
    xml
}
