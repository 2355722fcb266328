//! Rows that are drawn at random from a stream in one pass: those with the smallest of random keys, one for each row.

use super::row_stream::RowStream;
use crate::files::whole::joined;
use crate::pass_through::KeptColumn;
use crate::{Chunk, Table, Warnings};
use negmm_dist::{Result, Rng, streams};

/// Rows read at once.
const CHUNK: usize = 16_384;

/// Rows of a stream, in their order.
#[derive(Clone, Debug)]
pub struct DrawnRows {
    /// Their cells; the warnings are those of all rows.
    pub chunk: Chunk,
    /// The position of each among all rows, from 0.
    pub rows: Vec<usize>,
    /// How many rows there are.
    pub of: usize,
}

/// Rows of one chunk that are kept so far.
struct Piece {
    chunk: Chunk,
    /// The key and the position of each row.
    keys: Vec<(f64, usize)>,
}

impl Piece {
    /// Leaves out the rows whose key is above `most`.
    fn shrink(&mut self, most: (f64, usize)) -> Result<()> {
        let kept: Vec<usize> = (0..self.keys.len()).filter(|row| self.keys[*row] <= most).collect();
        if kept.len() < self.keys.len() {
            self.chunk.table = self.chunk.table.select_rows(&kept);
            self.chunk.kept = self.chunk.kept.iter().map(|column| column.select(&kept)).collect::<Result<_>>()?;
            self.keys = kept.into_iter().map(|row| self.keys[row]).collect();
        }
        Ok(())
    }
}

impl RowStream {
    /// Draws `rows` of the rows that are left, each set of them as probable as any other, and all where there are not more. No
    /// more than these and one chunk are held in memory. `see` is told how many rows were read. `None` where there is no row.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn draw(&mut self, rows: usize, seed: u64, mut see: impl FnMut(usize)) -> Result<Option<DrawnRows>> {
        let mut rng = Rng::new(seed, streams::SAMPLE);
        let (mut pieces, mut warnings, mut of) = (Vec::<Piece>::new(), Warnings::default(), 0);
        while let Some(chunk) = self.next_chunk(CHUNK)? {
            warnings.merge(&chunk.warnings);
            let read = chunk.table.rows();
            pieces.push(Piece { chunk, keys: (of..of + read).map(|row| (rng.uniform(), row)).collect() });
            of += read;
            see(read);
            let mut keys: Vec<(f64, usize)> = pieces.iter().flat_map(|piece| &piece.keys).copied().collect();
            if keys.len() > rows.max(1) {
                let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
                let (_, most, _) = keys.select_nth_unstable_by(rows.max(1) - 1, order);
                let most = *most;
                pieces.iter_mut().try_for_each(|piece| piece.shrink(most))?;
                pieces.retain(|piece| !piece.keys.is_empty());
            }
        }
        let Some(first) = pieces.first() else { return Ok(None) };
        let tables: Vec<(&str, &Table)> =
            pieces.iter().map(|piece| (piece.chunk.table.name(), &piece.chunk.table)).collect();
        let mut kept: Vec<KeptColumn> = first.chunk.kept.iter().map(KeptColumn::empty).collect();
        for piece in &pieces {
            for (kept, more) in kept.iter_mut().zip(&piece.chunk.kept) {
                kept.append(more.clone())?;
            }
        }
        let rows: Vec<usize> = pieces.iter().flat_map(|piece| &piece.keys).map(|(_, row)| *row).collect();
        let table = match &tables[..] {
            [(_, table)] => (*table).clone(),
            _ => joined(tables[0].0, &tables)?.at_rows(rows.clone()),
        };
        Ok(Some(DrawnRows { chunk: Chunk { table, kept, warnings }, rows, of }))
    }
}
