//! Zero-initialised memory whose pages the host commits on their first write, and takes back as
//! soon as it is dropped.

use bytemuck::Pod;
use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// An array of zeros. A vector of this size would be one too, but only at first: an allocator
/// reuses what another mesh has left, and has to clear, and so commits, all of it.
pub(crate) struct Zeroed<T> {
    map: MmapMut,
    of: PhantomData<T>,
}

impl<T: Pod> Zeroed<T> {
    /// Creates an array of this length.
    pub(crate) fn new(len: usize) -> Self {
        let bytes = len * size_of::<T>();
        let map = MmapMut::map_anon(bytes).unwrap_or_else(|_| {
            handle_alloc_error(Layout::array::<T>(len).unwrap_or(Layout::new::<T>()))
        });
        Self { map, of: PhantomData }
    }
}

impl<T: Pod> Deref for Zeroed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map)
    }
}

impl<T: Pod> DerefMut for Zeroed<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.map)
    }
}

impl<T: Pod> Clone for Zeroed<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::new(self.len());
        clone.copy_from_slice(self);
        clone
    }
}

impl<T> fmt::Debug for Zeroed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.map.len())
    }
}
