//! Training and inference on a GPU are bit-identical to the CPU, and the engine keeps the engine contract. Skipped without a GPU.

#[macro_use]
mod common;

use common::jobs::{same, table, train};
use common::predictors;
use negmm::train::CpuEngine;
use negmm_cuda::CudaEngine;

/// Only every n-th job is run, all by default: a sanitizer is too slow for all.
fn every() -> usize {
    std::env::var("NEGMM_BITS").ok().and_then(|every| every.parse().ok()).unwrap_or(1)
}

#[test]
fn training_is_bit_identical_to_the_cpu() {
    let mut engine = match CudaEngine::new(0) {
        Ok(engine) => engine,
        Err(error) => return println!("skipped: {error}"),
    };
    println!("{}", engine.device().describe());
    engine.notify = Box::new(|text| panic!("{text}"));
    for (name, job) in table().into_iter().step_by(every()) {
        let start = std::time::Instant::now();
        let found = train(&engine, &job);
        println!("{name}: equal, {:.2} s", start.elapsed().as_secs_f64());
        same(name, &found, &train(&CpuEngine::new(1), &job));
    }
}

#[test]
fn inference_is_bit_identical_to_the_cpu() {
    let accelerator = match negmm_cuda::accelerator("cuda", Box::new(|text| panic!("{text}"))) {
        Ok(accelerator) => accelerator.expect("an accelerator"),
        Err(error) => return println!("skipped: {error}"),
    };
    predictors::same_outputs(&accelerator, if every() > 1 { &[33] } else { &[9, 31, 33, 1000, 40_000] });
    for (name, predictor, count) in predictors::large_table() {
        predictors::same(&accelerator, name, &predictor, count);
    }
    predictors::same_quantiles(&accelerator);
    predictors::same_model(&accelerator);
}

mod contract {
    use super::common::WithoutFallback;

    engine_contract!(super::CudaEngine::new(0).ok().map(WithoutFallback::new));
}
