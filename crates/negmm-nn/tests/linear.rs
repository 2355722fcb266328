//! Ridge regression against its definition: normal equations, leave-one-out by refitting.

use negmm_dist::math::rng::Rng;
use negmm_nn::dataset::Dataset;
use negmm_nn::linear::Linear;

fn normal(rng: &mut Rng) -> f64 {
    negmm_dist::math::normal::quantile(rng.uniform())
}

/// Rows with this many inputs, of which the first two matter.
fn data(rows: usize, inputs: usize, noise: f64, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed, 0);
    let mut data = Dataset::new(inputs);
    for _ in 0..rows {
        let x: Vec<f32> = (0..inputs).map(|_| normal(&mut rng) as f32).collect();
        let y = 0.5 + 1.5 * f64::from(x[0]) - 0.7 * f64::from(x[1 % inputs]) + noise * normal(&mut rng);
        data.push(&x, y as f32);
    }
    data
}

fn all(data: &Dataset) -> Vec<u32> {
    (0..data.len() as u32).collect()
}

#[test]
fn finds_the_coefficients() {
    for (rows, inputs) in [(400, 3), (900, 40), (5_000, 5)] {
        let data = data(rows, inputs, 0.1, 1);
        let linear = Linear::fit(&data, &all(&data), 8);
        let near = |found: f64, expected: f64| (found - expected).abs() < 0.02;
        assert!(near(linear.intercept, 0.5) && near(linear.coefficients[0], 1.5), "{rows} {inputs}");
        assert!(near(linear.coefficients[1], -0.7), "{rows} {inputs}");
        assert!(linear.coefficients[2..].iter().all(|beta| near(*beta, 0.0)), "{rows} {inputs}");
        let variance: f64 = linear.errors.iter().map(|[weight, mean, sd]| weight * (mean * mean + sd * sd)).sum();
        assert!((variance.sqrt() / 0.1 - 1.0).abs() < 0.15, "{rows} {inputs} {}", variance.sqrt());
    }
}

#[test]
fn more_inputs_than_rows_are_shrunk_and_their_errors_are_honest() {
    let train = data(60, 300, 0.5, 2);
    let fresh = data(400, 300, 0.5, 3);
    let linear = Linear::fit(&train, &all(&train), 8);
    let predicted = |data: &Dataset, row: usize| {
        let x = &data.x()[row * data.stride()..][..300];
        linear.intercept + x.iter().zip(&linear.coefficients).map(|(x, beta)| f64::from(*x) * beta).sum::<f64>()
    };
    let error = |data: &Dataset, row: usize| f64::from(data.y()[row]) - predicted(data, row);
    let spread = |data: &Dataset| {
        ((0..data.len()).map(|row| error(data, row) * error(data, row)).sum::<f64>() / data.len() as f64).sqrt()
    };
    let expected: f64 = linear.errors.iter().map(|[weight, mean, sd]| weight * (mean * mean + sd * sd)).sum();
    // Leave-one-out errors stand for new rows, residuals do not.
    assert!((expected.sqrt() / spread(&fresh) - 1.0).abs() < 0.25, "{} {}", expected.sqrt(), spread(&fresh));
    assert!(spread(&train) < 0.8 * spread(&fresh));
}

#[test]
fn leave_one_out_errors_are_those_of_refitting() {
    // Without shrinkage to speak of: 30 rows and 2 inputs with little noise choose the smallest λ.
    let data = data(30, 2, 0.01, 4);
    let linear = Linear::fit(&data, &all(&data), 1);
    let mut errors = Vec::new();
    for left_out in 0..30_u32 {
        let rest: Vec<u32> = all(&data).into_iter().filter(|row| *row != left_out).collect();
        let without = Linear::fit(&data, &rest, 1);
        let x = &data.x()[left_out as usize * data.stride()..][..2];
        let predicted =
            without.intercept + without.coefficients.iter().zip(x).map(|(beta, x)| beta * f64::from(*x)).sum::<f64>();
        errors.push(f64::from(data.y()[left_out as usize]) - predicted);
    }
    let mean = errors.iter().sum::<f64>() / 30.0;
    let sd = (errors.iter().map(|error| (error - mean) * (error - mean)).sum::<f64>() / 30.0).sqrt();
    assert!((linear.errors[0][1] - mean).abs() < 2e-4 && (linear.errors[0][2] / sd - 1.0).abs() < 0.02);
}

#[test]
fn rows_of_weight_0_change_nothing() {
    let mut whole = data(50, 2, 0.3, 5);
    let expected = Linear::fit(&whole, &all(&whole), 4);
    (0..10).for_each(|row| whole.push(&[row as f32, -9.0], 100.0));
    let weights: Vec<f64> = (0..60).map(|row| if row < 50 { 1.0 } else { 0.0 }).collect();
    let weighted = whole.with_sample_weights(&weights);
    let found = Linear::fit(&weighted, &all(&weighted), 4);
    assert!((found.intercept - expected.intercept).abs() < 1e-9);
    assert!(found.coefficients.iter().zip(&expected.coefficients).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn inputs_that_do_not_vary_and_repeated_inputs_are_no_trouble() {
    let mut data = Dataset::new(4);
    let mut rng = Rng::new(6, 0);
    for _ in 0..40 {
        let x = normal(&mut rng) as f32;
        data.push(&[x, x, 1.0, 0.0], x);
    }
    let linear = Linear::fit(&data, &all(&data), 8);
    assert!(linear.coefficients.iter().all(|beta| beta.is_finite()));
    assert!((linear.coefficients[0] + linear.coefficients[1] - 1.0).abs() < 0.01);
}

#[test]
fn targets_at_a_bound_are_latent_values_beyond_it() {
    // Cells of width 1 from 0 up to 3; half of the latent values lie in the first cell or below it.
    let mut rng = Rng::new(7, 0);
    let (mut cells, mut lower, mut upper) = (Dataset::new(2), Vec::new(), Vec::new());
    let mut sum = 0.0;
    for _ in 0..4_000 {
        let x = [normal(&mut rng) as f32, normal(&mut rng) as f32];
        let latent = 0.4 + 0.8 * f64::from(x[0]) + normal(&mut rng);
        let y = latent.round().clamp(0.0, 3.0) as f32;
        sum += f64::from(y);
        cells.push(&x, y);
        lower.push(if y == 0.0 { -1e4 } else { y - 0.5 });
        upper.push(if y == 3.0 { 1e4 } else { y + 0.5 });
    }
    let plain = Linear::fit(&cells, &all(&cells), 8);
    let cells = cells.with_intervals(lower, upper);
    let linear = Linear::fit(&cells, &all(&cells), 8);
    let near = |linear: &Linear| (linear.intercept - 0.4).abs() < 0.06 && (linear.coefficients[0] - 0.8).abs() < 0.06;
    assert!(near(&linear) && !near(&plain), "{linear:?} {plain:?}");
    // The mean of the clamped values, by the normal distribution's cells: P(Y > k) summed over k.
    let mean = |linear: &Linear| {
        let above = |center: f64, end: f64| -> f64 {
            let part = |[weight, mean, sd]: &[f64; 3]| {
                weight * negmm_dist::math::normal::cdf((center + mean - end) / sd.max(1e-9))
            };
            linear.errors.iter().map(part).sum()
        };
        let of_row = |row: &[f32]| {
            let center = linear.intercept
                + linear.coefficients[0] * f64::from(row[0])
                + linear.coefficients[1] * f64::from(row[1]);
            (0..3).map(|end| above(center, f64::from(end) + 0.5)).sum::<f64>()
        };
        cells.x().chunks_exact(cells.stride()).map(of_row).sum::<f64>()
    };
    assert!((mean(&linear) / sum - 1.0).abs() < 0.03, "{}", mean(&linear) / sum);
    assert!((mean(&plain) / sum - 1.0).abs() > 0.05, "{}", mean(&plain) / sum);
}
