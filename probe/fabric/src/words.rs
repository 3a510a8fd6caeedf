//! Addresses of a router's words, from its image.

use super::FabricPlan;
use images::fabric::{Enumeration, StatusLayout};
use images::{Image, ImageMap};
use launch::records::{field, size, variable};
use launch::{ControlError, image};
use machine::fabric::FabricTopology;
use std::sync::Arc;

/// The topologies that have an image, without and with [exits apart](FabricPlan::exits_apart).
pub const ROUTER_IMAGES: [(FabricTopology, bool); 5] = [
    (FabricTopology::Line, false),
    (FabricTopology::Ring, false),
    (FabricTopology::Mesh, false),
    (FabricTopology::Torus, false),
    (FabricTopology::Mesh, true),
];

/// Returns the name of the image of a topology's routers.
pub fn router_image(topology: FabricTopology, exits_apart: bool) -> &'static str {
    match topology {
        FabricTopology::Line => "fabric_router_line",
        FabricTopology::Ring => "fabric_router_ring",
        FabricTopology::Mesh if exits_apart => "fabric_router_intermesh",
        FabricTopology::Mesh => "fabric_router_mesh",
        FabricTopology::Torus => "fabric_router_torus",
    }
}

impl FabricPlan {
    /// Returns the name of the image of its routers.
    pub fn router_image(&self) -> &'static str {
        router_image(self.topology, self.exits_apart)
    }
}

#[derive(Clone, Debug)]
pub(super) struct RouterImage {
    pub(super) name: &'static str,
    pub(super) image: Arc<Image>,
}

impl RouterImage {
    pub(super) fn of(images: &ImageMap, name: &'static str) -> Result<Self, ControlError> {
        Ok(Self { name, image: image(images, name)? })
    }

    pub(super) fn missing(&self, what: &str) -> ControlError {
        ControlError::NoMember(self.name.to_owned(), what.to_owned())
    }

    /// Returns a constant or an enumerator of the image.
    pub(super) fn constant(&self, name: &str) -> Result<u32, ControlError> {
        let value = self.image.symbols.constant(name).and_then(|value| value.as_u64());
        value.map(|value| value as u32).ok_or_else(|| self.missing(name))
    }

    /// Returns the size of a type in bytes.
    pub(super) fn size(&self, name: &str) -> Result<u64, ControlError> {
        size(&self.image, name)
    }

    /// Returns offset and size of a member of a type.
    pub(super) fn field(&self, path: &str) -> Result<(u64, u64), ControlError> {
        let field = field(&self.image, path)?;
        Ok((field.offset, field.size))
    }

    /// Returns the number of elements of an array that is a member of a type.
    pub(super) fn elements(&self, path: &str) -> Result<u64, ControlError> {
        let (_, whole) = self.field(path)?;
        let (_, element) = self.field(&format!("{path}[0]"))?;
        Ok(whole / element.max(1))
    }

    /// Returns the address of a global, or of a part of one.
    pub(super) fn global(&self, path: &str) -> Result<u64, ControlError> {
        Ok(variable(&self.image, path)?.address())
    }

    /// Returns the address of a member of the router's state.
    pub(super) fn state(&self, member: &str) -> Result<u64, ControlError> {
        self.global(&format!("fabric_router_state.{member}"))
    }

    /// Returns the layout of its status queue.
    pub(super) fn status(&self) -> Result<StatusLayout, ControlError> {
        let router = self.image.router.as_ref();
        let status = router.and_then(|router| router.status.clone());
        status.ok_or_else(|| self.missing("its status queue"))
    }

    pub(super) fn enumeration(&self, name: &str) -> Result<Arc<Enumeration>, ControlError> {
        Enumeration::named(&self.image.symbols, name).ok_or_else(|| self.missing(name))
    }
}

/// The addresses that bring-up and termination use, the same on every tile.
#[derive(Clone, Debug)]
pub(super) struct RouterWords {
    pub(super) image: RouterImage,
    pub(super) status: u64,
    pub(super) termination: u64,
    pub(super) postcode: u64,
    pub(super) refusal: u64,
    /// `EDMStatus`, in the order of a router's life.
    statuses: Arc<Enumeration>,
    /// `fabric_postcode_t`.
    pub(super) postcodes: Arc<Enumeration>,
    /// `fabric_refusal_t`.
    pub(super) refusals: Arc<Enumeration>,
}

impl RouterWords {
    pub(super) fn of(images: &ImageMap, name: &'static str) -> Result<Self, ControlError> {
        let image = RouterImage::of(images, name)?;
        Ok(Self {
            status: image.constant("edm_status_ptr_addr")?.into(),
            termination: image.constant("termination_signal_addr")?.into(),
            postcode: image.constant("postcode_addr")?.into(),
            refusal: image.state("refusal")?,
            statuses: image.enumeration("EDMStatus")?,
            postcodes: image.enumeration("fabric_postcode_t")?,
            refusals: image.enumeration("fabric_refusal_t")?,
            image,
        })
    }

    /// Returns the name of an `EDMStatus`.
    pub(super) fn status_name(&self, status: u32) -> String {
        self.statuses.of_value(status.into()).to_string()
    }

    /// Returns the position of a status in `EDMStatus`; none for an unknown one.
    pub(super) fn rank(&self, status: u32) -> Option<usize> {
        self.statuses.position(status.into())
    }
}
