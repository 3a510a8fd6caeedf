//! The words that name a target: `emulator:n300,run=idle`, `ttsim:<library>`, `socket:<path>`,
//! `ssh://<host>`, `umd-sim`, a file.

mod moment;
mod study;

use fabric::Division;
use fabric::random::TrafficPattern;
use machine::fabric::FabricTopology;
use machine::fault::{Fault, FaultError};
use machine::words::cycles_of;
pub use moment::Moment;
use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use transport::agent::Remote;
use workloads::mux::MuxScene;
use workloads::scene::external::External;
use workloads::scene::{Pace, Scene, SceneError, Workload};

/// The latest start of a scene: 100 s of emulated time. A later start would take hours of host
/// time, so it is an error.
const LATEST_START_CYCLES: u64 = 100_000_000_000;

/// The folder of the driver's device files.
const DEVICES: &str = "/dev/tenstorrent/";

/// What begins the name of a host, and what separates two.
const SSH: &str = "ssh://";
const AND_SSH: &str = ",ssh://";

/// The settings of `ttsim`.
const SETTINGS_OF_TTSIM: [&str; 5] = ["firmware", "run", "kernels", "traffic", "at"];

/// A target as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetSpec {
    /// `emulator:<mesh>[,key=value]..` with the keys `cabling`, `host`, `run`, `topology`, `planes`,
    /// `meshes`, `dateline`, `traffic`, `pattern`, `rate`, `firmware`, `kernels`, `at`, `pace`, `seed`
    /// and any number of `fault`.
    Emulator(Scene),
    /// `emulator:<mesh>,study=mux:<seed>[:<policy>]` with the keys `at` and `pace`: the mesh of a run
    /// of that study.
    Study(MuxScene),
    /// `ttsim:<library>[,key=value]..` with the keys `firmware`, `run`, `kernels`, `traffic` and
    /// `at`.
    Ttsim(Simulator),
    /// `socket:<path>[,socket:<path>..]`: the machines of several hosts as one.
    Sockets(Vec<PathBuf>),
    /// `ssh://<host>[/<target>][,ssh://..]`: what agents read on other hosts, as one machine.
    Agents(Vec<Remote>),
    /// `umd-sim[:<folder>]`: a simulation server of tt-umd; none: the only one that runs.
    UmdSim(Option<PathBuf>),
    /// `silicon`, or a device file.
    Silicon(String),
    /// A recording, and the moment if one is named: `<file>[,at=<moment>]`.
    Recording(PathBuf, Option<Moment>),
    /// The mesh of a recording, executed again up to a time: `<file>,rerun=<time>`.
    Rerun(PathBuf, Moment),
    /// A fabric snapshot of tt-metal's capture tool: a file whose name ends with `.json`.
    FabricSnapshot(PathBuf),
}

/// The vendor's simulator, and its preparation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulator {
    /// The simulator's library.
    pub library: PathBuf,
    /// The folder with tt-metal's firmware, which is booted.
    pub firmware: Option<PathBuf>,
    /// The folder with a fabric of tt-metal's kernels, which is brought up.
    pub kernels: Option<PathBuf>,
    /// The number of packets that each of its workers sends.
    pub traffic: u64,
    /// The simulator's time, in cycles, up to which it runs first.
    pub at_cycles: Option<u64>,
}

/// Why words name no target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

fn wrong<T>(what: impl Into<String>) -> Result<T, SpecError> {
    Err(SpecError(what.into()))
}

impl Simulator {
    /// Reads what is to be started on it; none if it stays as it is.
    pub(crate) fn external(&self) -> Result<Option<External>, SceneError> {
        let Self { firmware, kernels, traffic, at_cycles, .. } = self;
        External::read(firmware.as_deref(), kernels.as_deref(), *traffic, *at_cycles)
    }
}

impl TargetSpec {
    /// Returns the folders of the ELFs that are started on the target, as they are named.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let named = match self {
            Self::Emulator(scene) => [&scene.kernels, &scene.firmware],
            Self::Ttsim(simulator) => [&simulator.kernels, &simulator.firmware],
            _ => return Vec::new(),
        };
        named.into_iter().flatten().cloned().collect()
    }

    /// Whether it is reached outside this process: no file, and no mesh that is emulated here.
    pub fn is_a_machine(&self) -> bool {
        matches!(
            self,
            Self::Ttsim(_)
                | Self::Sockets(_)
                | Self::Agents(_)
                | Self::UmdSim(_)
                | Self::Silicon(_)
        )
    }

    /// Parses the words.
    ///
    /// # Errors
    /// The reason why the words name no target.
    pub fn parse(words: &str) -> Result<Self, SpecError> {
        if words == "silicon" || is_device(words) {
            return Ok(Self::Silicon(words.to_owned()));
        }
        if words == "umd-sim" {
            return Ok(Self::UmdSim(None));
        }
        if words.starts_with("/dev/") {
            return wrong(format!("`{words}` is not a Tenstorrent device: use {DEVICES}<n>"));
        }
        if words.starts_with(SSH) {
            return agents(words);
        }
        match words.split_once(':') {
            Some(("emulator", scene)) => emulated(scene),
            Some((kind @ ("ttsim" | "socket"), "")) => {
                wrong(format!("{kind}: the file is missing"))
            }
            Some(("ttsim", words)) => Ok(Self::Ttsim(parse_simulator(words)?)),
            Some(("socket", path)) => sockets(path),
            Some(("umd-sim", "")) => wrong("umd-sim: the folder is missing"),
            Some(("umd-sim", folder)) => Ok(Self::UmdSim(Some(folder.into()))),
            _ if words.is_empty() => wrong("the target is empty"),
            _ if is_socket(words) => Ok(Self::Sockets(vec![words.into()])),
            _ if is_json(words) => Ok(Self::FabricSnapshot(words.into())),
            _ if words.contains(['/', '.']) || Path::new(words).is_file() => {
                moment::recording(words)
            }
            _ => wrong(format!(
                "`{words}` is not a target: emulator:<mesh>, ttsim:<library>, socket:<path>, ssh://<host>, umd-sim, silicon, \
                 /dev/tenstorrent/<n>, a recording or a fabric snapshot"
            )),
        }
    }
}

fn is_socket(words: &str) -> bool {
    std::fs::metadata(words).is_ok_and(|file| file.file_type().is_socket())
}

fn is_json(words: &str) -> bool {
    Path::new(words).extension().is_some_and(|it| it.eq_ignore_ascii_case("json"))
}

/// Whether the words are a device file, by number or by udev's chip id.
fn is_device(words: &str) -> bool {
    let by_id = |name: &str| name.strip_prefix("by-id/").is_some_and(|id| !id.is_empty());
    let name = words.strip_prefix(DEVICES);
    name.is_some_and(|name| name.parse::<u16>().is_ok() || by_id(name))
}

/// Parses hosts, each with its target; each but the first follows `,`.
fn agents(words: &str) -> Result<TargetSpec, SpecError> {
    let hosts = words.strip_prefix(SSH).unwrap_or(words).split(AND_SSH).map(|host| {
        let (destination, target) = host.split_once('/').unwrap_or((host, ""));
        let odd = |c: char| c.is_whitespace() || c.is_control() || c == '\'' || c == '"';
        // ssh would take it for an option.
        if destination.is_empty() || destination.starts_with('-') || destination.contains(odd) {
            return wrong(format!("{SSH}{host}: `{destination}` is no host"));
        }
        if target.starts_with(SSH) || target.contains(char::is_control) {
            return wrong(format!("{SSH}{host}: `{target}` is no target that an agent can open"));
        }
        let target = if target.is_empty() { "silicon" } else { target }.to_owned();
        Ok(Remote { destination: destination.to_owned(), target })
    });
    hosts.collect::<Result<_, _>>().map(TargetSpec::Agents)
}

/// Parses socket paths; each but the first follows `,socket:`.
fn sockets(words: &str) -> Result<TargetSpec, SpecError> {
    let paths = words.split(",socket:");
    if paths.clone().any(str::is_empty) {
        return wrong("socket: the file is missing");
    }
    Ok(TargetSpec::Sockets(paths.map(PathBuf::from).collect()))
}

/// Parses a mesh and its settings: a scene, or a run of a study.
fn emulated(words: &str) -> Result<TargetSpec, SpecError> {
    let mut parts = words.split(',');
    let mesh = parts.next().unwrap_or("");
    if mesh.is_empty() {
        return wrong("emulator: the mesh is missing; for example emulator:n300");
    }
    let settings: Vec<&str> = parts.collect();
    if settings.iter().any(|setting| setting.starts_with("study=")) {
        return study::parse(mesh, &settings).map(TargetSpec::Study);
    }
    parse_scene(mesh, &settings).map(TargetSpec::Emulator)
}

fn parse_scene(mesh: &str, settings: &[&str]) -> Result<Scene, SpecError> {
    let mut scene = Scene::new(mesh);
    let (mut of_fabric, mut of_traffic, mut given) = (None, None, BTreeSet::new());
    for part in settings {
        let Some((key, value)) = part.split_once('=') else {
            return wrong(format!("`{part}` is not a setting of the form key=value"));
        };
        if key != "fault" && !given.insert(key) {
            return twice(key);
        }
        match key {
            "cabling" => scene.cabling = Some(value.to_owned()),
            "host" => scene.host = Some(host(value)?),
            "run" => scene.run = Some(workload(value)?),
            "topology" => (scene.fabric.topology, of_fabric) = (topology(value)?, Some(key)),
            "planes" => {
                scene.fabric.planes = Some(count(key, value)? as u32);
                of_fabric = Some(key);
            }
            "meshes" => {
                scene.fabric.division = Division::Parts(count(key, value)?);
                of_fabric = Some(key);
            }
            "rate" => (scene.fabric_rate_cycles, of_fabric) = (word(key, value)?, Some(key)),
            "timeout" => (scene.packet_timeout_cycles, of_fabric) = (word(key, value)?, Some(key)),
            "ttl" => {
                let hops = value.parse().ok().filter(|hops| *hops > 0);
                let why = || SpecError(format!("ttl: {value} is not from 1 to 255 hops"));
                (scene.ttl, of_traffic) = (hops.ok_or_else(why)?, Some(key));
                of_fabric = Some(key);
            }
            "dateline" => (scene.fabric.dateline, of_fabric) = (switch(key, value)?, Some(key)),
            "traffic" => scene.traffic = packets(key, value)?,
            "pattern" => {
                (scene.pattern, of_fabric, of_traffic) = (pattern(value)?, Some(key), Some(key));
            }
            "firmware" => scene.firmware = Some(folder(key, value)?),
            "kernels" => scene.kernels = Some(folder(key, value)?),
            "at" => scene.at_cycles = Some(time(key, value)?),
            "pace" => scene.pace = pace(value)?,
            "seed" => scene.seed = number(key, value)?,
            "fault" => scene.faults.push(fault(value)?),
            _ => {
                return wrong(format!(
                    "`{key}` is not a setting: cabling, host, run, topology, planes, meshes, dateline, traffic, pattern, \
                     rate, timeout, ttl, firmware, kernels, at, pace, seed, study or fault"
                ));
            }
        }
    }
    let fabrics = [Some(Workload::Fabric), Some(Workload::TtFabric)];
    match of_fabric {
        Some(key) if scene.run != Some(Workload::Fabric) => {
            wrong(format!("{key}: requires run=fabric"))
        }
        _ if scene.traffic > 0 && !fabrics.contains(&scene.run) => {
            wrong("traffic: requires run=fabric or run=tt-fabric")
        }
        _ => match of_traffic.filter(|_| scene.traffic == 0) {
            Some(key) => wrong(format!("{key}: requires traffic=")),
            None => kernels_fit(scene.run, scene.kernels.as_deref()).map(|()| scene),
        },
    }
}

/// A time of a word of a router's arguments.
fn word(key: &str, value: &str) -> Result<u32, SpecError> {
    let cycles = u32::try_from(time(key, value)?).ok().filter(|cycles| *cycles > 0);
    cycles.ok_or_else(|| SpecError(format!("{key}: {value} is not from 1ns to 4294967295ns")))
}

/// Parses a simulator. Only settings after the last commas count: a path may contain commas too.
fn parse_simulator(words: &str) -> Result<Simulator, SpecError> {
    let mut simulator = Simulator { library: words.into(), ..Simulator::default() };
    let (mut left, mut given, mut run) = (words, BTreeSet::new(), None);
    while let Some((before, (key, value))) =
        left.rsplit_once(',').and_then(|(before, last)| Some((before, last.split_once('=')?)))
    {
        if SETTINGS_OF_TTSIM.contains(&key) && !given.insert(key) {
            return twice(key);
        }
        match key {
            "firmware" => simulator.firmware = Some(folder(key, value)?),
            "run" => run = Some(workload(value)?),
            "kernels" => simulator.kernels = Some(folder(key, value)?),
            "traffic" => simulator.traffic = packets(key, value)?,
            "at" => simulator.at_cycles = Some(time(key, value)?),
            _ if key.contains('/') => break,
            _ => {
                let all = SETTINGS_OF_TTSIM.join(", ");
                return wrong(format!("`{key}` is not a setting of ttsim: {all}"));
            }
        }
        left = before;
        simulator.library = left.into();
    }
    match run {
        _ if left.is_empty() => wrong("ttsim: the file is missing"),
        Some(run) if run != Workload::TtFabric => {
            wrong("run: of the workloads only tt-fabric runs on ttsim")
        }
        _ => {
            kernels_fit(run, simulator.kernels.as_deref())?;
            match simulator.traffic {
                1.. if run.is_none() => wrong("traffic: requires run=tt-fabric"),
                _ => Ok(simulator),
            }
        }
    }
}

/// Checks that a folder of kernels is given exactly if they run.
fn kernels_fit(run: Option<Workload>, kernels: Option<&Path>) -> Result<(), SpecError> {
    match (run == Some(Workload::TtFabric), kernels) {
        (false, Some(_)) => wrong("kernels: requires run=tt-fabric"),
        (true, None) => wrong("run=tt-fabric requires kernels=<folder>"),
        _ => Ok(()),
    }
}

fn twice<T>(key: &str) -> Result<T, SpecError> {
    wrong(format!("{key}: given twice"))
}

fn folder(key: &str, value: &str) -> Result<PathBuf, SpecError> {
    if value.is_empty() { wrong(format!("{key}: the folder is missing")) } else { Ok(value.into()) }
}

/// Parses a host's number, from 0.
fn host(value: &str) -> Result<u16, SpecError> {
    value.parse().map_err(|_| SpecError(format!("host: `{value}` is not a host number, from 0")))
}

fn workload(value: &str) -> Result<Workload, SpecError> {
    match value {
        "ring-ping" => Ok(Workload::RingPing),
        "idle" => Ok(Workload::Idle),
        "fabric" => Ok(Workload::Fabric),
        "tt-fabric" => Ok(Workload::TtFabric),
        _ => wrong(format!("`{value}` is not a workload: ring-ping, fabric, tt-fabric or idle")),
    }
}

fn topology(value: &str) -> Result<FabricTopology, SpecError> {
    let names = FabricTopology::ALL.map(FabricTopology::name).join(", ");
    let wrong = || SpecError(format!("topology: `{value}` is not one of {names}"));
    FabricTopology::named(value).ok_or_else(wrong)
}

fn pattern(value: &str) -> Result<TrafficPattern, SpecError> {
    let names = TrafficPattern::ALL.map(TrafficPattern::name).join(" or ");
    let wrong = || SpecError(format!("pattern: `{value}` is not {names}"));
    TrafficPattern::named(value).ok_or_else(wrong)
}

fn switch(key: &str, value: &str) -> Result<bool, SpecError> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => wrong(format!("{key}: `{value}` is neither on nor off")),
    }
}

/// Parses a number from 1.
fn count(key: &str, value: &str) -> Result<usize, SpecError> {
    up_to(u16::MAX.into(), key, value).map(|count| count as usize)
}

/// Parses a number of packets.
fn packets(key: &str, value: &str) -> Result<u64, SpecError> {
    const MOST: u64 = 1_000_000;
    up_to(MOST, key, value)
}

fn up_to(most: u64, key: &str, value: &str) -> Result<u64, SpecError> {
    let counted = value.parse::<u64>().ok().filter(|count| (1..=most).contains(count));
    counted.ok_or_else(|| SpecError(format!("{key}: `{value}` is not a number from 1 to {most}")))
}

fn fault(words: &str) -> Result<Fault, SpecError> {
    words.parse().map_err(|error: FaultError| SpecError(error.to_string()))
}

fn number(key: &str, value: &str) -> Result<u64, SpecError> {
    value.parse().map_err(|_| SpecError(format!("{key}: `{value}` is not a whole number")))
}

/// Parses a time with its unit into cycles of 1 ns; `key` is the setting's name.
///
/// # Errors
/// The reason why the value is invalid.
pub fn time(key: &str, value: &str) -> Result<u64, SpecError> {
    match cycles_of(value) {
        Some(cycles) if cycles <= LATEST_START_CYCLES => Ok(cycles),
        Some(_) => wrong(format!("{key}: {value} is longer than 100s, which would take hours")),
        None => wrong(format!("{key}: `{value}` is not a time such as 2ms, 500us or 1s")),
    }
}

/// Parses cycles per host second, with k, M or G, or `max`.
///
/// # Errors
/// The reason why the value is invalid.
pub fn pace(value: &str) -> Result<Pace, SpecError> {
    if value == "max" {
        return Ok(Pace::Max);
    }
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit());
    let factor: Option<u64> = match unit {
        "" => Some(1),
        "k" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        _ => None,
    };
    let count = value.strip_suffix(unit).and_then(|digits| digits.parse::<u64>().ok());
    match factor.zip(count).and_then(|(factor, count)| factor.checked_mul(count)) {
        Some(0) => wrong("pace: 0 cycles per second would stop time; the least is 1"),
        Some(cycles) => Ok(Pace::CyclesPerSecond(cycles)),
        None => wrong(format!("pace: `{value}` is neither a number of cycles per second nor max")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::*;

    #[test]
    fn a_scene_with_every_setting() {
        let words = "emulator:n300,run=idle,at=2ms,pace=5M,seed=7";
        let TargetSpec::Emulator(scene) = TargetSpec::parse(words).unwrap() else { panic!() };
        assert_eq!(scene.mesh, "n300");
        assert_eq!(scene.run, Some(Workload::Idle));
        assert_eq!(scene.at_cycles, Some(2_000_000));
        assert_eq!(scene.pace, Pace::CyclesPerSecond(5_000_000));
        assert_eq!(scene.seed, 7);
    }

    #[test]
    fn a_scene_with_faults() {
        let words = "emulator:n300,fault=link:0.8:slow=4x@10us,fault=core:0.e8:stuck";
        let TargetSpec::Emulator(scene) = TargetSpec::parse(words).unwrap() else { panic!() };
        let faults: Vec<_> = scene.faults.iter().map(ToString::to_string).collect();
        assert_eq!(faults, ["link:0.8:slow=4x@10us", "core:0.e8:stuck"]);
    }

    #[test]
    fn the_other_kinds() {
        let parse = |words| TargetSpec::parse(words).unwrap();
        let simulator =
            |library: &str| Simulator { library: library.into(), ..Simulator::default() };
        assert_eq!(parse("ttsim:/a/b.so"), TargetSpec::Ttsim(simulator("/a/b.so")));
        let firmware = Simulator { firmware: Some("/d".into()), ..simulator("/a,b.so") };
        let booted = Simulator { at_cycles: Some(2_000), ..firmware.clone() };
        assert_eq!(parse("ttsim:/a,b.so,firmware=/d"), TargetSpec::Ttsim(firmware));
        assert_eq!(parse("ttsim:/a,b.so,firmware=/d,at=2us"), TargetSpec::Ttsim(booted));
        let (kernels, traffic) = (Some("/k".into()), 7);
        let fabric = Simulator { kernels, traffic, ..simulator("/a.so") };
        let words = "ttsim:/a.so,run=tt-fabric,kernels=/k,traffic=7";
        assert_eq!(parse(words), TargetSpec::Ttsim(fabric));
        assert_eq!(parse("socket:/tmp/x"), TargetSpec::Sockets(vec!["/tmp/x".into()]));
        let path = std::env::temp_dir().join(format!("meshscope-spec-{}", std::process::id()));
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let found = parse(path.to_str().unwrap());
        assert_eq!(found, TargetSpec::Sockets(vec![path.clone()]));
        drop(listener);
        std::fs::remove_file(&path).unwrap();
        let two = TargetSpec::Sockets(vec!["/a,b".into(), "c".into()]);
        assert_eq!(parse("socket:/a,b,socket:c"), two);
        assert_eq!(parse("/dev/tenstorrent/0"), TargetSpec::Silicon("/dev/tenstorrent/0".into()));
        let by_id = "/dev/tenstorrent/by-id/wormhole-0100014611703014";
        assert_eq!(parse(by_id), TargetSpec::Silicon(by_id.into()));
        assert_eq!(parse("silicon"), TargetSpec::Silicon("silicon".into()));
        assert_eq!(parse("sick.mcap"), TargetSpec::Recording("sick.mcap".into(), None));
        assert_eq!(parse("/a/s.json"), TargetSpec::FabricSnapshot("/a/s.json".into()));
    }

    #[test]
    fn a_file_without_a_dot_is_a_recording_once_it_is_there() {
        // Tests run in the folder of their crate. A folder is not a recording.
        assert!(TargetSpec::parse("src").is_err());
        let name = format!("sick-{}", std::process::id());
        assert!(TargetSpec::parse(&name).is_err());
        std::fs::write(&name, "").unwrap();
        let parsed = TargetSpec::parse(&name);
        std::fs::remove_file(&name).unwrap();
        assert_eq!(parsed.unwrap(), TargetSpec::Recording(name.into(), None));
    }

    #[test]
    fn each_mistake_has_its_sentence() {
        for (words, part) in [
            ("", "is empty"),
            ("n300", "is not a target"),
            ("emulator:", "the mesh is missing"),
            ("emulator:n300,run=fly", "not a workload"),
            ("emulator:n300,run=fabric,topology=tree", "not one of line, ring, mesh, torus"),
            ("emulator:n300,run=fabric,planes=0", "planes: `0` is not a number from 1 to 65535"),
            ("emulator:n300,topology=line", "topology: requires run=fabric"),
            ("emulator:n300,run=fabric,pattern=far", "pattern: requires traffic="),
            ("emulator:n300,run=fabric,ttl=4", "ttl: requires traffic="),
            ("emulator:n300,run=fabric,traffic=3,ttl=0", "ttl: 0 is not from 1 to 255 hops"),
            ("emulator:n300,timeout=1ms", "timeout: requires run=fabric"),
            ("emulator:n300,traffic=3", "traffic: requires run=fabric or run=tt-fabric"),
            ("emulator:n300,run=tt-fabric", "run=tt-fabric requires kernels=<folder>"),
            ("emulator:n300,run=tt-fabric,kernels=", "kernels: the folder is missing"),
            ("emulator:n300,kernels=k", "kernels: requires run=tt-fabric"),
            ("emulator:n300,run=tt-fabric,kernels=k,planes=1", "planes: requires run=fabric"),
            ("emulator:n300,at=2", "not a time"),
            ("emulator:n300,at=99999999999999999s", "longer than 100s"),
            ("emulator:n300,at=99999999s", "longer than 100s, which would take hours"),
            ("emulator:n300,at=100001ms", "longer than 100s"),
            ("/dev/null", "`/dev/null` is not a Tenstorrent device: use /dev/tenstorrent/<n>"),
            ("/dev/tenstorrent", "not a Tenstorrent device"),
            ("/dev/tenstorrent/x", "not a Tenstorrent device"),
            ("/dev/tenstorrent/by-id/", "not a Tenstorrent device"),
            ("emulator:n300,pace=x", "pace"),
            ("emulator:n300,seed=x", "not a whole number"),
            ("emulator:n300,seed=1,seed=2", "seed: given twice"),
            ("ttsim:a.so,at=1ms,at=2ms", "at: given twice"),
            ("emulator:n300,rate=1ms", "rate: requires run=fabric"),
            ("emulator:n300,run=fabric,rate=1d", "rate: `1d` is not a time such as"),
            ("emulator:n300,run=fabric,rate=0us", "rate: 0us is not from 1ns to 4294967295ns"),
            ("emulator:n300,color=red", "not a setting"),
            ("emulator:n300,idle", "key=value"),
            ("emulator:n300,fault=link:0.8:off", "is not a fault of a link"),
            ("ttsim:", "the file is missing"),
            ("socket:a,socket:", "the file is missing"),
            ("emulator:tgg,host=x", "not a host number"),
            ("ttsim:,firmware=/d", "the file is missing"),
            ("ttsim:a.so,firmware=", "the folder is missing"),
            ("ttsim:a.so,run=fabric", "only tt-fabric runs on ttsim"),
            ("ttsim:a.so,run=tt-fabric", "run=tt-fabric requires kernels=<folder>"),
            ("ttsim:a.so,kernels=k", "kernels: requires run=tt-fabric"),
            ("ttsim:a.so,traffic=3", "traffic: requires run=tt-fabric"),
            ("ttsim:a.so,color=red", "`color` is not a setting of ttsim"),
            ("emulator:n300,firmware=", "the folder is missing"),
        ] {
            let error = TargetSpec::parse(words).unwrap_err().to_string();
            assert!(error.contains(part), "{words}: {error}");
        }
    }
}
