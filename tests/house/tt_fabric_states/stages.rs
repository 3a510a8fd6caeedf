//! The stages that the ends of the links go through: every change is one of the protocol, and the
//! transcript is the same on every machine.

use decode::state::{FabricState, ROUTER, Stage};
use layouts::EthId;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The stages of the routers so far.
#[derive(Default)]
pub(super) struct Transcript {
    before: BTreeMap<EthId, &'static Stage>,
    text: String,
}

impl Transcript {
    /// Notes the stages of a state of the machine.
    pub(super) fn note(&mut self, name: &str, fabric: &FabricState) {
        let _ = writeln!(self.text, "{name}");
        for router in &fabric.routers {
            let at = router.at;
            let stage = router.stage().unwrap();
            if let Some(before) = self.before.insert(at, stage) {
                assert!(
                    before.leads_to(ROUTER, stage),
                    "{name}: {at} from {} to {}",
                    before.name,
                    stage.name
                );
            }
            let _ = writeln!(self.text, "  {at}  {}; next to act: {}", stage.name, stage.next);
        }
    }

    /// Compares all of it with the golden file.
    pub(super) fn compare(&self) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/tt_fabric_stages.txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &self.text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(self.text == kept, "{} differs; BLESS=1 keeps it:\n{}", path.display(), self.text);
    }
}
