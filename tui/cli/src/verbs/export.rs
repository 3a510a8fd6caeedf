//! `export`: a recording or a screen in a format that other programs read.

mod perfetto;
mod proto;
mod state;
mod trace;
mod track;
mod tracks;

use super::cores;
use crate::output::say;
use crate::screens::{Picture, Screen};
use crate::target::{Style, open};
use crate::verb::{Pages, Verb};
use console::exit::{Failure, Outcome};
use console::fresh;
use console::locate;
use console::machine::Opening;
use machine::words::counted;
use probe::session::WATCHED_CYCLES;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

/// Write a recording or a screen in a format that other programs read.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArguments {
    /// The file; an existing one is not overwritten.
    pub(crate) file: PathBuf,
    /// What is written.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ExportFormat,
    /// Adds the packets of the Ethernet links to --to perfetto, of a recording that has its run: it is
    /// executed again.
    #[arg(long)]
    pub(crate) packets: bool,
    /// The screen of --to svg; the mesh without it.
    #[arg(long, value_enum, value_name = "SCREEN")]
    pub(crate) screen: Option<Screen>,
    /// Columns and rows of --to svg, such as 80x24; 120x40 without it.
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// What is selected on the screen of --to svg: a chip, tile, Ethernet channel or core, such
    /// as 0:e8.
    #[arg(long, value_name = "PLACE")]
    pub(crate) place: Option<String>,
}

/// A format that other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// A trace for ui.perfetto.dev and trace_processor, of a recording.
    Perfetto,
    /// A picture of a screen.
    Svg,
    /// The packets of a fabric's traffic, for `run --from`.
    Trace,
}

impl Verb for ExportArguments {
    const NAME: &str = "export";
    const PAGES: Pages = &[("export", include_str!("../manual/verbs/export.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("export")
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

/// Columns and rows of a picture.
const COLUMNS: RangeInclusive<u16> = 20..=500;
const ROWS: RangeInclusive<u16> = 8..=300;
/// Those of a picture if none are stated.
pub(super) const USUAL_SIZE: (u16, u16) = (120, 40);

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &ExportArguments,
) -> Result<Outcome, Failure> {
    let file = &options.file;
    fresh::check(file)?;
    let (bytes, what) = match options.to {
        ExportFormat::Perfetto => {
            check_screen(options, "perfetto")?;
            perfetto(target, options)?
        }
        ExportFormat::Svg => (draw(target, style, options)?, "a picture".to_owned()),
        ExportFormat::Trace => {
            check_screen(options, "trace")?;
            check_packets(options, "trace: its lines are packets")?;
            trace::trace(target)?
        }
    };
    fresh::write(file, &bytes)?;
    say(&format!("{}: {what}", file.display()));
    Ok(Outcome::Healthy)
}

/// Refuses the options of pictures.
fn check_screen(options: &ExportArguments, format: &str) -> Result<(), Failure> {
    let of_svg = [
        ("--screen", options.screen.is_some()),
        ("--size", options.size.is_some()),
        ("--place", options.place.is_some()),
    ];
    match of_svg.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            let why = format!("{option} is for --to svg: --to {format} has no screen");
            Err(Failure::Usage(why))
        }
        None => Ok(()),
    }
}

/// Refuses the packets of the links.
fn check_packets(options: &ExportArguments, format: &str) -> Result<(), Failure> {
    if options.packets {
        return Err(Failure::Usage(format!(
            "--packets is for --to perfetto, not for --to {format}"
        )));
    }
    Ok(())
}

fn perfetto(target: &Opening, options: &ExportArguments) -> Result<(Vec<u8>, String), Failure> {
    let (bytes, moments) = perfetto::trace(target, options.packets)?;
    let moments = counted(moments as u64, "moment", "moments");
    Ok((bytes, format!("{moments}; open it at ui.perfetto.dev or with trace_processor")))
}

fn draw(target: &Opening, style: Style, options: &ExportArguments) -> Result<Vec<u8>, Failure> {
    check_packets(options, "svg: a picture shows one moment")?;
    let size = options.size.as_deref().map_or(Ok(USUAL_SIZE), size)?;
    let place = options.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
    let mut machine = open(target)?;
    cores::check_on(&machine.mesh(), place)?;
    let watched = machine.diagnose(WATCHED_CYCLES);
    let watched = watched.map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let (screen, place) = (options.screen.unwrap_or(Screen::Mesh), options.place.clone());
    let title = format!("meshscope {}", target.words);
    let picture = Picture { screen, size, place, looks: style.looks, title };
    let verdict = Arc::new(watched.diagnosis);
    Ok(style.screens.draw(&picture, &mut machine, &target.words, &verdict).svg.into_bytes())
}

/// Parses columns and rows.
fn size(text: &str) -> Result<(u16, u16), Failure> {
    let parts = text.split_once('x');
    let numbers = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    numbers.filter(|(columns, rows)| COLUMNS.contains(columns) && ROWS.contains(rows)).ok_or_else(
        || {
            Failure::Usage(format!(
                "--size {text}: it is columns x rows, such as 120x40, from {}x{} to {}x{}",
                COLUMNS.start(),
                ROWS.start(),
                COLUMNS.end(),
                ROWS.end()
            ))
        },
    )
}
