//! What each finding about a trace means, for `docs/findings.md`.

use std::fmt::Write;

/// Returns the part of the page about findings of `fathom trace`, in Markdown.
pub(crate) fn trace_findings_markdown() -> String {
    let mut text = String::from(
        "\n# Findings about traces\n\nFindings of `fathom trace`, about the load that a trace shows. Each is printed with \
         the figures that it rests on.\n",
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
        "there are at least three bursts (10 ms windows with over twice the mean rate, more than chance explains), most \
         of their requests are writes, and they have at least 10% of all requests",
        "Checkpoints, write-back and compaction do this. Reads queue behind the bursts on a volume that is provisioned \
         for the mean.",
    ),
    (
        "rate-peak",
        "The rate has a high peak",
        "a window of 100 ms or more has three times the mean rate and at least 100 requests; the widest such window is \
         named",
        "The queue of a volume does not absorb a peak of this length. Provision for it, or accept that the application \
         waits.",
    ),
    (
        "long-range-dependence",
        "Arrivals depend on each other over long times",
        "the Hurst exponent of the counts is above 0.6 by three standard errors, and the counts scale (residual of at \
         most 1.5)",
        "Busy times are followed by busy times on all scales, so that averages understate the need and jobs with a \
         constant rate are too kind.",
    ),
    (
        "log-writes",
        "The writes are those of a log",
        "at least half of the writes continue one or two streams, and a process waits for at least half of them or there \
         is a flush for each fifth",
        "The latency of a single write is that of a commit.",
    ),
    (
        "frequent-flushes",
        "Flushes are frequent",
        "there are at least 10 flushes and forced writes (FUA, or with a flush before) per second, and one for each 20 \
         writes",
        "Each waits for the stable storage of the volume. On volumes without a protected write cache, this limits \
         commits.",
    ),
    (
        "reads-fit-in-memory",
        "Reads would fit in memory",
        "reads are small and random, and a cache that fits in memory (`--memory`) would serve at least half of them; the \
         size is that which has 95% of the hits",
        "More memory for the page cache or the buffer pool may cost less than IOPS. The miss ratio is that of an LRU \
         cache that reads and writes fill, by SHARDS.",
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
        "two requests are in flight for less than 0.1% of the busy time, and the device is busy for at least 5% of the \
         time",
        "Throughput is one over latency, whatever IOPS are provisioned.",
    ),
    (
        "closed-loop",
        "Requests wait for others",
        "the score of the processes with at least half of the requests is 0.7 or more: their queue depth at an issue is \
         that of a loop and not that of random arrivals",
        "The rate of the trace is that which its device gave. A faster volume gets more requests; a replay has to keep \
         think times instead of instants.",
    ),
    (
        "open-loop",
        "Requests do not wait for others",
        "the score of the processes with at least half of the requests is 0.2 or less",
        "The rate is that of users or of timers. A slower volume gets the same requests and a longer queue.",
    ),
    (
        "few-large-requests",
        "Few large requests transfer most bytes",
        "at most 20% of the reads and writes transfer at least half of the bytes",
        "Limits of IOPS and of throughput bind at different times. A mean size describes neither part.",
    ),
    (
        "hot-spot",
        "A small part of the blocks is hot",
        "at most 10% of the blocks in use have at least half of the accesses",
        "A small cache or a fast tier has a large effect. A job with uniformly random offsets is a different load; \
         `random_distribution=zipf:THETA` is near if a zipf distribution fits.",
    ),
    (
        "queued-longer",
        "Requests wait in the queue of the scheduler",
        "reads and writes wait longer in the queue of the scheduler than they take at the device, on average",
        "The device takes fewer requests at a time than the load has, or it throttles.",
    ),
    (
        "failures",
        "Requests failed",
        "the device reported an error for at least one request",
        "Times of failed requests are not those of the device at work. The log of the kernel has the cause.",
    ),
    (
        "late-requests",
        "The trace is out of order",
        "requests are more than a microsecond earlier than ones before them, although 32,768 requests are held to be \
         sorted",
        "Their times are shifted to those of the requests before them. Figures of arrivals and depth are approximate.",
    ),
];
