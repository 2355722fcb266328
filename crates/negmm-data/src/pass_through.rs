//! Pass-through columns: cells are copied from the file unchanged.

use std::borrow::Cow;

/// A pass-through column.
#[derive(Clone, Debug)]
pub struct KeptColumn {
    name: String,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    /// One after the other, and where each ends.
    Text { text: String, ends: Vec<usize> },
    /// Arrays of one type, one after the other.
    #[cfg(feature = "parquet")]
    Arrays(Vec<arrow_array::ArrayRef>),
}

impl KeptColumn {
    /// An empty one of text.
    pub(crate) fn of_text(name: &str) -> Self {
        Self { name: name.to_string(), cells: Cells::Text { text: String::new(), ends: Vec::new() } }
    }

    /// One of arrays of one type.
    #[cfg(feature = "parquet")]
    pub fn of_arrays(name: &str, arrays: Vec<arrow_array::ArrayRef>) -> Self {
        Self { name: name.to_string(), cells: Cells::Arrays(arrays) }
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cells from the first row to the last as text; nothing where one is missing.
    pub fn cells(&self) -> Box<dyn Iterator<Item = Cow<'_, str>> + '_> {
        match &self.cells {
            Cells::Text { text, ends } => {
                let mut start = 0;
                Box::new(ends.iter().map(move |end| {
                    let cell = &text[start..*end];
                    start = *end;
                    Cow::Borrowed(cell)
                }))
            }
            #[cfg(feature = "parquet")]
            Cells::Arrays(arrays) => Box::new(arrays.iter().flat_map(|array| crate::arrow::cells(array.as_ref()))),
        }
    }

    /// Adds a cell of text.
    pub(crate) fn push(&mut self, cell: &str) {
        match &mut self.cells {
            Cells::Text { text, ends } => {
                text.push_str(cell);
                ends.push(text.len());
            }
            #[cfg(feature = "parquet")]
            Cells::Arrays(_) => {}
        }
    }

    /// The `rows` cells from a row on as an array; of text an empty cell is a missing one, and so are those after the last.
    ///
    /// # Errors
    /// When the arrays are not of one type.
    #[cfg(feature = "parquet")]
    pub fn array(&self, first: usize, rows: usize) -> negmm_dist::Result<arrow_array::ArrayRef> {
        use arrow_schema::DataType;

        let mut arrays = match &self.cells {
            Cells::Text { .. } => {
                let cells = self.cells().map(|cell| (!cell.is_empty()).then_some(cell));
                vec![std::sync::Arc::new(cells.collect::<arrow_array::StringArray>()) as arrow_array::ArrayRef]
            }
            Cells::Arrays(arrays) => arrays.clone(),
        };
        let data_type = arrays.first().map_or(DataType::Utf8, |array| array.data_type().clone());
        arrays.push(arrow_array::new_null_array(&data_type, rows));
        let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
        let all = arrow_select::concat::concat(&arrays);
        Ok(all.map_err(|error| crate::arrow::arrow_error(&error).in_column(&self.name))?.slice(first, rows))
    }
}
