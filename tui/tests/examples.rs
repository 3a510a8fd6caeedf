//! Examples of the README and the manual: every `$ ` line is run, and the lines below it are
//! compared with its output.
//!
//! After `  # ` are notes for this test: `exit 1` is an exit code other than 0, `needs silicon`
//! (`ttsim`, `tt-metal`) and `takes seconds` or `minutes` are not run here. `...` matches anything.
//! A line that ends with `&` runs until the end of its page.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Characters of a wrong answer that are printed.
const SAID: usize = 2000;
/// Paths in a clone that the examples may name.
const SHOWN: [&str; 4] = ["firmware", "layouts", "recordings", "symbols"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A command of a page, and its expected result.
struct Example {
    line: String,
    printed: String,
}

impl Example {
    /// The comment after the command.
    fn tag(&self) -> &str {
        self.line.split_once("  # ").map_or("", |(_, tag)| tag.trim())
    }

    fn exit_code(&self) -> i32 {
        self.tag().strip_prefix("exit ").map_or(0, |code| code.parse().unwrap())
    }

    fn is_run(&self) -> bool {
        !["needs ", "takes "].iter().any(|word| self.tag().starts_with(word))
    }
}

/// The blocks of code of a page: between fences, or four columns to the right.
fn blocks(page: &str) -> Vec<Vec<&str>> {
    let (mut blocks, mut block, mut fenced) = (Vec::new(), Vec::new(), false);
    for line in page.lines() {
        let fence = line.starts_with("```");
        match line.strip_prefix("    ") {
            _ if fenced && !fence => block.push(line),
            Some(code) => block.push(code),
            None if line.is_empty() => block.push(line),
            None => blocks.push(std::mem::take(&mut block)),
        }
        fenced ^= fence;
    }
    blocks.push(block);
    blocks
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for block in blocks(page) {
        let first = examples.len();
        for line in block {
            if let Some(line) = line.strip_prefix("$ ") {
                examples.push(Example { line: line.to_owned(), printed: String::new() });
            } else if let Some(example) = examples[first..].last_mut() {
                example.printed += line.trim_end();
                example.printed.push('\n');
            }
        }
    }
    examples
}

/// A folder like a clone, in which the examples of a page run, and their background processes.
struct Scene {
    folder: PathBuf,
    running: Vec<Child>,
}

impl Scene {
    fn new(name: &str) -> Self {
        // Pages are shown at the same time.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = format!("meshscope-page-{name}-{number}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        fs::create_dir_all(folder.join("bin")).unwrap();
        for shown in SHOWN {
            symlink(root().join(shown), folder.join(shown)).unwrap();
        }
        // Tests name their mesh: without --target this would be silicon where device files exist.
        let program = env!("CARGO_BIN_EXE_meshscope");
        let script = format!(
            "#!/bin/sh\ncase \" $* \" in *' --target '*) exec {program} \"$@\";; esac\n\
             exec {program} --target emulator:n300 \"$@\"\n"
        );
        let path = folder.join("bin/meshscope");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, running: Vec::new() }
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        let path = format!("{}:/usr/bin:/bin", self.folder.join("bin").display());
        command.args(["-c", line]).current_dir(&self.folder).stdin(Stdio::null());
        command.env_clear().env("PATH", path).env("HOME", &self.folder);
        command
    }

    /// Starts a background process of the examples that follow, and waits until it listens.
    fn start(&mut self, line: &str) {
        let mut command = self.shell(&format!("exec {line}"));
        self.running.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let (_, socket) = line.split_once("--socket ").unwrap();
        let (socket, since) = (self.folder.join(socket.trim()), Instant::now());
        while !socket.exists() {
            assert!(since.elapsed() < Duration::from_mins(5), "{line}: no {}", socket.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The failure of an example, if any.
    fn judge(&mut self, example: &Example) -> Option<String> {
        let line = &example.line;
        if !line.split_whitespace().any(|word| word == "meshscope") {
            return Some(format!("`{line}` does not run meshscope"));
        }
        if let Some(line) = line.strip_suffix('&') {
            self.start(line);
            return None;
        }
        let output = self.shell(line).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        let text: String = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        let code = output.status.code();
        let wrong = code != Some(example.exit_code()) || !matches(&text, &example.printed);
        let start: String = text.chars().take(SAID).collect();
        wrong.then(|| format!("`{line}` ends with {code:?} and prints\n{start}"))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for child in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether the output is as shown; `...` matches anything, and so does an empty text.
fn matches(text: &str, shown: &str) -> bool {
    let (text, shown) = (text.trim().to_owned() + "\n", shown.trim().to_owned() + "\n");
    let (shown, open) = match shown.strip_suffix("...\n") {
        Some(shown) => (shown, true),
        None => (shown.as_str(), shown == "\n"),
    };
    let mut parts = shown.split("...");
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first.trim_start()))
    else {
        return false;
    };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || open
}

/// Runs the examples of a page, collects failures, and returns the number of examples.
fn check(name: &str, page: &str, faults: &mut Vec<String>) -> usize {
    let mut scene = Scene::new(name);
    let examples = examples(page);
    let run = examples.iter().filter(|example| example.is_run());
    let found = run.filter_map(|example| scene.judge(example));
    faults.extend(found.map(|fault| format!("{name}: {fault}")));
    examples.len()
}

/// Runs the examples of all pages of a folder of the manual.
fn check_folder(folder: &str, needs_example: impl Fn(&str) -> bool) {
    let folder = root().join("tui/cli/src/manual").join(folder);
    let mut pages: Vec<_> =
        fs::read_dir(folder).unwrap().map(|page| page.unwrap().path()).collect();
    pages.sort();
    let mut faults = Vec::new();
    for path in pages {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let count = check(name, &fs::read_to_string(&path).unwrap(), &mut faults);
        assert!(count > 0 || !needs_example(name), "{name} shows no example");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_readme_shows_what_is_printed() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.len() <= 8192, "README.md has {} bytes", readme.len());
    let mut faults = Vec::new();
    assert!(check("README", &readme, &mut faults) > 5);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_topics_show_what_is_printed() {
    // Keys, map and settings are for the live view, the library is for other programs, and the words are a list.
    let without = ["keys", "map", "settings", "other-tools", "words"];
    check_folder("topics", |name| !without.contains(&name));
}

#[test]
fn the_pages_of_verbs_show_what_is_printed() {
    check_folder("verbs", |_| true);
}

fn meshscope(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn help_prints_what_the_option_prints() {
    for verb in [&["mesh"][..], &["symbols"], &["symbols", "type"], &["fabric", "path"], &["help"]]
    {
        let helped = meshscope(&[&["help"], verb].concat());
        assert_eq!(helped, meshscope(&[verb, &["--help"]].concat()));
        assert!(helped.1.contains("$ meshscope"), "{verb:?}");
    }
}

#[test]
fn help_lists_verbs_and_topics() {
    let (code, list, stderr) = meshscope(&["help"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for name in ["mesh", "symbols", "targets", "exit-codes"] {
        assert!(list.lines().any(|line| line.trim().starts_with(name)), "{name}: {list}");
    }
    let (code, page, _) = meshscope(&["help", "keys"]);
    assert!(code == Some(0) && page.contains("quit") && page.contains("In place of a value"));
}

#[test]
fn an_unknown_topic_is_one_sentence() {
    let (code, page, stderr) = meshscope(&["help", "coffee"]);
    assert_eq!((code, page.as_str(), stderr.lines().count()), (Some(2), "", 1));
    assert!(stderr.contains("coffee"), "{stderr}");
}
