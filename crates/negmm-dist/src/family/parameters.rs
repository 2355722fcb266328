//! Names and parameters of the families, as scoringrules and SciPy call them.

use super::{Family, Shape};
use crate::{Error, Result, suggestion};

/// A family: its name, its other names, and its parameters with their other names; those with a default may be absent.
struct Spec {
    name: &'static str,
    aliases: &'static [&'static str],
    parameters: &'static [(&'static [&'static str], Option<f64>)],
    make: fn(&[f64]) -> Made,
}

/// Shape, location and scale; or what the parameters must be.
type Made = std::result::Result<(Shape, f64, f64), &'static str>;

/// The names of all families.
pub const FAMILIES: [&str; 13] = [
    "normal",
    "student_t",
    "logistic",
    "laplace",
    "gumbel",
    "uniform",
    "exponential",
    "gamma",
    "lognormal",
    "weibull",
    "beta",
    "poisson",
    "negative_binomial",
];

const LOC: (&[&str], Option<f64>) = (&["loc", "location", "mean", "mu"], Some(0.0));
const SCALE: (&[&str], Option<f64>) = (&["scale", "sd", "sigma"], Some(1.0));

const SPECS: [Spec; 13] = [
    Spec {
        name: "normal",
        aliases: &["norm", "gaussian"],
        parameters: &[LOC, SCALE],
        make: |p| positive(Shape::Normal, p[0], p[1]),
    },
    Spec {
        name: "student_t",
        aliases: &["t", "studentt"],
        parameters: &[(&["df", "nu"], None), LOC, SCALE],
        make: |p| match p[0] > 1.0 {
            true if p[0] >= MOST_DF => positive(Shape::Normal, p[1], p[2]),
            true => positive(Shape::StudentT { df: p[0] }, p[1], p[2]),
            false => Err("df above 1, because otherwise there is no mean"),
        },
    },
    Spec { name: "logistic", aliases: &[], parameters: &[LOC, SCALE], make: |p| positive(Shape::Logistic, p[0], p[1]) },
    Spec { name: "laplace", aliases: &[], parameters: &[LOC, SCALE], make: |p| positive(Shape::Laplace, p[0], p[1]) },
    Spec {
        name: "gumbel",
        aliases: &["gumbel_r"],
        parameters: &[LOC, SCALE],
        make: |p| positive(Shape::Gumbel, p[0], p[1]),
    },
    Spec {
        name: "uniform",
        aliases: &["unif"],
        parameters: &[(&["min", "low", "lower"], Some(0.0)), (&["max", "high", "upper"], Some(1.0))],
        make: |p| if p[0] < p[1] { Ok((Shape::Uniform, p[0], p[1] - p[0])) } else { Err("min below max") },
    },
    Spec {
        name: "exponential",
        aliases: &["expon", "exp"],
        parameters: &[(&["rate"], Some(f64::NAN)), (&["scale", "mean"], Some(f64::NAN))],
        make: |p| positive(Shape::Exponential, 0.0, rate_or_scale(p[0], p[1])?),
    },
    Spec {
        name: "gamma",
        aliases: &[],
        parameters: &[
            (&["shape", "a", "alpha"], None),
            (&["rate", "beta"], Some(f64::NAN)),
            (&["scale"], Some(f64::NAN)),
        ],
        make: |p| match p[0] > 0.0 {
            true => positive(Shape::Gamma { shape: p[0] }, 0.0, rate_or_scale(p[1], p[2])?),
            false => Err("a shape above 0"),
        },
    },
    Spec {
        name: "lognormal",
        aliases: &["lognorm"],
        parameters: &[(&["mulog", "meanlog", "mu"], Some(0.0)), (&["sigmalog", "sdlog", "sigma", "s"], None)],
        make: |p| match p[1] > 0.0 {
            true => positive(Shape::LogNormal { sigma: p[1] }, 0.0, libm::exp(p[0])),
            false => Err("sigmalog above 0"),
        },
    },
    Spec {
        name: "weibull",
        aliases: &["weibull_min"],
        parameters: &[(&["shape", "c", "k"], None), (&["scale", "lambda"], Some(1.0))],
        make: |p| match p[0] > 0.0 {
            true => positive(Shape::Weibull { shape: p[0] }, 0.0, p[1]),
            false => Err("a shape above 0"),
        },
    },
    Spec {
        name: "beta",
        aliases: &[],
        parameters: &[
            (&["a", "alpha", "shape1"], None),
            (&["b", "beta", "shape2"], None),
            (&["lower"], Some(0.0)),
            (&["upper"], Some(1.0)),
        ],
        make: |p| match p[0] > 0.0 && p[1] > 0.0 && p[2] < p[3] {
            true => Ok((Shape::Beta { a: p[0], b: p[1] }, p[2], p[3] - p[2])),
            false => Err("a and b above 0, and lower below upper"),
        },
    },
    Spec {
        name: "poisson",
        aliases: &["pois"],
        parameters: &[(&["mean", "rate", "mu", "lambda"], None)],
        make: |p| if p[0] > 0.0 { Ok((Shape::Poisson { mean: p[0] }, 0.0, 1.0)) } else { Err("a mean above 0") },
    },
    Spec {
        name: "negative_binomial",
        aliases: &["negbinom", "nbinom", "nbinomial"],
        parameters: &[
            (&["n", "size", "total_count"], None),
            (&["prob", "p"], Some(f64::NAN)),
            (&["mu", "mean"], Some(f64::NAN)),
        ],
        make: |p| {
            let prob = if p[1].is_nan() { p[0] / (p[0] + p[2]) } else { p[1] };
            match p[0] > 0.0 && prob > 0.0 && prob < 1.0 {
                true => Ok((Shape::NegativeBinomial { n: p[0], p: prob }, 0.0, 1.0)),
                false => Err("n above 0, and either prob between 0 and 1 or mu above 0"),
            }
        },
    },
];

/// From here on a t distribution is a normal one in double precision of its scores.
const MOST_DF: f64 = 1e10;

fn positive(shape: Shape, loc: f64, scale: f64) -> Made {
    if scale > 0.0 { Ok((shape, loc, scale)) } else { Err("a scale above 0") }
}

/// The scale, where either may be given.
fn rate_or_scale(rate: f64, scale: f64) -> std::result::Result<f64, &'static str> {
    match (rate.is_nan(), scale.is_nan()) {
        (false, true) if rate > 0.0 => Ok(1.0 / rate),
        (true, false) => Ok(scale),
        (true, true) => Ok(1.0),
        _ => Err("a rate or a scale above 0, and not both"),
    }
}

fn spec(name: &str) -> Result<&'static Spec> {
    let lower = name.trim().to_lowercase();
    let of = |spec: &&Spec| spec.name == lower || spec.aliases.contains(&lower.as_str());
    SPECS.iter().find(of).ok_or_else(|| {
        let near = suggestion(&lower, FAMILIES.iter().copied())
            .map_or(String::new(), |near| format!("; did you mean {near}?"));
        Error::data(format!("expected a family ({}), found {name:?}{near}", FAMILIES.join(", ")))
    })
}

impl Family {
    /// The family of that name (see [`FAMILIES`], or as SciPy and scoringrules call it) with these parameters; a parameter that is
    /// NaN counts as absent, and parameters of other families are ignored.
    ///
    /// # Errors
    /// When there is no such family, or a parameter is missing or out of range.
    pub fn named(name: &str, parameters: &[(&str, f64)]) -> Result<Self> {
        let spec = spec(name)?;
        let mut numbers = [0.0; 4];
        for (number, (names, default)) in numbers.iter_mut().zip(spec.parameters) {
            let given = names.iter().find_map(|name| {
                parameters.iter().find(|(own, value)| own == name && !value.is_nan()).map(|(_, value)| *value)
            });
            *number = match given.or(*default) {
                Some(value) => value,
                None => return Err(Error::data(format!("a {} distribution needs {}", spec.name, names[0]))),
            };
        }
        let numbers = &numbers[..spec.parameters.len()];
        let wrong = |expected: &str| {
            let shown = spec.parameters.iter().zip(numbers).filter(|(_, number)| !number.is_nan());
            let shown: Vec<String> = shown.map(|((names, _), number)| format!("{} {number}", names[0])).collect();
            Error::data(format!("a {} distribution needs {expected}, found {}", spec.name, shown.join(", ")))
        };
        let (shape, loc, scale) = (spec.make)(numbers).map_err(wrong)?;
        if !(loc.is_finite() && scale.is_finite() && shape_is_finite(shape)) {
            return Err(wrong("finite parameters"));
        }
        Ok(Self { shape, loc, scale })
    }

    /// The family of these parts: name and parameters of its shape ([`Shape::parts`]), location and scale.
    ///
    /// # Errors
    /// When there is no such family, or a parameter is out of range.
    pub fn from_parts(name: &str, [a, b]: [f64; 2], loc: f64, scale: f64) -> Result<Self> {
        let parameters: &[(&str, f64)] = match spec(name)?.name {
            "student_t" => &[("df", a)],
            "gamma" | "weibull" => &[("shape", a)],
            "lognormal" => &[("sigmalog", a)],
            "beta" => &[("a", a), ("b", b)],
            "poisson" => &[("mean", a)],
            "negative_binomial" => &[("n", a), ("prob", b)],
            _ => &[],
        };
        let standard = Self::named(name, parameters)?;
        if !(loc.is_finite() && scale > 0.0 && scale.is_finite()) {
            return Err(Error::data(format!("a distribution needs a scale above 0, found loc {loc}, scale {scale}")));
        }
        Ok(Self { loc, scale, ..standard })
    }

    /// The names of the parameters of a family, with their other names.
    pub fn parameter_names(name: &str) -> Result<impl Iterator<Item = &'static str>> {
        Ok(spec(name)?.parameters.iter().flat_map(|(names, _)| names.iter().copied()))
    }

    /// Whether any family has a parameter of this name.
    pub fn is_parameter(name: &str) -> bool {
        SPECS.iter().flat_map(|spec| spec.parameters).any(|(names, _)| names.contains(&name))
    }
}

fn shape_is_finite(shape: Shape) -> bool {
    match shape {
        Shape::StudentT { df: number }
        | Shape::Gamma { shape: number }
        | Shape::LogNormal { sigma: number }
        | Shape::Weibull { shape: number }
        | Shape::Poisson { mean: number } => number.is_finite(),
        Shape::Beta { a, b } => (a + b).is_finite(),
        Shape::NegativeBinomial { n, .. } => n.is_finite(),
        _ => true,
    }
}
