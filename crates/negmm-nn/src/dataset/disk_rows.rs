//! Rows of a dataset that are on disk: which rows of a file they are, and the target encoding that is filled in when they are read.

use std::sync::Arc;

use super::{CategoricalColumn, Dataset, RowFile, STATISTICS, TargetEncoding};
use negmm_dist::Result;

/// The rows of a dataset in a file.
#[derive(Clone, Debug)]
pub(crate) struct DiskRows {
    file: Arc<RowFile>,
    /// The row of the file of each row, where they are not all.
    rows: Option<Arc<[u32]>>,
    /// The target encoding of each row.
    statistics: Option<Arc<DiskStatistics>>,
}

/// A target encoding that is cross-fitted by parts of the rows.
#[derive(Clone, Debug)]
pub(super) struct DiskStatistics {
    /// The part of each row: an index into `encodings`.
    pub(super) part_of: Vec<u8>,
    /// What the rows of each part get.
    pub(super) encodings: Vec<TargetEncoding>,
    /// The range of each of the features that are filled in.
    pub(super) ranges: Vec<(usize, (f32, f32))>,
}

impl DiskRows {
    pub(super) fn new(file: Arc<RowFile>) -> Self {
        Self { file, rows: None, statistics: None }
    }

    fn row_in_file(&self, row: u32) -> u32 {
        self.rows.as_ref().map_or(row, |rows| rows[row as usize])
    }

    /// The range of a feature.
    pub(super) fn range(&self, feature: usize) -> (f32, f32) {
        let filled = self.statistics.as_ref().and_then(|statistics| {
            statistics.ranges.iter().find(|(other, _)| *other == feature).map(|(_, range)| *range)
        });
        match (filled, &self.rows) {
            (Some(range), _) => range,
            (None, None) => self.file.range(feature),
            (None, Some(rows)) => {
                let (mut low, mut high) = (f32::MAX, f32::MIN);
                self.file.each(rows.iter().copied(), |_, bits| {
                    let x = f32::from_bits(bits[feature]);
                    if !x.is_nan() {
                        (low, high) = (low.min(x), high.max(x));
                    }
                });
                if low <= high { (low, high) } else { (0.0, 0.0) }
            }
        }
    }

    /// The first failure to read.
    pub(super) fn check(&self) -> Result<()> {
        self.file.check()
    }

    /// Calls `visit` with the position in the list, the features and the categories of each of these rows, in their order.
    pub(super) fn each(&self, rows: impl Iterator<Item = u32> + Clone, mut visit: impl FnMut(usize, &[f32], &[u32])) {
        let mut own = rows.clone();
        let mut x = vec![0.0; self.file.features()];
        self.file.each(rows.map(|row| self.row_in_file(row)), |at, bits| {
            let (features, codes) = bits.split_at(x.len());
            x.iter_mut().zip(features).for_each(|(x, bits)| *x = f32::from_bits(*bits));
            if let (Some(statistics), Some(row)) = (&self.statistics, own.next()) {
                statistics.fill(&mut x, &self.file, codes, row);
            }
            visit(at, &x, codes);
        });
    }

    /// The category of each row in column number `column`.
    fn codes(&self, column: usize, rows: usize) -> Vec<u32> {
        let mut codes = Vec::with_capacity(rows);
        let at = self.file.features() + column;
        self.file.each((0..rows as u32).map(|row| self.row_in_file(row)), |_, bits| codes.push(bits[at]));
        codes
    }

    /// These rows of the rows, still on disk.
    pub(super) fn subset(&self, rows: &[u32]) -> Self {
        let rows = rows.iter().map(|row| self.row_in_file(*row)).collect();
        Self { file: self.file.clone(), rows: Some(rows), statistics: None }
    }
}

impl DiskStatistics {
    fn fill(&self, x: &mut [f32], file: &RowFile, codes: &[u32], row: u32) {
        let encoding = &self.encodings[usize::from(self.part_of[row as usize])];
        for (((first, _), code), features) in file.levels().iter().zip(codes).zip(encoding.columns()) {
            let of_level = features.get(*code as usize).copied().unwrap_or_default();
            x[*first..][..STATISTICS].copy_from_slice(&of_level);
        }
    }
}

impl Dataset {
    /// Rows in a scratch file, with their targets.
    ///
    /// # Panics
    /// When there is not one target for each row.
    pub fn on_disk(file: RowFile, y: Vec<f32>) -> Self {
        assert_eq!(file.rows(), y.len(), "one target for each row");
        let of_column =
            |(first, levels): &(usize, usize)| CategoricalColumn { first: *first, levels: *levels, codes: Vec::new() };
        let levels = file.levels().iter().map(of_column).collect();
        let disk = Some(DiskRows::new(Arc::new(file)));
        let features = disk.as_ref().map_or(0, |disk| disk.file.features());
        Self { sample_weights: vec![1.0; y.len()], y, levels, disk, ..Self::new(features) }
    }

    /// Whether the rows are on disk: then [`Dataset::x`] has nothing, and [`Dataset::select`] reads them.
    pub fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// An error where rows on disk could not be read.
    ///
    /// # Errors
    /// The first such failure.
    pub fn check_read(&self) -> Result<()> {
        self.disk.as_ref().map_or(Ok(()), DiskRows::check)
    }

    /// Some of the rows: on disk where all are.
    #[must_use]
    pub fn subset(&self, rows: &[u32]) -> Self {
        let Some(disk) = &self.disk else { return self.select(rows) };
        let mut levels = self.levels.clone();
        levels.iter_mut().for_each(|column| column.codes.clear());
        Self { disk: Some(disk.subset(rows)), levels, ..self.select_lists(rows) }
    }

    /// The numbers of these rows, rows × stride; and their categories where these are still to be filled in.
    pub(super) fn rows_from_disk(&self, disk: &DiskRows, rows: &[u32]) -> (Vec<f32>, Vec<CategoricalColumn>) {
        let mut x = vec![0.0; rows.len() * self.stride];
        let mut levels = self.levels.clone();
        disk.each(rows.iter().copied(), |at, features, codes| {
            x[at * self.stride..][..self.features].copy_from_slice(features);
            levels.iter_mut().zip(codes).for_each(|(column, code)| column.codes.push(*code));
        });
        (x, levels)
    }

    /// Reads the numbers of some rows, rows × stride: `buffer` where they are on disk. Returns them, and the numbers of the rows there.
    #[inline]
    pub(crate) fn gathered<'a, const N: usize>(
        &'a self,
        rows: &'a [u32; N],
        buffer: &'a mut Vec<f32>,
        in_buffer: &'a [u32; N],
    ) -> (&'a [f32], &'a [u32; N]) {
        let Some(disk) = &self.disk else { return (&self.x, rows) };
        buffer.resize(N * self.stride, 0.0);
        disk.each(rows.iter().copied(), |at, features, _| {
            buffer[at * self.stride..][..self.features].copy_from_slice(features);
        });
        (buffer, in_buffer)
    }

    /// Calls `visit` with the numbers of each of these rows, in their order.
    pub(crate) fn each_of(&self, rows: &[u32], mut visit: impl FnMut(&[f32])) {
        match &self.disk {
            Some(disk) => disk.each(rows.iter().copied(), |_, x, _| visit(x)),
            None => rows.iter().for_each(|row| visit(&self.x[*row as usize * self.stride..][..self.features])),
        }
    }

    /// Calls `visit` with the numbers and the categories of all rows, in order.
    pub(super) fn each_row(&self, mut visit: impl FnMut(&[f32], &[u32])) {
        match &self.disk {
            Some(disk) => disk.each(0..self.len() as u32, |_, features, codes| visit(features, codes)),
            None => {
                let mut codes = vec![0; self.levels.len()];
                for row in 0..self.len() {
                    codes.iter_mut().zip(&self.levels).for_each(|(code, column)| *code = column.codes[row]);
                    visit(&self.x[row * self.stride..][..self.features], &codes);
                }
            }
        }
    }

    /// The categories of all rows in a column, in memory.
    pub(super) fn codes_of(&self, column: usize) -> std::borrow::Cow<'_, [u32]> {
        match &self.disk {
            Some(disk) => disk.codes(column, self.len()).into(),
            None => (&self.levels[column].codes[..]).into(),
        }
    }

    /// The same with this target encoding, which is filled in when rows are read.
    pub(super) fn with_disk_statistics(&self, disk: &DiskRows, statistics: DiskStatistics) -> Self {
        let disk = DiskRows { statistics: Some(Arc::new(statistics)), ..disk.clone() };
        Self { disk: Some(disk), levels: Vec::new(), ..self.clone() }
    }
}
