//! How a target shows its machine, for the machine's past: a copy of the machine is read like the
//! machine itself.

use super::BarTarget;
use super::checked::CheckedPlans;
use crate::access::{Access, Route};
use crate::bus::Bus;
use crate::guard::Guard;
use machine::bar::TargetView;
use machine::fault::ChipAddress;
use machine::target::{Abilities, Allow};
use std::sync::Arc;

impl BarTarget {
    /// Returns the target as a view of its machine. What discovery found is the machine's, so that no
    /// access to a copy precedes the caller's.
    pub(super) fn view(&self) -> TargetView {
        let chips = self.routes.iter().map(|(id, route)| (*id, address(route))).collect();
        let abilities = Abilities { allow: Allow::default(), ..self.abilities.clone() };
        let (name, mesh, routes) = (self.name.clone(), self.mesh.clone(), self.routes.clone());
        let patience = self.access.patience;
        let over = Arc::new(move |bar| {
            Box::new(Self {
                name: name.clone(),
                guard: Guard::new(&abilities, &mesh),
                abilities: abilities.clone(),
                mesh: mesh.clone(),
                routes: routes.clone(),
                access: Access::new(Bus::new(bar), patience),
                known: CheckedPlans::default(),
                audit: None,
                late: None,
                notes: Vec::new(),
                boot: None,
            }) as _
        });
        TargetView { chips, over }
    }
}

/// Returns how the machine knows the chip that a route leads to.
pub(super) fn address(route: &Route) -> ChipAddress {
    match route {
        Route::Pcie(device) => ChipAddress::Device(*device),
        Route::Queue { coord, .. } => ChipAddress::at(*coord),
    }
}
