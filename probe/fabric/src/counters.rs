//! Counters of all routers of a fabric, read at once.

use super::words::RouterImage;
use super::{FabricPlan, Router};
use images::{ImageMap, Member};
use launch::ControlError;
use launch::records::bytes_read;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// Reads members of `fabric_router_state` of each router, in the plan's order.
///
/// # Errors
/// When a router cannot be read, or its image has no such member.
pub fn router_counters(
    target: &mut dyn Target,
    images: &ImageMap,
    plan: &FabricPlan,
    members: &[&str],
) -> Result<Vec<Vec<u32>>, ControlError> {
    let kernel = RouterImage::of(images, plan.router_image())?;
    let at = members.iter().map(|member| kernel.state(member)).collect::<Result<Vec<_>, _>>()?;
    let span = |router: &Router, at: u64| Span { addr: router.place.at(at), len: 4 };
    let spans = |router| at.iter().map(move |&at| span(router, at));
    let snapshot = target.read(&Plan { spans: plan.routers.iter().flat_map(spans).collect() });
    let value = |router: &Router, at: u64| {
        Ok(Member::value(bytes_read(&snapshot, span(router, at))?) as u32)
    };
    let values = |router| at.iter().map(|&at| value(router, at)).collect();
    plan.routers.iter().map(values).collect()
}
