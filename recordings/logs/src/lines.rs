//! Lines of a file that may be of any length.

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};

/// Removes the sequences that colour a terminal.
fn remove_escapes(bytes: &mut Vec<u8>) {
    const ESCAPE: u8 = 0x1b;
    if !bytes.contains(&ESCAPE) {
        return;
    }
    let mut within = false;
    // A sequence ends with a letter.
    bytes.retain(|byte| {
        let removed = within || *byte == ESCAPE;
        within = removed && !byte.is_ascii_alphabetic();
        !removed
    });
}

/// Reads lines up to a limit; what is longer is skipped.
pub(crate) struct Lines<R> {
    reader: R,
    most_bytes: usize,
    bytes: Vec<u8>,
    /// How many lines were longer.
    pub(crate) cut: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R, most_bytes: usize) -> Self {
        Self { reader, most_bytes, bytes: Vec::new(), cut: 0 }
    }

    /// Returns the next line without its end and without colours, and whether it is whole; none at the end
    /// of the file. What is not UTF-8 is replaced.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Cow<'_, str>, bool)>> {
        self.bytes.clear();
        let most = self.most_bytes as u64 + 1;
        let read = self.reader.by_ref().take(most).read_until(b'\n', &mut self.bytes)?;
        if read == 0 {
            return Ok(None);
        }
        let ended = self.bytes.last() == Some(&b'\n');
        let whole = ended || (read as u64) < most;
        if ended {
            self.bytes.pop();
            self.bytes.pop_if(|byte| *byte == b'\r');
        }
        if !whole {
            self.cut += 1;
            self.bytes.truncate(self.most_bytes);
            self.skip_line()?;
        }
        remove_escapes(&mut self.bytes);
        Ok(Some((String::from_utf8_lossy(&self.bytes), whole)))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let (used, ended) = match self.reader.fill_buf()? {
                [] => return Ok(()),
                bytes => match bytes.iter().position(|byte| *byte == b'\n') {
                    Some(at) => (at + 1, true),
                    None => (bytes.len(), false),
                },
            };
            self.reader.consume(used);
            if ended {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn lines_of_a_terminal_are_plain() {
        let text: &[u8] = b"\x1b[34mcheck.py:\x1b[0m\r\n\x1b[1;31m\x1b[2Ja \x1b[0";
        let mut lines = Lines::new(text, 100);
        let mut next = || lines.next().unwrap().map(|(line, _)| line.into_owned());
        assert_eq!(next().as_deref(), Some("check.py:"));
        assert_eq!(next().as_deref(), Some("a "));
        assert_eq!(next(), None);
    }

    #[test]
    fn long_lines_are_cut_and_the_next_is_whole() {
        let text = [b"one\n".as_slice(), &vec![b'x'; 100_000], b"\nlast\xff"].concat();
        let mut lines = Lines::new(text.as_slice(), 10);
        let mut read = Vec::new();
        while let Some((line, whole)) = lines.next().unwrap() {
            read.push((line.into_owned(), whole));
        }
        let line = |text: &str, whole| (text.to_owned(), whole);
        assert_eq!(
            read,
            [line("one", true), line("xxxxxxxxxx", false), line("last\u{fffd}", true)]
        );
        assert_eq!(lines.cut, 1);
    }
}
