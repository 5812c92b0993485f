//! Memory for programs built with musl, whose own allocator costs a tenth to a third of a whole
//! hook: dlmalloc, which knows no threads, behind a lock.
//!
//! Most of what Tollgate does has one thread, so the lock is made for nobody else wanting it: one
//! atomic instruction, where a mutex of the C library takes two and a call each. One run of a
//! single check takes it thousands of times.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use dlmalloc::Dlmalloc;

/// How often one looks again before others are let run.
const LOOKS: u32 = 64;

/// A heap for all threads.
pub(crate) struct Memory {
    is_taken: AtomicBool,
    heap: UnsafeCell<Dlmalloc>,
}

#[expect(unsafe_code, reason = "the compiler does not know of the lock")]
// SAFETY: the heap is touched in `with` only, by the one who set `is_taken`.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) const fn new() -> Self {
        Self {
            is_taken: AtomicBool::new(false),
            heap: UnsafeCell::new(Dlmalloc::new()),
        }
    }

    #[inline]
    fn with<T>(&self, work: impl FnOnce(&mut Dlmalloc) -> T) -> T {
        while self.is_taken.swap(true, Ordering::Acquire) {
            self.wait();
        }
        #[expect(unsafe_code, reason = "the compiler does not know of the lock")]
        // SAFETY: whoever set `is_taken` is alone with the heap until it is unset below.
        let result = work(unsafe { &mut *self.heap.get() });
        self.is_taken.store(false, Ordering::Release);
        result
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..LOOKS {
            if !self.is_taken.load(Ordering::Relaxed) {
                return;
            }
            std::hint::spin_loop();
        }
        std::thread::yield_now();
    }
}

#[expect(unsafe_code, reason = "this is what an allocator is")]
// SAFETY: dlmalloc keeps the contract; each call is handed on as it is.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises.
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises.
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: what the caller promises.
        self.with(|heap| unsafe { heap.free(place, layout.size(), layout.align()) });
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: what the caller promises.
        self.with(|heap| unsafe { heap.realloc(place, layout.size(), layout.align(), size) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of several threads keeps pieces of its own, lets them grow and gives them back; nobody's
    /// bytes turn up at somebody else's.
    #[test]
    #[expect(
        unsafe_code,
        clippy::multiple_unsafe_ops_per_block,
        reason = "the functions under test are unsafe"
    )]
    fn threads_do_not_get_each_others_memory() {
        let memory = Memory::new();
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        let play = |own: u8| {
            let mut kept: Vec<(*mut u8, usize)> = Vec::new();
            for round in 0..20_000_usize {
                let size = 1 + round * 37 % 900;
                // SAFETY: sizes and layouts are those of the allocation.
                unsafe {
                    let place = memory.alloc_zeroed(layout(size));
                    assert!((0..size).all(|at| *place.add(at) == 0));
                    place.write_bytes(own, size);
                    kept.push((place, size));
                    if round % 3 == 0 {
                        let (place, size) = kept.swap_remove(round % kept.len());
                        let grown = memory.realloc(place, layout(size), size + 100);
                        assert!((0..size).all(|at| *grown.add(at) == own));
                        memory.dealloc(grown, layout(size + 100));
                    }
                }
            }
            for (place, size) in kept {
                // SAFETY: sizes and layouts are those of the allocation.
                unsafe {
                    assert!((0..size).all(|at| *place.add(at) == own));
                    memory.dealloc(place, layout(size));
                }
            }
        };
        std::thread::scope(|scope| {
            for own in 1..=4 {
                scope.spawn(move || play(own));
            }
        });
    }
}
