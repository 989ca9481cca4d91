//! Storage by reusable indices.

/// A row of things with gaps.
pub(super) struct Slab<T> {
    things: Vec<Option<T>>,
    gaps: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { things: Vec::new(), gaps: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        (self.things.len() - self.gaps.len()) as u64
    }

    /// Takes one in and gives its number; `None` when the numbers are used up.
    pub(super) fn add(&mut self, thing: T) -> Option<u32> {
        if let Some(number) = self.gaps.pop() {
            self.things[number as usize] = Some(thing);
            return Some(number);
        }
        // Two short of all numbers, which leaves callers something to say that there is none.
        let number = u32::try_from(self.things.len()).ok().filter(|&number| number < u32::MAX - 2)?;
        self.things.push(Some(thing));
        Some(number)
    }

    /// Gives one back.
    ///
    /// # Panics
    /// Where none has this number, as all of these.
    pub(super) fn remove(&mut self, number: u32) -> T {
        let thing = self.things[number as usize].take().expect(NONE);
        self.gaps.push(number);
        thing
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        self.things[number as usize].as_ref().expect(NONE)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        self.things[number as usize].as_mut().expect(NONE)
    }
}

const NONE: &str = "numbers are kept only of things that are there";
