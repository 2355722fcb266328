//! Linear combinations of targets: `profit = revenue - 1.5 cost + 3`.

use negmm_dist::{Error, Result, suggestion};

/// A named linear combination of targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Its name, which its columns begin with.
    pub name: String,
    /// One coefficient for each target.
    pub coefficients: Vec<f64>,
    /// The constant.
    pub offset: f64,
}

impl Combination {
    /// Its value for a vector of targets.
    pub fn of(&self, y: &[f64]) -> f64 {
        self.offset + self.coefficients.iter().zip(y).map(|(coefficient, y)| coefficient * y).sum::<f64>()
    }

    /// Reads a text such as `profit = revenue - 1.5 * cost + 3`; names with blanks or signs go in quotes or backticks.
    ///
    /// # Errors
    /// When it is not a sum of targets with coefficients, or names something else.
    pub fn parse(text: &str, targets: &[&str]) -> Result<Self> {
        let refuse = |what: String| Err(Error::option("combine", format!("{what}, in {text:?}")));
        let Some((name, sum)) = text.split_once('=') else {
            return refuse("needs a name and a sum of targets, such as \"profit = revenue - cost\"".into());
        };
        let name = name.trim().to_string();
        if name.is_empty() {
            return refuse("needs a name before the equals sign".into());
        }
        if targets.contains(&name.as_str()) {
            return refuse(format!("the name {name:?} is that of a target"));
        }
        let mut combination = Self { name, coefficients: vec![0.0; targets.len()], offset: 0.0 };
        let (mut sign, mut factor, mut operand) = (1.0, None, false);
        for token in tokens(sum) {
            match token {
                Token::Sign(next) => {
                    if operand {
                        combination.offset += sign * factor.take().unwrap_or(0.0);
                        (sign, operand) = (next, false);
                    } else {
                        sign *= next;
                    }
                }
                Token::Times if factor.is_some() => {}
                Token::Number(number) if factor.is_none() => (factor, operand) = (Some(number), true),
                Token::Name(name) => {
                    let Some(target) = targets.iter().position(|target| *target == name) else {
                        let similar = suggestion(&name, targets.iter().copied());
                        let similar = similar.map_or(String::new(), |name| format!(" (did you mean {name}?)"));
                        let known = targets.join(", ");
                        return refuse(format!("{name:?} is not a target{similar}; the targets are {known}"));
                    };
                    if operand && factor.is_none() {
                        return refuse("expected + or - between targets".into());
                    }
                    combination.coefficients[target] += sign * factor.take().unwrap_or(1.0);
                    operand = true;
                }
                Token::Times | Token::Number(_) | Token::Other(_) => {
                    let found = match token {
                        Token::Other(other) => format!("found {other:?}"),
                        _ => "found a product of other things".into(),
                    };
                    return refuse(format!("expected targets with coefficients and + or - between them, {found}"));
                }
            }
        }
        if !operand {
            return refuse("ends without a target".into());
        }
        combination.offset += sign * factor.unwrap_or(0.0);
        if combination.coefficients.iter().all(|coefficient| *coefficient == 0.0) {
            return refuse("names no target".into());
        }
        Ok(combination)
    }
}

enum Token {
    Sign(f64),
    Times,
    Number(f64),
    Name(String),
    Other(char),
}

/// Signs, numbers and names, in order.
fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let run = |from: usize, ends: &dyn Fn(usize) -> bool| {
            (from..letters.len()).find(|at| ends(*at)).unwrap_or(letters.len())
        };
        match letter {
            ' ' | '\t' => at += 1,
            '+' | '-' => {
                tokens.push(Token::Sign(if letter == '+' { 1.0 } else { -1.0 }));
                at += 1;
            }
            '*' => {
                tokens.push(Token::Times);
                at += 1;
            }
            '"' | '\'' | '`' => {
                let end = run(at + 1, &|at| letters[at] == letter);
                tokens.push(Token::Name(letters[at + 1..end].iter().collect()));
                at = end + 1;
            }
            _ if letter.is_ascii_digit() || letter == '.' => {
                let exponent = |at: usize| matches!(letters[at], 'e' | 'E');
                let end = run(at, &|next| {
                    let signed = matches!(letters[next], '+' | '-') && exponent(next - 1);
                    !(letters[next].is_ascii_digit() || letters[next] == '.' || exponent(next) || signed)
                });
                let number: String = letters[at..end].iter().collect();
                tokens.push(match number.parse::<f64>() {
                    Ok(number) if number.is_finite() => Token::Number(number),
                    _ => Token::Other(letter),
                });
                at = end;
            }
            _ if letter.is_alphanumeric() || letter == '_' => {
                let end = run(at, &|at| letters[at].is_whitespace() || matches!(letters[at], '+' | '-' | '*'));
                tokens.push(Token::Name(letters[at..end].iter().collect()));
                at = end;
            }
            other => {
                tokens.push(Token::Other(other));
                at += 1;
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_targets_are_read() {
        let targets = ["revenue", "cost", "a b"];
        let read = |text: &str| Combination::parse(text, &targets).unwrap();
        let profit = read("profit = revenue - cost");
        assert_eq!((profit.name.as_str(), profit.coefficients, profit.offset), ("profit", vec![1.0, -1.0, 0.0], 0.0));
        assert_eq!(read("x=2 revenue + 1.5e1 * cost - 3").coefficients, [2.0, 15.0, 0.0]);
        assert_eq!(read("x=2 revenue + 1.5 * cost - 3").offset, -3.0);
        assert_eq!(read("x = -`a b` + cost + 4 - - 1").coefficients, [0.0, 1.0, -1.0]);
        assert_eq!(read("x = -`a b` + cost + 4 - - 1").offset, 5.0);
    }

    #[test]
    fn what_is_no_sum_is_refused() {
        let targets = ["revenue", "cost"];
        for (text, part) in [
            ("revenue - cost", "needs a name"),
            ("= cost", "needs a name before"),
            ("cost = revenue", "that of a target"),
            ("x = revenu - cost", "did you mean revenue?"),
            ("x = revenue cost", "expected + or -"),
            ("x = revenue / 2", "found '/'"),
            ("x = revenue -", "ends without"),
            ("x = 3", "names no target"),
            ("x = revenue - revenue", "names no target"),
            ("x = revenue * cost", "found a product"),
            ("x = ", "ends without"),
        ] {
            let error = Combination::parse(text, &targets).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
