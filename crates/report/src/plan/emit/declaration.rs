//! A chosen volume with everything that a declaration of it contains.

use plan::Candidate;
use results::plan::needs::{NeedPlan, NeedStatus, PlannedNeed};
use results::plan::{PlanResult, TracePlanResult};
use units::{Problem, ProblemCode, printable};
use volume::catalogue::FigureOrigin;

use crate::page::Page;
use crate::plan::{figures, page, trace};

/// Name of the volume of a plan for one need.
const UNNAMED: &str = "data";
/// Maximum length of a name: providers allow 63 characters, and a number follows.
const NAME_MAX: usize = 50;

/// A need and the volume for it.
pub(super) struct Declaration<'a> {
    /// Name of the need, as the user wrote it; `None` if it has none.
    pub(super) need_name: Option<&'a str>,
    /// Its name for providers: lower-case letters, digits and hyphens, different from all others.
    pub(super) name: String,
    /// The chosen volume; `None` if the need is unmet.
    pub(super) volume: Option<Provisioned<'a>>,
    status: NeedStatus,
    plan: DeclaredPlan<'a>,
}

/// The plan that chose a volume.
#[derive(Clone, Copy)]
pub(super) enum DeclaredPlan<'a> {
    Load(&'a PlanResult),
    Trace(&'a TracePlanResult),
}

/// A volume of the catalogue with what is provisioned.
pub(super) struct Provisioned<'a> {
    pub(super) candidate: &'a Candidate,
    /// `aws`, `gcp`, `azure`.
    pub(super) provider: &'a str,
    /// Type without edition: `gp3`.
    pub(super) kind: &'a str,
    pub(super) gib: u64,
    pub(super) iops: Option<u64>,
    /// Throughput in the unit of the catalogue: MiB/s, or MB/s for Azure.
    pub(super) throughput: Option<u64>,
}

impl<'a> Declaration<'a> {
    pub(super) fn new(
        need_name: Option<&'a str>,
        (chosen, status): (Option<&'a Candidate>, NeedStatus),
        plan: DeclaredPlan<'a>,
    ) -> Self {
        let name = slug(need_name.unwrap_or(UNNAMED));
        Self { need_name, name, volume: chosen.map(Provisioned::new), status, plan }
    }

    pub(super) fn of_need(need: &'a PlannedNeed) -> Self {
        let plan = match &need.plan {
            NeedPlan::Load(plan) => DeclaredPlan::Load(plan),
            NeedPlan::Trace(plan) => DeclaredPlan::Trace(plan),
        };
        Self::new(Some(&need.name), (need.chosen(), need.status()), plan)
    }

    /// Returns a problem of writing it in a language: `no Terraform for need db: oci/block-volume ...`.
    pub(super) fn refusal(&self, language: &str, why: &str, help: &str) -> Problem {
        let of_need = self.need_name.map_or_else(String::new, |name| format!(" for need `{name}`"));
        Problem::error(ProblemCode::Plan, format!("no {language}{of_need}: {why}")).help(help)
    }

    /// Returns comments: the need, the volume, its price and the source of the price.
    pub(super) fn comments(&self) -> Vec<String> {
        let Page { about, answer, .. } = match self.plan {
            DeclaredPlan::Load(plan) => page(plan),
            DeclaredPlan::Trace(plan) => trace::page(plan),
        };
        let verdict = answer.verdict;
        let mut lines = vec![match self.need_name {
            Some(name) => format!("{name}: {about}"),
            None => about,
        }];
        match &self.volume {
            None => lines.push(format!("Unmet, nothing is declared. {verdict}")),
            Some(volume) => lines.extend(volume.comments()),
        }
        if self.status == NeedStatus::Unknown {
            lines.push(format!("Unknown need, for at least the measured load. {verdict}"));
        }
        lines.iter().map(|line| format!("# {}", printable(line))).collect()
    }
}

impl<'a> Provisioned<'a> {
    fn new(candidate: &'a Candidate) -> Self {
        let listed = candidate.listed.split('@').next().unwrap_or_default();
        let (provider, kind) = listed.split_once('/').unwrap_or((listed, ""));
        let bounds = |name: &str| candidate.about.keys.iter().find(|key| key.name == name).map(|key| &key.bounds);
        let whole = |name: &str| Some(bounds(name)?.value?.ceil() as u64);
        // In RAID 0, the size of the volume is that of all its members.
        let each = candidate.spec.size.get() / u64::from(candidate.members());
        let size = bounds("size").and_then(|size| Some(size.value? * bytes_of(&size.unit)?));
        Self {
            candidate,
            provider,
            kind,
            gib: size.map_or(each, |bytes| bytes.ceil() as u64).div_ceil(1 << 30),
            iops: whole("iops"),
            throughput: whole("throughput"),
        }
    }

    /// Returns the value of a key that is a word: `on`.
    pub(super) fn word(&self, name: &str) -> Option<&'a str> {
        self.candidate.about.keys.iter().find(|key| key.name == name).map(|key| key.value.as_str())
    }

    /// Returns the machine type.
    pub(super) fn machine(&self) -> Option<&'a str> {
        self.word("machine").filter(|name| !name.is_empty())
    }

    /// Returns the number of volumes to create.
    pub(super) fn count(&self) -> u32 {
        self.candidate.volumes.max(1) * self.candidate.members()
    }

    /// Reports whether several machines attach one volume.
    pub(super) fn is_shared(&self) -> bool {
        self.candidate.machines > 1 && self.candidate.volumes <= 1
    }

    /// Returns the region of its price, if that is a name of the provider.
    pub(super) fn region(&self) -> Option<&'a str> {
        let money = self.candidate.price.as_ref()?;
        let region = money.stands_for.as_deref().or(money.price.region.as_deref())?;
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        Some(region).filter(|region| !region.is_empty() && region.chars().all(is_name))
    }

    fn comments(&self) -> Vec<String> {
        /// Keys that a declaration contains, or that describe the model only.
        const CONTAINED: [&str; 6] =
            ["size", "iops", "throughput", "machine", "on_demand_bursting", "performance_plus"];
        let candidate = self.candidate;
        let mut lines = vec![format!("Volume: {}", candidate.spec.name)];
        match &candidate.price {
            Some(money) => {
                lines.push(format!("Price: {} ({})", figures::price(money), figures::holds(money)));
                lines.extend(money.lacks.as_ref().map(|lacks| format!("The price excludes {lacks} (price unknown)")));
                let source = &money.price.source;
                lines.push(format!("Source: {} {}", volume::cited(source), source.address).trim_end().to_owned());
            }
            None => lines.push("Price: unknown".to_owned()),
        }
        if candidate.members() > 1 {
            lines.push(format!("RAID 0 of {} volumes: create it on the machine with mdadm", candidate.members()));
        }
        let others = candidate.about.keys.iter().filter(|key| {
            key.origin == FigureOrigin::Asked && key.name != "stripe" && !CONTAINED.contains(&key.name.as_str())
        });
        let others: Vec<String> = others.map(|key| format!("{} {}", key.name, key.value)).collect();
        if !others.is_empty() {
            lines.push(format!("Of the plan only: {}", others.join(", ")));
        }
        lines
    }
}

/// Returns the bytes of a unit of sizes.
fn bytes_of(unit: &str) -> Option<f64> {
    match unit {
        "GiB" => Some(f64::from(1_u32 << 30)),
        "TiB" => Some(1024.0 * f64::from(1_u32 << 30)),
        "GB" => Some(1e9),
        "TB" => Some(1e12),
        _ => None,
    }
}

/// Returns a name of lower-case letters, digits and hyphens that begins with a letter.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().map(|letter| letter.to_ascii_lowercase()) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    let begins = slug.starts_with(|letter: char| letter.is_ascii_lowercase());
    let mut slug = if begins { slug.to_owned() } else { format!("need-{slug}") };
    slug.truncate(NAME_MAX);
    slug.trim_end_matches('-').to_owned()
}

/// Numbers equal names.
pub(super) fn name_apart(declarations: &mut [Declaration<'_>]) {
    let mut taken = std::collections::BTreeSet::new();
    for declaration in declarations {
        let base = declaration.name.clone();
        let mut number = 2;
        while !taken.insert(declaration.name.clone()) {
            let suffix = format!("-{number}");
            let kept = &base[..base.len().min(NAME_MAX - suffix.len())];
            declaration.name = format!("{kept}{suffix}");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_have_letters_digits_and_hyphens() {
        let cases = [
            ("db", "db"),
            ("Order DB (eu)", "order-db-eu"),
            ("2nd", "need-2nd"),
            ("${var.x}\"", "var-x"),
            ("данные", "need"),
            ("-", "need"),
        ];
        for (name, expected) in cases {
            assert_eq!(slug(name), expected);
        }
        assert_eq!(slug(&"a".repeat(90)).len(), 50);
    }
}
