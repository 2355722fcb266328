//! The rows of a request, in any of its formats, and the concatenation of those of several requests.

use std::borrow::Cow;

use negmm::Table;
use negmm::data::Column;
use serde_json::{Map, Value as Json};

use crate::failure::Failure;

/// The columns of a request that a model needs; others are ignored.
#[derive(Clone, Debug, Default)]
pub struct Used {
    pub names: Vec<String>,
    /// The column of groups, whose cells are kept as text.
    pub groups: Option<String>,
}

impl Used {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }
}

/// The rows of a request.
pub enum Rows {
    /// Named columns that can be put together with others.
    Columns(InputColumns),
    /// A table that came as one, and the group of each row where there are groups.
    Table(Table, Vec<String>),
}

impl Rows {
    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.len(),
            Self::Table(table, _) => table.rows(),
        }
    }

    /// As a table.
    pub fn table(&self) -> negmm::Result<Cow<'_, Table>> {
        match self {
            Self::Columns(columns) => columns.table().map(Cow::Owned),
            Self::Table(table, _) => Ok(Cow::Borrowed(table)),
        }
    }

    /// The group of each row; empty without a column of groups.
    pub fn groups(&self) -> &[String] {
        match self {
            Self::Columns(InputColumns { groups, .. }) | Self::Table(_, groups) => groups,
        }
    }
}

/// Named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct InputColumns {
    columns: Vec<(String, Cells)>,
    rows: usize,
    /// The group of each row; empty without a column of groups.
    groups: Vec<String>,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
enum Cells {
    /// NaN is missing.
    Numbers(Vec<f64>),
    Text(Vec<Option<String>>),
}

impl Cells {
    /// Of JSON: numbers, truth (1 and 0) and null are numbers; with text among them all is text.
    fn of_json<'a>(name: &str, cells: impl Iterator<Item = &'a Json> + Clone) -> Result<Self, Failure> {
        let is_text = |cell: &Json| matches!(cell, Json::String(_));
        if cells.clone().any(is_text) {
            let text = |cell: &Json| match cell {
                Json::Null => Ok(None),
                Json::String(text) => Ok(Some(text.clone())),
                Json::Number(number) => Ok(Some(number.to_string())),
                Json::Bool(truth) => Ok(Some(truth.to_string())),
                other => Err(no_cell(name, other)),
            };
            return Ok(Self::Text(cells.map(text).collect::<Result<_, _>>()?));
        }
        let number = |cell: &Json| match cell {
            Json::Null => Ok(f64::NAN),
            Json::Bool(truth) => Ok(f64::from(*truth)),
            Json::Number(number) => number.as_f64().ok_or_else(|| no_cell(name, cell)),
            other => Err(no_cell(name, other)),
        };
        Ok(Self::Numbers(cells.map(number).collect::<Result<_, _>>()?))
    }

    fn column(&self) -> Column {
        match self {
            Self::Numbers(numbers) => Column::Numbers(numbers.clone()),
            Self::Text(text) => Column::of_cells(text.iter().map(Option::as_deref)),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Numbers(_), Self::Numbers(_)) | (Self::Text(_), Self::Text(_)))
    }
}

/// The cells of one name in all records.
fn cells<'a>(records: &'a [Json], name: &'a str) -> impl Iterator<Item = &'a Json> + Clone {
    records.iter().map(move |record| record.get(name).unwrap_or(&Json::Null))
}

/// A cell of groups as a file would have it.
fn group(cell: &Json) -> String {
    match cell {
        Json::Null => String::new(),
        Json::String(text) => text.trim().to_string(),
        other => other.to_string(),
    }
}

fn no_cell(name: &str, found: &Json) -> Failure {
    Failure::bad(format!("column {name:?}: expected numbers, text, true, false or null, found {found}"))
}

impl InputColumns {
    /// Columns by name, each a list of cells; only those that are used are kept.
    pub fn of_lists(lists: &[(&str, Vec<&Json>)], used: &Used) -> Result<Self, Failure> {
        let rows = lists.first().map_or(0, |(_, cells)| cells.len());
        if let Some((name, cells)) = lists.iter().find(|(_, cells)| cells.len() != rows) {
            let message = format!("column {name:?} has {} cells, column {:?} has {rows}", cells.len(), lists[0].0);
            return Err(Failure::bad(message));
        }
        let mut columns: Vec<(String, Cells)> = Vec::new();
        for (name, cells) in lists.iter().filter(|(name, _)| used.has(name)) {
            if columns.iter().any(|(other, _)| other == name) {
                return Err(Failure::bad(format!("column {name:?} is there twice")));
            }
            columns.push((name.to_string(), Cells::of_json(name, cells.iter().copied())?));
        }
        let groups = lists.iter().find(|(name, _)| used.groups.as_deref() == Some(name));
        let groups = groups.map_or(Vec::new(), |(_, cells)| cells.iter().copied().map(group).collect());
        Ok(Self { columns, rows, groups })
    }

    /// Rows as objects; a name that an object does not have is missing there.
    pub fn of_records(records: &[Json], used: &Used) -> Result<Self, Failure> {
        let object = |(at, record): (usize, &Json)| match record {
            Json::Object(_) => Ok(()),
            other => {
                Err(Failure::bad(format!("row {at}: expected an object with a value for each column, found {other}")))
            }
        };
        records.iter().enumerate().try_for_each(object)?;
        let is_there = |name: &&String| records.iter().any(|record| record.get(name.as_str()).is_some());
        let mut columns = Vec::new();
        for name in used.names.iter().filter(is_there) {
            columns.push((name.clone(), Cells::of_json(name, cells(records, name))?));
        }
        let groups = used.groups.as_ref().filter(is_there);
        let groups = groups.map_or(Vec::new(), |name| cells(records, name).map(group).collect());
        Ok(Self { columns, rows: records.len(), groups })
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether the rows of both can be in one table.
    pub fn is_like(&self, other: &Self) -> bool {
        let mut pairs = self.columns.iter().zip(&other.columns);
        self.columns.len() == other.columns.len()
            && pairs.all(|((name, cells), (other, others))| name == other && cells.is_like(others))
    }

    /// Adds the rows of others that are like them.
    pub fn extend(&mut self, others: &Self) {
        for ((_, cells), (_, more)) in self.columns.iter_mut().zip(&others.columns) {
            match (cells, more) {
                (Cells::Numbers(cells), Cells::Numbers(more)) => cells.extend(more),
                (Cells::Text(cells), Cells::Text(more)) => cells.extend(more.iter().cloned()),
                // Not alike.
                _ => {}
            }
        }
        self.rows += others.rows;
    }

    /// As a table.
    pub fn table(&self) -> negmm::Result<Table> {
        Table::new(self.columns.iter().map(|(name, cells)| (name.as_str(), cells.column())).collect())
    }
}

/// The JSON body of `/invocations`: `dataframe_split`, `dataframe_records`, `instances` or `inputs`; and `params`.
pub fn of_mlflow(mut body: Map<String, Json>, used: &Used) -> Result<(InputColumns, Map<String, Json>), Failure> {
    let parameters = match body.remove("params") {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(parameters)) => parameters,
        Some(other) => return Err(Failure::bad(format!("params must be an object, found {other}"))),
    };
    let keys: Vec<String> = body.keys().cloned().collect();
    let [key] = &keys[..] else {
        let message = format!(
            "expected one of dataframe_split, dataframe_records, instances and inputs beside params, found {keys:?}"
        );
        return Err(Failure::bad(message));
    };
    let columns = match (key.as_str(), &body[key]) {
        ("dataframe_split", Json::Object(split)) => of_split(split, used)?,
        ("dataframe_records" | "instances" | "inputs", Json::Array(records)) => {
            InputColumns::of_records(records, used)?
        }
        ("instances" | "inputs", Json::Object(lists)) => of_named_lists(lists, used)?,
        ("dataframe_split" | "dataframe_records" | "instances" | "inputs", other) => {
            let kind = if other.is_array() { "a list" } else { "something else" };
            return Err(Failure::bad(format!("{key} must hold named columns, found {kind}")));
        }
        (other, _) => return Err(Failure::bad(format!("there is no format of rows called {other:?}"))),
    };
    Ok((columns, parameters))
}

fn of_named_lists(lists: &Map<String, Json>, used: &Used) -> Result<InputColumns, Failure> {
    let list = |(name, cells): (&'_ String, &'_ Json)| match cells {
        Json::Array(_) => Ok(()),
        other => Err(Failure::bad(format!("column {name:?}: expected a list of cells, found {other}"))),
    };
    lists.iter().try_for_each(list)?;
    let lists: Vec<(&str, Vec<&Json>)> =
        lists.iter().map(|(name, cells)| (name.as_str(), cells.as_array().into_iter().flatten().collect())).collect();
    InputColumns::of_lists(&lists, used)
}

fn of_split(split: &Map<String, Json>, used: &Used) -> Result<InputColumns, Failure> {
    let (Some(Json::Array(names)), Some(Json::Array(rows))) = (split.get("columns"), split.get("data")) else {
        return Err(Failure::bad("dataframe_split must have the lists columns and data"));
    };
    let mut lists: Vec<(&str, Vec<&Json>)> = Vec::with_capacity(names.len());
    for name in names {
        let Some(text) = name.as_str() else {
            return Err(Failure::bad(format!("a column's name must be text, found {name}")));
        };
        lists.push((text, Vec::with_capacity(rows.len())));
    }
    for (at, row) in rows.iter().enumerate() {
        match row {
            Json::Array(cells) if cells.len() == names.len() => {
                lists.iter_mut().zip(cells).for_each(|((_, list), cell)| list.push(cell));
            }
            _ => return Err(Failure::bad(format!("row {at}: expected a list of {} cells", names.len()))),
        }
    }
    InputColumns::of_lists(&lists, used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn used() -> Used {
        Used { names: vec!["x".into(), "city".into()], groups: None }
    }

    fn object(body: Json) -> Map<String, Json> {
        match body {
            Json::Object(object) => object,
            _ => Map::new(),
        }
    }

    #[test]
    fn all_formats_of_mlflow_are_the_same_rows() {
        let bodies = [
            json!({"dataframe_split": {"columns": ["city", "more", "x"], "data": [["Oslo", 1, 2.5], [null, 2, null]]}}),
            json!({"inputs": {"city": ["Oslo", null], "x": [2.5, null], "more": [1, 2]}}),
        ];
        for body in bodies {
            let (columns, parameters) = of_mlflow(object(body), &used()).unwrap();
            assert!(parameters.is_empty() && columns.len() == 2);
            let table = columns.table().unwrap();
            assert_eq!(table.names(), ["city", "x"]);
        }
        for key in ["dataframe_records", "instances", "inputs"] {
            let body = json!({key: [{"x": 2.5, "city": "Oslo"}, {"more": 3}], "params": {"interval": 0.9}});
            let (columns, parameters) = of_mlflow(object(body), &used()).unwrap();
            assert_eq!((columns.len(), parameters.len()), (2, 1));
        }
    }

    #[test]
    fn columns_of_the_same_type_are_concatenated() {
        let rows = |text: &str| serde_json::from_str::<Vec<Json>>(text).unwrap();
        let mut one = InputColumns::of_records(&rows(r#"[{"x": 1, "city": "a"}]"#), &used()).unwrap();
        let two = InputColumns::of_records(&rows(r#"[{"x": null, "city": "b"}, {"x": true}]"#), &used()).unwrap();
        assert!(one.is_like(&two));
        one.extend(&two);
        assert_eq!((one.len(), one.table().unwrap().rows()), (3, 3));
        let other = InputColumns::of_records(&rows(r#"[{"x": "1", "city": "b"}]"#), &used()).unwrap();
        assert!(!one.is_like(&other));
    }

    #[test]
    fn groups_are_kept_as_they_are_written() {
        let used = Used { groups: Some("more".into()), ..used() };
        let records =
            json!({"instances": [{"x": 1, "more": " a "}, {"x": 2, "more": 7}, {"x": 3}, {"x": 4, "more": true}]});
        let lists = json!({"inputs": {"x": [1, 2, 3, 4], "more": [" a ", 7, null, true]}});
        for body in [records, lists] {
            let (columns, _) = of_mlflow(object(body), &used).unwrap();
            assert_eq!(columns.table().unwrap().names(), ["x"]);
            assert_eq!(Rows::Columns(columns).groups(), ["a", "7", "", "true"]);
        }
        let (columns, _) = of_mlflow(object(json!({"instances": [{"x": 1}]})), &used).unwrap();
        assert!(Rows::Columns(columns).groups().is_empty());
    }

    #[test]
    fn invalid_rows_are_refused() {
        for body in [
            json!({}),
            json!({"rows": []}),
            json!({"instances": [1, 2]}),
            json!({"inputs": {"x": 1}}),
            json!({"inputs": {"x": [1], "city": []}}),
            json!({"inputs": {"x": [[1]]}}),
            json!({"dataframe_split": {"columns": ["x"], "data": [[1, 2]]}}),
            json!({"dataframe_split": {"columns": ["x", "x"], "data": [[1, 2]]}}),
            json!({"instances": [], "params": 3}),
        ] {
            assert!(of_mlflow(object(body.clone()), &used()).is_err(), "{body}");
        }
    }
}
