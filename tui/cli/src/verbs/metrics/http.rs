//! A server of one page over HTTP/1.1. Requests are answered one after the other, so that none waits for
//! the machine beside another; a client that is slow or sends too much is left.

use crate::output::say;
use console::exit::Failure;
use httparse::{EMPTY_HEADER, Request, Status};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The media type of OpenMetrics.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// A longer request is refused.
const MOST_BYTES: usize = 8 << 10;
const MOST_HEADERS: usize = 64;
/// A client has this time to send its request, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Serves the page at `/metrics` for good. What cannot be had is said to the client, and here once.
pub(super) fn serve<T>(
    listener: &TcpListener,
    page: &mut dyn FnMut() -> Result<String, Failure>,
) -> Result<T, Failure> {
    let mut said = String::new();
    loop {
        // A client that is gone before it is accepted is no end.
        let Ok((mut stream, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let (status, kind, body) = match asked(&mut stream) {
            Ok(path) if path == "/metrics" => match page() {
                Ok(text) => ("200 OK", OPEN_METRICS, text),
                Err(failure) => {
                    let why = failure.to_string();
                    if std::mem::replace(&mut said, why.clone()) != why {
                        say(&why);
                    }
                    ("503 Service Unavailable", PLAIN, why + "\n")
                }
            },
            Ok(_) => ("404 Not Found", PLAIN, "the metrics are at /metrics\n".to_owned()),
            Err(refusal) => (refusal, PLAIN, String::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        // A client that does not take its answer is left.
        let _ = stream
            .set_write_timeout(Some(PATIENCE))
            .and_then(|()| stream.write_all((head + &body).as_bytes()));
    }
}

/// Reads a request, and returns its path, or the status with which it is refused.
fn asked(stream: &mut TcpStream) -> Result<String, &'static str> {
    const BAD: &str = "400 Bad Request";
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    loop {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut request = Request::new(&mut headers);
        if request.parse(&bytes).map_err(|_| BAD)? != Status::Partial {
            let path = request.path.unwrap_or("").split('?').next().unwrap_or("");
            return match request.method {
                Some("GET") => Ok(path.to_owned()),
                _ => Err("405 Method Not Allowed"),
            };
        }
        if bytes.len() > MOST_BYTES {
            return Err("431 Request Header Fields Too Large");
        }
        let left = until.saturating_duration_since(Instant::now());
        read_some(stream, left, &mut bytes).map_err(|_| "408 Request Timeout")?;
    }
}

/// Adds what the client has sent; an error if that is nothing.
fn read_some(stream: &mut TcpStream, left: Duration, bytes: &mut Vec<u8>) -> io::Result<()> {
    // A read timeout of zero is an error of usage.
    stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
    let mut some = [0; 1024];
    let count = stream.read(&mut some)?;
    bytes.extend_from_slice(&some[..count]);
    if count == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
