//! The seam below which messages travel: MPI, or memory in tests. The crate does not know MPI, so its tests run ranks
//! as threads with messages in memory, and let them die in every place.

/// Carries messages between ranks. Belongs to one thread; no call blocks.
///
/// Messages between two ranks arrive once and in order, while both live. A message to a rank that has died is lost
/// without an error: silence is what tells the dead from the living.
pub trait Transport {
    fn rank(&self) -> u32;

    fn ranks(&self) -> u32;

    /// Begins to send a message.
    fn send(&mut self, to: u32, message: Vec<u8>);

    /// Returns the next message that has arrived, with its sender.
    fn receive(&mut self) -> Option<(u32, Vec<u8>)>;

    /// Ends the connection with all ranks. Waits for the others to do the same, so it is called only if all of them
    /// live.
    fn finish(self: Box<Self>);
}
