//! Agreements: every rank contributes a part, the parts are combined along the tree, and rank 0's conclusion reaches
//! every rank.
//!
//! MPI's collective operations would wait forever for a rank that has died or hangs, unless the library was built with
//! ULFM, which Debian's are not. Here each rank waits for its children as long as they send heartbeats; a rank whose
//! parent is lost turns to rank 0. The cost grows with the logarithm of the number of ranks, as with `MPI_Reduce`, and
//! parts of different shapes (jobs of some hosts only, series of different lengths) need no padding.

use std::time::{Duration, Instant};

use crate::exchange::{RankExchange, Whole};
use crate::message::{Header, LeavingRank, Presence};
use crate::tree;

/// How parts become a whole.
pub(crate) trait Combine {
    /// Combines the parts of several subtrees.
    fn combine(&mut self, parts: Vec<Vec<u8>>) -> Vec<u8>;

    /// Draws rank 0's conclusion from the combined parts, knowing the ranks without a part.
    fn conclude(&mut self, combined: Vec<u8>, lost: &[(u32, String)]) -> Vec<u8>;
}

/// Why a rank has no part in an agreement, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excluded(pub(crate) String);

/// What a rank is told whose part comes too late.
const TOO_LATE: &str = "excluded: no heartbeat within the timeout";

/// One agreement, as one rank takes part in it.
pub(crate) struct Agreement {
    number: u64,
    phase: Phase,
    /// Combined when they are passed on.
    parts: Vec<Vec<u8>>,
    presence: Presence,
    /// Ranks that sent their parts to rank 0 because their parents are lost.
    orphans: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Waits for the parts of these children.
    Collecting(Vec<u32>),
    /// Rank 0 waits for parts of ranks whose parents are lost.
    Orphans { until: Instant },
    /// Waits for the conclusion.
    Sent { to: u32, until: Option<Instant> },
}

impl Agreement {
    /// Begins the nth agreement with the part of this rank.
    pub(crate) fn new(exchange: &RankExchange, number: u64, part: Vec<u8>) -> Self {
        let presence = Presence { ranks: vec![exchange.rank], ..Presence::default() };
        Self::with(exchange, number, vec![part], presence)
    }

    /// Begins the nth agreement, in which this rank leaves, whatever the others agree on.
    pub(crate) fn leaving(exchange: &RankExchange, number: u64, leaving: LeavingRank) -> Self {
        Self::with(exchange, number, Vec::new(), Presence { leaving: vec![leaving], ..Presence::default() })
    }

    fn with(exchange: &RankExchange, number: u64, parts: Vec<Vec<u8>>, presence: Presence) -> Self {
        let children = tree::children(exchange.rank, exchange.ranks).collect();
        Self { number, phase: Phase::Collecting(children), parts, presence, orphans: Vec::new() }
    }

    /// Proceeds as far as possible without waiting. Returns the whole once it is known.
    pub(crate) fn poll(
        &mut self,
        exchange: &RankExchange,
        combine: &mut dyn Combine,
    ) -> Option<Result<Whole, Excluded>> {
        self.collect(exchange);
        loop {
            let next = match &mut self.phase {
                Phase::Collecting(waiting) => {
                    let lost = &mut self.presence.lost;
                    waiting.retain(|child| match exchange.lost(*child) {
                        Some(reason) => {
                            lost.push((*child, reason));
                            false
                        }
                        None => true,
                    });
                    if !waiting.is_empty() {
                        return None;
                    }
                    match tree::parent(exchange.rank) {
                        // A rank may need twice the time to miss a parent that was lost just now.
                        None => Phase::Orphans { until: Instant::now() + 2 * exchange.silence() + MARGIN },
                        Some(parent) => self.sent(exchange, combine, parent),
                    }
                }
                Phase::Orphans { until } => {
                    let until = *until;
                    let unexplained = self.unexplained(exchange.ranks);
                    if !unexplained.is_empty() && Instant::now() < until {
                        return None;
                    }
                    let reason = "its parent rank is lost, and it did not reconnect to rank 0";
                    self.presence.lost.extend(unexplained.into_iter().map(|rank| (rank, reason.to_owned())));
                    return Some(Ok(self.conclude(exchange, combine)));
                }
                Phase::Sent { to, until } => {
                    let (to, until) = (*to, *until);
                    if let Some(whole) = exchange.look(|arrivals| arrivals.wholes.remove(&self.number)) {
                        self.pass_on(exchange, &whole);
                        return Some(Ok(whole));
                    }
                    if let Some(reason) = exchange.look(|arrivals| arrivals.excluded.remove(&self.number)) {
                        return Some(Err(self.exclude(exchange, reason)));
                    }
                    let reason = match until {
                        Some(until) if Instant::now() >= until => Some("it does not respond".to_owned()),
                        Some(_) => None,
                        None => exchange.lost(to),
                    };
                    match reason {
                        None => return None,
                        Some(reason) if to == 0 => {
                            return Some(Err(self.exclude(exchange, format!("rank 0 is lost: {reason}"))));
                        }
                        Some(_) => self.sent(exchange, combine, 0),
                    }
                }
            };
            self.phase = next;
        }
    }

    /// Takes the parts that have arrived, and answers those of agreements that are over.
    fn collect(&mut self, exchange: &RankExchange) {
        let number = self.number;
        let arrived: Vec<_> =
            exchange.look(|arrivals| arrivals.parts.extract_if(.., |part| part.number <= number).collect());
        for part in arrived {
            let is_gone = exchange.look(|arrivals| arrivals.gone.contains_key(&part.from));
            if part.number < self.number || is_gone || matches!(self.phase, Phase::Sent { .. }) {
                answer_late(exchange, part.from, part.number);
                continue;
            }
            if let Phase::Collecting(waiting) = &mut self.phase {
                waiting.retain(|child| *child != part.from);
            }
            if tree::parent(part.from) != Some(exchange.rank) {
                self.orphans.push(part.from);
            }
            if !part.presence.ranks.is_empty() {
                self.parts.push(part.body);
            }
            self.presence.add(part.presence);
        }
    }

    /// Sends the parts of this subtree.
    fn sent(&mut self, exchange: &RankExchange, combine: &mut dyn Combine, to: u32) -> Phase {
        let body = self.combined(combine);
        exchange.send(to, &Header::Part { number: self.number, presence: self.presence.clone() }, &body);
        self.parts.push(body);
        // Only neighbours show each other that they live.
        let is_neighbour = tree::parent(exchange.rank) == Some(to);
        let until = (!is_neighbour).then(|| Instant::now() + 4 * exchange.silence() + MARGIN);
        Phase::Sent { to, until }
    }

    fn combined(&mut self, combine: &mut dyn Combine) -> Vec<u8> {
        let mut parts = std::mem::take(&mut self.parts);
        match parts.len() {
            0 => Vec::new(),
            1 => parts.remove(0),
            _ => combine.combine(parts),
        }
    }

    /// Returns the ranks of which neither a part nor a reason is known, and that may still turn to rank 0.
    fn unexplained(&self, ranks: u32) -> Vec<u32> {
        let is_named = |rank: u32| self.presence.lost.iter().any(|(lost, _)| *lost == rank);
        (0..ranks).filter(|rank| !self.presence.has(*rank) && !is_named(*rank)).collect()
    }

    fn conclude(&mut self, exchange: &RankExchange, combine: &mut dyn Combine) -> Whole {
        self.presence.settle();
        let combined = self.combined(combine);
        let body = if combined.is_empty() { combined } else { combine.conclude(combined, &self.presence.lost) };
        let whole = Whole { body, presence: self.presence.clone() };
        exchange.look(|arrivals| {
            arrivals.concluded.insert(self.number, whole.clone());
            if arrivals.concluded.len() > CONCLUSIONS_KEPT {
                arrivals.concluded.pop_first();
            }
        });
        self.pass_on(exchange, &whole);
        whole
    }

    /// Sends the conclusion to the children, and to ranks whose parents are lost.
    fn pass_on(&self, exchange: &RankExchange, whole: &Whole) {
        let header = Header::Whole { number: self.number, presence: whole.presence.clone() };
        self.below(exchange).for_each(|to| exchange.send(to, &header, &whole.body));
    }

    /// Tells the same ranks that there will be no conclusion for them.
    fn exclude(&self, exchange: &RankExchange, reason: String) -> Excluded {
        let header = Header::Excluded { number: self.number, reason: reason.clone() };
        self.below(exchange).for_each(|to| exchange.send(to, &header, &[]));
        Excluded(reason)
    }

    fn below(&self, exchange: &RankExchange) -> impl Iterator<Item = u32> {
        let children = tree::children(exchange.rank, exchange.ranks).filter(|child| self.presence.has(*child));
        children.chain(self.orphans.iter().copied())
    }
}

/// Answers a part of an agreement that is over: with its conclusion if the rank took part in it by way of a rank that has
/// died since.
fn answer_late(exchange: &RankExchange, to: u32, number: u64) {
    let whole = exchange.look(|arrivals| arrivals.concluded.get(&number).cloned());
    match whole.filter(|whole| whole.presence.has(to)) {
        Some(Whole { presence, body }) => exchange.send(to, &Header::Whole { number, presence }, &body),
        None => exchange.send(to, &Header::Excluded { number, reason: TOO_LATE.to_owned() }, &[]),
    }
}

/// Number of conclusions that rank 0 keeps.
const CONCLUSIONS_KEPT: usize = 4;
/// Time for a message to arrive.
const MARGIN: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts combinations.
    #[derive(Default)]
    struct Counting(usize);

    impl Combine for Counting {
        fn combine(&mut self, parts: Vec<Vec<u8>>) -> Vec<u8> {
            self.0 += 1;
            parts.concat()
        }

        fn conclude(&mut self, combined: Vec<u8>, _lost: &[(u32, String)]) -> Vec<u8> {
            combined
        }
    }

    fn agreement(parts: Vec<Vec<u8>>) -> Agreement {
        let (phase, presence, orphans) = (Phase::Collecting(Vec::new()), Presence::default(), Vec::new());
        Agreement { number: 0, phase, parts, presence, orphans }
    }

    #[test]
    fn a_rank_without_children_sends_its_part_as_it_is() {
        let part = b"a record that is large".to_vec();
        let (address, mut counting) = (part.as_ptr(), Counting::default());
        let sent = agreement(vec![part]).combined(&mut counting);
        assert_eq!((sent.as_ptr(), counting.0), (address, 0), "neither read nor copied");
        let sent = agreement(vec![b"a".to_vec(), b"b".to_vec()]).combined(&mut counting);
        assert_eq!((sent, counting.0), (b"ab".to_vec(), 1));
    }
}
