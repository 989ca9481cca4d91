//! fio's document, field by field.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

/// Keys and values in the order of the document, repeated keys and all.
#[derive(Clone, Debug)]
pub(super) struct Pairs<V>(pub(super) Vec<(String, V)>);

impl<V> Default for Pairs<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
            type Value = Pairs<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

#[derive(Deserialize)]
pub(super) struct Document {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    pub(super) timestamp: u64,
    #[serde(default)]
    pub(super) timestamp_ms: u64,
    #[serde(default)]
    pub(super) time: String,
    #[serde(default, rename = "global options")]
    pub(super) globals: Pairs<String>,
    pub(super) jobs: Vec<JobEntry>,
    #[serde(default)]
    pub(super) disk_util: Vec<Disk>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct JobEntry {
    pub(super) jobname: String,
    pub(super) groupid: u32,
    pub(super) job_start: u64,
    pub(super) error: i32,
    pub(super) eta: u64,
    pub(super) elapsed: u64,
    #[serde(rename = "job options")]
    pub(super) options: Pairs<String>,
    pub(super) read: Transfers,
    pub(super) write: Transfers,
    pub(super) trim: Transfers,
    pub(super) mixed: Option<Transfers>,
    pub(super) sync: Syncs,
    pub(super) job_runtime: u64,
    pub(super) usr_cpu: f64,
    pub(super) sys_cpu: f64,
    pub(super) ctx: u64,
    pub(super) majf: u64,
    pub(super) minf: u64,
    pub(super) iodepth_level: Pairs<f64>,
    pub(super) iodepth_submit: Pairs<f64>,
    pub(super) iodepth_complete: Pairs<f64>,
    pub(super) latency_ns: Pairs<f64>,
    pub(super) latency_us: Pairs<f64>,
    pub(super) latency_ms: Pairs<f64>,
    pub(super) total_err: Option<u64>,
    pub(super) first_error: i32,
    pub(super) latency_depth: u32,
    pub(super) desc: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Transfers {
    pub(super) io_bytes: u64,
    pub(super) runtime: u64,
    pub(super) total_ios: u64,
    pub(super) short_ios: u64,
    pub(super) drop_ios: u64,
    pub(super) slat_ns: Figures,
    pub(super) clat_ns: Figures,
    pub(super) lat_ns: Figures,
    pub(super) bw_min: f64,
    pub(super) bw_max: f64,
    pub(super) bw_mean: f64,
    pub(super) bw_dev: f64,
    pub(super) bw_samples: u64,
    pub(super) iops_min: f64,
    pub(super) iops_max: f64,
    pub(super) iops_mean: f64,
    pub(super) iops_stddev: f64,
    pub(super) iops_samples: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Syncs {
    pub(super) total_ios: u64,
    pub(super) lat_ns: Figures,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Figures {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    pub(super) stddev: f64,
    #[serde(rename = "N")]
    pub(super) n: u64,
    pub(super) percentile: Pairs<u64>,
    pub(super) bins: Pairs<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) read_ios: u64,
    pub(super) write_ios: u64,
    pub(super) read_sectors: u64,
    pub(super) write_sectors: u64,
    pub(super) read_merges: u64,
    pub(super) write_merges: u64,
    pub(super) read_ticks: u64,
    pub(super) write_ticks: u64,
    pub(super) in_queue: u64,
    pub(super) util: f64,
}
