//! Text tables, above all of scores.

use negmm::censored::Censored;
use negmm::data::Target;
use negmm::{Metrics, Skill};

use crate::format::{counted, number};

/// Lines of cells in columns: the first left-aligned, the others right-aligned.
pub fn table(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let gap = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 { format!("{cell}{gap}") } else { format!("{gap}{cell}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Scores of several predictions of the same rows, one line each, the baseline last; the skill of the first with its standard
/// error, where that is known. For censored targets the scores of all rows come first, then those of the observed rows.
pub fn scores(lines: &[(&str, &Metrics)], skill: Option<&Skill>) -> String {
    let censored: Vec<_> =
        lines.iter().filter_map(|(name, metrics)| Some((*name, metrics.censored.as_ref()?))).collect();
    let Some((_, first)) = censored.first() else { return of_known(lines, skill) };
    let known = lines.first().map_or(0, |(_, metrics)| metrics.rows);
    if known == 0 {
        return format!("{}\n\nno target is observed: there are no errors of single numbers", of_all(&censored));
    }
    format!(
        "{}\n\non the {} with observed targets ({:.1} % are censored), which are not representative:\n{}",
        of_all(&censored),
        counted(known as usize, "row"),
        100.0 * first.censored_fraction,
        of_known(lines, None)
    )
}

/// Scores of all rows, censored ones included.
fn of_all(lines: &[(&str, &Censored)]) -> String {
    let mut cells = vec![["", "NLL", "Brier, integrated", "concordance"].map(str::to_string).to_vec()];
    for (name, censored) in lines {
        let optional = |score: Option<f64>| score.map_or("-".to_string(), number);
        let scores = [number(censored.nll), optional(censored.integrated_brier), optional(censored.concordance)];
        cells.push([name.to_string()].into_iter().chain(scores).collect());
    }
    table(&cells)
}

/// Scores of observed targets; with the mass NLL if the target is discrete.
fn of_known(lines: &[(&str, &Metrics)], skill: Option<&Skill>) -> String {
    let discrete = lines.iter().any(|(_, metrics)| metrics.mass_nll.is_some());
    let mass = discrete.then_some("mass NLL");
    let heading = ["", "NLL"].into_iter().chain(mass);
    let heading = heading.chain(["CRPS", "skill", "RMSE", "MAE", "in 50 %", "in 90 %", "in 95 %", "width 95 %"]);
    let mut cells = vec![heading.map(str::to_string).collect()];
    let baseline = lines.last().map_or(f64::NAN, |(_, baseline)| baseline.crps);
    for (at, (name, metrics)) in lines.iter().enumerate() {
        let mut line = vec![name.to_string(), number(metrics.nll)];
        line.extend(discrete.then(|| metrics.mass_nll.map_or(String::new(), number)));
        line.push(number(metrics.crps));
        line.push(match skill.filter(|_| at == 0) {
            _ if at + 1 == lines.len() => String::new(),
            Some(skill) => with_error(skill.value, skill.se),
            None => format!("{:.3}", 1.0 - metrics.crps / baseline),
        });
        line.extend([metrics.rmse, metrics.mae].map(number));
        line.extend(metrics.coverage.values().map(|coverage| format!("{:.1} %", 100.0 * coverage)));
        line.push(number(metrics.width.get(0.95).unwrap_or(f64::NAN)));
        cells.push(line);
    }
    table(&cells)
}

/// A number and its standard error, with two digits of the error, three decimals at most.
pub fn with_error(number: f64, se: f64) -> String {
    let decimals = (1.0 - se.log10().floor()).clamp(0.0, 3.0) as usize;
    format!("{number:.decimals$} ± {se:.decimals$}")
}

/// Lines of a name and a description.
pub fn left_aligned(lines: &[Vec<String>]) -> String {
    let width = lines.iter().map(|line| line[0].chars().count()).max().unwrap_or(0);
    let gap = |name: &str| " ".repeat(width - name.chars().count());
    let line = |line: &Vec<String>| format!("  {}{}  {}", line[0], gap(&line[0]), line[1]);
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The special properties of a target, one line each.
pub fn of_target(target: &Target) -> String {
    target.notes().iter().map(|words| format!("\n{words}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_two_digits() {
        assert_eq!(with_error(0.123_456, 0.051), "0.123 ± 0.051");
        assert_eq!(with_error(0.123_456, 0.000_2), "0.123 ± 0.000");
        assert_eq!(with_error(-1.5, 0.43), "-1.50 ± 0.43");
        assert_eq!(with_error(0.4, 12.0), "0 ± 12");
    }

    #[test]
    fn cells_line_up() {
        let lines = [vec!["a".into(), "10".into()], vec!["long".into(), "2".into()]];
        assert_eq!(table(&lines), "a     10\nlong   2");
    }
}
