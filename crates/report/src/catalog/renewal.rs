//! Text of an update of the catalogue, and of its difference from the built-in one.

use results::catalog::{CatalogDiff, CatalogUpdate, FigureChange, PlanChange, PlanChoice, ProviderDiff};
use units::{counted, grouped, significant};

use crate::sheet::{Sheet, SheetStyle};
use crate::volume_terms::amount;

/// Returns what an update read and wrote.
#[must_use]
pub fn update_text(update: &CatalogUpdate, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style, 0);
    let CatalogUpdate { provider, path, date, figures, .. } = update;
    let count = |number: usize, noun: &str| counted(number as u64, noun);
    let prices = update.volume_prices + update.machine_prices;
    let mut has = Vec::new();
    if prices > 0 {
        has.push(format!("{} of {}", count(prices, "price"), count(update.regions.len(), "region")));
    }
    if update.machines > 0 {
        has.push(count(update.machines, "machine"));
    }
    let has = has.join(", ");
    let did = if update.written { "Updated" } else { "Would update" };
    sheet.paragraph(&format!("{did} {provider}: {has}, dated {date}"), None);
    sheet.line(&format!("{} {path}", if update.written { "Written to" } else { "Not written to" }));
    sheet.gap();
    sheet.line("Against the built-in catalogue");
    let word = |number: usize| grouped(number as u64);
    let [changed, new, equal] = [figures.changed, figures.new, figures.equal].map(word);
    sheet.wrapped("  ", &format!("{changed} changed, {new} new, {equal} equal"));
    if figures.missing > 0 {
        let kept = format!("{} not in the files: the built-in figures stay", word(figures.missing));
        sheet.wrapped("  ", &kept);
    }
    if figures.older > 0 {
        let unused = format!("{} older than the built-in ones: not used", word(figures.older));
        sheet.wrapped("  ", &unused);
    }
    sheet.gap();
    sheet.line("Read");
    for read in &update.read {
        sheet.wrapped("  ", &format!("{}: {}", read.name, read.format));
    }
    if !update.skipped.is_empty() {
        sheet.gap();
        sheet.line("Left out");
        for skipped in &update.skipped {
            sheet.wrapped("  ", &format!("{} ({})", counted(skipped.items, "item"), skipped.reason));
        }
    }
    if update.written {
        sheet.gap();
        sheet.line("Next");
        sheet.line("  fathom catalog diff");
    }
    sheet.finish()
}

/// Most figures of one kind that are printed.
const FIGURES_MAX: usize = 8;

/// Returns what changes with the dated files.
#[must_use]
pub fn diff_text(diff: &CatalogDiff, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style, 0);
    if diff.providers.is_empty() {
        sheet.line("No dated files: all figures are built in.");
        sheet.gap();
        sheet.line("Next");
        sheet.line("  fathom catalog update --from FILE...");
        return sheet.finish();
    }
    let total = |of: fn(&ProviderDiff) -> usize| diff.providers.iter().map(of).sum::<usize>() as u64;
    let (changed, new) = (total(|one| one.counts.changed), total(|one| one.counts.new));
    let changed_plans = format!("{} of {} plans change", diff.plans.len(), diff.compared_plans);
    sheet.paragraph(&format!("{} changed, {} new; {changed_plans}.", counted(changed, "figure"), grouped(new)), None);
    for provider in &diff.providers {
        sheet.gap();
        sheet.line(&provider.provider);
        figures(&mut sheet, provider, "Changed", |figure| figure.old.is_some() && figure.new.is_some());
        figures(&mut sheet, provider, "New", |figure| figure.old.is_none());
        figures(&mut sheet, provider, "Missing: the built-in figures stay", |figure| figure.new.is_none());
    }
    plans(&mut sheet, &diff.plans);
    sheet.finish()
}

/// Most plans that are printed.
const PLANS_MAX: usize = 12;

/// Prints the plans with another volume, those whose price changes most, and those that had or have no price.
fn plans(sheet: &mut Sheet, plans: &[PlanChange]) {
    if plans.is_empty() {
        return;
    }
    let kind = |plan: &PlanChange| match (&plan.old, &plan.new) {
        (Some(old), Some(new)) => u8::from(old.volume == new.volume),
        _ => 2,
    };
    let change = |plan: &PlanChange| match (&plan.old, &plan.new) {
        (Some(old), Some(new)) => (new.usd_per_month / old.usd_per_month.max(0.01) - 1.0).abs(),
        _ => 0.0,
    };
    let mut sorted: Vec<&PlanChange> = plans.iter().collect();
    sorted.sort_by(|a, b| kind(a).cmp(&kind(b)).then(change(b).total_cmp(&change(a))));
    sheet.gap();
    sheet.line("Plans");
    for plan in sorted.iter().take(PLANS_MAX) {
        sheet.wrapped("  ", &plan_line(plan));
    }
    more(sheet, "  ", sorted.len(), PLANS_MAX);
}

/// Says how many of `all` are not printed.
fn more(sheet: &mut Sheet, indent: &str, all: usize, printed: usize) {
    if all > printed {
        sheet.line(&format!("{indent}and {} more (--format json lists all)", grouped((all - printed) as u64)));
    }
}

fn figures(sheet: &mut Sheet, provider: &ProviderDiff, title: &str, of_kind: fn(&FigureChange) -> bool) {
    let mut found: Vec<&FigureChange> = provider.figures.iter().filter(|figure| of_kind(figure)).collect();
    if found.is_empty() {
        return;
    }
    // The largest changes come first; prices come before limits of machines.
    let change = |figure: &FigureChange| match (figure.old, figure.new) {
        (Some(old), Some(new)) => (new - old).abs() / old.abs().max(f64::MIN_POSITIVE),
        _ => 0.0,
    };
    let is_price = |figure: &FigureChange| figure.table.ends_with("prices");
    found.sort_by(|a, b| is_price(b).cmp(&is_price(a)).then(change(b).total_cmp(&change(a))));
    sheet.line(&format!("  {title}"));
    for figure in found.iter().take(FIGURES_MAX) {
        sheet.wrapped("    ", &format!("{} {}", name(figure), values(figure)));
    }
    more(sheet, "    ", found.len(), FIGURES_MAX);
}

fn name(figure: &FigureChange) -> String {
    format!("{} {} {}", figure.table, figure.row, figure.column)
}

/// Formats `0.08 -> 0.09 (+12.5%)`.
fn values(figure: &FigureChange) -> String {
    match (figure.old, figure.new) {
        (Some(old), Some(new)) if old > 0.0 => {
            let percent = 100.0 * (new / old - 1.0);
            let sign = if percent > 0.0 { "+" } else { "" };
            format!("{} -> {} ({sign}{}%)", exact(old), exact(new), significant(percent, 3))
        }
        (Some(old), Some(new)) => format!("{} -> {}", exact(old), exact(new)),
        (old, new) => old.or(new).map_or_else(String::new, |figure| exact(figure).to_string()),
    }
}

/// Drops the digits that calculations add to a figure.
fn exact(figure: f64) -> f64 {
    (figure * 1e9).round() / 1e9
}

fn plan_line(plan: &PlanChange) -> String {
    let region = plan.region.as_ref().map_or_else(String::new, |region| format!(" in {region}"));
    let month = |choice: &PlanChoice| format!("{} USD a month", amount(choice.usd_per_month));
    let choice = |choice: &Option<PlanChoice>| match choice {
        Some(choice) => format!("{} at {}", choice.volume, month(choice)),
        None => "no volume with a price".to_owned(),
    };
    let change = match (&plan.old, &plan.new) {
        (Some(old), Some(new)) if old.volume == new.volume => {
            format!("{}: {} -> {}", old.volume, amount(old.usd_per_month), month(new))
        }
        (old, new) => format!("{} -> {}", choice(old), choice(new)),
    };
    format!("{}{region}: {change}", plan.need)
}

#[cfg(test)]
mod tests {
    use results::catalog::FigureCounts;

    use super::*;

    #[test]
    fn many_figures_are_capped_and_the_largest_change_comes_first() {
        let figure = |number: u32| FigureChange {
            table: "prices".to_owned(),
            row: format!("r{number}"),
            column: "gp3_gb".to_owned(),
            old: Some(1.0),
            new: Some(1.0 + f64::from(number) / 100.0),
        };
        let figures: Vec<FigureChange> = (1..=20).map(figure).collect();
        let counts = FigureCounts { changed: figures.len(), ..FigureCounts::default() };
        let provider = ProviderDiff { provider: "aws".to_owned(), path: "p".to_owned(), counts, figures };
        let diff = CatalogDiff { providers: vec![provider], compared_plans: 16, plans: Vec::new() };
        let text = diff_text(&diff, SheetStyle::default());
        assert!(text.starts_with("20 figures changed, 0 new; 0 of 16 plans change.\n"), "{text}");
        assert!(text.contains("Changed\n    prices r20 gp3_gb 1 -> 1.2 (+20.0%)\n"), "{text}");
        assert!(text.contains("prices r14 gp3_gb 1 -> 1.14 (+14.0%)\n"), "{text}");
        assert!(text.contains("    and 12 more (--format json lists all)\n"), "{text}");
    }
}
