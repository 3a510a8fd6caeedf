//! A verdict as JUnit XML, for what shows the results of tests: a case for each finding, and one for the
//! verdict itself.

use console::exit::Failure;
use console::fresh;
use diagnosis::{Diagnosis, Finding, Health, Severity};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::path::Path;

/// Writes the verdict of a verb on a target to a new file.
pub(crate) fn write(
    file: &Path,
    (verb, target): (&str, &str),
    diagnosis: &Diagnosis,
) -> Result<(), Failure> {
    let mut suite = TestSuite::new(target);
    suite.add_test_case(verdict(diagnosis));
    suite.add_test_cases(diagnosis.findings.iter().map(finding));
    let mut report = Report::new(format!("meshscope {verb}"));
    report.add_test_suite(suite);
    let text = report.to_string().map_err(|error| Failure::Internal(format!("JUnit: {error}")))?;
    fresh::write(file, text.as_bytes())
}

/// The case that fails if the mesh is not healthy, and is in error if that is not known.
fn verdict(diagnosis: &Diagnosis) -> TestCase {
    let health = Health::of(diagnosis);
    let status = match health {
        Health::Healthy | Health::Slow => TestCaseStatus::success(),
        Health::Unknown => {
            failed(NonSuccessKind::Error, health.word(), &diagnosis.missing.join("; "))
        }
        sick => failed(NonSuccessKind::Failure, sick.word(), ""),
    };
    let mut case = TestCase::new("verdict", status);
    case.set_classname("meshscope").set_system_out(health.word());
    case
}

/// The case of a finding; what is only slow does not fail.
fn finding(it: &Finding) -> TestCase {
    let status = match it.severity {
        Severity::Slow => TestCaseStatus::success(),
        severity => failed(NonSuccessKind::Failure, severity.word(), &it.sentence),
    };
    let mut case = TestCase::new(format!("{} at {}", it.condition.name(), it.place), status);
    case.set_classname("meshscope").set_system_out(it.sentence.as_str());
    case
}

fn failed(kind: NonSuccessKind, of_type: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(of_type);
    if !message.is_empty() {
        status.set_message(message);
    }
    status
}
