//! How much of the code the tests covered, in percent, from what the tools print.

use crate::text::{leading_percent, phrases};

/// The coverage that an output, without colours, reports: of lines or statements, of the whole.
pub(super) fn read(text: &str) -> Option<f64> {
    totals(text)
        .or_else(|| labelled(text))
        .or_else(|| go(text))
        .or_else(|| prose(text))
}

/// A table's last row: `TOTAL 7 1 86%` (coverage.py), `All files | 85.71 | …` (istanbul),
/// `# all files | 100.00 | …` (node), `| Total | 85% | …` (coverlet), llvm-cov's three columns.
fn totals(text: &str) -> Option<f64> {
    text.lines().rev().find_map(|line| {
        let line = line.trim_matches(['#', 'ℹ', ' ', '|', '\t']);
        if let Some(rest) = line.strip_prefix("TOTAL") {
            let shares: Vec<f64> = rest
                .split_whitespace()
                .filter_map(leading_percent)
                .collect();
            // llvm-cov counts regions, functions and lines, in this order.
            return shares.get(2).or_else(|| shares.last()).copied();
        }
        let first = phrases(line, "all files")
            .chain(phrases(line, "total"))
            .find(|(found, rest)| found.len() + rest.len() == line.len());
        let (_, rest) = first?;
        let cell = rest.trim_start().strip_prefix('|')?.split('|').next()?;
        cell.trim().trim_end_matches('%').parse().ok()
    })
}

/// `Statements   : 85.71% ( 6/7 )`, `Lines:   85.71% (6/7)`
fn labelled(text: &str) -> Option<f64> {
    ["statements", "lines", "line coverage"]
        .iter()
        .find_map(|label| {
            phrases(text, label).find_map(|(_, rest)| {
                let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
                leading_percent(value.lines().next()?)
            })
        })
}

/// `ok  \tpkg\t0.1s\tcoverage: 80.0% of statements`: the weakest package that has tests.
fn go(text: &str) -> Option<f64> {
    let packages = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once("coverage:")?;
        let untested = line.contains("[no test files]") || line.starts_with('\t');
        leading_percent(rest).filter(|_| !untested)
    });
    packages.reduce(f64::min)
}

/// `85.71% coverage`, `85% covered`, `(85.71%) covered`
fn prose(text: &str) -> Option<f64> {
    text.lines().rev().find_map(|line| {
        let (before, after) = line.split_once('%')?;
        let after = after.trim_start_matches([' ', ')']);
        let is_it = ["coverage", "covered"]
            .iter()
            .any(|word| after.starts_with(word));
        let start = before
            .rfind(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(0, |at| at + 1);
        is_it.then(|| before.get(start..)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tools_figure_is_found() {
        for (text, expected) in [
            (
                "Statements   : 85.71% ( 6/7 )\nLines : 90% ( 9/10 )",
                Some(85.71),
            ),
            ("  Lines:   70.00% (7/10)", Some(70.0)),
            (
                "x.py 7 1 86%\nTOTAL                     7      1    86%",
                Some(86.0),
            ),
            (
                "TOTAL  10  2  80.00%  5  1  81.00%  20  3  85.00%  0  0  -",
                Some(85.0),
            ),
            ("All files |   85.71 |      100 |", Some(85.71)),
            ("# all files | 100.00 |    75.00 |   66.67 |", Some(100.0)),
            ("| Total   | 83.3% | 100% |", Some(83.3)),
            (
                "ok  \ta\t0.1s\tcoverage: 80.0% of statements\nok  \tb\t0.1s\tcoverage: 60.5% of statements",
                Some(60.5),
            ),
            ("85.71% coverage, 6/7 lines covered", Some(85.71)),
            ("6 / 7 LOC (85.71%) covered.", Some(85.71)),
            ("progress 50% done", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
