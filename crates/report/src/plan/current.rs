//! Plans for volumes that exist, in all formats.

use plan::current::{CurrentStep, WORTH_CHANGING, WORTH_REPLACING, usd};
use plan::workload::LoadDoubt;
use plan::{Candidate, Need, UnmetNeed};
use results::answer::{Action, Answer, Outcome};
use results::plan::current::{
    CurrentCandidate, CurrentNeed, CurrentPlanDocument, CurrentPlanResult, CurrentSource, CurrentVolume,
    CurrentVolumeDocument, step_name,
};
use results::plan::document::{PlanConditions, PlanPercentile};
use results::stored::sorted;
use units::{counted, significant};

use super::figures::{self, failure, headroom_words, provisioned, region, size, time, whole};
use super::html::month_head;
use super::tables;
use crate::answer::AnswerText;
use crate::escape;
use crate::page::{Page, PageBlock, PagePart};
use crate::sheet::{Sheet, SheetStyle, Tone};
use crate::volume_terms::amount;
use crate::words::changes;

/// Maximum number of volumes in a table without `--details`.
const LISTED: usize = 12;
/// Maximum number of changes in the answer about several volumes.
const CHANGES: usize = 3;

/// Returns the plan as text.
pub(crate) fn text(plan: &CurrentPlanResult, style: SheetStyle) -> String {
    if style.details {
        return page(plan).text(style);
    }
    let mut sheet = Sheet::new(style.readable(), 0);
    answer(plan).write(&mut sheet);
    sheet.gap();
    if plan.volumes.len() != 1 {
        table(plan, LISTED).write(&mut sheet);
        sheet.gap();
    } else {
        compared(&plan.volumes[0]).write(&mut sheet);
        sheet.gap();
    }
    let more = plan.volumes.len().saturating_sub(LISTED);
    let mut parts = Vec::new();
    if more > 0 {
        parts.push(format!("{} more", units::grouped(more as u64)));
    }
    if !plan.skipped.is_empty() {
        parts.push(format!("{} skipped", volumes_words(plan.skipped.len())));
    }
    let parts = if parts.is_empty() { "More".to_owned() } else { parts.join(", ") };
    sheet.paragraph(&format!("{parts}: --details"), Some(Tone::Faint));
    sheet.aside(0, figures::NOT_CONSIDERED);
    sheet.finish()
}

/// Returns the plan as a page.
pub(crate) fn page(plan: &CurrentPlanResult) -> Page {
    let mut parts = Vec::new();
    if let [one] = &plan.volumes[..] {
        parts.push(PagePart::new("volume", "Now and then", vec![compared(one)]));
    } else {
        parts.push(PagePart::new("volumes", "Volumes", vec![table(plan, usize::MAX)]));
    }
    let changes: Vec<PageBlock> = ordered(plan).into_iter().flat_map(change_blocks).collect();
    if !changes.is_empty() {
        parts.push(PagePart::new("changes", "Changes", changes));
    }
    let missed: Vec<String> = ordered(plan).into_iter().filter_map(missed).collect();
    if !missed.is_empty() {
        parts.push(PagePart::new("missed", "Needs that are missed now", vec![PageBlock::List(missed)]));
    }
    if !plan.skipped.is_empty() {
        let skipped = plan.skipped.iter().map(|one| format!("{}: {}", one.name, one.reason)).collect();
        parts.push(PagePart::new("skipped", "Skipped", vec![PageBlock::List(skipped)]));
    }
    parts.push(PagePart::new("assumptions", "Assumptions", vec![PageBlock::List(assumptions(plan))]));
    let about = if plan.need.demands().is_empty() { String::new() } else { figures::wanted(&plan.need) };
    Page { brand: "Fathom plan", answer: answer(plan), about, parts }
}

/// Returns what to do, and what it saves.
fn answer(plan: &CurrentPlanResult) -> Answer {
    match &plan.volumes[..] {
        [one] => of_one(plan, one),
        [] => Answer::new(Outcome::Unknown, "Cannot tell: the catalogue has none of the volumes."),
        _ => of_several(plan),
    }
}

fn of_one(plan: &CurrentPlanResult, volume: &CurrentVolume) -> Answer {
    let decision = &volume.decision;
    let current = &decision.current;
    let basis = basis(plan, volume);
    if let Some(doubt) = &volume.doubt {
        let (verdict, measure) = (unknown(volume, doubt), measure(doubt));
        let alone = match &decision.change {
            Some(change) => format!("For the measured rate alone: {}.", step_words(volume, change)),
            None if decision.step == CurrentStep::Keep => "It sustains the measured rate.".to_owned(),
            None => "Nothing considered sustains even the measured rate.".to_owned(),
        };
        return Answer { outcome: Outcome::Unknown, verdict, actions: vec![measure, Action::from(alone)], basis };
    }
    let name = subject(current);
    match (&decision.change, decision.step) {
        (Some(change), _) => {
            let implied = implied(volume).map_or_else(String::new, |text| format!("{text}: "));
            let words = step_words(volume, change);
            let verdict =
                format!("{implied}{}{}.{}", capital(&words, implied.is_empty()), becomes(volume), misses(current));
            let latency = slower(current, change);
            let remarks = latency.into_iter().chain(slower_choice(volume)).map(Action::from);
            let actions = actions(volume, change).into_iter().chain(remarks).collect();
            Answer { outcome: Outcome::Good, verdict, actions, basis }
        }
        (None, CurrentStep::Keep) => {
            let price = usd(current).map_or_else(
                || "; its price is unknown".to_owned(),
                |usd| format!(" for {} a month", figures::sum(&decision.need, usd)),
            );
            let saved = if usd(current).is_some() { format!("; {}", no_saving()) } else { String::new() };
            let verdict = match implied(volume) {
                Some(implied) => format!("{implied}: keep {name}{}{saved}.", price.replacen(" for ", ", ", 1)),
                None => format!("Keep {name}: {}{price}{saved}.", sustains(current)),
            };
            let more = decision.with_headroom.as_ref().map(|change| {
                let headroom = significant(100.0 * decision.need.headroom, 2);
                let words = format!("For {headroom}% headroom, {}", differences(current, change));
                with_command(words + &more_usd(&decision.need, current, change), CurrentStep::Resize, current, change)
            });
            let slower = slower_choice(volume).map(Action::from);
            Answer { outcome: Outcome::Good, verdict, actions: more.into_iter().chain(slower).collect(), basis }
        }
        (None, _) => {
            let nearest = decision.nearest.as_ref().map_or_else(String::new, |nearest| {
                let failures: Vec<String> = nearest.failures.iter().map(failure).collect();
                format!(" Nearest is {}, {}.", nearest.spec.name, failures.join("; "))
            });
            let verdict = format!("No volume considered meets the need.{nearest}{}", misses(current));
            Answer { outcome: Outcome::Bad, verdict, actions: vec![Action::from(wider(volume))], basis }
        }
    }
}

fn of_several(plan: &CurrentPlanResult) -> Answer {
    let count = plan.volumes.len();
    let is = |step: &str| plan.volumes.iter().filter(|volume| step_name(volume) == step).count();
    let (unmet, unknown) = (is("unmet"), is("unknown"));
    let changed = plan.volumes.iter().filter(|volume| volume.is_changed()).count();
    let totals = plan.totals();
    let sums = match totals.usd_then - totals.usd_now {
        _ if totals.unpriced == count => ": no price is known".to_owned(),
        more if more.abs() < 0.005 => format!(": {} a month", figures::sum(&plan.need, totals.usd_now)),
        more => {
            let less = if more < 0.0 { "less" } else { "more" };
            let [now, then, by] =
                [totals.usd_now, totals.usd_then, more.abs()].map(|usd| amount(plan.need.in_currency(usd)));
            format!(": {now} becomes {then} {} a month, {by} {less}", plan.need.currency.code())
        }
    };
    let what = match changed {
        0 if unmet + unknown == 0 => format!("Keep all {} volumes{sums}", units::grouped(count as u64)),
        0 => format!("Change none of {} volumes{sums}", units::grouped(count as u64)),
        changed => {
            format!("Change {} of {} volumes{sums}", units::grouped(changed as u64), units::grouped(count as u64))
        }
    };
    let named = |step: &str| {
        let names: Vec<String> =
            plan.volumes.iter().filter(|volume| step_name(volume) == step).take(3).map(label).collect();
        names.join(", ")
    };
    let mut verdict = format!("{what}.");
    if unmet > 0 {
        let names = first(unmet, &named("unmet"));
        verdict.push_str(&format!(" Nothing considered meets the need of {}: {names}.", volumes_words(unmet)));
    }
    let doubt = plan.volumes.iter().find_map(|volume| volume.doubt.as_ref());
    if let Some(doubt) = doubt {
        let (names, why) = (first(unknown, &named("unknown")), figures::doubt(doubt));
        let cannot = format!(
            "Cannot tell for {} ({names}), because the measured load is no need: {why}.",
            volumes_words(unknown)
        );
        verdict = if unknown == count { cannot } else { format!("{verdict} {cannot}") };
    }
    let implied = plan.volumes.iter().filter(|volume| volume.decision.is_implied).count();
    if implied > 0 {
        let whose = if implied == count {
            "No load given".to_owned()
        } else {
            format!("No load given for {}", volumes_words(implied))
        };
        verdict.push_str(&format!(
            " {whose}: planned for what {} now.",
            if implied == 1 { "it sustains" } else { "they sustain" }
        ));
    }
    let outcome = match (unmet, unknown) {
        (0, 0) => Outcome::Good,
        (0, _) => Outcome::Unknown,
        _ => Outcome::Bad,
    };
    let mut acted = ordered(plan);
    acted.retain(|volume| volume.is_changed());
    let mut actions: Vec<Action> = doubt.map(measure).into_iter().collect();
    for volume in acted.iter().take(CHANGES) {
        let Some(change) = &volume.decision.change else { continue };
        let more =
            volume.decision.usd_more().map_or_else(String::new, |usd| format!(", {} a month", signed(&plan.need, usd)));
        let words = format!("{}: {}{more}.", label(volume), step_words(volume, change));
        actions.extend(with_commands(words, commands(volume, change)));
    }
    let more = acted.len().saturating_sub(CHANGES);
    if more > 0 {
        let noun = if more == 1 { "change" } else { "changes" };
        actions.push(Action::from(format!("{} more {noun}: --details.", units::grouped(more as u64))));
    }
    let rule = rules(plan);
    let mut basis: Vec<String> = plan.derivation.clone();
    basis.extend(common(plan));
    basis.extend(rule);
    if totals.unpriced > 0 {
        basis.push(format!("without a price, and not in the sums: {}", volumes_words(totals.unpriced)));
    }
    Answer { outcome, verdict, actions, basis }
}

/// Ends a list of names that does not have all.
fn first(count: usize, names: &str) -> String {
    if count > 3 { format!("{names} and others") } else { names.to_owned() }
}

/// Says that a need is unknown, and why.
fn unknown(volume: &CurrentVolume, doubt: &LoadDoubt) -> String {
    let (name, rates) = (subject(&volume.decision.current), figures::rates(&volume.decision.need));
    match doubt {
        LoadDoubt::Ceiling(reason) => {
            format!(
                "Cannot tell whether to keep {name}: the load may need more than the measured {rates}, because {reason}."
            )
        }
        LoadDoubt::SinceBoot => {
            format!("Cannot tell whether to keep {name}: {rates} is the average since boot, not the load.")
        }
    }
}

/// Returns how to find out what a load needs.
fn measure(doubt: &LoadDoubt) -> Action {
    match doubt {
        LoadDoubt::Ceiling(_) => Action::from(
            "Measure it on a volume that does not limit it, or set the rate it needs with --iops N.".to_owned(),
        ),
        LoadDoubt::SinceBoot => Action {
            what: "Measure while the load runs:".to_owned(),
            command: Some("iostat -xy 1 30 | fathom plan --current VOLUME --from -".to_owned()),
        },
    }
}

/// Names a volume with its machine: `aws/gp3, 2,048 GiB, 9,000 IOPS on r6i.2xlarge`.
fn subject(current: &Candidate) -> String {
    let machine = current.machine.as_ref().map_or_else(String::new, |machine| format!(" on {}", machine.kind.name));
    format!("{}{machine}", figures::volumes(current))
}

/// Returns the name of a volume in a table.
fn label(volume: &CurrentVolume) -> String {
    volume.name.clone().unwrap_or_else(|| volume.decision.current.listed.clone())
}

/// Says what a volume sustains: `it sustains 8,000 IOPS with 12% headroom (limit: volume IOPS)`.
fn sustains(current: &Candidate) -> String {
    let each = if current.volumes > 1 { "each" } else { "it" };
    let limit = current.limit.as_ref().map_or_else(String::new, |cap| {
        let headroom = headroom_words(current.headroom);
        let joined = if headroom.ends_with("headroom") { " with" } else { "," };
        format!("{joined} {headroom} (limit: {})", cap.name)
    });
    format!("{each} sustains {} IOPS{limit}", whole(current.rate))
}

/// Returns an action with its command, if the provider has one.
fn with_command(what: String, step: CurrentStep, from: &Candidate, to: &Candidate) -> Action {
    let command = changes::commands(step, from, to).into_iter().next();
    Action { what: what + if command.is_some() { ":" } else { "." }, command }
}

/// Returns the difference of two prices: ` (+3.00 USD a month)`.
fn more_usd(need: &Need, from: &Candidate, to: &Candidate) -> String {
    let more = usd(to).zip(usd(from)).map(|(then, now)| then - now);
    more.map_or_else(String::new, |more| format!(" ({} a month)", signed(need, more)))
}

/// Says that no load is given; `None` if one is.
fn implied(volume: &CurrentVolume) -> Option<String> {
    let decision = &volume.decision;
    let rates = figures::rates(&decision.need);
    let size = size(&decision.current);
    decision
        .is_implied
        .then(|| format!("No load given, planned for what {} has ({rates}, {size})", decision.current.listed))
}

fn volumes_words(count: usize) -> String {
    counted(count as u64, "volume")
}

fn no_saving() -> String {
    format!(
        "no change in place saves {}%, no replacement {}%",
        significant(100.0 * WORTH_CHANGING, 1),
        significant(100.0 * WORTH_REPLACING, 2)
    )
}

/// Describes a step: `resize in place: aws/gp3 from 9,000 to 16,000 IOPS`.
fn step_words(volume: &CurrentVolume, change: &Candidate) -> String {
    change_words(volume.decision.step, &volume.decision.current, change)
}

fn change_words(step: CurrentStep, current: &Candidate, change: &Candidate) -> String {
    match step {
        CurrentStep::Resize => {
            let times = if current.volumes > 1 { format!("{} x ", current.volumes) } else { String::new() };
            format!("resize in place: {times}{} {}", figures::kind(current), differences(current, change))
        }
        CurrentStep::Retype => {
            format!("change the type in place: {} to {}", figures::volumes(current), figures::volumes(change))
        }
        _ => format!("replace {} with {}", figures::volumes(current), figures::volumes(change)),
    }
}

/// Lists the values that differ: `from 9,000 to 16,000 IOPS and from 125 to 250 MiB/s`.
fn differences(from: &Candidate, to: &Candidate) -> String {
    let of = |candidate: &Candidate, name: &str| {
        candidate.about.keys.iter().find(|key| key.name == name).map(|key| key.value.clone()).unwrap_or_default()
    };
    let keys = ["size", "iops", "throughput", "vpus"];
    let pairs = keys.map(|name| (of(from, name), of(to, name)));
    let differing = pairs.into_iter().filter(|(from, to)| from != to);
    let phrases: Vec<String> = differing
        .map(|(from, to)| {
            let unit = to.rsplit(' ').next().unwrap_or_default();
            let bare = from.strip_suffix(unit).map_or(from.as_str(), str::trim_end);
            format!("from {bare} to {to}")
        })
        .collect();
    phrases.join(" and ")
}

/// Returns the number of volumes, of which each takes a command.
fn count(volume: &CurrentVolume) -> usize {
    (volume.decision.current.volumes * volume.decision.current.members()) as usize
}

/// Returns the difference of the prices: `: +35.00 USD a month (193.84 becomes 228.84)`.
fn becomes(volume: &CurrentVolume) -> String {
    let need = &volume.decision.need;
    match (volume.decision.usd_now(), volume.decision.usd_then()) {
        (Some(now), Some(then)) => {
            let [before, after] = [now, then].map(|usd| amount(need.in_currency(usd)));
            format!(": {} a month ({before} becomes {after})", signed(need, then - now))
        }
        (None, Some(then)) => format!(": {} a month; the price now is unknown", figures::sum(need, then)),
        (Some(now), None) => format!(": its price is unknown, now {} a month", figures::sum(need, now)),
        (None, None) => ": no price is known".to_owned(),
    }
}

/// Formats a difference of US dollars in the currency of totals: `+35.00 USD`.
fn signed(need: &Need, usd: f64) -> String {
    let sign = match usd {
        usd if usd.abs() < 0.005 => "",
        usd if usd < 0.0 => "-",
        _ => "+",
    };
    format!("{sign}{}", figures::sum(need, usd.abs()))
}

/// Says which requirements the present volume misses, as a sentence.
fn misses(current: &Candidate) -> String {
    let failures: Vec<String> = current.failures.iter().map(failure).collect();
    if failures.is_empty() { String::new() } else { format!(" Now it misses the need: {}.", failures.join("; ")) }
}

/// Says that a change makes operations slower.
fn slower(current: &Candidate, change: &Candidate) -> Option<String> {
    let (now, then) = current.alone_secs.zip(change.alone_secs)?;
    (then > 1.1 * now).then(|| format!("The latency without queueing rises from {} to {}.", time(now), time(then)))
}

/// Offers a cheaper volume that is slower.
fn slower_choice(volume: &CurrentVolume) -> Option<String> {
    let slower = volume.decision.slower.as_ref()?;
    let (secs, less) = (slower.alone_secs?, volume.decision.usd_then()? - usd(slower)?);
    let bound = time(secs * 1.5).replace(' ', "");
    let name = figures::volumes(slower);
    Some(format!(
        "If {} per operation suffices (--latency {bound}): {name} costs {} a month less.",
        time(secs),
        figures::sum(&volume.decision.need, less)
    ))
}

fn capital(text: &str, is_start: bool) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if is_start => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Says how to widen the search.
fn wider(volume: &CurrentVolume) -> String {
    let provider = volume.decision.current.listed.split('/').next().unwrap_or_default();
    let is_machine = |failure: &UnmetNeed| volume::names_machine(&failure.limit);
    let failing = volume.decision.nearest.iter().flat_map(|nearest| &nearest.failures);
    match &volume.decision.current.machine {
        Some(machine) if failing.into_iter().any(is_machine) => {
            format!("The machine is the limit: plan with a larger one than {} (--machine).", machine.kind.name)
        }
        _ if volume.decision.need.volumes.is_empty() => {
            format!("Only volumes of {provider} were considered: --provider adds others, --max-stripe 8 adds RAID 0.")
        }
        _ => "Consider other volumes with --provider, or several in RAID 0 with --max-stripe 8.".to_owned(),
    }
}

/// Returns the commands of a change; none where the provider has none.
fn commands(volume: &CurrentVolume, change: &Candidate) -> Vec<String> {
    changes::commands(volume.decision.step, &volume.decision.current, change)
}

/// Returns an action for each command, the first with the words.
fn with_commands(what: String, commands: Vec<String>) -> Vec<Action> {
    let mut commands = commands.into_iter();
    let first = Action { what, command: commands.next() };
    std::iter::once(first)
        .chain(commands.map(|command| Action { what: String::new(), command: Some(command) }))
        .collect()
}

fn actions(volume: &CurrentVolume, change: &Candidate) -> Vec<Action> {
    let step = volume.decision.step;
    let what = match step {
        CurrentStep::Replace => "Copy the data to a new volume, then delete the old one:".to_owned(),
        _ if commands(volume, change).is_empty() => "Change it with the provider's tools.".to_owned(),
        _ if count(volume) > 1 => format!("For each of {}:", volumes_words(count(volume))),
        _ => String::new(),
    };
    let mut actions = with_commands(what, commands(volume, change));
    if let Some((step, found)) = &volume.decision.in_place {
        let current = &volume.decision.current;
        let words =
            format!("Or {}", change_words(*step, current, found)) + &more_usd(&volume.decision.need, current, found);
        actions.push(with_command(words, *step, current, found));
    }
    if volume.source == CurrentSource::Terraform {
        let what = "Change the attributes in the configuration of Terraform too, or the next apply reverts them.";
        actions.push(Action::from(what.to_owned()));
    }
    let rule = changes::rule(step, &volume.decision.current).filter(|_| step != CurrentStep::Replace);
    actions.extend(rule.map(|rule| Action::from(format!("{rule}."))));
    actions
}

fn rules(plan: &CurrentPlanResult) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for volume in plan.volumes.iter().filter(|volume| volume.is_changed()) {
        let rule = changes::rule(volume.decision.step, &volume.decision.current);
        rules.extend(rule.map(str::to_owned).filter(|rule| !rules.contains(rule)));
    }
    rules
}

/// Lists what the answer about one volume rests on.
fn basis(plan: &CurrentPlanResult, volume: &CurrentVolume) -> Vec<String> {
    let decision = &volume.decision;
    let mut basis = Vec::new();
    if !plan.derivation.is_empty() {
        basis.push(format!("the need is {}", figures::wanted(&decision.need)));
        basis.extend(plan.derivation.iter().cloned());
    }
    let priced = decision.change.as_ref().unwrap_or(&decision.current);
    if let Some(money) = &priced.price {
        let date = Some(&money.price.source.date).filter(|date| !date.is_empty());
        let date = date.map_or_else(String::new, |date| format!(" of {date}"));
        basis.push(format!("price{date} ({})", region(money)));
        basis.extend(money.lacks.as_ref().map(|lacks| format!("the price excludes {lacks} (price unknown)")));
    }
    let latency = priced.about.latency_assumed.as_ref().map(|why| format!("latency assumed: {why}"));
    basis.extend(latency);
    basis.extend(figures::unknown_machine(priced));
    let shown = [Some(&decision.current), decision.change.as_ref()].into_iter().flatten().cloned().collect::<Vec<_>>();
    basis.extend(figures::exchange(&decision.need, &shown));
    let region = figures::unknown_region(&decision.need);
    basis.extend(region.and_then(|text| Some(text.split_once(':')?.0.to_owned())));
    basis.extend(common(plan));
    basis
}

/// Lists what all decisions rest on.
fn common(plan: &CurrentPlanResult) -> Vec<String> {
    let mut basis = vec![match plan.is_simulated {
        true => format!("simulated with seed {}", plan.seed),
        false => "calculated, not simulated".to_owned(),
    }];
    let is_open = plan.need.volumes.is_empty();
    basis.push(match is_open {
        true => "replacements are volumes of the same provider (--provider selects others)".to_owned(),
        false => format!("replacements among {}", plan.need.volumes.join(", ")),
    });
    if plan.need.capacity.is_none() {
        basis.push("no --capacity given: the data fill the volume".to_owned());
    }
    if plan.need.mean.is_none() && plan.need.percentile.is_none() {
        basis.push("no bound on latency given: slower volumes are not considered".to_owned());
    }
    basis
}

fn assumptions(plan: &CurrentPlanResult) -> Vec<String> {
    let mut lines = match &plan.volumes[..] {
        [_] | [] => Vec::new(),
        _ => common(plan),
    };
    lines.push(format!("A volume is kept unless a change saves enough: {}.", no_saving()));
    lines.push(figures::NOT_CONSIDERED.to_owned());
    for volume in &plan.volumes {
        let priced = volume.decision.change.as_ref().unwrap_or(&volume.decision.current);
        let why = priced.about.latency_assumed.as_ref();
        let line = why.map(|why| format!("{}: latency {}: {why}", priced.listed, priced.about.latency_basis.name()));
        lines.extend(line.filter(|line| !lines.contains(line)));
    }
    lines
}

/// Returns the volumes by importance: needs that nothing meets, unknown needs, changes by what they save, the rest.
fn ordered(plan: &CurrentPlanResult) -> Vec<&CurrentVolume> {
    let mut volumes: Vec<&CurrentVolume> = plan.volumes.iter().collect();
    let class = |volume: &CurrentVolume| match step_name(volume) {
        "unmet" => 0,
        "unknown" => 1,
        "keep" => 3,
        _ => 2,
    };
    let weight = |volume: &CurrentVolume| volume.usd().map_or(0.0, |(now, then)| (then - now).abs());
    volumes.sort_by(|a, b| class(a).cmp(&class(b)).then_with(|| weight(b).total_cmp(&weight(a))));
    volumes
}

fn money(need: &Need, usd: Option<f64>) -> String {
    usd.map_or_else(|| "unknown".to_owned(), |usd| amount(need.in_currency(usd)))
}

/// Describes a volume without its type: `2,048 GiB, 9,000 IOPS`.
fn setting(candidate: &Candidate) -> String {
    let parts = [size(candidate), provisioned(candidate)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let times = if candidate.volumes > 1 { format!("{} x ", candidate.volumes) } else { String::new() };
    format!("{times}{} {}", figures::kind(candidate), parts.join(", "))
}

fn table(plan: &CurrentPlanResult, most: usize) -> PageBlock {
    let row = |volume: &CurrentVolume| {
        let decision = &volume.decision;
        let then = decision.change.as_ref().filter(|_| volume.doubt.is_none());
        let usd_then = if volume.is_changed() { decision.usd_then() } else { decision.usd_now() };
        vec![
            label(volume),
            step_name(volume).to_owned(),
            money(&plan.need, decision.usd_now()),
            money(&plan.need, usd_then),
            setting(&decision.current),
            then.map_or_else(|| "-".to_owned(), setting),
        ]
    };
    let [now, then] = ["now", "then"].map(|when| format!("{} {when}", plan.need.currency.code()));
    let head = ["volume", "step", &now, &then, "now", "then"];
    PageBlock::table(&head, &[2, 3], ordered(plan).into_iter().take(most).map(row).collect())
}

/// Compares a volume with what it becomes.
fn compared(volume: &CurrentVolume) -> PageBlock {
    let row = |when: &str, candidate: &Candidate| {
        let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let headroom = candidate.limit.as_ref().map(|_| headroom_words(candidate.headroom));
        vec![
            when.to_owned(),
            setting(candidate),
            money(&volume.decision.need, usd(candidate)),
            dash(candidate.mean_secs.map(time)),
            dash(headroom.filter(|_| candidate.failures.is_empty())),
        ]
    };
    let decision = &volume.decision;
    let mut rows = vec![row("now", &decision.current)];
    rows.extend(decision.change.as_ref().map(|change| row("then", change)));
    rows.extend(decision.with_headroom.as_ref().map(|change| row("with headroom", change)));
    PageBlock::table(&["", "volume", &month_head(&decision.need), "latency", "load"], &[2, 3], rows)
}

/// Returns a change with its command.
fn change_blocks(volume: &CurrentVolume) -> Vec<PageBlock> {
    let Some(change) = volume.decision.change.as_ref().filter(|_| volume.is_changed()) else { return Vec::new() };
    let words = step_words(volume, change) + &becomes(volume);
    let words = PageBlock::Text(format!("{}: {words}.", label(volume)));
    std::iter::once(words).chain(commands(volume, change).into_iter().map(PageBlock::Code)).collect()
}

fn missed(volume: &CurrentVolume) -> Option<String> {
    let failures: Vec<String> = volume.decision.current.failures.iter().map(failure).collect();
    (!failures.is_empty()).then(|| format!("{}: {}", label(volume), failures.join("; ")))
}

/// Returns CSV with one row per volume. Column names contain the units; unknown values are empty.
pub(crate) fn csv(plan: &CurrentPlanResult) -> String {
    let mut out = String::from(
        "name,volume,step,change,usd_now,usd_then,usd_more,count,meets,headroom,limit,wanted_iops,why_not,command\n",
    );
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or_else(String::new, |value| format!("{value:.6}"))
    };
    for volume in &plan.volumes {
        let decision = &volume.decision;
        let current = &decision.current;
        let change = decision.change.as_ref().filter(|_| volume.doubt.is_none());
        let (now, then) = (decision.usd_now(), if change.is_some() { decision.usd_then() } else { decision.usd_now() });
        let why: Vec<String> = current.failures.iter().map(failure).collect();
        let fields = [
            escape::csv(volume.name.as_deref().unwrap_or_default()),
            escape::csv(&current.spec.name),
            step_name(volume).to_owned(),
            escape::csv(change.map_or("", |change| &change.spec.name)),
            number(now),
            number(then),
            number(now.zip(then).map(|(now, then)| then - now)),
            current.volumes.to_string(),
            current.meets().to_string(),
            number(Some(current.headroom)),
            escape::csv(current.limit.as_ref().map_or("", |cap| &cap.name)),
            number(Some(current.rate)),
            escape::csv(&why.join("; ")),
            escape::csv(&change.map_or_else(Vec::new, |change| commands(volume, change)).join("; ")),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

pub(crate) fn json(plan: &CurrentPlanResult) -> String {
    sorted(&CurrentPlanDocument {
        answer: answer(plan),
        fathom_current_plan: CurrentPlanDocument::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        seed: plan.seed,
        arithmetic: &plan.derivation,
        totals: plan.totals(),
        volumes: plan.volumes.iter().map(document).collect(),
        skipped: &plan.skipped,
    })
}

fn document(volume: &CurrentVolume) -> CurrentVolumeDocument<'_> {
    let decision = &volume.decision;
    let need = &decision.need;
    let change = decision.change.as_ref().filter(|_| volume.doubt.is_none());
    let rule = change.and_then(|_| changes::rule(decision.step, &decision.current));
    CurrentVolumeDocument {
        name: volume.name.as_deref(),
        step: step_name(volume),
        need: CurrentNeed {
            iops: need.iops,
            bytes_per_sec: need.bytes_per_sec,
            block_bytes: need.block,
            read_share: need.read_share,
            percentile: need.percentile.map(|(share, bound)| PlanPercentile { share, ns: bound.get() }),
            conditions: PlanConditions::new(need, need.mean),
            implied: decision.is_implied,
            unknown: volume.doubt.as_ref().map(figures::doubt),
        },
        current: candidate(&decision.current),
        change: change.map(candidate),
        with_headroom: decision.with_headroom.as_ref().map(candidate),
        in_place: decision.in_place.as_ref().map(|(_, found)| candidate(found)),
        slower: decision.slower.as_ref().map(candidate),
        usd_more_per_month: if volume.doubt.is_some() { None } else { decision.usd_more() },
        commands: change.map_or_else(Vec::new, |change| commands(volume, change)),
        rule: rule.map(str::to_owned),
    }
}

fn candidate(candidate: &Candidate) -> CurrentCandidate<'_> {
    CurrentCandidate::new(candidate, candidate.failures.iter().map(tables::failure).collect())
}
