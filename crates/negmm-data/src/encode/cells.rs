//! Encoded rows whose cells can be exchanged column by column: features of rows that take some columns from one row and
//! the others from another, without encoding each of them.
//!
//! A row z that takes the columns S from row x and the others from row b has, feature by feature,
//!
//! ```text
//! z = x in the features of the columns in S, b in all others
//! ```
//!
//! which is what encoding it would give, because each column has features of its own. Differences of two times are
//! computed anew.

use super::{Encoding, Features, ParsedColumn};
use crate::{Encoder, Table, Warnings};
use negmm_dist::novelty::Beyond;
use negmm_dist::{Error, Novelty, Result};
use negmm_nn::dataset::{CategoricalColumn, Dataset};

/// Encoded rows, kept by column.
#[derive(Clone, Debug)]
pub struct Cells {
    rows: usize,
    /// rows × features.
    x: Vec<f32>,
    /// For each categorical column with target encodings the code of each row.
    codes: Vec<Vec<u32>>,
    /// For each column that is subtracted from another the seconds of each row.
    seconds: Vec<Vec<f64>>,
    /// For each row the columns whose cells training had not seen, or that lie outside its range.
    beyond: Vec<Vec<(usize, Beyond)>>,
}

/// Missing numbers, which are NaN, are equal to each other.
impl PartialEq for Cells {
    fn eq(&self, other: &Self) -> bool {
        let single = |x: &f32, y: &f32| x == y || (x.is_nan() && y.is_nan());
        let double = |x: &f64, y: &f64| x == y || (x.is_nan() && y.is_nan());
        let columns = |x: &Vec<f64>, y: &Vec<f64>| x.len() == y.len() && x.iter().zip(y).all(|(x, y)| double(x, y));
        self.rows == other.rows
            && self.x.len() == other.x.len()
            && self.x.iter().zip(&other.x).all(|(x, y)| single(x, y))
            && self.codes == other.codes
            && self.seconds.len() == other.seconds.len()
            && self.seconds.iter().zip(&other.seconds).all(|(x, y)| columns(x, y))
            && self.beyond == other.beyond
    }
}

/// The numbers of [`Cells`] as a file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct CellParts {
    /// rows × features.
    pub x: Vec<f32>,
    /// Categorical columns × rows.
    pub codes: Vec<u32>,
    /// Times × rows.
    pub seconds: Vec<f64>,
}

/// Where the features of each column are.
#[derive(Clone, Debug)]
pub struct ColumnBlocks<'e> {
    encoder: &'e Encoder,
    names: Vec<&'e str>,
    /// The column of each feature of an input, then nothing for those of differences.
    owner: Vec<usize>,
    /// The column, the first feature and the levels of each categorical column with target encodings.
    levels: Vec<(usize, usize, usize)>,
    /// The columns whose seconds are kept.
    times: Vec<usize>,
    /// For each difference the two of them: subtracted, and subtracted from.
    differences: Vec<(usize, usize)>,
}

impl Cells {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Some of the rows.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let features = self.x.len() / self.rows.max(1);
        let list = |list: &Vec<u32>| rows.iter().map(|row| list[*row]).collect();
        let numbers = |list: &Vec<f64>| rows.iter().map(|row| list[*row]).collect();
        Self {
            rows: rows.len(),
            x: rows.iter().flat_map(|row| &self.x[row * features..][..features]).copied().collect(),
            codes: self.codes.iter().map(list).collect(),
            seconds: self.seconds.iter().map(numbers).collect(),
            beyond: rows.iter().map(|row| self.beyond[*row].clone()).collect(),
        }
    }

    /// The numbers, for a file; what is outside the training ranges is left out.
    pub fn parts(&self) -> CellParts {
        CellParts { x: self.x.clone(), codes: self.codes.concat(), seconds: self.seconds.concat() }
    }
}

impl Encoder {
    /// The encoded rows of a table, kept by column.
    ///
    /// # Errors
    /// When the table cannot be encoded, or rows are steps of a sequence.
    pub fn cells(&self, table: &Table) -> Result<(Cells, Warnings)> {
        if self.sequence.is_some() {
            return Err(Error::options(
                "the columns of a sequence cannot be exchanged between rows: its rows are steps",
            ));
        }
        let (parsed, mut warnings) = self.parse(table)?;
        let (data, warnings) = {
            let data = self.dataset(&parsed, vec![0.0; table.rows()], true, &mut warnings);
            (data, warnings)
        };
        let mut beyond = vec![Vec::new(); table.rows()];
        if self.knows_ranges() {
            for (at, (input, column)) in self.used().zip(&parsed.inputs).enumerate() {
                input.encoding.of_kind().beyond(column, &mut |row, cell| beyond[row].push((at, cell)));
            }
        }
        let blocks = self.column_blocks();
        let cells = Cells {
            rows: table.rows(),
            x: data.x().chunks_exact(data.stride()).flat_map(|row| &row[..data.features()]).copied().collect(),
            codes: data.levels().iter().map(|column| column.codes.clone()).collect(),
            seconds: blocks.times.iter().map(|time| parsed.inputs[*time].numbers().to_vec()).collect(),
            beyond,
        };
        Ok((cells, warnings))
    }

    /// Where the features of each column are.
    pub fn column_blocks(&self) -> ColumnBlocks<'_> {
        let (mut owner, mut levels, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (at, input) in self.used().enumerate() {
            let end = owner.len() + input.encoding.features();
            let statistics = input.encoding.statistics();
            let first = end - negmm_nn::dataset::STATISTICS * statistics.len();
            levels.extend(statistics.iter().enumerate().map(|(number, categories)| {
                (at, first + negmm_nn::dataset::STATISTICS * number, categories.names.len())
            }));
            owner.resize(end, at);
            names.push(input.name.as_str());
        }
        let mut times = Vec::new();
        let mut position = |name: &str| {
            let column = names.iter().position(|other| *other == name).unwrap_or_default();
            times.iter().position(|time| *time == column).unwrap_or_else(|| {
                times.push(column);
                times.len() - 1
            })
        };
        let differences = self.differences.iter().map(|one| (position(&one.from), position(&one.to))).collect();
        ColumnBlocks { encoder: self, names, owner, levels, times, differences }
    }
}

impl<'e> ColumnBlocks<'e> {
    /// The names of the columns, in the order of masks.
    pub fn names(&self) -> &[&'e str] {
        &self.names
    }

    /// The cells of a file.
    ///
    /// # Errors
    /// When there are not as many numbers as `rows` rows have, or a code is not that of a category.
    pub fn cells_of(&self, rows: usize, parts: CellParts) -> std::result::Result<Cells, String> {
        let features = self.encoder.channels();
        let CellParts { x, codes, seconds } = parts;
        let lengths = [(x.len(), features), (codes.len(), self.levels.len()), (seconds.len(), self.times.len())];
        if rows == 0 || lengths.iter().any(|(length, width)| Some(*length) != rows.checked_mul(*width)) {
            return Err("its background rows have another number of columns than its encoder".into());
        }
        let codes: Vec<Vec<u32>> = codes.chunks(rows).map(<[u32]>::to_vec).collect();
        let known = |(codes, (_, _, levels)): (&Vec<u32>, &(usize, usize, usize))| {
            codes.iter().all(|code| *code == negmm_nn::dataset::NO_CATEGORY || (*code as usize) < *levels)
        };
        let missing = self.encoder.keeps_missing;
        if x.iter().any(|x| !(x.is_finite() || missing && x.is_nan())) || !codes.iter().zip(&self.levels).all(known) {
            return Err("its background rows are out of range".into());
        }
        let seconds = seconds.chunks(rows).map(<[f64]>::to_vec).collect();
        Ok(Cells { rows, x, codes, seconds, beyond: vec![Vec::new(); rows] })
    }

    /// The columns in which a row differs from another.
    pub fn different(&self, (a, row): (&Cells, usize), (b, other): (&Cells, usize)) -> Vec<bool> {
        let mut differs = vec![false; self.names.len()];
        let features = self.encoder.channels();
        let (x, z) = (&a.x[row * features..][..features], &b.x[other * features..][..features]);
        for (owner, (x, z)) in self.owner.iter().zip(x.iter().zip(z)) {
            differs[*owner] |= x.to_bits() != z.to_bits();
        }
        for ((owner, ..), (of_a, of_b)) in self.levels.iter().zip(a.codes.iter().zip(&b.codes)) {
            differs[*owner] |= of_a[row] != of_b[other];
        }
        for (owner, (of_a, of_b)) in self.times.iter().zip(a.seconds.iter().zip(&b.seconds)) {
            differs[*owner] |= of_a[row].to_bits() != of_b[other].to_bits();
        }
        for (column, differs) in differs.iter_mut().enumerate() {
            let of =
                |cells: &Cells, row: usize| cells.beyond[row].iter().find(|(at, _)| *at == column).map(|(_, to)| *to);
            *differs |= of(a, row) != of(b, other);
        }
        differs
    }

    /// Encoded rows, each with the columns that its mask has from its row in `rows` of `cells`, and all other columns from
    /// its row in `others` of `background`. `masks` is rows × columns.
    ///
    /// # Panics
    /// When there are not as many rows and masks, or there is no such row.
    pub fn mixed(
        &self,
        (cells, rows): (&Cells, &[u32]),
        (background, others): (&Cells, &[u32]),
        masks: &[bool],
    ) -> Dataset {
        let (columns, features) = (self.names.len(), self.encoder.channels());
        assert!(rows.len() == others.len() && masks.len() == others.len() * columns, "two rows and a mask for each");
        let count = others.len();
        let stride = Dataset::new(features).stride();
        let mut x = vec![0.0; count * stride];
        // Without columns there are no masks; rows without features stay empty.
        let mask = |at: usize| &masks[at * columns..][..columns];
        for (at, (row, other)) in rows.iter().zip(others).enumerate() {
            let own = &cells.x[*row as usize * features..][..features];
            let target = &mut x[at * stride..][..features];
            target.copy_from_slice(&background.x[*other as usize * features..][..features]);
            let mask = mask(at);
            for (feature, owner) in self.owner.iter().enumerate() {
                if mask[*owner] {
                    target[feature] = own[feature];
                }
            }
        }
        let seconds: Vec<Vec<f64>> = (self.times.iter().zip(cells.seconds.iter().zip(&background.seconds)))
            .map(|(column, (own, theirs))| {
                let of = |at: usize| {
                    if mask(at)[*column] { own[rows[at] as usize] } else { theirs[others[at] as usize] }
                };
                (0..count).map(of).collect()
            })
            .collect();
        let options = self.encoder.number_options();
        let differences: Vec<ParsedColumn<'static>> = (self.differences.iter())
            .map(|(from, to)| {
                let pairs = seconds[*to].iter().zip(&seconds[*from]);
                ParsedColumn::Numbers(pairs.map(|(to, from)| to - from).collect::<Vec<f64>>().into())
            })
            .collect();
        for (at, (difference, column)) in self.encoder.differences.iter().zip(&differences).enumerate() {
            if count > 0 {
                difference.encode(column, Features { x: &mut x[self.owner.len() + at..], stride }, options);
            }
        }
        let levels = self.levels.iter().zip(cells.codes.iter().zip(&background.codes));
        let levels = levels.map(|((column, first, levels), (own, theirs))| {
            let of = |at: usize| if mask(at)[*column] { own[rows[at] as usize] } else { theirs[others[at] as usize] };
            CategoricalColumn { first: *first, levels: *levels, codes: (0..count).map(of).collect() }
        });
        Dataset::from_parts(features, x, vec![0.0; count])
            .with_numbers(self.encoder.number_features())
            .with_levels(levels.collect())
            .with_novelty(self.novelty((cells, rows), (background, others), masks, &differences))
    }

    /// How far each mixed row is outside the training ranges, where they are stored.
    fn novelty(
        &self,
        (cells, rows): (&Cells, &[u32]),
        (background, others): (&Cells, &[u32]),
        masks: &[bool],
        differences: &[ParsedColumn<'_>],
    ) -> Option<Novelty> {
        let columns = self.names.len();
        if !self.encoder.knows_ranges() {
            return None;
        }
        let mut outside = Vec::new();
        for (at, (row, other)) in rows.iter().zip(others).enumerate() {
            let mask = &masks[at * columns..][..columns];
            let own = cells.beyond[*row as usize].iter().filter(|(column, _)| mask[*column]);
            let theirs = background.beyond[*other as usize].iter().filter(|(column, _)| !mask[*column]);
            outside.extend(own.chain(theirs).map(|(column, beyond)| (at, *column, *beyond)));
        }
        for (number, (difference, column)) in self.encoder.differences.iter().zip(differences).enumerate() {
            difference.beyond(column, &mut |at, beyond| outside.push((at, columns + number, beyond)));
        }
        outside.sort_by_key(|(at, column, _)| (*column, *at));
        let names = self.names.iter().map(|name| name.to_string());
        let names = names.chain(self.encoder.differences.iter().map(crate::TimeDifference::name)).collect();
        let slopes = self.encoder.extrapolation.as_ref().map_or(&[][..], |extrapolation| &extrapolation.slopes);
        Some(Novelty::new(others.len(), names, slopes, outside))
    }

    /// Whether a column is text, a time or a number.
    pub fn encoding(&self, column: usize) -> Option<&'e Encoding> {
        self.encoder.used().nth(column).map(|input| &input.encoding)
    }
}
