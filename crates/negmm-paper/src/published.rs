//! The published results of the paper.

/// The paper's tables, by experiment and metric. The finance and UCI widths are in units of the
/// standardised target.
const TABLES: [(&str, &str, &str); 12] = [
    ("toy1", "", include_str!("../tables/toy1_rmse.csv")),
    ("toy2", "", include_str!("../tables/toy2_rmse.csv")),
    ("uci", "rmse", include_str!("../tables/uci_rmse.csv")),
    ("uci", "nll", include_str!("../tables/uci_nll.csv")),
    ("uci", "picp", include_str!("../tables/uci_picp.csv")),
    ("uci", "mpiw_standardised", include_str!("../tables/uci_mpiw.csv")),
    ("uci", "seconds", include_str!("../tables/uci_seconds.csv")),
    ("finance", "rmse", include_str!("../tables/finance_rmse.csv")),
    ("finance", "nll", include_str!("../tables/finance_nll.csv")),
    ("finance", "picp", include_str!("../tables/finance_picp.csv")),
    ("finance", "mpiw_standardised", include_str!("../tables/finance_mpiw.csv")),
    ("finance", "seconds", include_str!("../tables/finance_seconds.csv")),
];

/// A published number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The mean over repeats.
    pub mean: f64,
    /// The number after the ±, where there is one.
    pub spread: Option<f64>,
}

impl Published {
    /// The published number of a method (by its name in negmm) and a metric; `data` is the data set or the toy problem.
    pub fn find(experiment: &str, data: &str, method: &str, metric: &str) -> Option<Self> {
        // A toy problem has one table, with a row for each metric.
        let (table, row) = match experiment {
            "toy1" | "toy2" => ("", if metric.starts_with("weight") { "pi" } else { metric }),
            _ => (metric, data),
        };
        let (_, _, text) = TABLES.iter().find(|(name, metric, _)| *name == experiment && *metric == table)?;
        let method = if method == "sample-net" { "samplenet" } else { method };
        let line = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let cells = line.into_iter().find(|cells| cells.len() == 4 && cells[0] == row && cells[1] == method)?;
        Some(Self { mean: cells[2].parse().ok()?, spread: cells[3].parse().ok() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers_are_found() {
        let mean = |experiment, data, method, metric| {
            Published::find(experiment, data, method, metric).map(|found| found.mean)
        };
        assert_eq!(mean("toy1", "toy1", "ne-gmm", "m"), Some(0.428));
        assert_eq!(mean("toy2", "toy2", "mdn", "weight"), Some(0.382));
        assert_eq!(mean("toy2", "toy2", "ngboost", "weight"), None);
        assert_eq!(mean("uci", "boston", "sample-net", "rmse"), Some(2.856));
        assert_eq!(mean("uci", "kin8nm", "ne-gmm", "nll"), Some(-1.026));
        assert_eq!(mean("uci", "boston", "constant", "rmse"), None);
        assert_eq!(mean("uci", "boston", "ne-gmm", "crps"), None);
        assert_eq!(Published::find("finance", "rcl", "mdn", "seconds"), Some(Published { mean: 67.0, spread: None }));
        assert_eq!(Published::find("finance", "goog", "ne-gmm", "mpiw_standardised").unwrap().spread, Some(0.014));
    }

    #[test]
    fn every_line_of_every_table_can_be_read() {
        for (experiment, _, text) in TABLES {
            assert_eq!(text.lines().next(), Some("row,method,mean,spread"));
            for line in text.lines().skip(1) {
                let cells: Vec<&str> = line.split(',').collect();
                assert_eq!(cells.len(), 4, "{experiment}: {line}");
                assert!(cells[2].is_empty() || cells[2].parse::<f64>().is_ok(), "{experiment}: {line}");
            }
        }
    }
}
