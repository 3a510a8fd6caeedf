//! The README shows what the program prints: every `$ meshscope symbols` in it is run and compared.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The words of a command line; single quotes keep spaces and `<`.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// What the program prints, on either stream.
fn printed(arguments: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let output = command.args(arguments).current_dir(root()).stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn the_readme_shows_what_symbols_prints() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks =
        readme.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n"));
    let mut shown = 0;
    for example in blocks.flat_map(|block| block.split("$ meshscope ").skip(1)) {
        let (line, want) = example.split_once('\n').unwrap();
        let arguments = words(line);
        if arguments.first().map(String::as_str) != Some("symbols") {
            continue;
        }
        // An empty line may stand between two examples.
        assert_eq!(printed(&arguments).trim_end(), want.trim_end(), "README.md: {line}");
        shown += 1;
    }
    assert!(shown >= 10, "README.md shows only {shown} examples");
}
