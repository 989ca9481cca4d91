//! One rank among others: what it knows of them, and what it agrees with them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode, random::mix_text};

use crate::agreement::{Agreement, Combine, Excluded};
use crate::clock::{ClockOffset, HostClock};
use crate::exchange::{ExchangeOptions, RankExchange, Whole};
use crate::leaving;
use crate::message::LeavingRank;
use crate::transport::Transport;

/// This rank among the others.
pub struct Fleet {
    pub(crate) exchange: RankExchange,
    pub(crate) clock: Arc<dyn HostClock + Sync>,
    id: String,
    hosts: Vec<String>,
    agreements: AtomicU64,
    measurements: AtomicU32,
    runs: AtomicU32,
    /// Why this rank takes part in no more agreements.
    excluded: OnceLock<String>,
    latest_clock: Mutex<Option<ClockOffset>>,
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").field("id", &self.id).field("rank", &self.rank()).finish_non_exhaustive()
    }
}

/// How a rank introduces itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Introduction {
    rank: u32,
    host: String,
    version: String,
}

/// What rank 0 tells the others of all of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Roster {
    id: String,
    ranks: Vec<Introduction>,
}

/// Time limit for the end of the connection.
const FINISH_LIMIT: Duration = Duration::from_secs(5);

impl Fleet {
    /// Joins the other ranks. `host` is the name of this host. `id` becomes the fleet's, if this is rank 0.
    ///
    /// # Errors
    ///
    /// Fails if the connection fails, a rank does not answer, or ranks run different versions of the program.
    pub fn join(
        options: ExchangeOptions,
        (host, version, id): (String, String, String),
        connect: impl FnOnce() -> Result<Box<dyn Transport>, Problem> + Send + 'static,
    ) -> Result<Self, Problem> {
        let clock = Arc::clone(&options.clock);
        let exchange = RankExchange::start(options, connect)?;
        let (agreements, measurements, runs) = Default::default();
        let (excluded, latest_clock, hosts) = Default::default();
        let mut fleet = Self { exchange, clock, id, hosts, agreements, measurements, runs, excluded, latest_clock };
        let own = Introduction { rank: fleet.rank(), host, version };
        let id = fleet.id.clone();
        let roster = |mut ranks: Vec<Introduction>| {
            ranks.sort_by_key(|one| one.rank);
            Roster { id, ranks }
        };
        let roster = fleet.agree(&own, roster)?;
        if let Some((rank, reason)) = fleet.lost_ranks().first() {
            return Err(Problem::error(ProblemCode::Connection, format!("rank {rank} did not join: {reason}")));
        }
        let (first, all) = (&roster.ranks[0], &roster.ranks);
        if let Some(other) = all.iter().find(|other| other.version != first.version) {
            let (versions, hosts) = ((&first.version, &other.version), (&first.host, &other.host));
            let what = format!(
                "rank 0 on {} has version {}, rank {} on {} has version {}",
                hosts.0, versions.0, other.rank, hosts.1, versions.1
            );
            return Err(Problem::error(ProblemCode::Connection, what).help("install the same version on all hosts"));
        }
        fleet.hosts = roster.ranks.into_iter().map(|one| one.host).collect();
        fleet.id = roster.id;
        Ok(fleet)
    }

    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.exchange.rank
    }

    #[must_use]
    pub const fn ranks(&self) -> u32 {
        self.exchange.ranks
    }

    /// Returns a number that identifies this load among others, the same on all ranks.
    #[must_use]
    pub fn number(&self) -> u32 {
        mix_text(0, &self.id) as u32
    }

    /// Returns the names of the hosts of all ranks.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    pub(crate) fn next_run(&self) -> String {
        match self.runs.fetch_add(1, Ordering::Relaxed) {
            0 => self.id.clone(),
            number => format!("{}-{}", self.id, number + 1),
        }
    }

    /// Returns the words by which messages name a rank.
    #[must_use]
    pub fn label(&self, rank: u32) -> String {
        self.hosts.get(rank as usize).map_or_else(|| format!("rank {rank}"), |host| format!("rank {rank} on {host}"))
    }

    /// Returns the value of a variable that ranks have: `RANK`, `RANKS` or `HOST`.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        match name {
            "RANK" => Some(self.rank().to_string()),
            "RANKS" => Some(self.ranks().to_string()),
            "HOST" => self.hosts.get(self.rank() as usize).cloned(),
            _ => None,
        }
    }

    /// Replaces these variables in an argument of the command line. In job files, the job language does.
    #[must_use]
    pub fn expand(&self, argument: &str) -> String {
        job::expand_rank_variables(argument, |name| self.variable(name))
    }

    /// Returns the ranks that are lost, with reasons.
    #[must_use]
    pub fn lost_ranks(&self) -> Vec<(u32, String)> {
        self.exchange.look(|arrivals| arrivals.gone.iter().map(|(rank, reason)| (*rank, reason.clone())).collect())
    }

    /// Returns the number of the next agreement. All ranks make the same agreements in the same order.
    fn next_agreement(&self) -> u64 {
        self.agreements.fetch_add(1, Ordering::Relaxed)
    }

    /// Begins an agreement that is polled.
    pub(crate) fn begin(&self, part: Vec<u8>) -> Agreement {
        self.exchange.set_awaited(true);
        Agreement::new(&self.exchange, self.next_agreement(), part)
    }

    /// Proceeds with an agreement, and records which ranks are lost.
    pub(crate) fn poll(&self, agreement: &mut Agreement, combine: &mut dyn Combine) -> Option<Result<Whole, Broken>> {
        let polled = match self.excluded.get() {
            Some(reason) => Err(Excluded(reason.clone())),
            None => agreement.poll(&self.exchange, combine)?,
        };
        self.exchange.set_awaited(false);
        Some(match polled {
            Err(Excluded(reason)) => {
                let reason = self.excluded.get_or_init(|| reason);
                Err(Broken::Excluded(reason.clone()))
            }
            Ok(whole) => {
                self.exchange.look(|arrivals| {
                    for (rank, reason) in &whole.presence.lost {
                        arrivals.gone.entry(*rank).or_insert_with(|| reason.clone());
                    }
                });
                match whole.presence.leaving.as_slice() {
                    [] => Ok(whole),
                    [first, ..] => Err(Broken::Left { label: self.label(first.rank), text: first.text.clone() }),
                }
            }
        })
    }

    /// Proceeds with an agreement to its end.
    pub(crate) fn complete(&self, agreement: &mut Agreement, combine: &mut dyn Combine) -> Result<Whole, Broken> {
        loop {
            if let Some(polled) = self.poll(agreement, combine) {
                return polled;
            }
            let arrived = |arrivals: &mut crate::exchange::RankInbox| {
                (!arrivals.parts.is_empty() || !arrivals.wholes.is_empty()).then_some(())
            };
            self.exchange.wait(Some(Instant::now() + TICK), arrived);
        }
    }

    /// Lets every rank contribute a value, from which rank 0 draws a conclusion for all.
    pub(crate) fn agree<T: Serialize + DeserializeOwned, C: Serialize + DeserializeOwned>(
        &self,
        own: &T,
        conclude: impl FnOnce(Vec<T>) -> C,
    ) -> Result<C, Broken> {
        let mut combine = ListCombine { conclude: Some(conclude), kind: std::marker::PhantomData };
        let part = serde_json::to_vec(&[own]).map_err(|error| Broken::Unreadable(error.to_string()))?;
        let mut agreement = self.begin(part);
        let whole = self.complete(&mut agreement, &mut combine)?;
        serde_json::from_slice(&whole.body).map_err(|error| Broken::Unreadable(error.to_string()))
    }

    /// Gives all ranks the value that rank 0 has. Without ranks, that is this process's own.
    ///
    /// # Errors
    ///
    /// Fails if a rank has ended its command, or rank 0 is lost.
    pub fn value_of_rank_0<T: Serialize + DeserializeOwned>(fleet: Option<&Self>, own: T) -> Result<T, Problem> {
        let Some(fleet) = fleet else { return Ok(own) };
        // A list, because JSON cannot tell an absent value from one that is `None`.
        let part: Vec<T> = (fleet.rank() == 0).then_some(own).into_iter().collect();
        let agreed = fleet.agree(&part, |parts| parts.into_iter().flatten().collect::<Vec<T>>());
        agreed?.pop().ok_or_else(|| Broken::Unreadable("empty message".to_owned()).into())
    }

    /// Gives rank 0 the values of all ranks, in their order, `None` for lost ones. The other ranks get `None`.
    ///
    /// # Errors
    ///
    /// Fails if a rank has ended its command, this rank takes no part, or a value cannot be read.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<Option<Vec<Option<T>>>, Problem> {
        let unreadable = |error: serde_json::Error| Problem::from(Broken::Unreadable(error.to_string()));
        let value = serde_json::to_vec(own).map_err(unreadable)?;
        let mut combine = GatherCombine::default();
        let mut agreement = self.begin(GatherCombine::part(self.rank(), &value));
        self.complete(&mut agreement, &mut combine)?;
        let Some(mut gathered) = combine.gathered else { return Ok(None) };
        let value = |rank| gathered.remove(&rank).map(|value| serde_json::from_slice(&value)).transpose();
        (0..self.ranks()).map(value).collect::<Result<_, _>>().map(Some).map_err(unreadable)
    }

    /// Measures the clocks of all ranks again. Returns this rank's once it is known; `None` if it is not measured within a
    /// second.
    pub(crate) fn measure_clock(&self) -> Option<ClockOffset> {
        let number = self.measurements.fetch_add(1, Ordering::Relaxed);
        if self.rank() == 0 {
            self.exchange.measure_clocks(number);
        }
        // A rank is measured by its parent.
        if crate::tree::parent(self.rank()).is_some_and(|parent| self.exchange.lost(parent).is_some()) {
            return None;
        }
        let limit = CLOCK_LIMIT + Duration::from_millis(20) * self.ranks();
        let measured =
            self.exchange.wait(Some(Instant::now() + limit), |arrivals| arrivals.clocks.get(&number).copied());
        let mut latest = self.latest_clock.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = measured.or(*latest);
        measured
    }

    /// Returns the offset of this rank's clock when it was last measured.
    pub(crate) fn latest_clock(&self) -> Option<ClockOffset> {
        *self.latest_clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends this rank's command with an exit code, and waits until all others have done so. Returns what they say.
    ///
    /// `text` is what this rank would have printed on standard error.
    pub fn leave(&self, code: u8, text: &str) -> Vec<LeavingRank> {
        let own = LeavingRank { rank: self.rank(), code, text: text.to_owned() };
        let others = loop {
            if self.excluded.get().is_some() {
                break None;
            }
            self.exchange.set_awaited(true);
            let mut agreement = Agreement::leaving(&self.exchange, self.next_agreement(), own.clone());
            let whole = loop {
                if let Some(whole) = agreement.poll(&self.exchange, &mut LeaveCombine) {
                    break whole;
                }
                self.exchange.wait(Some(Instant::now() + TICK), |_| None::<()>);
            };
            match whole {
                Err(_) => break None,
                // The others learn that this rank leaves, and leave in turn.
                Ok(whole) if !whole.presence.ranks.is_empty() => {}
                Ok(whole) => break Some(whole.presence),
            }
        };
        let is_orderly = others.as_ref().is_some_and(|presence| presence.leaving.len() == self.ranks() as usize);
        self.exchange.finish(is_orderly, FINISH_LIMIT);
        others.map(|presence| presence.leaving).unwrap_or_default()
    }
}

/// Pause between two looks at an agreement.
const TICK: Duration = Duration::from_millis(20);
/// Time limit for the measurement of the clocks of few ranks.
const CLOCK_LIMIT: Duration = Duration::from_secs(1);

/// Why an agreement has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// This rank takes no part.
    Excluded(String),
    /// A rank has ended its command.
    Left { label: String, text: String },
    /// A message cannot be read.
    Unreadable(String),
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Excluded(reason) => f.write_str(reason),
            Self::Left { label, text } => {
                let why = leaving::failure_of(text.lines().next().unwrap_or_default());
                if why.is_empty() { write!(f, "{label} has exited") } else { write!(f, "{label} has exited: {why}") }
            }
            Self::Unreadable(error) => write!(f, "cannot decode a message from another rank: {error}"),
        }
    }
}

impl From<Broken> for Problem {
    fn from(broken: Broken) -> Self {
        Self::error(ProblemCode::Connection, broken.to_string())
    }
}

/// Lists of values.
struct ListCombine<T, F> {
    conclude: Option<F>,
    kind: std::marker::PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned, C: Serialize, F: FnOnce(Vec<T>) -> C> Combine for ListCombine<T, F> {
    fn combine(&mut self, parts: Vec<Vec<u8>>) -> Vec<u8> {
        let lists: Vec<T> =
            parts.iter().flat_map(|part| serde_json::from_slice::<Vec<T>>(part).unwrap_or_default()).collect();
        serde_json::to_vec(&lists).unwrap_or_default()
    }

    fn conclude(&mut self, combined: Vec<u8>, _lost: &[(u32, String)]) -> Vec<u8> {
        let values = serde_json::from_slice(&combined).unwrap_or_default();
        self.conclude.take().and_then(|conclude| serde_json::to_vec(&conclude(values)).ok()).unwrap_or_default()
    }
}

/// Values that only rank 0 needs. Parts are joined without being read: rank and length in 4 and 8 bytes, little-endian,
/// and the value.
#[derive(Default)]
struct GatherCombine {
    /// Values by rank, at rank 0.
    gathered: Option<BTreeMap<u32, Vec<u8>>>,
}

impl GatherCombine {
    fn part(rank: u32, value: &[u8]) -> Vec<u8> {
        [&rank.to_le_bytes()[..], &(value.len() as u64).to_le_bytes(), value].concat()
    }

    /// Splits the first part off; `None` at the end, or if it is cut.
    fn split(parts: &[u8]) -> Option<(u32, &[u8], &[u8])> {
        let (rank, rest) = parts.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some((u32::from_le_bytes(*rank), value, rest))
    }
}

impl Combine for GatherCombine {
    fn combine(&mut self, parts: Vec<Vec<u8>>) -> Vec<u8> {
        parts.concat()
    }

    fn conclude(&mut self, combined: Vec<u8>, _lost: &[(u32, String)]) -> Vec<u8> {
        let (mut gathered, mut parts) = (BTreeMap::new(), &combined[..]);
        while let Some((rank, value, rest)) = Self::split(parts) {
            gathered.insert(rank, value.to_vec());
            parts = rest;
        }
        self.gathered = Some(gathered);
        Vec::new()
    }
}

/// Agreements in which all ranks leave.
struct LeaveCombine;

impl Combine for LeaveCombine {
    fn combine(&mut self, mut parts: Vec<Vec<u8>>) -> Vec<u8> {
        parts.swap_remove(0)
    }

    fn conclude(&mut self, combined: Vec<u8>, _lost: &[(u32, String)]) -> Vec<u8> {
        combined
    }
}
