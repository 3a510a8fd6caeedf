//! Scenes, which an emulated mesh runs, and studies, which measure what runs.
//!
//! A [`scene::Scene`] is a mesh, what runs on it, faults, a seed and a time. [`scene::Scene::power_on`] gives the emulated mesh as
//! it comes up, [`scene::Scene::build`] boots firmware and launches the workload through the bus, as on any machine, and gives the
//! target. A module of [`study`] runs scenes with seeds and counts what comes of them; `meshscope study` prints it.
//!
//! ```
//! use decode::images::ImageMap;
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
//! The same scene and the same host accesses give the same bytes at the same cycle. A study's output depends on nothing but its
//! arguments.

pub mod scene;
pub mod study;
