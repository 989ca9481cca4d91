//! Figures of each volume that meets the requirement, with the rules and sources behind them.

use plan::Candidate;
use units::{Bytes, significant};
use volume::cited;
use volume::closed::{Cap, CapPart};

use super::PlanReport;
use super::figures::{limit, price, region, split, time, whole};

/// Returns the arithmetic of all volumes that meet the requirement, as lines below a heading.
pub(super) fn arithmetic(plan: &PlanReport) -> Vec<String> {
    let mut lines = vec![String::new(), "Arithmetic".to_owned()];
    for candidate in plan.meeting() {
        lines.push(String::new());
        lines.push(candidate.spec.name.clone());
        lines.extend(candidate.limit.iter().flat_map(|cap| limit_lines(candidate, cap)));
        if let (Some(mean), Some(flight)) = (candidate.mean_secs, candidate.in_flight) {
            let (rate, flight) = (whole(candidate.rate), significant(flight, 3));
            lines.push(format!("  in flight = {rate} IOPS × {} = {flight}", time(mean)));
        }
        lines.extend(price_lines(candidate));
        if candidate.margin > 1.0 {
            let percent = 100.0 * (candidate.margin - 1.0);
            lines.push(format!("  made for {percent:.0} % more: simulations of less fell short"));
        }
    }
    lines
}

/// Returns the limit that binds a candidate, with its rule.
fn limit_lines(candidate: &Candidate, cap: &Cap) -> [String; 3] {
    let spec = &candidate.spec;
    let rule = match cap.part {
        CapPart::Limit(limit) => spec.limits.get(limit).map(|limit| (limit.rule.clone(), limit.source.clone())),
        CapPart::Station(station) => {
            spec.stations.get(station).map(|station| (station.rule.clone(), station.source.clone()))
        }
    };
    let (rule, source) = rule.unwrap_or_default();
    [
        format!("  {} = {rule}", cap.name),
        format!("    {}", cited(&source)),
        format!(
            "  {} IOPS of {} through it, {} wanted: {}",
            whole(cap.iops),
            Bytes::new(candidate.block as u64),
            whole(candidate.rate),
            limit(candidate)
        ),
    ]
}

fn price_lines(candidate: &Candidate) -> Vec<String> {
    let Some(money) = &candidate.price else { return vec!["  price: not known".to_owned()] };
    let mut lines = vec![format!("  price = {} = {}", money.rule, price(money))];
    let parts = split(money);
    if parts.contains(',') {
        lines.push(format!("    {parts}"));
    }
    lines.push(format!("    {}; {}", region(money), cited(&money.source)));
    lines
}
