//! The pages on the silicon and on tt-metal: every citation names an existing section, and every
//! section is cited.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The name by which comments cite a page, and its path.
const PAGES: [(&str, &str); 2] =
    [("wormhole.md", "layouts/doc/wormhole.md"), ("tt-metal.md", "firmware/doc/tt-metal.md")];
/// Notes outside the repository, and the folder of some of them.
const EXTERNAL: [&str; 6] =
    ["peers.md", "field.md", "anchors.md", "tt-metal-fabric.md", "DESIGN", "reference/"];
/// The extensions of the files read.
const EXTENSIONS: [&str; 12] =
    ["rs", "hpp", "h", "cc", "cpp", "S", "ld", "inc", "toml", "md", "yaml", "txt"];
/// Separators between two sections after one mention of the page.
const SEPARATORS: [&str; 6] = [", ", " and ", " to ", "; ", "-", "/"];

/// A text file with its path in the repository.
struct Text {
    path: String,
    text: String,
}

impl Text {
    /// Returns the faults of each line by `find_faults`, as sentences that begin with file and line.
    fn faults(&self, find_faults: impl Fn(&str) -> Vec<String>) -> Vec<String> {
        let lines = self.text.lines().enumerate();
        let place = |number: usize| format!("{}:{}", self.path, number + 1);
        lines
            .flat_map(|(number, line)| {
                find_faults(line)
                    .into_iter()
                    .map(move |fault| format!("{}: {fault}", place(number)))
            })
            .collect()
    }

    fn is_page(&self) -> bool {
        PAGES.iter().any(|(_, place)| self.path == *place)
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| EXTENSIONS.iter().any(|text| e == *text)) {
            found.push(path);
        }
    }
}

/// Returns all text files except this one.
fn texts() -> Vec<Text> {
    let mut found = Vec::new();
    collect(root(), &mut found);
    found.sort();
    let read = |path: PathBuf| Text {
        text: String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
        path: path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned(),
    };
    found.into_iter().map(read).filter(|text| text.path != "tests/house/books.rs").collect()
}

/// Returns the section at the start of a text: digits, or a letter as the last part, separated by
/// dots.
fn section(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(text.len());
    let section = text[..end].trim_end_matches('.');
    section.starts_with(|c: char| c.is_ascii_digit()).then_some(section)
}

/// Whether another section follows without its page, as in `3.1, 3.2`.
fn has_continuation(rest: &str) -> bool {
    SEPARATORS.iter().any(|between| rest.strip_prefix(between).and_then(section).is_some())
}

/// Returns the section after each mention of a page in a line, or what is wrong with it. The page's
/// own path is not a citation.
fn citations<'a>(line: &'a str, (name, place): (&str, &str)) -> Vec<Result<&'a str, String>> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices(name) {
        let (before, after) = line.split_at(at + name.len());
        if line[..at].ends_with('/') {
            if !before.ends_with(place) {
                found.push(Err(format!("{name} is {place}")));
            }
            continue;
        }
        found.push(match after.strip_prefix(' ').and_then(section) {
            None => Err(format!("{name} without a section")),
            Some(section) if has_continuation(&after[1 + section.len()..]) => {
                Err(format!("{name} {section} is followed by a section without its page"))
            }
            Some(section) => Ok(section),
        });
    }
    found
}

/// Returns the numbers of a page's headings, or what is wrong with a heading.
fn headings(text: &str) -> Vec<Result<&str, String>> {
    let numbered = |line| {
        let title = str::trim_start_matches(line, '#');
        let level = line.len() - title.len();
        let number = section(title.trim_start())?;
        (number.split('.').count() + 1 == level).then_some(number)
    };
    let lines = text.lines().filter(|line| line.starts_with("##"));
    lines.map(|line| numbered(line).ok_or_else(|| format!("{line}: its number"))).collect()
}

/// Whether two sections are the same, or one contains the other.
fn related(one: &str, other: &str) -> bool {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    within(one, other) || within(other, one)
}

fn report(title: &str, faults: &[String]) {
    let mut message = format!("{title}:");
    for fault in faults {
        write!(message, "\n  {fault}").unwrap();
    }
    assert!(faults.is_empty(), "{message}");
}

fn page(place: &str) -> String {
    fs::read_to_string(root().join(place)).unwrap()
}

#[test]
fn a_citation_is_told_from_what_surrounds_it() {
    let cited = |line| citations(line, PAGES[0]);
    assert_eq!(
        cited("(wormhole.md 3.1). And wormhole.md 10.6.C: 3 reads"),
        [Ok("3.1"), Ok("10.6.C")]
    );
    assert_eq!(cited("see layouts/doc/wormhole.md"), []);
    for wrong in ["notes/wormhole.md 3", "wormhole.md", "wormhole.md 3.1, 3.2", "wormhole.md 3-4"] {
        assert!(matches!(cited(wrong)[..], [Err(_)]), "{wrong}");
    }
}

#[test]
fn every_citation_names_a_section() {
    let mut faults = Vec::new();
    let texts = texts();
    for known in PAGES {
        let text = page(known.1);
        let sections: Vec<&str> = headings(&text).into_iter().flatten().collect();
        let find_faults = |line: &str| {
            let fault = |cited: Result<&str, String>| match cited {
                Ok(section) if sections.contains(&section) => None,
                Ok(section) => Some(format!("{} has no section {section}", known.0)),
                Err(fault) => Some(fault),
            };
            citations(line, known).into_iter().filter_map(fault).collect()
        };
        faults.extend(texts.iter().flat_map(|text| text.faults(find_faults)));
    }
    report("citations", &faults);
}

#[test]
fn every_section_is_cited() {
    let mut faults = Vec::new();
    let texts: Vec<Text> = texts().into_iter().filter(|text| !text.is_page()).collect();
    for known in PAGES {
        let lines = || texts.iter().flat_map(|text| text.text.lines());
        let cited: Vec<&str> = lines().flat_map(|line| citations(line, known)).flatten().collect();
        assert!(cited.len() > 20, "{} is cited {} times only", known.0, cited.len());
        let mut seen = Vec::new();
        for heading in headings(&page(known.1)) {
            match heading {
                Err(fault) => faults.push(format!("{}: {fault}", known.1)),
                Ok(section) if seen.contains(&section.to_owned()) => {
                    faults.push(format!("{} has two sections {section}", known.1));
                }
                Ok(section) if cited.iter().any(|cited| related(cited, section)) => {
                    seen.push(section.to_owned());
                }
                Ok(section) => faults.push(format!("{}: {section} is not cited", known.1)),
            }
        }
    }
    report("sections", &faults);
}

#[test]
fn nothing_cites_what_is_not_here() {
    let find_faults = |line: &str| {
        let found = EXTERNAL.iter().filter(|name| line.contains(*name));
        found.map(|name| format!("{name} is not in the repository")).collect()
    };
    let faults: Vec<String> = texts().iter().flat_map(|text| text.faults(find_faults)).collect();
    report("external notes", &faults);
}
