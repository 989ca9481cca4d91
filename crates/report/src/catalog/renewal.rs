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
    let has = format!(
        "{} of {}, {}",
        count(prices, "price"),
        count(update.regions.len(), "region"),
        count(update.machines, "machine")
    );
    let did = if update.written { "Updated" } else { "Would update" };
    let wrote = if update.written { "written to" } else { "not written to" };
    sheet.paragraph(&format!("{did} {provider}: {has}, dated {date}; {wrote} {path}"), None);
    sheet.gap();
    sheet.line("Against the built-in catalogue");
    let word = |number: usize| grouped(number as u64);
    let [changed, new, equal] = [figures.changed, figures.new, figures.equal].map(word);
    sheet.wrapped("  ", &format!("{changed} changed, {new} new, {equal} equal"));
    if figures.missing > 0 {
        let kept = format!("{} not in the files: the built-in figures stay", word(figures.missing));
        sheet.wrapped("  ", &kept);
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
const FIGURES_MAX: usize = 12;

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
    let plans = format!("{} of {} plans change", diff.plans.len(), diff.compared_plans);
    sheet.paragraph(&format!("{} changed, {} new; {plans}.", counted(changed, "figure"), grouped(new)), None);
    for provider in &diff.providers {
        sheet.gap();
        sheet.wrapped("", &format!("{} ({})", provider.provider, provider.path));
        figures(&mut sheet, provider, "Changed", |figure| figure.old.is_some() && figure.new.is_some());
        figures(&mut sheet, provider, "New", |figure| figure.old.is_none());
        figures(&mut sheet, provider, "Missing: the built-in figures stay", |figure| figure.new.is_none());
    }
    if !diff.plans.is_empty() {
        sheet.gap();
        sheet.line("Plans");
        for plan in &diff.plans {
            sheet.wrapped("  ", &plan_line(plan));
        }
    }
    sheet.finish()
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
    let width = found.iter().take(FIGURES_MAX).map(|figure| name(figure).chars().count()).max().unwrap_or(0);
    for figure in found.iter().take(FIGURES_MAX) {
        sheet.wrapped("    ", &format!("{:width$}  {}", name(figure), values(figure)));
    }
    if let Some(more) = found.len().checked_sub(FIGURES_MAX).filter(|more| *more > 0) {
        sheet.line(&format!("    and {} more (--format json lists all)", grouped(more as u64)));
    }
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
            format!("{old} -> {new} ({sign}{}%)", significant(percent, 3))
        }
        (Some(old), Some(new)) => format!("{old} -> {new}"),
        (old, new) => old.or(new).map_or_else(String::new, |figure| figure.to_string()),
    }
}

fn plan_line(plan: &PlanChange) -> String {
    let region = plan.region.as_ref().map_or_else(String::new, |region| format!(" in {region}"));
    let choice = |choice: &Option<PlanChoice>| match choice {
        Some(PlanChoice { volume, usd_per_month }) => format!("{volume} at {} USD", amount(*usd_per_month)),
        None => "no volume with a price".to_owned(),
    };
    format!("{}, {}{region}: {} -> {}", plan.need, plan.provider, choice(&plan.old), choice(&plan.new))
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
        assert!(text.contains("Changed\n    prices r20 gp3_gb  1 -> 1.2 (+20%)\n"), "{text}");
        assert!(text.contains("    and 8 more (--format json lists all)\n"), "{text}");
    }
}
