//! This test program as a child process: the host of the vendor's simulator, and meshscope itself.

use std::path::{Path, PathBuf};
use std::process::Command;
use transport::ttsim::{HOST_ARGUMENT, HostCommand, run_host_if_requested};

/// The words of meshscope's command line, for [`meshscope_helper`].
const WORDS: &str = "MESHSCOPE_HOUSE_WORDS";
const SEPARATOR: &str = "\n";

/// Makes the test program the library's host if it is started with a path after `--skip`.
#[test]
fn host_helper() {
    let Some(library) = std::env::args_os().skip_while(|a| a != "--skip").nth(1) else { return };
    if library.to_string_lossy().starts_with('/') {
        let arguments = ["".into(), HOST_ARGUMENT.into(), library];
        assert!(run_host_if_requested(arguments.into_iter()).is_some());
    }
}

/// Makes the test program meshscope if its words are given.
#[test]
fn meshscope_helper() {
    let Ok(words) = std::env::var(WORDS) else { return };
    let words = ["meshscope"].into_iter().chain(words.split(SEPARATOR)).map(Into::into);
    std::process::exit(tui::run(words).into());
}

fn arguments(test: &str) -> [String; 3] {
    ["--exact".into(), format!("children::{test}"), "--nocapture".into()]
}

/// Returns the library of a build of the vendor's simulator, and the command of its host.
pub(crate) fn simulator(build: &str) -> Option<(PathBuf, HostCommand)> {
    let Some(folder) = std::env::var_os("MESHSCOPE_TTSIM_DIR") else {
        println!("skipped: MESHSCOPE_TTSIM_DIR is not set");
        return None;
    };
    let mut arguments = arguments("host_helper").map(Into::into).to_vec();
    // libtest accepts any text after `--skip`, which passes the library's path.
    arguments.push("--skip".into());
    let library = Path::new(&folder).join(format!("libttsim_{build}.so"));
    Some((library, HostCommand { arguments, ..HostCommand::default() }))
}

/// Returns what meshscope prints to standard output, and its exit code.
pub(crate) fn meshscope(words: &[&str]) -> (String, i32) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    // With several threads libtest says of a test that it has been running for 60 seconds.
    command.args(arguments("meshscope_helper")).arg("--test-threads=1");
    let output = command.env(WORDS, words.join(SEPARATOR)).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    // What comes before is libtest's.
    let (_, own) = printed.split_once("children::meshscope_helper ... ").unwrap();
    (own.to_owned(), output.status.code().unwrap())
}
