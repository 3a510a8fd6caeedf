//! Tests of complete, truncated and broken logs.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;

fn yaml(text: &str) -> (Records, Vec<String>) {
    let (mut records, mut problems) = (Records::default(), Vec::new());
    let mut complain = |line: usize, why: &str| problems.push(format!("{line}: {why}"));
    records.kernels(Path::new("kernels.yaml"), text, &mut complain);
    (records, problems)
}

const TWO: &str = "\
- kernel:
    watcher_kernel_id: 1
    name: cq_prefetch
    path: /c/kernels/cq_prefetch/77/
    source: a.cpp
    program_id: 0
- kernel:
    watcher_kernel_id: 5
    name: reader
    path: /c/kernels/reader/12
    source: void kernel_main() { a: b: goto [x; }
    program_id: 1
";

#[test]
fn numbers_lead_to_files() {
    let (records, problems) = yaml(TWO);
    assert_eq!(records.name(1), Some("cq_prefetch"));
    let elf = records.of(5)[0].elf("brisc").unwrap();
    assert_eq!(elf, Path::new("/c/kernels/reader/12/brisc/brisc.elf"));
    assert_eq!(records.of(5)[0].line, 7);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn truncated_or_broken_logs_are_reported_with_the_line() {
    let cut = TWO.find("/c/kernels/reader").unwrap();
    let (records, problems) = yaml(&TWO[..cut]);
    assert_eq!((records.of(1).len(), records.of(5).len()), (1, 0));
    assert_eq!((records.name(5), problems.len()), (Some("reader"), 0));
    let (records, problems) = yaml("- kernel:\n    name: x\n- 7\n\x01\u{FFFD}: [\n");
    assert!(records.is_empty());
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("1: ") || problems[0].starts_with("2: "), "{problems:?}");
    assert!(yaml("").1.is_empty());
}

#[test]
fn the_watchers_lists() {
    let mut records = Records::default();
    let path = Path::new("kernel_elf_paths.txt");
    let elfs = "7: /c/kernels/k/1/brisc/brisc.elf:/c/kernels/k/1/ncrisc/ncrisc.elf";
    records.line(path, 3, elfs, Log::Paths).unwrap();
    records.line(path, 1, "0: blank", Log::Paths).unwrap();
    records.line(path, 4, "7: k.cpp", Log::Names).unwrap();
    let ncrisc = records.of(7)[0].elf("ncrisc").unwrap();
    assert_eq!(ncrisc, Path::new("/c/kernels/k/1/ncrisc/ncrisc.elf"));
    assert_eq!((records.of(7)[0].elf("trisc0"), records.name(7)), (None, Some("k.cpp")));
    assert!(records.line(path, 5, "seven: k", Log::Names).is_err());
    assert!(records.line(path, 6, "nothing", Log::Names).is_err());
}
