//! The encoder in a graph: from named columns to features, in doubles until a feature becomes a float. The features have the bits of
//! `predict`, so a row falls into the same leaf of a tree.

use negmm::data::{
    Categories, ENCODED_LIMIT, Encoding, Input, NumberEncoding, QuantileTransform, STATISTICS, TargetEncoding,
    TextEncoding, TimeEncoding, TimeFormat,
};
use negmm::{Encoder, Error, Result};
use serde_json::{Value as Json, json};

use crate::calendar;
use crate::graph::{Attribute, Dimension, Graph, Type, Value};

/// Padding for texts with too few words; no word is equal to it.
const NO_WORD: &str = "\u{1}";

/// The features of all rows, column by column.
pub struct Features {
    pieces: Vec<Piece>,
    /// rows × 1: the variance added for inputs outside their ranges in training, in units of the standardised target.
    pub variance: Option<Value>,
    /// The window of a sequence.
    window: Option<usize>,
    /// A value with one row for each prediction.
    pub rows: Value,
    /// The description of each input, for the metadata.
    pub notes: Vec<Json>,
}

enum Piece {
    /// rows × features, floats.
    Features(Value),
    /// rows: the code of a category; the features are its target encoding in a member.
    Categories(Value),
}

/// The settings for all numeric columns.
struct Numbers {
    missing: f64,
    soft_clip: Option<f64>,
    margin: Option<f64>,
}

impl Features {
    /// Adds an input for each column that the model uses.
    ///
    /// # Errors
    /// When a column cannot be read in a graph, or the model uses none.
    pub fn new(graph: &mut Graph, encoder: &Encoder) -> Result<Self> {
        let used: Vec<&Input> = encoder.inputs().iter().filter(|input| input.encoding.features() > 0).collect();
        if used.is_empty() {
            return Err(Error::options("the model uses no column: there is nothing to export"));
        }
        let columns: Vec<(&Input, Value)> = used.into_iter().map(|input| (input, column(graph, input))).collect();
        let numbers = Numbers {
            missing: if encoder.keeps_missing() { f64::NAN } else { 0.0 },
            soft_clip: encoder.soft_clip(),
            margin: encoder.extrapolation().map(|extrapolation| extrapolation.margin),
        };
        let (mut pieces, mut ranges) = (Vec::new(), Vec::new());
        for (input, column) in &columns {
            let found = match &input.encoding {
                Encoding::Number(encoding) => numbers.number(graph, encoding, column),
                Encoding::Time(encoding) => numbers.time(graph, encoding, column),
                Encoding::Text(encoding) => {
                    text(graph, encoding, column).map_err(|error| error.in_column(&input.name))?
                }
            };
            pieces.extend(found);
            ranges.push(match &input.encoding {
                Encoding::Number(encoding) => Some((encoding.clone(), column.clone())),
                Encoding::Time(encoding) => Some((encoding.seconds.clone(), column.clone())),
                Encoding::Text(_) => None,
            });
        }
        for difference in encoder.differences() {
            let of = |name: &str| columns.iter().find(|(input, _)| input.name == name).map(|(_, column)| column);
            let (Some(from), Some(to)) = (of(&difference.from), of(&difference.to)) else {
                return Err(Error::model(format!("{} is no difference of two inputs", difference.name())));
            };
            let seconds = graph.sub(to, from);
            pieces.extend(numbers.number(graph, &difference.seconds, &seconds));
            ranges.push(Some((difference.seconds.clone(), seconds)));
        }
        let slopes = encoder.extrapolation().map_or(&[][..], |extrapolation| &extrapolation.slopes);
        let known = if encoder.knows_ranges() { slopes } else { &[] };
        let variance = widening(graph, &ranges, known);
        let notes = columns.iter().map(|(input, _)| note(input)).collect();
        let window = encoder.sequence().map(|sequence| sequence.window);
        let mut features = Self { pieces, variance, window, rows: columns[0].1.clone(), notes };
        features.variance = features.variance.take().map(|variance| {
            let windows = features.in_windows(graph, &variance);
            if features.window.is_some() { graph.sum(&windows, 1) } else { windows }
        });
        if features.window.is_some() {
            features.rows = features.in_windows(graph, &columns[0].1);
        }
        Ok(features)
    }

    /// rows × features, floats, with the target encoding of a member.
    pub fn with(&self, graph: &mut Graph, statistics: &TargetEncoding) -> Value {
        let mut columns = statistics.columns().iter();
        let mut parts = Vec::new();
        for piece in &self.pieces {
            parts.push(match piece {
                Piece::Features(value) => value.clone(),
                Piece::Categories(codes) => {
                    let learnt = columns.next().map_or(&[][..], |column| &column[..]);
                    // The last row is for unseen categories.
                    let table: Vec<f32> = learnt.iter().copied().chain([[0.0; STATISTICS]]).flatten().collect();
                    let table = graph.floats(&[learnt.len() + 1, STATISTICS], &table);
                    graph.gather(&table, codes, 0)
                }
            });
        }
        let rows = graph.concat(&parts.iter().collect::<Vec<_>>(), 1);
        self.in_windows(graph, &rows)
    }

    /// Windows of rows × numbers: the numbers of all steps of a window, concatenated.
    fn in_windows(&self, graph: &mut Graph, rows: &Value) -> Value {
        let Some(window) = self.window else { return rows.clone() };
        let (zero, one) = (graph.integer(0), graph.integer(1));
        let shape = graph.op("Shape", &[rows]);
        let count = graph.gather(&shape, &zero, 0);
        let less = graph.integer(1 - window as i64);
        let windows = graph.op("Add", &[&count, &less]);
        let first = graph.op("Range", &[&zero, &windows, &one]);
        let first = graph.unsqueeze(&first, 1);
        let steps = graph.integers(&(0..window as i64).collect::<Vec<_>>());
        let indices = graph.op("Add", &[&first, &steps]);
        let gathered = graph.gather(rows, &indices, 0);
        let shape = graph.integers(&[0, -1]);
        graph.op("Reshape", &[&gathered, &shape])
    }
}

/// The graph's input for a column.
fn column(graph: &mut Graph, input: &Input) -> Value {
    let kind = if matches!(input.encoding, Encoding::Text(_)) { Type::Text } else { Type::Double };
    graph.input(&input.name, kind, &[Dimension::Symbolic("rows"), Dimension::Fixed(1)])
}

/// The description of an input, for the metadata.
fn note(input: &Input) -> Json {
    let holds = match &input.encoding {
        Encoding::Text(_) => "text; \"\" is missing",
        Encoding::Time(encoding) if encoding.format == TimeFormat::TimeOfDay => {
            "seconds since midnight; NaN is missing"
        }
        Encoding::Time(_) => "seconds since 1970-01-01; NaN is missing",
        _ => "numbers; NaN is missing",
    };
    json!({"name": input.name, "read_as": input.column_type().to_string(), "holds": holds})
}

/// rows × 1: the sum over numeric columns of (slope · distance outside the range)²; `None` if no column has a slope.
fn widening(graph: &mut Graph, ranges: &[Option<(NumberEncoding, Value)>], slopes: &[f64]) -> Option<Value> {
    let mut sum: Option<Value> = None;
    for (range, slope) in ranges.iter().zip(slopes).filter(|(_, slope)| **slope > 0.0) {
        let Some((NumberEncoding { range: Some((low, high)), sd, .. }, column)) = range else { continue };
        if *sd <= 0.0 {
            continue;
        }
        let (low, high) = (graph.number(*low), graph.number(*high));
        let (below, above) = (graph.sub(&low, column), graph.sub(column, &high));
        let zero = graph.number(0.0);
        let outside = graph.op("Max", &[&below, &above, &zero]);
        // A missing number is not outside.
        let missing = graph.op("IsNaN", &[column]);
        let outside = graph.op("Where", &[&missing, &zero, &outside]);
        let distance = graph.times(&outside, 1.0 / sd);
        let distance = graph.at_most(&distance, ENCODED_LIMIT);
        let change = graph.times(&distance, *slope);
        let square = graph.mul(&change, &change);
        sum = Some(match sum {
            None => square,
            Some(sum) => graph.add2(&sum, &square),
        });
    }
    sum
}

impl Numbers {
    /// The features of a numeric column: the number, a missing indicator, the quantile transform.
    fn number(&self, graph: &mut Graph, encoding: &NumberEncoding, column: &Value) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if encoding.sd > 0.0 {
            pieces.push(self.standardised(graph, encoding, column));
        }
        if encoding.missing_flag {
            pieces.push(missing_flag(graph, column));
        }
        if let Some(scores) = &encoding.quantile_transform {
            let score = normal_score(graph, scores, column);
            pieces.push(self.unless_missing(graph, column, &score));
        }
        pieces
    }

    /// The features of a column of times: the time as a number, its calendar parts, a missing indicator.
    fn time(&self, graph: &mut Graph, encoding: &TimeEncoding, column: &Value) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if encoding.seconds.sd > 0.0 {
            pieces.push(self.standardised(graph, &encoding.seconds, column));
        }
        for part in &encoding.parts {
            let (values, varies) = calendar::part(graph, part, column);
            pieces.push(match varies {
                true => self.unless_missing(graph, column, &values),
                false => Numbers { missing: 0.0, ..*self }.unless_missing(graph, column, &values),
            });
        }
        if encoding.seconds.missing_flag {
            pieces.push(missing_flag(graph, column));
        }
        pieces
    }

    fn standardised(&self, graph: &mut Graph, encoding: &NumberEncoding, column: &Value) -> Piece {
        let mut number = column.clone();
        if let (Some((low, high)), Some(margin)) = (encoding.range, self.margin) {
            number = graph.within(&number, low - margin * encoding.sd, high + margin * encoding.sd);
        }
        let (mean, sd) = (graph.number(encoding.mean), graph.number(encoding.sd));
        let centred = graph.sub(&number, &mean);
        let mut z = graph.div(&centred, &sd);
        z = graph.within(&z, -ENCODED_LIMIT, ENCODED_LIMIT);
        if let Some(limit) = self.soft_clip {
            let limit = graph.number(limit);
            let ratio = graph.div(&z, &limit);
            let square = graph.mul(&ratio, &ratio);
            let square = graph.plus(&square, 1.0);
            let root = graph.op("Sqrt", &[&square]);
            z = graph.div(&z, &root);
        }
        self.unless_missing(graph, column, &z)
    }

    /// Doubles as features, with the replacement of missing numbers.
    fn unless_missing(&self, graph: &mut Graph, column: &Value, numbers: &Value) -> Piece {
        let is_missing = graph.op("IsNaN", &[column]);
        let instead = graph.number(self.missing);
        let number = graph.op("Where", &[&is_missing, &instead, numbers]);
        Piece::Features(graph.cast(&number, Type::Float))
    }
}

fn missing_flag(graph: &mut Graph, column: &Value) -> Piece {
    let is_missing = graph.op("IsNaN", &[column]);
    Piece::Features(graph.cast(&is_missing, Type::Float))
}

/// The quantile transform: the score of the first knot plus the rise over each interval up to the number.
fn normal_score(graph: &mut Graph, scores: &QuantileTransform, column: &Value) -> Value {
    let pairs: Vec<[[f64; 2]; 2]> = scores.knots().windows(2).map(|pair| [pair[0], pair[1]]).collect();
    let list = |of: &dyn Fn(&[[f64; 2]; 2]) -> f64| pairs.iter().map(of).collect::<Vec<f64>>();
    let shape = [1, pairs.len()];
    let low = graph.doubles(&shape, &list(&|[low, _]| low[0]));
    let width = graph.doubles(&shape, &list(&|[low, high]| high[0] - low[0]));
    let rise = graph.doubles(&shape, &list(&|[low, high]| high[1] - low[1]));
    let offset = graph.sub(column, &low);
    let fraction = graph.div(&offset, &width);
    let fraction = graph.within(&fraction, 0.0, 1.0);
    let risen = graph.mul(&fraction, &rise);
    let risen = graph.sum(&risen, 1);
    graph.plus(&risen, scores.knots()[0][1])
}

/// The features of a text column: one-hot encoding, and codes of categories with a target encoding.
fn text(graph: &mut Graph, encoding: &TextEncoding, column: &Value) -> Result<Vec<Piece>> {
    let TextEncoding { levels, pooled, missing, statistics } = encoding;
    let flags = levels.len() + usize::from(*pooled) + usize::from(*missing);
    let mut pieces = Vec::new();
    if flags > 1 || (flags > 0 && !statistics.is_empty()) {
        // One row of the table for each category, then for missing cells, then for all others.
        let mut table = vec![0.0_f32; (levels.len() + 2) * flags];
        (0..levels.len()).for_each(|level| table[level * flags + level] = 1.0);
        if *missing {
            table[levels.len() * flags + flags - 1] = 1.0;
        }
        if *pooled {
            table[(levels.len() + 1) * flags + levels.len()] = 1.0;
        }
        let known = levels.iter().cloned().chain([String::new()]).collect::<Vec<_>>();
        let codes = codes(graph, column, &known);
        let table = graph.floats(&[levels.len() + 2, flags], &table);
        pieces.push(Piece::Features(graph.gather(&table, &codes, 0)));
    }
    for levels in statistics {
        pieces.push(Piece::Categories(level_codes(graph, levels, column)?));
    }
    Ok(pieces)
}

/// rows: the position of each text in a list, or the length of the list.
fn codes(graph: &mut Graph, column: &Value, known: &[String]) -> Value {
    let positions: Vec<i64> = (0..known.len() as i64).collect();
    let codes = graph.ml(
        "LabelEncoder",
        column,
        &[
            ("keys_strings", Attribute::Texts(known)),
            ("values_int64s", Attribute::Integers(&positions)),
            ("default_int64", Attribute::Integer(known.len() as i64)),
        ],
    );
    graph.reshape(&codes, &[-1])
}

/// The code of each text's category: of the whole text, or of its first words.
///
/// # Errors
/// When first words are separated by other white space than one space.
fn level_codes(graph: &mut Graph, levels: &Categories, column: &Value) -> Result<Value> {
    let Some(words) = levels.words else { return Ok(codes(graph, column, &levels.names)) };
    let padded = |name: &String| {
        let found: Vec<&str> = name.split_whitespace().collect();
        if found.join(" ") != *name || found.len() > words {
            let message = format!("categories of first words with white space such as {name:?} cannot be exported");
            return Err(Error::options(message));
        }
        Ok(found.into_iter().chain(std::iter::repeat(NO_WORD)).take(words).collect::<Vec<_>>().join(" "))
    };
    let known = levels.names.iter().map(padded).collect::<Result<Vec<String>>>()?;
    // Padding gives every text enough words.
    let filler = graph.text(&format!(" {NO_WORD}").repeat(words));
    let filled = graph.op("StringConcat", &[column, &filler]);
    let split = graph.outputs_of("StringSplit", &[&filled], &[true, true], &[]).swap_remove(0);
    let word = |graph: &mut Graph, at: usize| {
        let index = graph.integer(at as i64);
        graph.gather(&split, &index, 2)
    };
    let mut joined = word(graph, 0);
    for at in 1..words {
        let space = graph.text(" ");
        let (spaced, next) = (graph.op("StringConcat", &[&joined, &space]), word(graph, at));
        joined = graph.op("StringConcat", &[&spaced, &next]);
    }
    Ok(codes(graph, &joined, &known))
}
