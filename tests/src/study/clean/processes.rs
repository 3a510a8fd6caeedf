//! Launchers that are processes of meshscope and get SIGKILL, on a mesh that another serves.

use super::pseudo::{self, Script};
use super::{Cleaned, Killed, Site, transports};
use collectives::Transport;
use launch::dice::Random;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use studies::shape::StudyError;
use workloads::scene::Scene;

/// What a client may do.
const ALLOW: [&str; 2] = ["--allow", "launch,write,reset"];
/// The collective of a launcher: each message stays in its buffer for a while, so that something
/// stands at most moments.
const SLOW: &str = "all-gather -b 64K --delay 3ms --check --transport";
/// The collective that must have the right data afterwards.
const NEXT: &str = "all-gather -b 16K --check --transport";
/// Moments after which the life of a launcher is measured again.
const MEASURED_EVERY: u32 = 10;
/// How often a launcher may end before its moment, because the machine is faster than before.
const MOST_TRIES: u32 = 20;
/// A time limit above that of any launcher, on any machine.
const PATIENCE: Duration = Duration::from_mins(5);
/// The exit code of a launcher that finds no way to run on this mesh.
const USAGE: i32 = 2;
/// The interval at which a launcher's end is looked for.
const PAUSE: Duration = Duration::from_millis(1);

/// A launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launcher {
    /// The verb `run`; over the fabric it brings the fabric up and owns it.
    Run,
    /// The live view with `:run`, in a pseudo terminal.
    LiveView,
}

impl Launcher {
    const ALL: [Self; 2] = [Self::Run, Self::LiveView];

    fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::LiveView => "live view",
        }
    }
}

/// The number of rows.
pub(super) const ROWS: u64 = 4;

/// Kills `count` launchers of each kind over each transport; they are processes of this program.
pub(super) fn study(
    program: &Path,
    mesh: &str,
    seed: u64,
    count: u64,
    report: &mut dyn FnMut(u64),
) -> Result<Vec<Killed>, StudyError> {
    Scene::new(mesh).descriptor().map_err(StudyError::on(mesh))?;
    let (mut done, mut rows) = (0, Vec::new());
    for launcher in Launcher::ALL {
        for transport in transports() {
            let mut random = Random(seed);
            let mut killed = Killed::none(launcher.name(), transport);
            let mut site = Processes::new(program, (mesh, seed), launcher, transport)?;
            for _ in 0..count {
                killed.add(&mut site, &mut random)?;
                done += 1;
                report(done);
            }
            rows.push(killed);
        }
    }
    Ok(rows)
}

/// A served mesh and its clients.
struct Processes<'a> {
    program: &'a Path,
    /// The mesh to serve.
    words: String,
    launcher: Launcher,
    transport: &'static str,
    /// The time that a launcher takes which nobody kills.
    life: Duration,
    /// Moments until it is measured again: other programs make the machine slower and faster.
    moments_left: u32,
    server: Server<'a>,
}

impl<'a> Processes<'a> {
    fn new(
        program: &'a Path,
        (mesh, seed): (&str, u64),
        launcher: Launcher,
        transport: Transport,
    ) -> Result<Self, StudyError> {
        let words = format!("emulator:{mesh},run=idle,seed={seed}");
        let server = Server::start(program, &words)?;
        let (life, moments_left) = (Duration::ZERO, 0);
        let transport = transport.name();
        Ok(Self { program, words, launcher, transport, life, moments_left, server })
    }

    /// Lets a launcher live, and measures how long.
    fn measure(&mut self) -> Result<(), StudyError> {
        let whole = self.launch()?.ended(PATIENCE)?;
        self.life = whole.ok_or_else(|| internal("a launcher does not end"))?;
        self.moments_left = MEASURED_EVERY;
        Ok(())
    }

    fn launch(&self) -> Result<Launched, StudyError> {
        let start = Instant::now();
        let (process, done) = match self.launcher {
            Launcher::Run => {
                let mut command = self.server.client();
                command.arg("run").args(SLOW.split(' ')).arg(self.transport);
                command.stdout(Stdio::null()).stderr(Stdio::piped());
                (command.spawn().map_err(|error| failed(&error))?, None)
            }
            Launcher::LiveView => {
                let line = format!(":run {SLOW} {}\r", self.transport);
                let script = Script { ready: "links:", line, done: "correct" };
                let started = pseudo::start(self.server.client(), script);
                let (process, done) = started.map_err(|error| failed(&error))?;
                (process, Some(done))
            }
        };
        Ok(Launched { process, done, start })
    }

    /// The first line on standard error of a client that has failed.
    fn why(output: &Output) -> String {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().next().unwrap_or("it does not say why");
        format!("{line} ({})", output.status)
    }
}

impl Site for Processes<'_> {
    type Error = StudyError;

    fn kill(&mut self, random: &mut Random) -> Result<String, StudyError> {
        self.server = Server::start(self.program, &self.words)?;
        if self.moments_left == 0 {
            self.measure()?;
        }
        self.moments_left -= 1;
        for _ in 0..MOST_TRIES {
            let micros = random.below(self.life.as_micros() as u64);
            let mut launched = self.launch()?;
            // A launcher that ended leaves its mesh idle.
            if let Some(life) = launched.ended(Duration::from_micros(micros))? {
                self.life = life;
            } else {
                launched.kill();
                return Ok(format!("after {micros} us of a {}", self.launcher.name()));
            }
        }
        Err(internal("every launcher ends before its moment"))
    }

    fn clean(&mut self, escalate: bool) -> Result<Cleaned, StudyError> {
        let mut command = self.server.client();
        command.args(["clean", "--json"]).args(escalate.then_some("--escalate"));
        let output = command.output().map_err(|error| failed(&error))?;
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let known = answer.as_ref().and_then(|answer| {
            let tiles = answer["tiles"].as_array()?.len();
            Some((tiles, answer["clean"].as_bool()?, answer["sentence"].as_str()?.to_owned()))
        });
        let (tiles, clean, sentence) = known.unwrap_or_else(|| (0, false, Self::why(&output)));
        Ok(Cleaned { tiles, clean, sentence })
    }

    /// That the mesh is free is what the next launcher checks.
    fn in_flight(&mut self) -> Result<Option<String>, StudyError> {
        Ok(None)
    }

    fn all_gather(&mut self) -> Result<Option<String>, StudyError> {
        let mut command = self.server.client();
        command.arg("run").args(NEXT.split(' ')).arg(self.transport);
        let output = command.output().map_err(|error| failed(&error))?;
        let right = output.status.success();
        Ok((!right).then(|| format!("the next all-gather failed: {}", Self::why(&output))))
    }
}

/// A launcher that runs.
struct Launched {
    process: Child,
    /// Set when the live view, which stays, has said that its run is done.
    done: Option<Arc<AtomicBool>>,
    start: Instant,
}

impl Launched {
    /// Waits until its run has ended, but no longer than until this time of its life. Returns its
    /// life, if it has ended.
    fn ended(&mut self, moment: Duration) -> Result<Option<Duration>, StudyError> {
        while self.start.elapsed() < moment {
            if self.done.as_ref().is_some_and(|done| done.load(Ordering::Relaxed)) {
                return Ok(Some(self.start.elapsed()));
            }
            match self.process.try_wait().map_err(|error| failed(&error))? {
                Some(status) if status.success() => return Ok(Some(self.start.elapsed())),
                Some(status) => {
                    let mut said = String::new();
                    let stderr = self.process.stderr.take();
                    stderr.and_then(|mut stderr| stderr.read_to_string(&mut said).ok());
                    let said = said.lines().next().unwrap_or_default();
                    let why = format!("a launcher ended with {status}: {said}");
                    return Err(match status.code() {
                        Some(USAGE) => StudyError::Usage(why),
                        _ => StudyError::Finding(why),
                    });
                }
                None => {}
            }
            std::thread::sleep(PAUSE.min(moment.saturating_sub(self.start.elapsed())));
        }
        Ok(None)
    }

    /// Sends SIGKILL and waits for the end.
    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A process that serves the mesh, and is ended with it.
struct Server<'a> {
    program: &'a Path,
    process: Child,
    socket: PathBuf,
    /// Kept open, as the server has more to say.
    said: BufReader<ChildStderr>,
}

impl<'a> Server<'a> {
    fn start(program: &'a Path, mesh: &str) -> Result<Self, StudyError> {
        /// Each server has a socket of its own.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("meshscope-study-{}-{number}", std::process::id());
        let socket = std::env::temp_dir().join(name);
        let mut command = Command::new(program);
        command.args(["serve", mesh, "--socket"]).arg(&socket).stderr(Stdio::piped());
        let mut process = command.stdin(Stdio::null()).spawn().map_err(|error| failed(&error))?;
        let stderr = process.stderr.take().ok_or_else(|| internal("a server says nothing"))?;
        let mut server = Self { program, process, socket, said: BufReader::new(stderr) };
        let mut line = String::new();
        while !line.contains("is served") {
            line.clear();
            let read = server.said.read_line(&mut line).map_err(|error| failed(&error))?;
            if read == 0 {
                return Err(internal("a server ended"));
            }
        }
        Ok(server)
    }

    fn client(&self) -> Command {
        let mut command = Command::new(self.program);
        command.arg("--target").arg(format!("socket:{}", self.socket.display())).args(ALLOW);
        // What studies do to meshes of their own is not logged.
        command.env("MESHSCOPE_AUDIT_LOG", "/dev/null").stdin(Stdio::null());
        command
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn failed(error: &io::Error) -> StudyError {
    StudyError::Internal(format!("a process of the study: {error}"))
}

fn internal(why: &str) -> StudyError {
    StudyError::Internal(why.to_owned())
}
