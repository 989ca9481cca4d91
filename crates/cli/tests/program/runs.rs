//! Records of simulated runs, for `compare` and `gate`.

use crate::common::{Scratch, fathom, run};

/// A minute of reads.
pub(crate) const LOAD: &str = "--name=reads --rw=randread --bs=4k --iodepth=4 --runtime=60 --time_based";

/// Writes the model of a volume whose latency scatters around a median. Medians of some milliseconds make a minute a few
/// thousand operations.
pub(crate) fn disk(scratch: &Scratch, median_us: u32) -> String {
    let law =
        format!("{{ law = \"log-logistic\", shift_us = 0, scale_us = {median_us}, shape = 4.5, most_us = 500_000 }}");
    let text = format!(
        "[[volume]]\nid = \"disk\"\ntitle = \"A disk\"\n\
         key.size = {{ unit = \"GiB\", default = 100, min = 1, max = 1_000 }}\n\
         limit = [{{ name = \"volume IOPS\", iops = 1_000_000 }}]\n\
         latency.read = {law}\nlatency.write = {law}\n"
    );
    scratch.write(&format!("disk{median_us}.toml"), text)
}

/// Writes the record of a simulation on a volume of a median latency.
#[track_caller]
pub(crate) fn simulated(scratch: &Scratch, name: &str, median_us: u32, seed: u64, load: &str) -> String {
    let (seed, volume) = (seed.to_string(), disk(scratch, median_us));
    let mut all = vec!["sim", "--on", &volume, "--seed", &seed, "--format", "json"];
    all.extend(load.split_whitespace());
    scratch.write(name, run(&mut fathom(all)).expect_code(0).stdout)
}
