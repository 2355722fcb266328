//! Explanations: how much each input column contributes to an answer about a row's distribution, its mean, sd, a
//! quantile, a probability, the entropy, the epistemic part.
//!
//! For an answer f, a row x and background rows b with weights w_b that sum to 1 the game of the columns S is
//!
//! ```text
//! v(S) = sum_b w_b f(x in the columns S, b in all others)          v(none) = the base, v(all) = f(x)
//! phi_j = sum over S without j of |S|! (d - |S| - 1)! / d! (v(S and j) - v(S))
//! ```
//!
//! (Shapley, 1953; interventional SHAP values: Lundberg and Lee, 2017; Janzing, Minorics and Blöbaum, 2020). The
//! contributions phi_j are in the unit of the answer and add up to f(x) minus the base. They say what the model does:
//! a column that the model does not use has none, even where it is correlated with one that it uses.
//!
//! ```
//! use negmm::explain::{Answer, Explainer};
//! use negmm::method::{Auto, Preset};
//! use negmm::{Method, Toy, fit};
//!
//! let table = Toy::Bimodal.sample(200, &mut negmm::Rng::new(1, 0));
//! let model = fit(&table, "y", &Method::Auto(Auto::default().preset(Preset::Fast).steps(50)))?;
//! let background = model.background().expect("new models carry one").clone();
//! let explainer = Explainer::new(&model, background, Answer::list("mean,sd")?)?;
//! let (explanation, _) = explainer.explain(&table.select_rows(&[0, 1]))?;
//! let sum: f64 = explanation.contributions(0, 1).iter().sum();
//! assert!((sum - (explanation.value(0, 1) - explanation.base(0, 1))).abs() < 1e-9);
//! # Ok::<(), negmm::Error>(())
//! ```

mod acquire;
mod answer;
mod dependence;
mod explainer;
mod explanation;
mod game;
mod global;
mod importance;
mod interactions;
mod regions;
mod sentence;
mod shapley;

pub use crate::model::{BACKGROUND, Background, MOST_BACKGROUND};
pub use acquire::{Acquired, MOST_ACQUIRED, Reference, acquire, verdict};
pub use answer::Answer;
pub use dependence::{Dependence, GRID, dependence};
pub use explainer::{Effort, Explainer, MOST_EXACT};
pub use explanation::Explanation;
pub use global::{GlobalExplanation, GlobalOptions, explain_globally};
pub use importance::{PermutationLoss, permutation_losses};
pub use interactions::{Interaction, interactions};
pub use regions::{Region, regions};
