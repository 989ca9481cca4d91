//! fio's JSON document.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::DiskUse;

/// Returns the number of a class, and whether it is the last one: `>=64`, which may follow `64`.
fn class(key: &str) -> Option<(f64, bool)> {
    let number = key.strip_prefix(">=");
    Some((number.unwrap_or(key).parse().ok()?, number.is_some()))
}

/// Keys and values in document order, or in that of classes, including repeated keys.
#[derive(Clone, Debug, Default)]
pub(super) struct FioPairs<V>(pub(super) Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for FioPairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrderedVisitor<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for OrderedVisitor<V> {
            type Value = FioPairs<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs: Vec<(String, V)> = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                // Other programs sort keys as text: `16` before `2`.
                if pairs.iter().all(|(key, _)| class(key).is_some()) {
                    pairs.sort_by(|(a, _), (b, _)| class(a).partial_cmp(&class(b)).unwrap_or(Ordering::Equal));
                }
                Ok(FioPairs(pairs))
            }
        }
        deserializer.deserialize_map(OrderedVisitor(PhantomData))
    }
}

#[derive(Deserialize)]
pub(super) struct FioDocument {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    /// Missing before fio 2.2.
    #[serde(default)]
    pub(super) timestamp: u64,
    #[serde(default)]
    pub(super) timestamp_ms: u64,
    #[serde(default)]
    pub(super) time: String,
    #[serde(default, rename = "global options")]
    pub(super) globals: FioPairs<String>,
    /// In a client's output, the jobs of all servers and their total.
    #[serde(alias = "client_stats")]
    pub(super) jobs: Vec<JobEntry>,
    #[serde(default)]
    pub(super) disk_util: Vec<FioDiskUtil>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct JobEntry {
    pub(super) jobname: String,
    /// Host of the server, in a client's output.
    pub(super) hostname: Option<String>,
    /// Port of the server.
    pub(super) port: u64,
    /// Rank, in Fathom's output of many hosts.
    pub(super) rank: Option<u32>,
    pub(super) groupid: u32,
    pub(super) job_start: u64,
    pub(super) error: i32,
    pub(super) eta: u64,
    pub(super) elapsed: u64,
    #[serde(rename = "job options")]
    pub(super) options: FioPairs<String>,
    pub(super) read: Transfers,
    pub(super) write: Transfers,
    pub(super) trim: Transfers,
    pub(super) mixed: Option<Transfers>,
    /// Whether the result of several kinds counts as reads.
    #[serde(skip)]
    pub(super) is_unified: bool,
    pub(super) sync: FioSyncs,
    /// Since fio 3.7.
    pub(super) job_runtime: Option<u64>,
    pub(super) usr_cpu: f64,
    pub(super) sys_cpu: f64,
    pub(super) ctx: u64,
    pub(super) majf: u64,
    pub(super) minf: u64,
    pub(super) iodepth_level: FioPairs<f64>,
    pub(super) iodepth_submit: FioPairs<f64>,
    pub(super) iodepth_complete: FioPairs<f64>,
    pub(super) latency_ns: FioPairs<f64>,
    pub(super) latency_us: FioPairs<f64>,
    pub(super) latency_ms: FioPairs<f64>,
    pub(super) total_err: Option<u64>,
    pub(super) first_error: i32,
    pub(super) latency_depth: u32,
    /// Nanoseconds.
    pub(super) latency_target: u64,
    /// Microseconds.
    pub(super) latency_window: u64,
    pub(super) latency_percentile: f64,
    pub(super) desc: Option<String>,
    pub(super) steadystate: Option<FioSteady>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Transfers {
    /// Bytes, or KiB before fio 3: see [`Transfers::bytes`].
    pub(super) io_bytes: u64,
    /// Since fio 3.
    pub(super) io_kbytes: Option<u64>,
    /// Bandwidth in KiB per second, in all versions.
    pub(super) bw: f64,
    pub(super) runtime: u64,
    pub(super) iops: f64,
    /// Since fio 2.2: see [`Transfers::ios`].
    pub(super) total_ios: Option<u64>,
    pub(super) short_ios: u64,
    pub(super) drop_ios: u64,
    pub(super) slat_ns: FioFigures,
    pub(super) clat_ns: FioFigures,
    pub(super) lat_ns: FioFigures,
    /// In microseconds, before fio 3.
    pub(super) slat: Option<FioFigures>,
    pub(super) clat: Option<FioFigures>,
    pub(super) lat: Option<FioFigures>,
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

impl Transfers {
    /// Returns the number of operations; before fio 2.2 it is estimated from the rounded IOPS.
    pub(super) fn ios(&self) -> u64 {
        self.total_ios.unwrap_or((self.iops * self.runtime as f64 / 1000.0).round() as u64)
    }

    /// Returns the transferred bytes.
    pub(super) fn bytes(&self) -> u64 {
        let per_unit = if self.io_kbytes.is_none() && self.counts_kib() { 1024 } else { 1 };
        self.io_bytes.saturating_mul(per_unit)
    }

    /// Reports whether `io_bytes` are KiB. They are with latencies in microseconds; otherwise the bandwidth decides,
    /// whose unit never changed.
    fn counts_kib(&self) -> bool {
        let by_bandwidth = self.bw * self.runtime as f64 / 1000.0;
        self.clat.is_some() || (by_bandwidth > 1.0 && (self.io_bytes as f64) < by_bandwidth * 32.0)
    }

    /// Returns submission latencies with their unit in nanoseconds.
    pub(super) fn submission(&self) -> (&FioFigures, u64) {
        either(&self.slat_ns, self.slat.as_ref())
    }

    pub(super) fn service(&self) -> (&FioFigures, u64) {
        either(&self.clat_ns, self.clat.as_ref())
    }

    pub(super) fn latency(&self) -> (&FioFigures, u64) {
        either(&self.lat_ns, self.lat.as_ref())
    }
}

fn either<'a>(of_ns: &'a FioFigures, of_us: Option<&'a FioFigures>) -> (&'a FioFigures, u64) {
    of_us.map_or((of_ns, 1), |figures| (figures, 1000))
}

/// The search for a steady state.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FioSteady {
    /// Measure and limit, `iops_slope:0.3%`.
    pub(super) ss: String,
    /// Length of the window in seconds.
    pub(super) duration: f64,
    pub(super) attained: u8,
    /// What is compared with the limit, `0.25%`.
    pub(super) criterion: String,
    pub(super) max_deviation: f64,
    pub(super) slope: f64,
    pub(super) data: FioSteadyData,
}

/// The last window.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FioSteadyData {
    pub(super) iops: Vec<f64>,
    pub(super) bw: Vec<f64>,
    pub(super) lat_ns: Vec<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FioSyncs {
    pub(super) total_ios: u64,
    pub(super) lat_ns: FioFigures,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FioFigures {
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) mean: f64,
    pub(super) stddev: f64,
    /// Missing before fio 3.5.
    #[serde(rename = "N")]
    pub(super) n: Option<u64>,
    pub(super) percentile: FioPairs<u64>,
    pub(super) bins: FioPairs<u64>,
}

impl FioFigures {
    /// Returns the number of latencies for a number of operations; zero if they were not recorded.
    pub(super) fn count(&self, operations: u64) -> u64 {
        self.n.unwrap_or(if self.max > 0 { operations } else { 0 })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FioDiskUtil {
    #[serde(flatten)]
    pub(super) disk: DiskUse,
    /// Host of the server, in a client's output.
    pub(super) hostname: Option<String>,
    /// Port of the server.
    pub(super) port: u64,
}
