//! One host: its agent's process, the connection to it, and what is known of it while it does not answer.

use super::message::{Reply, Request, Status, VERSION, Welcome};
use crate::process::{self, Process};
use crate::socket_bar::LastWords;
use crate::wire::{Outbox, Received, receive};
use machine::clock::host_micros;
use machine::snapshot::AccessError;
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An agent that does not answer for so long counts as lost; it may be waiting for chips that do not
/// answer.
const PATIENCE: Duration = Duration::from_mins(1);
/// An agent has so long to log in, and to find its mesh.
const FIRST_PATIENCE: Duration = Duration::from_mins(3);
/// A lost agent is started again after this time.
const RETRY: Duration = Duration::from_secs(2);
/// The time that differs least from the request to the answer tells the clock's offset best; one that is
/// older than this counts no more.
const CLOCK_AGE: Duration = Duration::from_mins(5);

/// A host, and how its agent is started there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The destination for ssh: `[user@]host[:port]`.
    pub destination: String,
    /// The target that the agent opens there.
    pub target: String,
}

impl Remote {
    /// The destination as ssh takes it.
    fn address(&self) -> String {
        let has_port = self.destination.contains(':');
        format!("{}{}", if has_port { "ssh://" } else { "" }, self.destination)
    }

    /// The command that starts the agent: `MESHSCOPE_SSH` or ssh, which asks nobody for a password.
    fn command(&self, allow: &str) -> Command {
        let ssh = std::env::var("MESHSCOPE_SSH").unwrap_or_else(|_| "ssh".to_owned());
        let mut words = ssh.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("ssh"));
        // A shell takes the target for one word.
        let target = self.target.replace('\'', r"'\''");
        command.args(words).args(["-T", "-o", "BatchMode=yes", "--"]);
        command.arg(self.address());
        let allow = if allow.is_empty() { String::new() } else { format!(" --allow {allow}") };
        command.arg(format!("exec meshscope --target '{target}'{allow} agent --stdio"));
        command
    }
}

/// An open connection.
struct Line {
    stream: BufReader<UnixStream>,
    outbox: Outbox,
    process: Process,
}

enum State {
    Up(Line),
    Down { reason: AccessError, since: Instant, next: Option<JoinHandle<Opened>> },
}

type Opened = Result<(Line, Welcome), AccessError>;

/// A host whose machine is part of the target.
pub(super) struct Host {
    remote: Remote,
    allow: String,
    state: State,
    /// What its agent has said of its machine.
    pub(super) welcome: Welcome,
    /// Its last status.
    pub(super) status: Status,
    /// When `status` came.
    pub(super) told: Instant,
    /// Cycles that were let pass since.
    pub(super) passed: u64,
    clock: Clock,
    /// Bus transactions of agents before this one.
    before: u64,
    /// Host time when the request was sent that is not answered yet.
    asked: u64,
}

/// How far a host's clock is ahead of this host's.
#[derive(Clone, Copy, Default)]
struct Clock {
    ahead_micros: i64,
    /// The time on the way that belongs to it, and when it was found.
    best: Option<(u64, Instant)>,
}

impl Clock {
    /// Learns from a request and its answer, by the four times of their ends (RFC 5905, section 8).
    fn learn(&mut self, sent: u64, [came, went]: [u64; 2], received: u64) {
        let under_way = (received.saturating_sub(sent)).saturating_sub(went.saturating_sub(came));
        let now = Instant::now();
        let worse = |(best, at): (u64, Instant)| best < under_way && at.elapsed() < CLOCK_AGE;
        if self.best.is_some_and(worse) {
            return;
        }
        let there = (came as i64).wrapping_sub(sent as i64);
        let back = (went as i64).wrapping_sub(received as i64);
        self.best = Some((under_way, now));
        self.ahead_micros = there.midpoint(back);
    }
}

impl Host {
    /// Starts an agent and waits for its machine.
    ///
    /// # Errors
    /// `Unreachable` with what ssh or the agent said, `Refused` by an agent of another version.
    pub(super) fn open(remote: &Remote, allow: &str) -> Result<Self, AccessError> {
        let (line, welcome) = open(remote, allow)?;
        Ok(Self {
            remote: remote.clone(),
            allow: allow.to_owned(),
            state: State::Up(line),
            status: welcome.status.clone(),
            told: Instant::now(),
            passed: 0,
            welcome,
            clock: Clock::default(),
            before: 0,
            asked: 0,
        })
    }

    /// Returns the bus transactions on the host since the target was opened.
    pub(super) fn transactions(&self) -> u64 {
        self.before + self.status.transactions
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> &str {
        &self.remote.destination
    }

    /// Returns a time of its clock by that of this host, in microseconds.
    pub(super) fn here(&self, micros: u64) -> u64 {
        micros.saturating_add_signed(self.clock.ahead_micros.saturating_neg())
    }

    /// Why it does not answer; none if it does.
    pub(super) fn lost(&self) -> Option<&AccessError> {
        match &self.state {
            State::Up(_) => None,
            State::Down { reason, .. } => Some(reason),
        }
    }

    /// Starts a lost agent again, beside everything else, and takes it once it has found the same mesh.
    pub(super) fn come_back(&mut self) {
        let State::Down { reason, since, next } = &mut self.state else { return };
        let Some(ready) = next.take_if(|next| next.is_finished()) else {
            if next.is_none() && since.elapsed() >= RETRY {
                let (remote, allow) = (self.remote.clone(), self.allow.clone());
                *next = Some(std::thread::spawn(move || open(&remote, &allow)));
            }
            return;
        };
        *since = Instant::now();
        match ready.join() {
            Ok(Ok((line, welcome))) if welcome.mesh.chips == self.welcome.mesh.chips => {
                self.before += self.status.transactions;
                self.status = welcome.status.clone();
                (self.told, self.passed, self.clock) = (Instant::now(), 0, Clock::default());
                self.welcome = welcome;
                self.state = State::Up(line);
            }
            Ok(Ok(_)) => *reason = unreachable(&self.remote, "it came back with another mesh"),
            Ok(Err(why)) => *reason = why,
            Err(_) => *reason = unreachable(&self.remote, "its connection ended"),
        }
    }

    /// Sends a request; one that cannot be sent loses the host.
    pub(super) fn send(&mut self, request: &Request) {
        self.asked = host_micros();
        let State::Up(line) = &mut self.state else { return };
        if let Err(error) = line.outbox.send(line.stream.get_mut(), request) {
            self.lose(&error.to_string());
        }
    }

    /// Receives the answer to the last request, and its plain bytes.
    pub(super) fn receive(&mut self) -> Result<(Reply, Vec<u8>), AccessError> {
        let mut bytes = Vec::new();
        let line = match &mut self.state {
            State::Up(line) => line,
            State::Down { reason, .. } => return Err(reason.clone()),
        };
        match receive::<Reply>(&mut line.stream, &mut bytes) {
            Ok(Received::Message(reply)) => {
                if let Reply::Read(_, status) | Reply::Written(_, status) | Reply::Done(_, status) =
                    &reply
                {
                    self.clock.learn(self.asked, status.micros, host_micros());
                    self.status = (**status).clone();
                    (self.told, self.passed) = (Instant::now(), 0);
                }
                Ok((reply, bytes))
            }
            Ok(_) => Err(self.lose("its connection ended")),
            Err(error) => Err(self.lose(&in_words(&error))),
        }
    }

    /// Sends a request and receives its answer.
    pub(super) fn ask(&mut self, request: &Request) -> Result<(Reply, Vec<u8>), AccessError> {
        self.send(request);
        self.receive()
    }

    /// Counts the host as lost, since it answered something else.
    pub(super) fn lose_by_answer(&mut self) -> AccessError {
        self.lose("it sent an unexpected answer")
    }

    /// Counts the host as lost, with what its process said last.
    pub(super) fn lose(&mut self, why: &str) -> AccessError {
        let said = match &mut self.state {
            State::Up(line) => line.process.last_words(),
            State::Down { reason, .. } => return reason.clone(),
        };
        let reason = unreachable(&self.remote, said.as_deref().unwrap_or(why));
        self.state = State::Down { reason: reason.clone(), since: Instant::now(), next: None };
        reason
    }
}

fn unreachable(remote: &Remote, why: &str) -> AccessError {
    AccessError::Unreachable(format!("host {}: {why}", remote.destination))
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock => "it does not answer".to_owned(),
        io::ErrorKind::InvalidData => format!("what it sent is no answer of an agent: {error}"),
        _ => error.to_string(),
    }
}

fn open(remote: &Remote, allow: &str) -> Opened {
    let mut command = remote.command(allow);
    let program = command.get_program().to_string_lossy().into_owned();
    let started = process::talking(&mut command);
    let (stream, mut process) =
        started.map_err(|error| unreachable(remote, &format!("{program}: {error}")))?;
    let mut lost = |why: String| {
        let said = process.last_words().unwrap_or(why);
        let said = said.trim_end_matches('.');
        // A shell that finds no program ends with 127, and ssh that cannot log in with 255.
        let next = match process.exit_code() {
            Some(127) => "; meshscope must be in the PATH there".to_owned(),
            Some(255) => {
                format!("; `{program} {}` must log in without a question", remote.address())
            }
            _ => String::new(),
        };
        unreachable(remote, &format!("{said}{next}"))
    };
    let wait = |time| {
        let set = stream.set_read_timeout(Some(time));
        set.and_then(|()| stream.set_write_timeout(Some(time)))
    };
    wait(FIRST_PATIENCE).map_err(|error| unreachable(remote, &error.to_string()))?;
    let mut outbox = Outbox::default();
    let sent = outbox.send(&mut &stream, &Request::Hello { version: VERSION });
    sent.map_err(|error| lost(error.to_string()))?;
    let mut reader = BufReader::new(&stream);
    let welcome = match receive::<Reply>(&mut reader, &mut Vec::new()) {
        Ok(Received::Message(Reply::Welcome(mut welcome))) => {
            if !welcome.check() {
                return Err(unreachable(remote, "its agent describes no mesh that can be"));
            }
            *welcome
        }
        Ok(Received::Message(Reply::Refused(why))) => {
            return Err(AccessError::Refused(format!("host {}: {why}", remote.destination)));
        }
        Ok(_) => return Err(lost("its connection ended".to_owned())),
        Err(error) => return Err(lost(in_words(&error))),
    };
    wait(PATIENCE).map_err(|error| unreachable(remote, &error.to_string()))?;
    Ok((Line { stream: BufReader::new(stream), outbox, process }, welcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_told_by_the_answer_that_was_least_under_way() {
        let mut clock = Clock::default();
        // Ahead by 1,000, and 10 under way each way; the machine took 500.
        clock.learn(5_000, [6_010, 6_510], 5_520);
        assert_eq!(clock.ahead_micros, 1_000);
        // One that was held up on the way back tells less.
        clock.learn(7_000, [8_010, 8_020], 9_000);
        assert_eq!(clock.ahead_micros, 1_000);
        clock.learn(10_000, [11_002, 11_010], 10_011);
        assert_eq!(clock.ahead_micros, 1_000);
    }

    #[test]
    fn a_target_is_one_word_of_the_shell_there() {
        let remote = Remote { destination: "me@h:22".into(), target: "emulator:a'b; c".into() };
        let command = remote.command("write");
        let last = command.get_args().last().map(ToOwned::to_owned);
        let says = r"exec meshscope --target 'emulator:a'\''b; c' --allow write agent --stdio";
        assert_eq!(last, Some(says.into()));
        assert!(command.get_args().any(|word| word == "ssh://me@h:22"));
    }
}
