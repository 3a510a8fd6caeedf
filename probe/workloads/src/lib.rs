//! Scenes, which describe an emulated mesh and its workload.
//!
//! A [`scene::Scene`] is a mesh, a workload, faults, a seed and a time. [`scene::Scene::power_on`]
//! returns the emulated mesh at power on. [`scene::Scene::build`] boots firmware and launches the
//! workload through the bus, as on any machine, and returns the target. [`mux`] has runs of
//! fabric muxes under congestion, one of which [`mux::MuxScene`] leaves in it.
//!
//! ```
//! use images::ImageMap;
//! use workloads::scene::Scene;
//!
//! let (images, _) = ImageMap::firmware();
//! let mut mesh = Scene::new("n300").power_on(&images)?;
//! mesh.clock(1_000);
//! assert_eq!((mesh.now(), mesh.devices()), (1_000, 1));
//! # Ok::<(), workloads::scene::SceneError>(())
//! ```
//!
//! # Invariants
//!
//! The same scene and the same host accesses give the same bytes at the same cycle.

pub mod mux;
pub mod scene;
