//! The section of the ranks of a run on many hosts.

use record::{FleetRecord, RankFailure, RankRecord};
use units::{Bytes, Nanos, count, grouped, percent};

use super::charts;
use super::findings::micro;
use super::headline::{rate, time};
use super::markup::Markup;
use super::table::HtmlTable;

/// Maximum number of lines about failures.
const LINES_MAX: usize = 100;

const HEAD: [&str; 11] =
    ["rank", "host", "IOPS", "share", "bandwidth", "p50", "p99", "CPU", "start delay", "clock offset", "failures"];

/// Writes the heat map, the ranks that are missing, the table, and what failed.
pub(super) fn section(out: &mut Markup, fleet: &FleetRecord, title: &str) {
    out.inside("h2", &[], |out| out.name(title));
    out.leaf("p", "hint", &summary(fleet));
    let missing: Vec<String> = fleet.missing().iter().map(ToString::to_string).collect();
    lines(out, "Missing", &missing);
    let failed = fleet
        .members
        .iter()
        .flat_map(|member| member.failures.iter().map(move |line| format!("{}: {line}", member.label())));
    lines(out, "Failures", &failed.collect::<Vec<_>>());
    if let Some(map) = charts::ranks::map(fleet) {
        map.write_wide(out);
    }
    if !fleet.members.is_empty() {
        out.class("div", "card sheet tall", |out| table(fleet).write(out));
    }
}

/// Returns the number of ranks and hosts, the start, and the cost of merging.
fn summary(fleet: &FleetRecord) -> String {
    let (present, hosts) = (fleet.members.len(), fleet.hosts());
    let noun = if hosts == 1 { "host" } else { "hosts" };
    let mut text = format!("{present} of {} ranks on {hosts} {noun}", fleet.ranks);
    if let Some(skew) = fleet.start_skew_ns() {
        let error = fleet.members.iter().filter_map(|member| Some(member.clock?.error_ns)).max().unwrap_or(0);
        text += &format!(", started within {} (clocks within {})", Nanos::new(skew), Nanos::new(error));
    }
    if let Some(merge) = &fleet.merge {
        let received = Bytes::new(merge.received_bytes);
        text += &format!("; merged in {}, with {received} received by rank 0", Nanos::new(merge.wall_ns));
    }
    micro(&format!("{text}."))
}

fn lines(out: &mut Markup, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    out.leaf("h3", "", title);
    out.class("ul", "plain", |out| {
        for line in lines.iter().take(LINES_MAX) {
            out.inside("li", &[], |out| out.name(line));
        }
        if lines.len() > LINES_MAX {
            out.leaf("li", "", &format!("{} more", grouped((lines.len() - LINES_MAX) as u64)));
        }
    });
}

fn table(fleet: &FleetRecord) -> HtmlTable {
    let total: f64 = fleet.members.iter().map(|member| member.iops).sum();
    let mut table = HtmlTable::new("Ranks", &HEAD, 2);
    table.rows = fleet.members.iter().map(|member| row(member, total)).collect();
    table
}

fn row(member: &RankRecord, total: f64) -> Vec<String> {
    let none = || "-".to_owned();
    let latency = |index: usize| member.latency_ns.map_or_else(none, |ns| time(ns[index] as f64));
    vec![
        member.rank.to_string(),
        member.hostname.clone(),
        count(member.iops),
        if total > 0.0 { percent(member.iops / total) } else { none() },
        rate(member.bytes_per_second),
        latency(0),
        latency(1),
        percent(member.cpu_share),
        member.start_delay_ns.map_or_else(none, |delay| time(delay as f64)),
        member.clock.map_or_else(none, |clock| offset(clock.offset_ns)),
        failures(member),
    ]
}

fn offset(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}", time(ns.unsigned_abs() as f64))
}

fn failures(member: &RankRecord) -> String {
    let errors = if member.errors > 0 { format!("{} errors", grouped(member.errors)) } else { String::new() };
    let failure = match member.failure {
        None => "",
        Some(RankFailure::Verification) => "verification",
        Some(RankFailure::Environment) => "environment",
    };
    let both: Vec<&str> = [failure, &errors].into_iter().filter(|part| !part.is_empty()).collect();
    if both.is_empty() { "-".to_owned() } else { both.join(", ") }
}
