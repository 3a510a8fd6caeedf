//! What machines are told: OpenMetrics on standard output and over HTTP, JUnit XML, and a line of JSON for
//! each snapshot.

use crate::common::stderr;
use crate::readers::lines;
use crate::scratch::{Scratch, meshscope, meshscope_command};
use roxmltree::Document;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

const RECORDING: &str = "recordings/library/n300_router_stuck.mcap";

/// A verb that runs until it is killed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves the metrics of a target; returns the address.
fn served(target: &str) -> (Running, String) {
    let mut command = meshscope_command();
    command.args(["--target", target, "metrics", "--listen", "127.0.0.1:0"]);
    let mut child = Running(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let line = said.find(|line| line.as_ref().unwrap().contains("http://")).unwrap().unwrap();
    std::thread::spawn(move || said.for_each(drop));
    let address = line.split_once("http://").unwrap().1.strip_suffix("/metrics").unwrap();
    (child, address.to_owned())
}

/// Sends bytes, and returns the answer's status line and all of it.
fn asked(address: &str, request: &[u8]) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    // Who is refused before all is sent may see that the other end has closed.
    let _ = stream.write_all(request);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    (answer.lines().next().unwrap_or("").to_owned(), answer)
}

#[test]
fn metrics_have_the_names_of_tt_telemetry() {
    let output = meshscope(&["--target", RECORDING, "metrics"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let host = text.split_once("hostname=\"").unwrap().1.split_once('"').unwrap().0;
    let text = text.replace(&format!("\"{host}\""), "\"HOST\"");
    let wanted = std::fs::read_to_string("tests/golden/metrics.txt").unwrap_or_default();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write("tests/golden/metrics.txt", &text).unwrap();
        return;
    }
    assert_eq!(text, wanted, "{text}");
}

#[test]
fn prometheus_reads_the_metrics() {
    let scratch = Scratch::new("metrics");
    let file = scratch.path("metrics.txt");
    let target = "emulator:n300,fault=link:0.8:down";
    let output = meshscope(&["--target", target, "metrics", "--for", "6ms"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    std::fs::write(&file, &output.stdout).unwrap();
    let Some(lines) = lines("metrics.py", &file) else { return };
    let has = |line: &str| assert!(lines.iter().any(|it| it == line), "{line}: {lines:?}");
    has("linkIsUp chip=0 channel=8 peer_chip=1 peer_channel=0 0");
    has("linkIsUp chip=1 channel=1 peer_chip=0 peer_channel=9 1");
    has("meshscope_health state=hang 1");
    has("meshscope_health state=healthy 0");
    has("meshscope_findings condition=link-down severity=hang place=link 0:e8-1:e0 1");
}

#[test]
fn metrics_are_served_to_whoever_asks_rightly() {
    let (_child, address) = served("emulator:n300,run=idle");
    let get = b"GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n";
    let (status, first) = asked(&address, get);
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(
        first.contains("application/openmetrics-text") && first.ends_with("# EOF\n"),
        "{first}"
    );
    assert_eq!(asked(&address, b"GET / HTTP/1.1\r\n\r\n").0, "HTTP/1.1 404 Not Found");
    assert_eq!(
        asked(&address, b"POST /metrics HTTP/1.1\r\n\r\n").0,
        "HTTP/1.1 405 Method Not Allowed"
    );
    assert_eq!(asked(&address, b"\x00\xff\r\n\r\n").0, "HTTP/1.1 400 Bad Request");
    // One that sends for ever, one that sends nothing, and one that goes away cost the next nothing.
    let long = [b"GET /metrics HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; 1 << 20]].concat();
    asked(&address, &long);
    drop(TcpStream::connect(&address).unwrap());
    let many = "X: y\r\n".repeat(1000);
    let (status, _) = asked(&address, format!("GET /metrics HTTP/1.1\r\n{many}\r\n").as_bytes());
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert_eq!(asked(&address, get).0, "HTTP/1.1 200 OK");
}

#[test]
fn json_of_a_verb_that_prints_none_is_refused() {
    for verb in [&["metrics"][..], &["record", "x.mcap"], &["completions", "bash"]] {
        let output = meshscope(&[&["--target", RECORDING, "--json"], verb].concat());
        assert_eq!(output.status.code(), Some(2), "{verb:?}");
        assert_eq!(stderr(&output), format!("meshscope: --json: {} prints no JSON\n", verb[0]));
    }
}

#[test]
fn an_address_that_cannot_be_listened_at_is_one_sentence() {
    let output = meshscope(&["--target", RECORDING, "metrics", "--listen", "192.0.2.1:9464"]);
    assert_eq!(output.status.code(), Some(2));
    let says = stderr(&output);
    assert!(says.contains("--listen 192.0.2.1:9464: ") && says.lines().count() == 1, "{says}");
}

#[test]
fn a_verdict_is_a_test_report() {
    let scratch = Scratch::new("junit");
    let report = |name: &str, arguments: &[&str]| {
        let file = scratch.path(name);
        let verb = [arguments, &["--junit", file.to_str().unwrap()]].concat();
        let output = meshscope(&verb);
        // An existing file is not overwritten.
        let again = meshscope(&verb);
        assert!(stderr(&again).contains("exists already"), "{}", stderr(&again));
        (std::fs::read_to_string(&file).unwrap(), output.status.code())
    };
    let (text, code) =
        report("bad.xml", &["--target", "emulator:n300,fault=link:0.8:down", "check"]);
    assert_eq!(code, Some(1));
    let document = Document::parse(&text).unwrap();
    let failures: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("failure"))
        .map(|node| {
            let name = node.parent().unwrap().attribute("name").unwrap();
            (name, node.attribute("type").unwrap(), node.attribute("message"))
        })
        .collect();
    let sentence = "link 0:e8-1:e0: it is down";
    assert_eq!(
        failures,
        [("verdict", "hang", None), ("link-down at link 0:e8-1:e0", "hang", Some(sentence))]
    );
    let (text, code) =
        report("good.xml", &["--target", "emulator:n300,run=idle", "why", "--for", "6ms"]);
    assert_eq!(code, Some(0));
    let document = Document::parse(&text).unwrap();
    let cases: Vec<_> = document.descendants().filter(|it| it.has_tag_name("testcase")).collect();
    assert_eq!(cases.len(), 1, "{text}");
    assert_eq!(document.root_element().attribute("failures"), Some("0"));
}

#[test]
fn a_watched_verb_prints_a_line_for_each_snapshot() {
    let mut command = meshscope_command();
    command.args(["--target", "emulator:n300", "links", "--watch=200us"]);
    let mut child = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines().take(3);
    let cycles = lines.map(|line| {
        let answer: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert_eq!(answer["links"].as_array().unwrap().len(), 2);
        answer["cycles"].as_u64().unwrap()
    });
    let cycles: Vec<u64> = cycles.collect();
    assert!(cycles.windows(2).all(|it| it[1] >= it[0] + 200_000), "{cycles:?}");
    for (arguments, says) in [
        (&["--target", RECORDING, "mesh", "--watch"][..], "is a recording, which does not go on"),
        (&["--target", "emulator:n300", "explain", "--watch"], "--watch is for mesh, cores, "),
        (&["--target", "emulator:n300", "links", "--watch=soon"], "--watch: "),
        (&["--target", "emulator:n300", "why", "--watch=1ms"], "--watch: why "),
    ] {
        let output = meshscope(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}
