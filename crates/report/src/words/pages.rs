//! Reference entry of each finding, for `docs/findings.md`.

use std::fmt::Write;

use analyse::Code;

/// Reference entry of a finding: title, condition that raises it, and meaning with what to do.
struct PageEntry {
    title: &'static str,
    raised: &'static str,
    meaning: &'static str,
}

/// Returns the reference of all findings as Markdown.
#[must_use]
pub fn findings_markdown() -> String {
    let mut text = String::from(
        "# Findings\n\nWhat `fathom run`, `fathom sim` and `fathom explain` can find. Each carries the figures it rests \
         on and where they were read; in JSON its `code` is the name given here. Severity is one of `info` (good to \
         know), `advice` (another setting would decide the question or give more), `warning` (not what was asked for) and `distrust` \
         (the numbers do not mean what they seem to; `run` and `sim` end with exit code 4).\n\nThis page is made from \
         the code by `cargo xtask generate`.\n",
    );
    for (code, page) in Code::ALL.into_iter().filter_map(|code| entry(code).map(|page| (code, page))) {
        let PageEntry { title, raised, meaning } = page;
        let _ = write!(text, "\n## {}\n\n**{title}.** {meaning}\n\nRaised when {raised}.\n", code.name());
    }
    text
}

const fn of(title: &'static str, raised: &'static str, meaning: &'static str) -> Option<PageEntry> {
    Some(PageEntry { title, raised, meaning })
}

fn entry(code: Code) -> Option<PageEntry> {
    trust(code).or_else(|| figures(code)).or_else(|| volume(code)).or_else(|| load(code))
}

fn trust(code: Code) -> Option<PageEntry> {
    match code {
        Code::NothingMeasured => of(
            "No operation completed",
            "no operation completed in the measured time",
            "There is nothing to judge. Look at the errors, at `runtime` and at what the job was waiting for.",
        ),
        Code::ErrorsSeen => of(
            "Operations failed",
            "at least one operation failed, or the job ended with an error; a warning where `continue_on_error` \
             tolerates it",
            "Figures that contain failed operations are not those of the device at work. A verification that failed is \
             told as such: the data is not what was written.",
        ),
        Code::NotVerified => of(
            "Written blocks were not verified",
            "a job with `verify` did not check all that it wrote, because it was stopped, reads failed, other workers write \
             the same blocks, the page cache could not be emptied, or it wrote nothing (`rwmixread=100`, `rw=trim`); a \
             warning where it checks what an earlier run wrote and was stopped on the way",
            "Nothing is known of these blocks. Let the job end by itself, or check what it wrote with `verify_only` and \
             the `verify_nonce` that it printed. Give workers files or regions of their own: where several write one \
             block, a write that was lost cannot be told from one that was overwritten. Where the page cache could not be \
             emptied, use `direct=1`, or end the programs that have the file mapped or locked in memory.",
        ),
        Code::SeveralRuns => of(
            "Blocks of several runs",
            "workers of one job that checks what an earlier run wrote found blocks with different nonces",
            "Each run marks its blocks with a nonce. Where a later run wrote all of them, those with another nonce are \
             writes that were lost. Give runs that belong together the same `verify_nonce`.",
        ),
        Code::PageCacheMeasured => of(
            "The page cache was measured",
            "a job without `direct=1` read more than twice what the devices delivered, or found half of its files in \
             memory, or had random reads of which half took less than 10 us",
            "Memory answered. Set `direct=1` to measure the device; a warning only, where the cache was chosen.",
        ),
        Code::BufferedWritesUnsynced => of(
            "Writes ended in memory",
            "buffered writes were not followed by a sync and the devices saw less than 90 % of them",
            "The figures are those of memory, and a power cut would lose the data. Set `direct=1` or `end_fsync=1`.",
        ),
        Code::HolesRead => of(
            "Holes were read",
            "less than 90 % of the files that were read had ever been written",
            "The file system answers reads of holes without asking the device. Write the files in full first.",
        ),
        Code::UnwrittenBlocks => of(
            "Reads were faster than the volume",
            "reads took less than half of the latency that the model of the expected volume has without any queueing",
            "Unwritten blocks are answered from a map on most cloud volumes and SSDs, and caches answer \
             the rest. Fill the volume first, and read more than any cache holds.",
        ),
        Code::SmallRegion => of(
            "A region that a cache may hold",
            "a region below 32 GiB was read more than ten times over with `direct=1`",
            "Caches of hosts, controllers and storage systems are not switched off by `direct=1`. Use a region as large \
             as the data that will be used.",
        ),
        Code::ShortRun => of(
            "The run was short",
            "a run on a real device took less than 5 s or did fewer than 1,000 operations",
            "Bursts, caches and garbage collection do not show in so little.",
        ),
        Code::Interrupted => {
            of("The run was stopped", "a signal ended the run before its end", "The figures are those until then.")
        }
        Code::NotSteady => of(
            "Throughput did not settle",
            "in the last five of at least ten equal rounds of the run, the greatest and the least differ by more than \
             20 % of their mean, or their trend changes it by more than 10 % (the rule of SNIA's performance test \
             specification)",
            "The mean is of this run and no other. Run longer, or write the whole device first.",
        ),
        Code::WarmupCounted => of(
            "The warm-up was counted",
            "the beginning of the run differs from the rest, and leaving it out changes the mean by more than 2 %",
            "Leave it out with `ramp_time`.",
        ),
        Code::BurstOrDrift => of(
            "Throughput changed",
            "the last third of the run had less than 80 % or more than 125 % of the operations of the first",
            "A mean over both describes neither.",
        ),
        Code::NoDevice => {
            of("There is no device", "the engine is `null` or the like", "What was measured is the generator itself.")
        }
        Code::LimitUnknown => of(
            "What limited the run cannot be told",
            "latencies were not kept (`disable_lat`, `disable_clat`), or `group_reporting` adds up jobs that are unlike in \
             engine, `rw`, depth, block size or `direct`",
            "Little's law needs the time of an operation; no depth describes the sum of unlike jobs.",
        ),
        _ => None,
    }
}

fn figures(code: Code) -> Option<PageEntry> {
    match code {
        Code::LittleContradicted => of(
            "The figures contradict Little's law",
            "beyond the rounding of the figures, operations per second x mean latency is 3 % more than could be in flight \
             (`distrust`), or 3 % less than a claim says was in flight (`warning`; in the text of a run 20 %, because the \
             generator's own time counts there)",
            "In flight = rate x time holds for every queue. One of the figures is of another load, or was mistyped.",
        ),
        Code::LittleHolds => of(
            "The figures agree",
            "claimed or printed figures satisfy Little's law; what less than 3 % lack beyond their rounding is printed",
            "Operations per second x mean latency is what was in flight.",
        ),
        Code::FiguresDisagree => of(
            "Figures do not add up",
            "a printed sum differs from its parts by more than the printed digits and the operations in flight allow, or \
             throughput is not operations x block size",
            "Bytes are counted at completion and operations at submission, and each mean has latencies that another lacks: \
             these differ by what was in flight. Text that differs by more was edited, or put together from several runs.",
        ),
        Code::UnitsMixed => of(
            "Decimal and binary units are mixed",
            "throughput differs from operations x block size by 1.024, 1.0486 or 1.0737",
            "A MiB is 4.9 % more than a MB. Providers limit in MB/s or MiB/s, fio prints both.",
        ),
        Code::OddBlockSize => of(
            "An odd block size",
            "blocks are no multiple of 4 KiB (`advice`), or no power of two (`info`)",
            "IOPS can be compared at one block size only, and parts of pages make devices read and write whole ones.",
        ),
        Code::MeanWithoutSpread => of(
            "A mean without spread",
            "nothing but the mean of the latency is known",
            "Two volumes of one mean may differ tenfold at the 99.9th percentile.",
        ),
        Code::UtilMisread => of(
            "%util is not utilisation",
            "a device with 1,000 operations per second or more was busy for 90 % of the time with fewer than 32 in \
             flight",
            "`%util` is the share of time with at least one request in flight. It says full only of devices that do one \
             at a time.",
        ),
        Code::SinceBoot => of(
            "Averages since boot",
            "all that `iostat` printed was its first report",
            "The first report is of all the time since the host was started. Use `iostat -xy 1 30` while the load runs.",
        ),
        Code::RequestsSplit => of(
            "Large operations were split",
            "the device saw requests smaller than three quarters of the block size",
            "The kernel splits at `max_sectors_kb`. The device's IOPS are then not the program's.",
        ),
        Code::DepthNeeded => of(
            "How many have to be in flight",
            "a rate and a latency are claimed, and no depth",
            "In flight = rate x time.",
        ),
        _ => None,
    }
}

fn volume(code: Code) -> Option<PageEntry> {
    match code {
        Code::VolumeIopsCap => of(
            "The volume's limit on operations",
            "no other limit is used more, and operations per second are within 3 % of it or above it by no more than the \
             catalogue's tolerance",
            "More depth gives more latency only. Buy more IOPS, a larger volume, or another type.",
        ),
        Code::VolumeThroughputCap => of(
            "The volume's limit on bytes",
            "no other limit is used more, and operations x block size are within 3 % of it or above it by no more than \
             the catalogue's tolerance",
            "More depth gives more latency only. Buy more throughput, or use smaller blocks if it is operations that \
             count.",
        ),
        Code::MachineCap => of(
            "The machine's limit",
            "operations are within 3 % of what the machine type allows or above it by no more than the catalogue's \
             tolerance, and the volume allows more",
            "More IOPS for the volume would be money for nothing: take a larger machine.",
        ),
        Code::EgressCap => of(
            "The machine's network",
            "writes are within 3 % of the share of the machine's network that storage may use",
            "Writes to replicated volumes pass the network several times. Take a machine with more network.",
        ),
        Code::StationCap => of(
            "A queue before the volume",
            "a queue of the host or of the storage system (processors, controllers) is full",
            "Give it more servers, or load it less.",
        ),
        Code::SizeTooSmall => of(
            "The size sets the limit",
            "the volume's limit is reached and a larger volume of its kind has a higher one",
            "Many volumes give IOPS and throughput by the gigabyte.",
        ),
        Code::BytesBeforeIops => of(
            "Bytes before operations",
            "the limit on bytes is reached with blocks larger than the break-even size",
            "At the break-even size both limits are reached together: throughput / IOPS.",
        ),
        Code::SharedBudget => of(
            "Reads and writes share a budget",
            "a limit that counts both is reached by a mixed load",
            "More reads mean fewer writes: reads / limit of reads + writes / limit of writes = 1.",
        ),
        Code::BurstRunning => of(
            "The burst was measured",
            "operations are above the long-run limit and within that of the burst",
            "It ends when the credits do. Run twice as long as a full bucket lasts.",
        ),
        Code::BurstUsedUp => of(
            "Burst credits ran out",
            "throughput fell once, at one instant, to less than 90 % and stayed there",
            "The level after the step is what the volume gives in the long run.",
        ),
        Code::AboveExpectation => of(
            "More than the volume can give",
            "operations are above what every limit admits, burst included: 3 % more than the nominal rate, or the \
             catalogue's tolerance",
            "A cache answered, or the volume is not the one that is expected.",
        ),
        Code::BelowExpectation => of(
            "Less than the volume gives",
            "operations are below 90 % of what the model gives at the same depth, and each takes longer than it should",
            "Something between the load and the volume takes the rest: `fathom doctor` shows the settings of the host.",
        ),
        Code::CpusShort => of(
            "Too few processors",
            "the machine has fewer than the provider's rule asks for (persistent disks: one for 2,000 to 2,500 IOPS)",
            "Each operation costs processor time on the machine.",
        ),
        Code::ModelHeldBack => of(
            "A modelled limit held operations back",
            "in a simulation, limits held half of the operations back",
            "The model names the limit; more depth gives more latency only.",
        ),
        Code::ModelNotReached => of(
            "No modelled limit was reached",
            "in a simulation, latency and depth set the pace",
            "The nearest limit is named, and how many in flight reach it.",
        ),
        _ => None,
    }
}

fn load(code: Code) -> Option<PageEntry> {
    match code {
        Code::LatenessSignificant => of(
            "The generator was late",
            "under a rate, its mean lateness is a tenth of the mean response (`distrust` from a half on)",
            "The figures are of the generator. Spread the load over more workers.",
        ),
        Code::EngineNotAsynchronous => of(
            "The engine waits for each operation",
            "the engine cannot queue what `iodepth` asks for, or about one operation for each worker was in flight where \
             four or more should have been, or a worker spent 80 % of its time in handing operations over without \
             being busy",
            "Use an engine that queues. `libaio` queues only with `direct=1`.",
        ),
        Code::RateNotReached => of(
            "The rate was not reached",
            "less than 99 % of the rate asked for was done, and the queue was deep enough",
            "The device, or the generator, cannot do it.",
        ),
        Code::QueueTooShallow => of(
            "The queue is too shallow",
            "a rate, or the limit of the expected volume, takes more in flight than there was; of `iostat` that is the mean \
             over the reports, and nothing is said of reports since the boot, or where requests took 1.5 times the \
             volume's latency although the device was never idle",
            "In flight = rate x time: raise the depth to rate x mean latency. Of a device under a database: the database \
             does not ask for more; `--database NAME` prints the settings that decide it \
             ([my database is slow](slow-database.md)).",
        ),
        Code::GeneratorCpuBound => of(
            "The generator's processor was busy",
            "a worker kept 90 % of a processor busy, or all together 90 % of the host's",
            "The device had time to spare. Spread the load over more workers.",
        ),
        Code::BeyondKnee => of(
            "Far beyond the knee",
            "the limit is reached with more than twice the depth that reaches it",
            "What is beyond the knee only queues. Latency measured there is depth / limit, whatever the device.",
        ),
        Code::Throttled => of(
            "A throttle at work",
            "most operations are fast, some take 8 ms or more, in four pauses or more, and next to none anything between",
            "cgroups and providers hold requests until the next slice of time. Look at `io.max` and at the limits of \
             volume and machine.",
        ),
        Code::QueueNotFilled => of(
            "The queue was not kept full",
            "less than 80 % of the depth was in flight (40 % where the device counted it), or a device was idle for 10 % of \
             the time and more, between bursts with enough in flight on average for the limit of the expected volume",
            "The generator could not keep up, or idled between operations. Under a database: queries compute between their \
             reads, or checkpoints write in bursts.",
        ),
        Code::LatencyBound => of(
            "Bound by latency",
            "one operation at a time was in flight",
            "IOPS = 1 / latency, whatever the device could do.",
        ),
        Code::DeviceFlat => of(
            "Flat, with the queue full",
            "operations took the same time (10 %) at a steady pace (5 %)",
            "Typical of a limiter, or of a device with constant latency. A run at twice the depth decides which.",
        ),
        Code::QueueFull => of(
            "The queue was full",
            "80 % of the depth or more was in flight",
            "One run cannot decide whether the device or the depth was the limit. A run at twice the depth can.",
        ),
        Code::DepthBound => of(
            "The depth was the limit",
            "`--probe`: twice the depth gave 1.5 times the operations or more",
            "Little's law: the time of an operation stayed, so more in flight is more done.",
        ),
        Code::DeviceBound => of(
            "The device was the limit",
            "`--probe`: twice the depth gave at most 1.1 times the operations",
            "What the device does in a second is all there is; whatever more waits, waits longer.",
        ),
        Code::NotRepeated => of(
            "The result does not repeat",
            "`--probe`: the depth of the run, measured again, gave 20 % fewer operations or 25 % more",
            "What differs between two runs of one depth says nothing of another depth.",
        ),
        Code::NearKnee => of(
            "Near the knee",
            "`--probe`: twice the depth gave 1.1 to 1.5 times the operations",
            "Operations begin to wait for each other: more depth gives a little more, at more latency.",
        ),
        Code::MechanicalDisk => of(
            "A drive with one arm",
            "random operations take 3 to 20 ms each, however many wait, and vary by 20 % or more",
            "Seek and rotation. Depth helps a little, because the drive can choose the nearest.",
        ),
        Code::RateKept => of(
            "The rate was kept",
            "99 % of the rate asked for was done",
            "Latency at a rate below the limit is what users feel.",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_an_entry() {
        for code in Code::ALL {
            assert!(entry(code).is_some(), "{code:?}");
        }
    }
}
