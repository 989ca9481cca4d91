//! Suggestions are followed: what an explanation advises is simulated, and gives what its sentence promises.

use analyse::{Code, ExpectedPoint, Explanation, Finding, Observation, Remedy};
use procedure::expected::ExpectedVolume;
use procedure::explanation::ExplanationQuestion;
use record::{Claim, read_input};
use runner::Uninterrupted;
use units::random::Random;

use crate::cases::at_night;
use crate::model::model;

/// Difference within which a promise is kept.
const WITHIN: f64 = 0.05;

const VOLUMES: [&str; 12] = [
    "aws/gp3,size={s}GiB,iops={i}",
    "aws/gp3,size={s}GiB",
    "aws/io2,size={s}GiB,iops={i}",
    "aws/io1,size={s}GiB,iops={i}",
    "gcp/pd-ssd,size={s}GiB",
    "gcp/pd-balanced,size={s}GiB",
    "gcp/hyperdisk-balanced,size={s}GiB,iops={i}",
    "azure/premium-ssd-v2,size={s}GiB,iops={i}",
    "azure/ultra,size={s}GiB,iops={i}",
    "nutanix/ahv-4node,size={s}GiB",
    "custom,size={s}GiB,iops={i},latency=800us",
    "custom,size={s}GiB,iops={i},throughput=300MiB/s,latency=2ms",
];

/// A load on a volume.
struct Load {
    volume: String,
    bytes: u64,
    read_percent: u64,
    depth: u64,
    /// Whether its figures come from counters of the device rather than a claim.
    is_counted: bool,
}

impl Load {
    /// Draws a load; `None` if the volume is not sold in that size.
    fn random(random: &mut Random) -> Option<Self> {
        let sizes = 2_u64.pow(random.below(9) as u32 + 4) + random.below(64);
        let iops = 500 + random.below(24) * 500;
        let form = VOLUMES[random.below(VOLUMES.len() as u64) as usize];
        let volume = form.replace("{s}", &sizes.to_string()).replace("{i}", &iops.to_string());
        ExpectedVolume::look_up(&volume, volume::catalogue::no_files).ok()?;
        let bytes = [4_096, 8_192, 16_384, 65_536, 262_144][random.below(5) as usize];
        let read_percent = [100, 0, 70, 50][random.below(4) as usize];
        let most = 2 << random.below(8);
        let (depth, is_counted) = (1 + random.below(most), random.below(2) == 1);
        Some(Self { volume, bytes, read_percent, depth, is_counted })
    }

    /// Simulates the load at a depth.
    fn at(&self, depth: f64) -> Option<ExpectedPoint> {
        let claim = format!("iops=1000,bs={},read={}%", self.bytes, self.read_percent);
        let seen = Observation::of_claim(&Claim::parse(&claim).expect(&claim));
        let expected = ExpectedVolume::look_up(&self.volume, volume::catalogue::no_files).expect("it was found before");
        expected.at(&seen, depth, &model(), &Uninterrupted)
    }

    /// Explains a point of this load, from counters or from a claim.
    fn explain(&self, point: ExpectedPoint) -> (String, Explanation) {
        let expected = ExpectedVolume::look_up(&self.volume, volume::catalogue::no_files).ok();
        if !self.is_counted {
            return self.explain_claim(point, expected);
        }
        let text = self.iostat(point);
        let input = read_input("iostat", text.as_bytes(), None).unwrap_or_else(|problem| panic!("{problem}: {text}"));
        let inputs = vec![("iostat".to_owned(), input)];
        let question = ExplanationQuestion { inputs, claims: Vec::new(), expected, device: None, database: None };
        let explained = question.explain(&model(), &Uninterrupted).remove(0);
        (format!("--volume {} of\n{text}", self.volume), explained.explanations.into_iter().next().expect("one disk"))
    }

    /// Returns the output of `iostat -xy` over three intervals.
    fn iostat(&self, point: ExpectedPoint) -> String {
        let ms = point.latency_ns / 1e6;
        let (read, kib) = (self.read_percent as f64 / 100.0, self.bytes as f64 / 1024.0);
        let side = |share: f64| {
            let iops = share * point.iops;
            let (await_ms, size) = if share > 0.0 { (ms, kib) } else { (0.0, 0.0) };
            format!("{iops:.2} {:.2} 0.00 0.00 {await_ms:.2} {size:.2}", iops * kib)
        };
        let head =
            "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util";
        let row = format!("nvme1n1 {} {} {:.2} 100.00", side(read), side(1.0 - read), point.in_flight);
        let system = "Linux 6.1.0 (db1) \t06/11/2026 \t_x86_64_\t(8 CPU)";
        let cpus = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          5.00    0.00    5.00    0.00    0.00   90.00";
        let report = format!("{cpus}\n\n{head}\n{row}\n\n");
        format!("{system}\n\n{}", report.repeat(3))
    }

    fn explain_claim(&self, point: ExpectedPoint, expected: Option<ExpectedVolume>) -> (String, Explanation) {
        let Self { volume, bytes, read_percent, .. } = self;
        let (iops, us, depth) = (point.iops, point.latency_ns / 1e3, point.in_flight);
        let claim = format!("iops={iops:.2},lat={us:.3}us,qd={depth},bs={bytes},read={read_percent}%");
        let claims = vec![(claim.clone(), Claim::parse(&claim).expect(&claim))];
        let question = ExplanationQuestion { inputs: Vec::new(), claims, expected, device: None, database: None };
        let explained = question.explain(&model(), &Uninterrupted).remove(0);
        (format!("--claim {claim} --volume {volume}"), explained.explanations.into_iter().next().expect("one claim"))
    }
}

/// Returns the depth that a finding advises, over all workers.
fn advised(finding: &Finding) -> Option<u64> {
    match finding.remedy? {
        Remedy::RaiseDepth { iodepth } | Remedy::QueueingEngine { iodepth } => Some(iodepth),
        Remedy::LowerDepth { total, .. } => Some(total),
        Remedy::FewerInFlight { in_flight } | Remedy::MoreInFlight { in_flight, .. } => Some(in_flight),
        _ => None,
    }
}

fn is_near(value: f64, promised: f64) -> bool {
    (value / promised - 1.0).abs() <= WITHIN
}

/// What was followed, by kind.
#[derive(Debug, Default)]
struct Followed {
    deeper: u64,
    shallower: u64,
    purchases: u64,
}

/// Follows the suggestions of a quarter of all cases, so that quarters run at the same time.
fn follow(quarter: u64) {
    let seed = 20_261_130;
    let mut followed = Followed::default();
    for case in (0..if at_night() { 2_000 } else { 80 }).filter(|case| case % 4 == quarter) {
        let mut random = Random::new(seed, case);
        let Some(load) = Load::random(&mut random) else { continue };
        let Some(now) = load.at(load.depth as f64) else { continue };
        let (command, explanation) = load.explain(now);
        let context = format!("seed {seed}, case {case}: fathom explain {command}");
        for finding in &explanation.findings {
            let Some(depth) = advised(finding) else { continue };
            follow_depth(&load, now, finding, depth, &context, &mut followed);
        }
        if let Some(change) = &explanation.change {
            followed.purchases += 1;
            let bought = Load { volume: change.volume.clone(), ..load };
            let then = bought.at(change.then.in_flight).expect(&context);
            assert!(is_near(then.iops, change.then.iops), "{context}: {then:?} after {change:?}");
            assert!(is_near(then.latency_ns, change.then.latency_ns), "{context}: {then:?} after {change:?}");
            assert!(then.iops > now.iops && then.latency_ns < now.latency_ns, "{context}: {then:?} after {change:?}");
            // What the purchase is for is reached: more of the same is not advised again.
            let (again, second) = bought.explain(then);
            let more = second.change.as_ref().filter(|_| then.latency_ns < 1.05 * alone_ns(&bought));
            assert!(more.is_none(), "{context}: then {again}: {more:?}");
        }
    }
    assert!(followed.deeper > 0 && followed.shallower > 0 && followed.purchases > 0, "{followed:?}");
}

#[test]
fn suggestions_of_the_first_quarter_give_what_they_promise() {
    follow(0);
}

#[test]
fn suggestions_of_the_second_quarter_give_what_they_promise() {
    follow(1);
}

#[test]
fn suggestions_of_the_third_quarter_give_what_they_promise() {
    follow(2);
}

#[test]
fn suggestions_of_the_fourth_quarter_give_what_they_promise() {
    follow(3);
}

/// Returns the mean latency of one operation at a time.
fn alone_ns(load: &Load) -> f64 {
    load.at(1.0).map_or(0.0, |point| point.latency_ns)
}

fn follow_depth(
    load: &Load,
    now: ExpectedPoint,
    finding: &Finding,
    depth: u64,
    context: &str,
    followed: &mut Followed,
) {
    let then = load.at(depth as f64).expect(context);
    let code = finding.code;
    if let Some(promised) = finding.counterfactual {
        assert!(is_near(then.iops, promised.iops), "{context}: {code:?}: {then:?}, promised {promised:?}");
        assert!(is_near(then.latency_ns, promised.latency_ns), "{context}: {code:?}: {then:?}, promised {promised:?}");
    }
    let (again, second) = load.explain(then);
    let next = second.findings.iter().find_map(|finding| Some((finding.code, advised(finding)?)));
    if depth > load.depth {
        followed.deeper += 1;
        assert!(then.iops > now.iops, "{context}: {code:?} to depth {depth}: {then:?} from {now:?}");
        let escalates = next.filter(|(_, more)| *more as f64 > (1.0 + WITHIN) * depth as f64 + 1.0);
        assert!(escalates.is_none(), "{context}: depth {depth}, then {again}: {escalates:?}");
    } else if code == Code::BeyondKnee {
        followed.shallower += 1;
        assert!(then.iops > 0.9 * now.iops, "{context}: {code:?} to depth {depth}: {then:?} from {now:?}");
        assert!(then.latency_ns < now.latency_ns, "{context}: {code:?} to depth {depth}: {then:?} from {now:?}");
        let returns = next.filter(|(_, more)| *more > depth + 1);
        assert!(returns.is_none(), "{context}: depth {depth}, then {again}: {returns:?}");
    }
}
