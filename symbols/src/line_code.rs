//! Lookup of code by source line.

use crate::error::Error;
use crate::lines::{LineCode, Lines};
use crate::symbols::Symbols;

impl Symbols {
    /// Returns the files with code, sorted, each once.
    pub fn source_files(&self) -> Vec<String> {
        let mut files: Vec<String> =
            self.inner.all_lines().flat_map(Lines::files_with_code).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Returns the code of a source line, by address; empty if the line has none. `file` may be the
    /// end of the path; it is an error if no code comes from such a file.
    pub fn code_of_line(&self, file: &str, line: u32) -> Result<Vec<LineCode>, Error> {
        let mut found = Vec::new();
        for lines in self.inner.all_lines() {
            lines.code(file, line, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        // If a line shares its first instruction with another line, the code after it is enough.
        if found.iter().any(|code| code.end > code.begin) {
            found.retain(|code| code.end > code.begin);
        }
        if found.is_empty() && self.lines_with_code(file).is_empty() {
            return Err(Error::NoFile { name: file.to_owned() });
        }
        Ok(found)
    }

    /// Returns the lines of a file that have code, sorted, each once.
    pub fn lines_with_code(&self, file: &str) -> Vec<u32> {
        let mut found: Vec<u32> =
            self.inner.all_lines().flat_map(|lines| lines.numbers(file)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
