//! What each finding about a trace means, for `docs/findings.md`.

use std::fmt::Write;

/// Returns the part of the page about findings of `fathom trace`, in Markdown.
pub(crate) fn trace_findings_markdown() -> String {
    let mut text = String::from(
        "\n# Findings about traces\n\nFindings of `fathom trace` about the load in a trace. Each is printed with its \
         evidence.\n",
    );
    for (code, title, raised, meaning) in MEANINGS {
        let _ = write!(text, "\n## {code}\n\n**{title}.** {meaning}\n\nRaised when {raised}.\n");
    }
    text
}

/// Each code with its title, its condition, and its meaning, in the order of [`trace::TraceFinding`].
pub(super) const MEANINGS: [(&str, &str, &str, &str); 15] = [
    (
        "bursty-writes",
        "Writes come in bursts",
        "there are at least three bursts (10 ms windows with more than twice the mean rate, beyond chance), most of \
         their requests are writes, and they contain at least 10% of all requests",
        "Checkpoints, write-back and compaction do this. On a volume provisioned for the mean, reads queue behind the \
         bursts.",
    ),
    (
        "rate-peak",
        "The rate has a high peak",
        "a window of 100 ms or more has three times the mean rate and at least 100 requests; the widest such window is \
         reported",
        "A volume's queue does not absorb a peak of this length. Provision for it, or accept that the application \
         waits.",
    ),
    (
        "long-range-dependence",
        "Arrivals are correlated over long times",
        "the Hurst exponent of the counts is above 0.6 by three standard errors, and the counts scale (residual of at \
         most 1.5)",
        "Busy periods follow busy periods on all scales, so averages understate the need, and jobs with a constant \
         rate are too easy.",
    ),
    (
        "log-writes",
        "The writes are log writes",
        "at least half of the writes continue one or two streams, and a process waits for at least half of them or \
         there is a flush for every five",
        "The latency of a single write is the latency of a commit.",
    ),
    (
        "frequent-flushes",
        "Flushes are frequent",
        "there are at least 10 flushes and forced writes (FUA, or preceded by a flush) per second, and one for every \
         20 writes",
        "Each waits for the volume's stable storage. On volumes without a protected write cache, this limits commits.",
    ),
    (
        "reads-fit-in-memory",
        "Reads would fit in memory",
        "reads are small and random, and a cache that fits in memory (`--memory`) would serve at least half of them; \
         the reported size gets 95% of the hits",
        "More memory for the page cache or the buffer pool may cost less than IOPS. The miss ratio is estimated by \
         SHARDS for an LRU cache filled by reads and writes.",
    ),
    (
        "reads-do-not-repeat",
        "Reads do not repeat",
        "reads are small and random, and even a cache as large as all blocks in use would miss 90% of them",
        "No cache helps within the duration of the trace. A longer trace may show more reuse.",
    ),
    (
        "depth-one",
        "One request at a time",
        "two or more requests are in flight for less than 0.1% of the busy time, and the device is busy for at least \
         5% of the time",
        "Throughput is one over latency, regardless of the provisioned IOPS.",
    ),
    (
        "closed-loop",
        "Requests wait for others",
        "the score of the processes with at least half of the requests is 0.7 or more: when they issue, the queue \
         depth is typical of a closed loop, not of random arrivals",
        "The device determined the rate of the trace. A faster volume gets more requests; a replay must keep think \
         times instead of timestamps.",
    ),
    (
        "open-loop",
        "Requests do not wait for others",
        "the score of the processes with at least half of the requests is 0.2 or less",
        "Users or timers determine the rate. A slower volume gets the same requests and a longer queue.",
    ),
    (
        "few-large-requests",
        "Few large requests transfer most bytes",
        "at most 20% of the reads and writes transfer at least half of the bytes",
        "IOPS and throughput limits bind at different times. A mean size describes neither part.",
    ),
    (
        "hot-spot",
        "A small part of the blocks is hot",
        "at most 10% of the blocks in use get at least half of the accesses",
        "A small cache or a fast tier has a large effect. A job with uniformly random offsets is a different load; \
         `random_distribution=zipf:THETA` is close if a Zipf distribution fits.",
    ),
    (
        "queued-longer",
        "Requests wait in the scheduler queue",
        "on average, reads and writes wait longer in the scheduler queue than they take at the device",
        "The device accepts fewer concurrent requests than the load issues, or it throttles.",
    ),
    (
        "failures",
        "Requests failed",
        "the device reported an error for at least one request",
        "The times of failed requests say nothing about the device. See the kernel log for the cause.",
    ),
    (
        "late-requests",
        "The trace is out of order",
        "requests are more than a microsecond earlier than previous ones, even after sorting within 32,768 requests",
        "They get the times of the requests before them. Arrivals and depth are approximate.",
    ),
];
