/// Adjacent bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes.
    pub length: u64,
    /// Whether they are not allocated.
    pub hole: bool,
    /// Whether they read as zeroes.
    pub zero: bool,
}
