//! What allocations take of the host's memory: an allocator keeps a word beside each, and rounds up.

use std::sync::Arc;

/// Bytes of the smallest allocation, and what larger ones are multiples of.
const LEAST: usize = 32;
const UNIT: usize = 16;
/// What an allocator keeps beside each.
pub(crate) const BESIDE: usize = size_of::<usize>();
/// The counts of an [`Arc`].
pub(crate) const COUNTS: usize = 2 * size_of::<usize>();

/// Returns the memory of an allocation of this size.
pub(crate) const fn allocation(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        _ if bytes + BESIDE <= LEAST => LEAST,
        _ => (bytes + BESIDE).next_multiple_of(UNIT),
    }
}

/// Returns the memory of a box with this.
pub(crate) fn of_box<T: ?Sized>(value: &T) -> usize {
    allocation(size_of_val(value))
}

/// Returns the memory of an [`Arc`] of this, whatever it shares it with.
pub(crate) fn of_arc<T: ?Sized>(value: &Arc<T>) -> usize {
    allocation(COUNTS + size_of_val(&**value))
}

/// Returns the memory of the elements of a vector.
pub(crate) fn of_vec<T>(vec: &Vec<T>) -> usize {
    allocation(vec.capacity() * size_of::<T>())
}
