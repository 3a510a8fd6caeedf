//! Logs of a fleet, written by the product's own writer: a cable of one host retrains on most days from one
//! day on, others now and then. The program is asked for it, within limits of its time and memory.

use launch::dice::Random;
use layouts::{ChipId, EthId};
use logs::{Changes, Kind, LogError, Row, Source, Text, Writer, Written, cable, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// The logs of a fleet.
pub const STUDY: Study = Study {
    name: "fleet",
    about: "Write logs of many hosts and days, and ask meshscope which cable recurs",
    options: &[
        Choice::new("seed", "N", "1", "Seed of all that is drawn"),
        Choice::new("hosts", "N", "64", "Number of hosts"),
        Choice::new("days", "N", "30", "Number of days"),
        Choice::new("rows", "N", "200000000", "Number of rows, about"),
        Choice::optional("folder", "DIR", "A new folder for the logs and answers, which is kept"),
        super::MESHSCOPE,
    ],
    tables: &[QUESTIONS],
    run,
};

const QUESTIONS: Table = Table {
    name: "questions",
    columns: &[
        column("QUESTION", "question", Unit::Text(10)),
        column("ROWS", "rows", Unit::Count),
        column("SECONDS", "seconds", Unit::Fixed(2)),
        column("PEAK", "peak", Unit::Bytes),
    ],
};
const ASKED: [&str; 4] = ["recurring", "retrains", "first", "changes"];
/// What an answer may take.
const MOST_SECONDS: f64 = 10.0;
const MOST_BYTES: u64 = 2 << 30;
/// 2026-11-01, in microseconds since the Unix epoch, and a day.
const FIRST_DAY: i64 = 1_793_491_200_000_000;
const DAY: i64 = 86_400_000_000;
/// Links of a host, as of a T3000, each with two ends.
const CABLES: usize = 16;
/// The counters of an end, and by how much each grows from one sample to the next, at most.
const COUNTERS: [(&str, u64); 6] = [
    ("packets_sent", 1 << 20),
    ("packets_received", 1 << 20),
    ("retrain_count", 0),
    ("crc_errors", 0),
    ("corrected_codewords", 1 << 8),
    ("uncorrected_codewords", 0),
];
const RETRAINS: usize = 2;

/// What is drawn.
struct Fleet {
    hosts: u64,
    days: u64,
    samples: u64,
    /// The host whose cable recurs, and from which day on.
    host: u64,
    cable: usize,
    since: u64,
}

impl Fleet {
    fn draw(options: &Options, dice: &mut Random) -> Result<Self, StudyError> {
        let (hosts, days) =
            (options.number("hosts", [1, 10_000])?, options.number("days", [3, 3650])?);
        let rows = options.number("rows", [1, 10_000_000_000])?;
        let of_sample = (CABLES * 2 * COUNTERS.len()) as u64;
        Ok(Self {
            hosts,
            days,
            samples: rows.div_ceil(hosts * days * of_sample).max(1),
            host: dice.below(hosts),
            cable: dice.below(CABLES as u64) as usize,
            since: 1 + dice.below(days / 3),
        })
    }

    fn host_name(host: u64) -> String {
        format!("wh-{host:03}")
    }

    fn ends(cable: usize) -> [EthId; 2] {
        let end = |chip, channel| EthId { chip: ChipId(chip), channel };
        let at = cable as u16;
        let plane = at as u8 / 8;
        [end(at % 8, plane), end((at + 1) % 8, 8 + plane)]
    }

    fn recurring(&self) -> String {
        cable(&Self::host_name(self.host), Self::ends(self.cable))
    }

    /// The retrains of a host's day, by sample and cable.
    fn retrains(&self, (host, day): (u64, u64), dice: &mut Random) -> BTreeMap<(u64, usize), i64> {
        let mut all = BTreeMap::new();
        if host == self.host && day >= self.since && (day == self.since || dice.below(10) > 0) {
            for _ in 0..3 + dice.below(10) {
                *all.entry((dice.below(self.samples), self.cable)).or_default() += 1;
            }
        }
        if dice.below(20) == 0 && day > 0 {
            let cable = dice.below(CABLES as u64) as usize;
            *all.entry((dice.below(self.samples), cable)).or_default() += 1;
        }
        all
    }
}

/// Writes the logs.
fn write(
    fleet: &Fleet,
    folder: &Path,
    dice: &mut Random,
    report: &mut Report<'_>,
) -> Result<Written, LogError> {
    let mut writer = Writer::new(folder)?;
    let mut changes = Changes::default();
    let names = COUNTERS.map(|(name, _)| text(name));
    for host in 0..fleet.hosts {
        report.progress(host, fleet.hosts, "hosts");
        let name = Fleet::host_name(host);
        let cables: Vec<Text> =
            (0..CABLES).map(|it| text(&cable(&name, Fleet::ends(it)))).collect();
        let mut values = [[0_i64; COUNTERS.len()]; CABLES * 2];
        for day in 0..fleet.days {
            let begun = FIRST_DAY + day as i64 * DAY;
            let source = Source::of(&format!("links-{day:02}.json"), &name, begun);
            let later = host == fleet.host && day >= fleet.since;
            let firmware = Some(text(if later { "6.15.0" } else { "6.14.0" }));
            writer.push(Row { text: firmware, ..source.row(Kind::Fact, text("eth firmware")) })?;
            let retrains = fleet.retrains((host, day), dice);
            for sample in 0..fleet.samples {
                let time_micros = begun + sample as i64 * (DAY / fleet.samples as i64);
                for (end, counters) in values.iter_mut().enumerate() {
                    let at = end / 2;
                    let place = Fleet::ends(at).get(end % 2).copied();
                    let row = Row {
                        time_micros,
                        board: None,
                        chip: place.map(|place| place.chip.0.into()),
                        channel: place.map(|place| place.channel.into()),
                        cable: cables.get(at).cloned(),
                        ..source.row(Kind::Link, text(""))
                    };
                    for (counter, value) in counters.iter_mut().enumerate() {
                        *value += dice.below(COUNTERS[counter].1) as i64;
                        if counter == RETRAINS && end % 2 == 0 {
                            *value += retrains.get(&(sample, at)).copied().unwrap_or(0);
                        }
                        let name = names[counter].clone();
                        let mut row = Row { name, value: Some(*value), ..row.clone() };
                        changes.note(&mut row);
                        writer.push(row)?;
                    }
                }
            }
        }
    }
    writer.finish()
}

/// An answer, and what it took.
struct Asked {
    answer: Value,
    seconds: f64,
    peak_bytes: u64,
}

fn ask(program: &Path, folder: &Path, question: &str) -> Result<Asked, StudyError> {
    let internal = |why: &dyn std::fmt::Display| StudyError::Internal(format!("{question}: {why}"));
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.arg("scan").arg(folder.join("logs")).args(["--ask", question, "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| internal(&error))?;
    let mut out = child.stdout.take().ok_or_else(|| internal(&"no output"))?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let (peak_bytes, status) = watch(&mut child).map_err(|error| internal(&error))?;
    let seconds = begun.elapsed().as_secs_f64();
    let text = reader.join().map_err(|_| internal(&"its reader ended"))?;
    let text = text.map_err(|error| internal(&error))?;
    if status != Some(0) {
        return Err(StudyError::Finding(format!("{question}: exit code {status:?}")));
    }
    std::fs::write(folder.join(format!("{question}.json")), &text)
        .map_err(|error| internal(&error))?;
    let answer = serde_json::from_str(&text).map_err(|error| internal(&error))?;
    Ok(Asked { answer, seconds, peak_bytes })
}

/// Waits for a process, and returns the most memory that it had resident, as the kernel says, and its exit
/// code.
fn watch(child: &mut Child) -> std::io::Result<(u64, Option<i32>)> {
    let mut peak = 0;
    let path = format!("/proc/{}/status", child.id());
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        if let Some(status) = child.try_wait()? {
            return Ok((peak, status.code()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let mut dice = Random(options.seed()?);
    let fleet = Fleet::draw(options, &mut dice)?;
    let program = super::meshscope(options)?;
    let usual = std::env::temp_dir().join(format!("meshscope-fleet-{}", std::process::id()));
    let kept = options.get("folder").map(PathBuf::from);
    let folder = kept.clone().unwrap_or(usual);
    let begun = Instant::now();
    let written = write(&fleet, &folder.join("logs"), &mut dice, report);
    let written = written.map_err(|error| StudyError::Usage(error.to_string()))?;
    let seconds = begun.elapsed().as_secs_f64();
    report.fact("rows", written.rows);
    report.fact("bytes", written.bytes);
    report.note(format!(
        "{} rows of {} hosts and {} days in {} files: {:.0} rows per second, {:.2} bytes per row",
        written.rows,
        fleet.hosts,
        fleet.days,
        written.files,
        written.rows as f64 / seconds,
        written.bytes as f64 / written.rows as f64
    ));
    let mut right = true;
    for question in ASKED {
        let asked = ask(&program, &folder, question)?;
        right &= asked.seconds < MOST_SECONDS && asked.peak_bytes < MOST_BYTES;
        let rows = &asked.answer["rows"];
        report.row(
            &QUESTIONS,
            json!({"question": question, "rows": rows.as_array().map_or(0, Vec::len), "seconds": asked.seconds,
                "peak": asked.peak_bytes}),
        );
        if let Some(wrong) = wrong(&fleet, question, rows) {
            right = false;
            report.note(format!("{question}: {wrong}"));
        }
    }
    if kept.is_none() {
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(right)
}

/// What is wrong with an answer by what was drawn.
fn wrong(fleet: &Fleet, question: &str, rows: &Value) -> Option<String> {
    let host = Fleet::host_name(fleet.host);
    let (wanted, found) = match question {
        "recurring" => (fleet.recurring(), rows[0][0].clone()),
        // The only fact that changes.
        "changes" => (host, rows[0][2].clone()),
        _ => return None,
    };
    (found != wanted).then(|| format!("{found} is first, not {wanted}"))
}
