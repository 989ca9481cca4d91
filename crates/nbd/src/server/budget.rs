//! The memory budget of all clients.
//!
//! A connection takes memory for requests on their way in, for requests in flight, and for replies that its client has not
//! read. It is not read from while the next request does not fit, so that memory is bounded by what is granted here:
//!
//! * Each connection has a *share* reserved for it. A connection for which no share is left is refused.
//! * Beyond its share a connection takes from a common *pool* as much as its client has shown that it reads. A client that
//!   reads no replies stays at little more than its share, so that many of them leave the pool to others.
//! * A request that fits into neither is granted an *advance* while nothing else of its connection is in flight; the
//!   largest request always fits. Advances are granted in the order of [`AdvanceQueue`]. Where others wait for an
//!   advance, its holder has to move its bytes or is disconnected.
//!
//! Requests of clients that have left keep their memory until they end, and are counted until then.

use units::Nanos;

use super::advance_queue::AdvanceQueue;
use super::slots::ConnectionTicket;

/// Memory of a request besides its data: entries in the server, the store and the model.
pub(super) const REQUEST_BYTES: u64 = 2 << 10;
/// Memory of a connection that is not counted further: its own structures and what the allocator adds.
const CONNECTION_BYTES: u64 = 8 << 10;
/// Buffers of a TLS session.
const SESSION_BYTES: u64 = 160 << 10;
/// The share of a connection lies between these.
const SHARE_LEAST: u64 = 64 << 10;
const SHARE_MOST: u64 = 256 << 10;
/// Maximum send buffer of the kernel; it allocates twice as much for overhead.
const SEND_BUFFER_MOST: u64 = 4 << 20;
/// Requests are never announced to be longer than this.
const REQUEST_MOST: u64 = 32 << 20;
/// No client is trusted with more of the pool than this.
const EARNED_MOST: u64 = 256 << 20;
/// A client that has read nothing yet gets this fraction of what is free in the pool.
const FIRST_FRACTION: u64 = 128;
/// The least budget with which a server works.
const LEAST_BYTES: u64 = 4 << 20;
/// Reserved memory of a mount: the kernel's largest request, and the overhead of a store.
const MOUNT_SHARE: u64 = 5 << 19;
/// All that a mount takes: that, and the buffer for one request.
const MOUNT_BYTES: u64 = MOUNT_SHARE + (1 << 20) + CONNECTION_BYTES;
/// Time without progress, and in all, after which the holder of an advance loses it if others wait.
const STALLED_MOST: Nanos = Nanos::from_secs(5);
const ADVANCED_MOST: Nanos = Nanos::from_secs(60);

/// The memory of all connections.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    /// What shares may come to together, and what each takes.
    shares_most: u64,
    share: u64,
    /// What a share costs: with what is not counted further.
    share_cost: u64,
    connections: u64,
    pool_most: u64,
    pool_used: u64,
    advances_most: u64,
    advances_used: u64,
    /// Requests in flight of clients that have left.
    orphaned: u64,
    /// Connections that wait for an advance.
    waiting: AdvanceQueue,
    /// Whether the first of those should try again.
    wake: bool,
}

/// Memory of one connection.
#[derive(Debug)]
pub(super) struct Account {
    share: u64,
    advance: u64,
    /// What it takes from the pool.
    pooled: u64,
    /// How much its client has shown that it reads.
    earned: u64,
    /// How many bytes more the kernel may take for a client that reads none.
    unproven: u64,
    waits: bool,
}

impl MemoryBudget {
    /// Divides `bytes`, which connections and `mounts` share, with or without TLS.
    pub(super) fn new(bytes: u64, mounts: u64, tls: bool) -> Self {
        let bytes = bytes.saturating_sub(mounts.saturating_mul(MOUNT_BYTES)).max(LEAST_BYTES);
        let share = (bytes >> 10).clamp(SHARE_LEAST, SHARE_MOST);
        Self {
            shares_most: bytes / 4,
            share,
            share_cost: share + CONNECTION_BYTES + if tls { SESSION_BYTES } else { 0 },
            connections: 0,
            pool_most: bytes / 4,
            pool_used: 0,
            // A little more than a quarter: then the longest request, twice, is a quarter.
            advances_most: bytes / 32 * 9,
            advances_used: 0,
            orphaned: 0,
            waiting: AdvanceQueue::default(),
            wake: false,
        }
    }

    /// What stores may keep of buffers that are not in use.
    pub(super) fn kept_bytes(bytes: u64) -> u64 {
        bytes.max(LEAST_BYTES) / 16
    }

    /// The longest request that always fits, twice: while its payload is received it is also written.
    pub(super) fn request_most(&self) -> u32 {
        let most = (self.advances_most.saturating_sub(512 << 10) / 2).clamp(4096, REQUEST_MOST);
        1 << most.ilog2()
    }

    /// How much the kernel may keep of what a client has not read: more makes long replies cheaper, and is memory too.
    pub(super) fn send_buffer_bytes(&self) -> usize {
        (self.pool_most / 128).clamp(SHARE_MOST, SEND_BUFFER_MOST) as usize
    }

    /// How many connections there can be.
    pub(super) fn connections_most(&self) -> u64 {
        (self.shares_most / self.share_cost).max(1)
    }

    /// Gives a new connection its share, if there is one.
    pub(super) fn admit(&mut self) -> bool {
        let shares = self.connections * self.share_cost + self.orphaned;
        let fits = shares + self.share_cost <= self.shares_most || self.connections == 0;
        self.connections += u64::from(fits);
        fits
    }

    /// A connection has ended whose requests in flight take `orphaned` bytes.
    pub(super) fn leave(&mut self, account: &mut Account, client: u32, orphaned: u64) {
        self.connections -= 1;
        self.end(account, orphaned);
        self.stop_waiting(account, client);
    }

    /// A connection no longer needs the advance that it may be waiting for.
    #[inline]
    fn stop_waiting(&mut self, account: &mut Account, client: u32) {
        if std::mem::take(&mut account.waits) {
            self.waiting.remove(client);
            self.wake |= !self.waiting.is_empty();
        }
    }

    /// A mount has ended; as for connections.
    pub(super) fn end(&mut self, account: &mut Account, orphaned: u64) {
        self.settle(account, 0);
        self.return_advance(account);
        self.orphaned += orphaned;
    }

    /// A request has ended whose client was gone.
    pub(super) fn orphan_ended(&mut self, bytes: u64) {
        self.orphaned -= bytes;
    }

    /// How many bytes a connection may hold.
    #[inline]
    pub(super) fn window(&self, account: &Account) -> u64 {
        let free = (self.pool_most + account.pooled).saturating_sub(self.pool_used + self.orphaned);
        account.share + account.advance + (account.earned + free / FIRST_FRACTION).min(free / 2)
    }

    /// Takes note of how many bytes a connection holds now.
    #[inline]
    pub(super) fn settle(&mut self, account: &mut Account, held: u64) {
        let pooled = held.saturating_sub(account.share + account.advance);
        self.pool_used = self.pool_used + pooled - account.pooled;
        account.pooled = pooled;
    }

    /// Whether a connection may hold `held` bytes: within its window or, where nothing of it is in flight, by an advance.
    #[inline]
    pub(super) fn grants(&mut self, account: &mut Account, ticket: ConnectionTicket, held: u64, is_idle: bool) -> bool {
        if held <= self.window(account) {
            // It may have been waiting for an advance before the pool was free.
            self.stop_waiting(account, ticket.client);
            return true;
        }
        is_idle && self.advance(account, ticket, held)
    }

    /// Grants a connection with nothing in flight an advance with which it may hold `held` bytes, or lets it wait.
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

    /// Takes an advance back.
    #[inline]
    pub(super) fn return_advance(&mut self, account: &mut Account) {
        if account.advance > 0 {
            self.advances_used -= account.advance;
            account.advance = 0;
            self.wake |= !self.waiting.is_empty();
        }
    }

    /// The connection that should ask again for its advance.
    #[inline]
    pub(super) fn next_waiting(&mut self) -> Option<ConnectionTicket> {
        if std::mem::take(&mut self.wake) { self.waiting.first() } else { None }
    }

    /// Whether a connection waits for an advance.
    pub(super) fn is_contended(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl Account {
    /// The account of a connection whose socket takes `buffered` bytes before its client reads any.
    pub(super) fn new(budget: &MemoryBudget, buffered: u64) -> Self {
        Self { share: budget.share, advance: 0, pooled: 0, earned: 0, unproven: buffered, waits: false }
    }

    /// The account of a mount: the kernel always reads its replies.
    pub(super) fn of_mount() -> Self {
        Self { share: MOUNT_SHARE, advance: 0, pooled: 0, earned: EARNED_MOST, unproven: 0, waits: false }
    }

    /// Its client has taken what these bytes were held for.
    #[inline]
    pub(super) fn earn(&mut self, bytes: u64) {
        if self.unproven == 0 {
            self.earned = (self.earned + bytes).min(EARNED_MOST);
        }
    }

    /// The kernel has taken so many bytes for its client.
    #[inline]
    pub(super) fn sent(&mut self, bytes: u64) {
        self.unproven = self.unproven.saturating_sub(bytes);
    }

    /// Whether it holds an advance that others wait for, and its client has been too slow: nothing has moved since
    /// `moved`, or it has had its turn since `since`.
    pub(super) fn is_overdue(&self, now: Nanos, moved: Nanos, since: Nanos) -> bool {
        self.advance > 0 && (now.since(moved) > STALLED_MOST || now.since(since) > ADVANCED_MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::super::advance_queue::OVERTAKEN_MOST;
    use super::*;

    const MIB: u64 = 1 << 20;

    fn ticket(client: u32) -> ConnectionTicket {
        ConnectionTicket { client, generation: 0 }
    }

    #[test]
    fn all_that_can_be_granted_is_within_the_budget() {
        for mib in [4, 64, 256, 1024] {
            let mut budget = MemoryBudget::new(mib * MIB, 0, false);
            let mut accounts = Vec::new();
            while budget.admit() {
                accounts.push(Account::new(&budget, 0));
            }
            assert_eq!(accounts.len() as u64, budget.connections_most());
            let mut held = 0;
            for (client, account) in (0..).zip(&mut accounts) {
                // One that reads now and then stops: the greatest window that it can have.
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
        let mut deaf: Vec<Account> = (0..100).map(|_| Account::new(&budget, 0)).collect();
        for account in &mut deaf {
            account.unproven = MIB;
            account.sent(MIB - 1);
            account.earn(10 * MIB);
            let window = budget.window(account);
            budget.settle(account, window);
        }
        let mut honest = Account::new(&budget, 0);
        (0..10).for_each(|_| honest.earn(budget.window(&honest)));
        assert!(budget.window(&honest) > 10 * MIB, "{}", budget.window(&honest));
        assert!(deaf.iter().all(|account| budget.window(account) < MIB));
    }

    #[test]
    fn the_largest_request_is_granted_in_turn() {
        let mut budget = MemoryBudget::new(256 * MIB, 0, false);
        let most = 2 * u64::from(budget.request_most());
        let [mut one, mut two, mut three] = [0; 3].map(|_| Account::new(&budget, 0));
        assert!(budget.advance(&mut one, ticket(1), most));
        assert!(!budget.advance(&mut two, ticket(2), most) && !budget.advance(&mut three, ticket(3), most));
        assert_eq!(budget.next_waiting(), None, "nothing has changed");
        budget.return_advance(&mut one);
        assert_eq!(budget.next_waiting(), Some(ticket(2)));
        assert!(!budget.advance(&mut three, ticket(3), most), "it came later");
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
    fn a_client_whose_request_fits_by_now_kept_all_others_waiting() {
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
    fn a_stream_of_readers_kept_new_clients_from_their_advances() {
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
        assert_eq!(granted, OVERTAKEN_MOST);
    }

    #[test]
    fn requests_of_clients_that_have_left_count_until_they_end() {
        let mut budget = MemoryBudget::new(64 * MIB, 0, false);
        assert!(budget.admit());
        let mut account = Account::new(&budget, 0);
        budget.settle(&mut account, 16 * MIB);
        budget.leave(&mut account, 0, 16 * MIB);
        assert!(budget.admit() && !budget.admit(), "only the first of all comes in without a share");
        budget.orphan_ended(16 * MIB);
        assert!(budget.admit());
    }

    #[test]
    fn little_memory_makes_requests_shorter() {
        let most = |mib: u64| MemoryBudget::new(mib * MIB, 0, false).request_most();
        assert_eq!([1024, 512, 256, 64, 4].map(most), [32 << 20, 32 << 20, 32 << 20, 8 << 20, 256 << 10]);
    }
}
