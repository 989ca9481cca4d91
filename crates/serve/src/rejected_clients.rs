//! Log lines about clients that the server refused or disconnected.

use nbd::server::RejectedClients;
use units::{Problem, ProblemCode, counted};

/// Reports what has changed since the last report.
#[derive(Debug)]
pub struct RejectionLog {
    reported: RejectedClients,
    connections_most: u64,
}

impl RejectionLog {
    /// Creates a log; the memory limit allows `connections_most` connections.
    #[must_use]
    pub fn new(connections_most: u64) -> Self {
        Self { reported: RejectedClients::default(), connections_most }
    }

    /// Returns a warning for each reason for which clients were refused or disconnected since the last call.
    #[must_use]
    pub fn news(&mut self, now: RejectedClients) -> Vec<Problem> {
        let before = std::mem::replace(&mut self.reported, now);
        let memory = format!("--memory-limit allows {} connections", self.connections_most);
        let stalled = "it did not read replies or finish a request while other clients waited for memory";
        let reasons = [
            (now.no_memory - before.no_memory, "refused", &*memory, "raise it, or connect fewer clients"),
            (
                now.no_place - before.no_place,
                "refused",
                "the open-file limit is reached",
                "raise it with ulimit -n, or connect fewer clients",
            ),
            (
                now.hesitant - before.hesitant,
                "disconnected",
                "it selected no export in time",
                "check which program connects to this server",
            ),
            (now.stalled - before.stalled, "disconnected", stalled, "raise --memory-limit, or send smaller requests"),
        ];
        let warning = |(count, verb, why, help): &(u64, &str, &str, &str)| {
            let clients = counted(*count, "client");
            Problem::warning(ProblemCode::Connection, format!("{verb} {clients}: {why}")).help(*help)
        };
        reasons.iter().filter(|reason| reason.0 > 0).map(warning).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_reported_once_with_a_count_and_a_remedy() {
        let mut log = RejectionLog::new(64);
        assert_eq!(log.news(RejectedClients::default()), []);
        let now = RejectedClients { no_memory: 2, stalled: 1, ..RejectedClients::default() };
        let warnings = log.news(now);
        let [memory, stalled] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!(memory.what, "refused 2 clients: --memory-limit allows 64 connections");
        assert!(stalled.what.starts_with("disconnected 1 client: it did not read replies"), "{stalled}");
        assert_eq!(log.news(now), []);
    }
}
