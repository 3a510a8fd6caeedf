//! Cores that are at the same place, together: groups, the tree of places, operations of chips.

mod branches;
mod groups;
mod operations;
mod tiles;

pub use branches::{Branch, branches};
pub use groups::{Group, groups, label};
pub use operations::{Operations, Running, running};
pub use tiles::{on_chip, on_mesh, ranges};

use decode::state::{Activity, CoreState};
use images::{ImageRole, Reading};

/// The kernel of a core that runs one or has run one: the name of its image, or the kernel's id.
pub fn kernel(core: &CoreState) -> Option<String> {
    let has_kernel = matches!(core.activity, Reading::Known(Activity::Running | Activity::Done));
    let launch = core.launch.known().filter(|launch| has_kernel && launch.kernel_id != 0);
    let unnamed = || launch.map(|launch| format!("kernel {}", launch.kernel_id));
    image(core, |role| has_kernel && role == ImageRole::Kernel).or_else(unnamed)
}

/// The names of a core's images in these roles.
fn image(core: &CoreState, is_wanted: impl Fn(ImageRole) -> bool) -> Option<String> {
    let mut names: Vec<&str> =
        core.images.iter().filter(|it| is_wanted(it.role)).map(|it| it.name.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join("+"))
}
