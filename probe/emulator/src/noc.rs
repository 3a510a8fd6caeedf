//! The NoC: coordinates, network interface units, and the events that packets become.

pub(crate) mod event;
pub(crate) mod grid;
pub(crate) mod niu;
pub(crate) mod request;
