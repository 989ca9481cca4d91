//! The memory budget of all clients.
//!
//! A connection takes memory for incoming requests, for requests in flight, and for replies that its client has not
//! read. It is not read from while its next request does not fit, so these grants bound the memory:
//!
//! * Each connection has a reserved *share*. A connection for which no share is left is refused.
//! * Beyond its share, a connection takes as much from a common *pool* as its client has proved to read. A client that
//!   reads no replies stays close to its share, so many such clients leave the pool to others.
//! * A request that fits into neither is granted an *advance* once nothing else of its connection is in flight; the
//!   largest request always fits. Advances are granted in the order of [`AdvanceQueue`]. While others wait, the holder
//!   of an advance must make progress or is disconnected.
//!
//! Equal shares alone would refuse requests of 32 MiB beside a hundred clients; a pool alone would be held forever by
//! clients that never read.
//!
//! Requests of disconnected clients keep their memory, and count, until they end.

use units::Nanos;

use super::advance_queue::AdvanceQueue;
use super::slots::ConnectionTicket;

/// Memory of a request besides its data: entries in the server, the store and the model.
pub(super) const REQUEST_BYTES: u64 = 2 << 10;
/// Uncounted memory of a connection: its own structures and allocator overhead.
const CONNECTION_BYTES: u64 = 8 << 10;
const SESSION_BYTES: u64 = 160 << 10;
/// Bounds of a connection's share.
const MIN_SHARE: u64 = 64 << 10;
const MAX_SHARE: u64 = 256 << 10;
/// Maximum send buffer of the kernel, which allocates twice as much for overhead.
const MAX_SEND_BUFFER: u64 = 4 << 20;
/// Largest request size ever announced.
const MAX_REQUEST: u64 = 32 << 20;
/// Largest part of the pool that one client can earn.
const MAX_EARNED: u64 = 256 << 20;
/// Fraction of the free pool available to a client that has read nothing yet.
const FIRST_FRACTION: u64 = 128;
/// Smallest budget a server works with.
const MIN_BUDGET_BYTES: u64 = 4 << 20;
/// Reserved memory of a mount: the kernel's largest request and the overhead of a store.
const MOUNT_SHARE: u64 = 5 << 19;
/// Total memory of a mount: the share, the buffer for one request, and the connection.
const MOUNT_BYTES: u64 = MOUNT_SHARE + (1 << 20) + CONNECTION_BYTES;
/// Time without progress, and total time, after which the holder of an advance loses it if others wait.
const MAX_STALLED: Nanos = Nanos::from_secs(5);
const MAX_ADVANCED: Nanos = Nanos::from_secs(60);

/// The memory of all connections.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    /// Maximum total of all shares, and the size of one.
    shares_most: u64,
    share: u64,
    /// Cost of a share, including uncounted memory.
    share_cost: u64,
    connections: u64,
    pool_most: u64,
    pool_used: u64,
    advances_most: u64,
    advances_used: u64,
    /// Memory of in-flight requests whose clients have disconnected.
    orphaned: u64,
    /// Connections that wait for an advance.
    waiting: AdvanceQueue,
    /// Whether the first waiting connection should retry.
    wake: bool,
}

/// Memory of one connection.
#[derive(Debug)]
pub(super) struct Account {
    share: u64,
    advance: u64,
    /// Bytes taken from the pool.
    pooled: u64,
    /// Bytes that the client has proved to read.
    earned: u64,
    /// Bytes that the kernel may still buffer for a client that reads nothing.
    unproven: u64,
    waits: bool,
}

impl MemoryBudget {
    /// Divides `bytes` among connections (with or without TLS) and `mounts`.
    pub(super) fn new(bytes: u64, mounts: u64, tls: bool) -> Self {
        let bytes = bytes.saturating_sub(mounts.saturating_mul(MOUNT_BYTES)).max(MIN_BUDGET_BYTES);
        let share = (bytes >> 10).clamp(MIN_SHARE, MAX_SHARE);
        Self {
            shares_most: bytes / 4,
            share,
            share_cost: share + CONNECTION_BYTES + if tls { SESSION_BYTES } else { 0 },
            connections: 0,
            pool_most: bytes / 4,
            pool_used: 0,
            // Slightly more than a quarter, so that the longest request, counted twice, fits into a quarter.
            advances_most: bytes / 32 * 9,
            advances_used: 0,
            orphaned: 0,
            waiting: AdvanceQueue::default(),
            wake: false,
        }
    }

    /// Returns the limit of unused buffers that stores may keep.
    pub(super) fn kept_bytes(bytes: u64) -> u64 {
        bytes.max(MIN_BUDGET_BYTES) / 16
    }

    /// Returns the longest request that always fits twice: a payload is written while it is still held by the receiver.
    pub(super) fn request_most(&self) -> u32 {
        let most = (self.advances_most.saturating_sub(512 << 10) / 2).clamp(4096, MAX_REQUEST);
        1 << most.ilog2()
    }

    /// Returns the size of the kernel's send buffer. Larger buffers make long replies cheaper but take memory too.
    pub(super) fn send_buffer_bytes(&self) -> usize {
        (self.pool_most / 128).clamp(MAX_SHARE, MAX_SEND_BUFFER) as usize
    }

    /// Returns the number of connections for which there is memory.
    pub(super) fn connections_most(&self) -> u64 {
        (self.shares_most / self.share_cost).max(1)
    }

    /// Reserves a share for a new connection; returns whether one was left.
    pub(super) fn admit(&mut self) -> bool {
        let shares = self.connections * self.share_cost + self.orphaned;
        let fits = shares + self.share_cost <= self.shares_most || self.connections == 0;
        self.connections += u64::from(fits);
        fits
    }

    /// Releases a connection whose requests in flight take `orphaned` bytes.
    pub(super) fn leave(&mut self, account: &mut Account, client: u32, orphaned: u64) {
        self.connections -= 1;
        self.end(account, orphaned);
        self.stop_waiting(account, client);
    }

    /// Removes a connection from the queue for an advance that it no longer needs.
    #[inline]
    fn stop_waiting(&mut self, account: &mut Account, client: u32) {
        if std::mem::take(&mut account.waits) {
            self.waiting.remove(client);
            self.wake |= !self.waiting.is_empty();
        }
    }

    /// Releases a mount whose requests in flight take `orphaned` bytes.
    pub(super) fn end(&mut self, account: &mut Account, orphaned: u64) {
        self.settle(account, 0);
        self.return_advance(account);
        self.orphaned += orphaned;
    }

    /// Releases the memory of a request whose client has disconnected.
    pub(super) fn orphan_ended(&mut self, bytes: u64) {
        self.orphaned -= bytes;
    }

    /// Returns the number of bytes that a connection may hold.
    #[inline]
    pub(super) fn window(&self, account: &Account) -> u64 {
        let free = (self.pool_most + account.pooled).saturating_sub(self.pool_used + self.orphaned);
        account.share + account.advance + (account.earned + free / FIRST_FRACTION).min(free / 2)
    }

    /// Records the number of bytes that a connection holds.
    #[inline]
    pub(super) fn settle(&mut self, account: &mut Account, held: u64) {
        let pooled = held.saturating_sub(account.share + account.advance);
        self.pool_used = self.pool_used + pooled - account.pooled;
        account.pooled = pooled;
    }

    /// Reports whether a connection may hold `held` bytes: within its window or, with nothing in flight, by an advance.
    #[inline]
    pub(super) fn grants(&mut self, account: &mut Account, ticket: ConnectionTicket, held: u64, is_idle: bool) -> bool {
        if held <= self.window(account) {
            // It may have queued for an advance before the pool had room.
            self.stop_waiting(account, ticket.client);
            return true;
        }
        is_idle && self.advance(account, ticket, held)
    }

    /// Grants an idle connection the advance it needs to hold `held` bytes, or queues it.
    #[cold]
    fn advance(&mut self, account: &mut Account, ticket: ConnectionTicket, held: u64) -> bool {
        let more = held.saturating_sub(account.share + account.advance);
        let turn = self.waiting.first().is_none_or(|first| first == ticket);
        let fits = self.advances_used + more <= self.advances_most || self.advances_used == account.advance;
        if turn && fits {
            self.waiting.grant(ticket);
            self.wake |= std::mem::take(&mut account.waits) && !self.waiting.is_empty();
            self.advances_used += more;
            account.advance += more;
        } else if !account.waits {
            account.waits = true;
            self.waiting.push(ticket, account.earned > 0);
        }
        turn && fits
    }

    #[inline]
    pub(super) fn return_advance(&mut self, account: &mut Account) {
        if account.advance > 0 {
            self.advances_used -= account.advance;
            account.advance = 0;
            self.wake |= !self.waiting.is_empty();
        }
    }

    /// Returns the connection that should retry for its advance.
    #[inline]
    pub(super) fn next_waiting(&mut self) -> Option<ConnectionTicket> {
        if std::mem::take(&mut self.wake) { self.waiting.first() } else { None }
    }

    /// Reports whether a connection waits for an advance.
    pub(super) fn is_contended(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl Account {
    /// Opens an account for a connection whose socket buffers `buffered` bytes before its client reads any.
    pub(super) fn new(budget: &MemoryBudget, buffered: u64) -> Self {
        Self { share: budget.share, advance: 0, pooled: 0, earned: 0, unproven: buffered, waits: false }
    }

    /// Opens an account for a mount: the kernel always reads its replies.
    pub(super) fn of_mount() -> Self {
        Self { share: MOUNT_SHARE, advance: 0, pooled: 0, earned: MAX_EARNED, unproven: 0, waits: false }
    }

    /// Credits the client for reading the data behind these bytes.
    #[inline]
    pub(super) fn earn(&mut self, bytes: u64) {
        if self.unproven == 0 {
            self.earned = (self.earned + bytes).min(MAX_EARNED);
        }
    }

    /// Records bytes that the kernel has accepted for the client.
    #[inline]
    pub(super) fn sent(&mut self, bytes: u64) {
        self.unproven = self.unproven.saturating_sub(bytes);
    }

    /// Reports whether it holds an advance and its client is too slow: no progress since `moved`, or no end since
    /// `since`.
    pub(super) fn is_overdue(&self, now: Nanos, moved: Nanos, since: Nanos) -> bool {
        self.advance > 0 && (now.since(moved) > MAX_STALLED || now.since(since) > MAX_ADVANCED)
    }
}

#[cfg(test)]
mod tests {
    use super::super::advance_queue::MAX_OVERTAKEN;
    use super::*;

    const MIB: u64 = 1 << 20;

    fn ticket(client: u32) -> ConnectionTicket {
        ConnectionTicket { client, generation: 0 }
    }

    #[test]
    fn grants_never_exceed_the_budget() {
        for mib in [4, 64, 256, 1024] {
            let mut budget = MemoryBudget::new(mib * MIB, 0, false);
            let mut accounts = Vec::new();
            while budget.admit() {
                accounts.push(Account::new(&budget, 0));
            }
            assert_eq!(accounts.len() as u64, budget.connections_most());
            let mut held = 0;
            for (client, account) in (0..).zip(&mut accounts) {
                // A client that reads and then stops has the largest window.
                account.earn(u64::MAX >> 1);
                let window = budget.window(account);
                budget.settle(account, window);
                let advanced = budget.advance(account, ticket(client), window + u64::from(budget.request_most()));
                held += window + if advanced { u64::from(budget.request_most()) } else { 0 };
            }
            let most = mib * MIB / 32 * 25;
            assert!(held <= most, "{mib} MiB: {held} of {most}");
        }
    }

    #[test]
    fn clients_that_never_read_leave_the_pool_to_others() {
        let mut budget = MemoryBudget::new(256 * MIB, 0, false);
        let mut non_readers: Vec<Account> = (0..100).map(|_| Account::new(&budget, 0)).collect();
        for account in &mut non_readers {
            account.unproven = MIB;
            account.sent(MIB - 1);
            account.earn(10 * MIB);
            let window = budget.window(account);
            budget.settle(account, window);
        }
        let mut reader = Account::new(&budget, 0);
        (0..10).for_each(|_| reader.earn(budget.window(&reader)));
        assert!(budget.window(&reader) > 10 * MIB, "{}", budget.window(&reader));
        assert!(non_readers.iter().all(|account| budget.window(account) < MIB));
    }

    #[test]
    fn the_largest_requests_are_granted_in_arrival_order() {
        let mut budget = MemoryBudget::new(256 * MIB, 0, false);
        let most = 2 * u64::from(budget.request_most());
        let [mut one, mut two, mut three] = [0; 3].map(|_| Account::new(&budget, 0));
        assert!(budget.advance(&mut one, ticket(1), most));
        assert!(!budget.advance(&mut two, ticket(2), most) && !budget.advance(&mut three, ticket(3), most));
        assert_eq!(budget.next_waiting(), None, "nothing has changed");
        budget.return_advance(&mut one);
        assert_eq!(budget.next_waiting(), Some(ticket(2)));
        assert!(!budget.advance(&mut three, ticket(3), most), "it arrived later");
        assert!(budget.advance(&mut two, ticket(2), most));
        assert_eq!(budget.next_waiting(), Some(ticket(3)));
        assert!(!budget.advance(&mut three, ticket(3), most));
        budget.connections = 1;
        budget.leave(&mut two, 2, 0);
        assert_eq!(budget.next_waiting(), Some(ticket(3)));
        assert!(budget.advance(&mut three, ticket(3), most) && !budget.is_contended());
    }

    #[test]
    fn clients_that_read_are_granted_advances_first() {
        let mut budget = MemoryBudget::new(256 * MIB, 0, false);
        let most = 2 * u64::from(budget.request_most());
        let [mut holder, mut new, mut known] = [0; 3].map(|_| Account::new(&budget, 0));
        known.earn(1);
        assert!(budget.advance(&mut holder, ticket(0), most));
        assert!(!budget.advance(&mut new, ticket(1), most) && !budget.advance(&mut known, ticket(2), most));
        budget.return_advance(&mut holder);
        assert_eq!(budget.next_waiting(), Some(ticket(2)));
    }

    #[test]
    fn a_client_whose_request_now_fits_does_not_block_the_queue() {
        let mut budget = MemoryBudget::new(256 * MIB, 0, false);
        let [mut busy, mut holder, mut first, mut second] = [0; 4].map(|_| Account::new(&budget, 0));
        busy.earn(u64::MAX >> 1);
        first.earn(u64::MAX >> 1);
        for _ in 0..20 {
            let window = budget.window(&busy);
            budget.settle(&mut busy, window);
        }
        let most = 2 * u64::from(budget.request_most());
        let small = 20 * MIB;
        assert!(budget.grants(&mut holder, ticket(0), most, true));
        assert!(
            !budget.grants(&mut first, ticket(1), small, true) && !budget.grants(&mut second, ticket(2), most, true)
        );
        budget.return_advance(&mut holder);
        budget.settle(&mut busy, 0);
        assert_eq!(budget.next_waiting(), Some(ticket(1)));
        assert!(budget.grants(&mut first, ticket(1), small, true) && first.advance == 0, "it fits into the window");
        assert_eq!(budget.next_waiting(), Some(ticket(2)));
        assert!(budget.grants(&mut second, ticket(2), most, true) && !budget.is_contended());
    }

    #[test]
    fn a_stream_of_readers_does_not_starve_new_clients() {
        let mut budget = MemoryBudget::new(256 * MIB, 0, false);
        let most = 2 * u64::from(budget.request_most());
        let mut new = Account::new(&budget, 0);
        let mut holder = Account::new(&budget, 0);
        assert!(budget.advance(&mut holder, ticket(0), most) && !budget.advance(&mut new, ticket(1), most));
        let mut granted = 0;
        for client in 2..100 {
            let mut reader = Account::new(&budget, 0);
            reader.earn(1);
            assert!(!budget.advance(&mut reader, ticket(client), most));
            budget.return_advance(&mut holder);
            match budget.next_waiting() {
                Some(next) if next == ticket(client) => assert!(budget.advance(&mut reader, next, most)),
                next => {
                    assert_eq!(next, Some(ticket(1)));
                    assert!(budget.advance(&mut new, ticket(1), most));
                    break;
                }
            }
            granted += 1;
            holder = reader;
        }
        assert_eq!(granted, MAX_OVERTAKEN);
    }

    #[test]
    fn requests_of_clients_that_have_left_count_until_they_end() {
        let mut budget = MemoryBudget::new(64 * MIB, 0, false);
        assert!(budget.admit());
        let mut account = Account::new(&budget, 0);
        budget.settle(&mut account, 16 * MIB);
        budget.leave(&mut account, 0, 16 * MIB);
        assert!(budget.admit() && !budget.admit(), "only the first connection is admitted without a share");
        budget.orphan_ended(16 * MIB);
        assert!(budget.admit());
    }

    #[test]
    fn small_budgets_limit_the_request_size() {
        let most = |mib: u64| MemoryBudget::new(mib * MIB, 0, false).request_most();
        assert_eq!([1024, 512, 256, 64, 4].map(most), [32 << 20, 32 << 20, 32 << 20, 8 << 20, 256 << 10]);
    }
}
