//! Scenes, which describe an emulated mesh and its workload, and studies, which measure workloads.
//!
//! A [`scene::Scene`] is a mesh, a workload, faults, a seed and a time. [`scene::Scene::power_on`]
//! returns the emulated mesh at power on. [`scene::Scene::build`] boots firmware and launches the
//! workload through the bus, as on any machine, and returns the target. A module of [`study`] runs
//! scenes with seeds and measures them; `meshscope study` prints the result.
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
//! The same scene and the same host accesses give the same bytes at the same cycle. A study's
//! output depends only on its arguments.

pub mod scene;
pub mod study;
