//! The mesh of a study's run: `emulator:<mesh>,study=mux:<seed>`.

use super::{SpecError, number, pace, time, twice, wrong};
use std::collections::BTreeSet;
use workloads::mux::{MuxScene, MuxWait};

/// Parses the words of a mesh with a study.
pub(super) fn parse(mesh: &str, settings: &[&str]) -> Result<MuxScene, SpecError> {
    let mut scene = MuxScene::new(mesh, 0);
    let mut given = BTreeSet::new();
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        if !given.insert(key) {
            return twice(key);
        }
        match key {
            "study" => (scene.seed, scene.wait) = run(value)?,
            "at" => scene.after_cycles = Some(time(key, value)?),
            "pace" => scene.pace = pace(value)?,
            _ => return wrong(format!("`{key}`: beside study= there are only at= and pace=")),
        }
    }
    Ok(scene)
}

/// Parses `mux:<seed>` or `mux:<seed>:<policy>`.
fn run(value: &str) -> Result<(u64, MuxWait), SpecError> {
    let mut words = value.split(':');
    let (Some("mux"), Some(seed)) = (words.next(), words.next()) else {
        return wrong(format!("study: `{value}` is not mux:<seed> or mux:<seed>:<policy>"));
    };
    let name = words.next().unwrap_or(MuxWait::ALL[0].name);
    let names = || MuxWait::ALL.map(|wait| wait.name).join(", ");
    let wait = MuxWait::ALL.into_iter().find(|wait| wait.name == name);
    let wait = wait.filter(|_| words.next().is_none());
    let wait = wait.ok_or_else(|| SpecError(format!("study: the policy is one of {}", names())))?;
    Ok((number("study", seed)?, wait))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::TargetSpec;
    use super::*;
    use workloads::scene::Pace;

    #[test]
    fn a_run_of_a_study_is_a_target() {
        let parse = |words| TargetSpec::parse(words).unwrap();
        let scene = MuxScene::new("t3000", 7);
        assert_eq!(parse("emulator:t3000,study=mux:7"), TargetSpec::Study(scene.clone()));
        let wait = MuxWait::ALL[4];
        let later = MuxScene { wait, after_cycles: Some(2_000_000), pace: Pace::Max, ..scene };
        let words = "emulator:t3000,study=mux:7:bounded_256,at=2ms,pace=max";
        assert_eq!(parse(words), TargetSpec::Study(later));
    }

    #[test]
    fn each_mistake_has_its_sentence() {
        for (words, part) in [
            ("emulator:n300,study=", "is not mux:<seed>"),
            ("emulator:n300,study=ttl:3", "is not mux:<seed>"),
            ("emulator:n300,study=mux:x", "study: `x` is not a whole number"),
            ("emulator:n300,study=mux:1:slow", "the policy is one of unbounded, no_wait"),
            ("emulator:n300,study=mux:1:no_wait:2", "the policy is one of"),
            ("emulator:n300,study=mux:1,run=idle", "`run`: beside study= there are only at="),
            ("emulator:n300,study=mux:1,study=mux:2", "study: given twice"),
            ("emulator:,study=mux:1", "the mesh is missing"),
        ] {
            let error = TargetSpec::parse(words).unwrap_err().to_string();
            assert!(error.contains(part), "{words}: {error}");
        }
    }
}
