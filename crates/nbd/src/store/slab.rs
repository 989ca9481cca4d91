//! Storage by reusable indices.

/// A vector with reusable gaps.
pub(super) struct Slab<T> {
    items: Vec<Option<T>>,
    gaps: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), gaps: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(super) fn len(&self) -> u64 {
        (self.items.len() - self.gaps.len()) as u64
    }

    /// Adds an item and returns its number; `None` when all numbers are used.
    pub(super) fn add(&mut self, item: T) -> Option<u32> {
        if let Some(number) = self.gaps.pop() {
            self.items[number as usize] = Some(item);
            return Some(number);
        }
        // Leaves two numbers for callers that encode other states.
        let number = u32::try_from(self.items.len()).ok().filter(|&number| number < u32::MAX - 2)?;
        self.items.push(Some(item));
        Some(number)
    }

    pub(super) fn remove(&mut self, number: u32) -> T {
        let item = self.items[number as usize].take().expect(NONE);
        self.gaps.push(number);
        item
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        self.items[number as usize].as_ref().expect(NONE)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        self.items[number as usize].as_mut().expect(NONE)
    }
}

const NONE: &str = "numbers refer to existing items";
