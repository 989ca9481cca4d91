//! Log lines about clients that the server refused or disconnected.

use nbd::server::RejectedClients;

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

    /// Returns a line for each reason for which clients were refused or disconnected since the last call.
    #[must_use]
    pub fn news(&mut self, now: RejectedClients) -> Option<String> {
        let before = std::mem::replace(&mut self.reported, now);
        let memory = format!(
            "--memory-limit leaves memory for {} connections\nhelp: raise it, or connect fewer clients",
            self.connections_most
        );
        let reasons = [
            (now.no_memory - before.no_memory, "refused", memory.as_str()),
            (
                now.no_place - before.no_place,
                "refused",
                "the limit of open files is reached\nhelp: raise it with ulimit -n, or connect fewer clients",
            ),
            (
                now.hesitant - before.hesitant,
                "disconnected",
                "no export was chosen in time\nhelp: check which program connects here",
            ),
            (
                now.stalled - before.stalled,
                "disconnected",
                "replies were not read, or a request not completed, while other clients waited for memory\nhelp: raise \
                 --memory-limit, or send smaller requests",
            ),
        ];
        let line = |(count, verb, why): &(u64, &str, &str)| {
            let plural = if *count == 1 { "" } else { "s" };
            format!("{verb} {count} client{plural}: {why}\n")
        };
        let text: String = reasons.iter().filter(|reason| reason.0 > 0).map(line).collect();
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_reported_once_with_a_count_and_a_remedy() {
        let mut log = RejectionLog::new(64);
        assert_eq!(log.news(RejectedClients::default()), None);
        let now = RejectedClients { no_memory: 2, stalled: 1, ..RejectedClients::default() };
        let text = log.news(now).expect("a report");
        assert!(text.starts_with("refused 2 clients: --memory-limit leaves memory for 64 connections"), "{text}");
        assert!(text.contains("\ndisconnected 1 client: replies were not read"), "{text}");
        assert_eq!(log.news(now), None);
    }
}
