//! The words for states and quantities, shared by screens, tables and JSON.

use decode::state::{Activity, CoreState, LinkCondition, Party};
use diagnosis::Progress;
use images::{Comparison, GoSignal, Provenance, Reading, TextCheck};
use layouts::TileKind;
use machine::clients::{Change, PastClient, ServedHistory};
use machine::past::KeptPast;
use machine::target::AccessRoute;
pub use machine::words::{bytes, cycles, hex};

/// What a party is called beside its core.
pub fn party(party: Party) -> String {
    match party {
        Party::Channel(_, index) => format!("channel {index}"),
        Party::Client(_, index) => format!("connection {index}"),
        _ => "stage".to_owned(),
    }
}

/// How an access reaches its tile.
pub fn route(route: AccessRoute) -> &'static str {
    match route {
        AccessRoute::Window => "window",
        AccessRoute::Queue => "queue",
    }
}

/// The condition of a link.
pub fn link(condition: LinkCondition) -> &'static str {
    condition.into()
}

/// What one snapshot says about a core. A go message is no progress, which several show.
pub fn activity(activity: Activity) -> &'static str {
    match activity {
        Activity::InReset => Progress::InReset.word(),
        Activity::BaseFirmware => "base firmware",
        Activity::Waiting => Progress::NeverStarted.word(),
        Activity::Running => "launched",
        Activity::Done => Progress::Ended.word(),
    }
}

/// A go signal.
pub fn go(signal: GoSignal) -> &'static str {
    signal.into()
}

/// How an image is known.
pub fn evidence(evidence: Provenance) -> &'static str {
    evidence.into()
}

/// The kind of a tile.
pub fn tile(kind: TileKind) -> &'static str {
    kind.into()
}

/// A name with its article.
pub fn a(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Host time between two events, in tenths of a second and then in seconds.
pub fn age(micros: u64) -> String {
    match micros / 1_000_000 {
        0..60 => format!("{:.1}s", micros as f64 / 1e6),
        seconds @ 60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// A duration in cycles of a nanosecond, in at most five characters.
pub fn brief(cycles: u64) -> String {
    match cycles {
        0..1_000 => format!("{cycles}ns"),
        1_000..1_000_000 => format!("{}us", cycles / 1_000),
        1_000_000..1_000_000_000 => format!("{}ms", cycles / 1_000_000),
        1_000_000_000..60_000_000_000 => {
            format!("{}.{}s", cycles / 1_000_000_000, cycles / 100_000_000 % 10)
        }
        60_000_000_000..3_600_000_000_000 => format!("{}min", cycles / 60_000_000_000),
        _ => format!("{}h", cycles / 3_600_000_000_000),
    }
}

/// How much of its past a mesh keeps, and the memory that it takes.
pub fn kept_past(past: &KeptPast) -> String {
    let kept = cycles(past.last_cycles.saturating_sub(past.first_cycles));
    format!("past {kept}, {} of {} MiB", past.bytes.div_ceil(1 << 20), past.most_bytes >> 20)
}

/// Previous and current clients of a served mesh, one sentence each, at this host time in
/// microseconds.
pub fn before(before: &ServedHistory, now: u64) -> Vec<String> {
    let ago = |then: u64| age(now.saturating_sub(then));
    let visit = before.client.as_ref().map(|PastClient { client, until_micros, broke_off }| {
        let end = if *broke_off { "was disconnected" } else { "left" };
        format!("the last client, {client}, {end} {} ago", ago(*until_micros))
    });
    let change = before.change.as_ref().map(|change| {
        let Change { client, at_micros, at_cycles, what } = change;
        let (at, ago) = (cycles(*at_cycles), ago(*at_micros));
        format!("{client} wrote last: {what}, at {at} of the mesh's time, {ago} ago")
    });
    let writer =
        before.writer.as_ref().map(|client| format!("{client} has the right to write now"));
    visit.into_iter().chain(change).chain(writer).collect()
}

/// How much of a text was compared, for users.
pub fn compared(comparison: &Comparison) -> String {
    let Comparison { text_bytes, compared_bytes, check } = comparison;
    match check {
        TextCheck::NotCompared => "not compared".into(),
        TextCheck::BuildId => format!("build id, {compared_bytes} bytes"),
        TextCheck::Equal => format!("{compared_bytes} of {text_bytes} bytes"),
        TextCheck::Differs(difference) => format!("differs at {:#x}", difference.at),
        TextCheck::Iram => "cannot be compared (IRAM)".into(),
        TextCheck::Unread(error) => error.to_string(),
    }
}

/// A count in few letters: 812, 1.4k, 20k, 3M.
pub fn count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}

/// What is said of a port that never had a link.
pub const NO_PEER: &str = "no peer known";

/// Why a core has no waypoint.
pub const NO_WAYPOINTS: &str = "built without waypoints";

/// The sentence about cores of a build without waypoints, if there are any.
pub fn without_waypoints<'a>(cores: impl IntoIterator<Item = &'a CoreState>) -> Option<String> {
    let described: Vec<_> = cores.into_iter().filter(|core| core.go != Reading::Absent).collect();
    let without = described.iter().filter(|core| core.lacks_waypoints()).count();
    match without {
        0 => None,
        _ if without == described.len() => Some(format!("the firmware was {NO_WAYPOINTS}")),
        _ => Some(format!(
            "the firmware of {without} of {} cores was {NO_WAYPOINTS}",
            described.len()
        )),
    }
}

/// The source line of a core's waypoint; of several candidates, each line once.
pub fn sources(core: &CoreState) -> Option<String> {
    if let Some(line) = core.location.first() {
        return Some(line.to_string());
    }
    let mut lines: Vec<_> =
        core.candidates.iter().filter_map(|c| c.first()).map(ToString::to_string).collect();
    lines.sort_unstable();
    lines.dedup();
    (!lines.is_empty()).then(|| lines.join(" or "))
}

/// A sentence in as many lines as a width needs; words are not broken, and further lines are
/// indented.
pub fn wrapped(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width).max(1);
    let mut rows: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let indent = if rows.is_empty() { "" } else { "  " };
        let fits = |row: &&mut String| row.chars().count() + 1 + word.chars().count() <= width;
        match rows.last_mut().filter(fits) {
            Some(row) => *row = format!("{row} {word}"),
            None => rows.push(format!("{indent}{word}")),
        }
    }
    rows
}

/// Clap's message in one line: the error and its tips, without usage and hints.
pub fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let kept =
        lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more information"));
    // The verbs take no words behind `--`.
    let helps = |l: &&str| !l.is_empty() && !l.starts_with("tip: to pass '");
    let kept: Vec<&str> = kept.filter(helps).collect();
    let line = kept.join("; ").replace(":;", ":");
    format!("{} (see --help)", line.trim_start_matches("error: "))
}

/// Whether a terminal acts on a character instead of showing it: it controls the terminal, ends a
/// line, or turns the direction of the text around it (UAX #9).
pub fn acts(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}'..='\u{202e}')
}

/// Stands for a character on which a terminal would act.
const REPLACED: char = char::REPLACEMENT_CHARACTER;

/// A text that a terminal only shows: lines, with a sign for each character on which it would act.
/// Anybody can have written an ELF, a recording, a note or the name of a file.
pub fn printable(text: &str) -> String {
    let mut after = text.chars().skip(1);
    let shown = |c| match (c, after.next()) {
        // CSV ends its lines so.
        ('\n' | '\t', _) | ('\r', Some('\n')) => c,
        _ if acts(c) => REPLACED,
        _ => c,
    };
    text.chars().map(shown).collect()
}

/// The same in one line: a message, or a cell of a table.
pub fn printable_line(text: &str) -> String {
    text.chars().map(|c| if acts(c) { REPLACED } else { c }).collect()
}

/// A user's words within a message: shortened, and without control characters.
pub fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().count() > MOST {
        shown.push_str("...");
    }
    shown
}
