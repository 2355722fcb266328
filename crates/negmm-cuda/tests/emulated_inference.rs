//! Emulated kernels predict bit-identically to the CPU. Needs a C++ compiler, no GPU.

mod common;

use std::sync::{Arc, Mutex};

use common::{emulated, predictors};
use negmm::{Accelerator, Predictions};
use negmm_cuda::{EmulatedDevice, emulated_accelerator};

/// An accelerator on an emulated device; with `reverse_items` also one with the least shared memory.
fn accelerator(reverse_items: bool) -> Option<Arc<dyn Accelerator>> {
    let mut device = emulated(reverse_items)?;
    if reverse_items {
        device.shared_memory = 0;
    }
    Some(emulated_accelerator(device, Box::new(|text| panic!("{text}"))))
}

#[test]
fn outputs_are_bit_identical_to_the_cpu() {
    for reverse_items in [false, true] {
        let Some(accelerator) = accelerator(reverse_items) else { return };
        predictors::same_outputs(&accelerator, &[1, 9, 31, 33, 70]);
    }
}

#[test]
fn large_pools_take_several_launches() {
    let Some(accelerator) = accelerator(false) else { return };
    for (name, predictor, count) in predictors::large_table() {
        predictors::same(&accelerator, name, &predictor, count);
    }
}

#[test]
fn quantiles_are_bit_identical_to_the_cpu() {
    for reverse_items in [false, true] {
        let Some(accelerator) = accelerator(reverse_items) else { return };
        predictors::same_quantiles(&accelerator);
    }
}

#[test]
fn a_model_predicts_the_same_with_an_accelerator() {
    let Some(accelerator) = accelerator(false) else { return };
    predictors::same_model(&accelerator);
}

/// An accelerator and the notices that it will give.
fn with_notices(device: EmulatedDevice) -> (Arc<Mutex<Vec<String>>>, Arc<dyn Accelerator>) {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = notices.clone();
    let notify = Box::new(move |text: &str| sink.lock().unwrap().push(text.to_string()));
    (notices, emulated_accelerator(device, notify))
}

#[test]
fn a_network_too_wide_for_shared_memory_is_left_to_the_cpu() {
    let Some(device) = emulated(false) else { return };
    let (notices, accelerator) = with_notices(device);
    let (wide, data) = (predictors::too_wide(), predictors::rows(40));
    let member = wide.networks().next().unwrap();
    assert_eq!(accelerator.outputs(&member.network, &[&member.parameters], data.x(), data.stride()), None);
    assert_eq!(*notices.lock().unwrap(), ["engine cuda: networks as wide as this one are predicted on the CPU"]);
    // The device is still used for quantiles.
    predictors::same_quantiles(&accelerator);
}

#[test]
fn predictions_of_a_lost_gpu_are_made_on_the_cpu() {
    for launches in [0, 1, 3] {
        let Some(mut device) = emulated(false) else { return };
        device.launches_left = launches.into();
        let (notices, accelerator) = with_notices(device);
        let predictions = Predictions::from(predictors::difficult(2));
        let accelerated = predictions.clone().accelerated(accelerator);
        for level in [0.1, 0.2, 0.3, 0.4, 0.5] {
            assert_eq!(accelerated.quantile(level).unwrap(), predictions.quantile(level).unwrap());
        }
        assert_eq!(*notices.lock().unwrap(), ["engine cuda: the GPU is gone; continuing on the CPU"]);
    }
}

#[test]
fn auto_opens_no_gpu_for_small_predictions() {
    assert!(negmm_cuda::accelerator("cpu", Box::new(|_| {})).unwrap().is_none());
    assert!(negmm_cuda::accelerator("gpu", Box::new(|_| {})).is_err());
    let auto =
        negmm_cuda::accelerator("auto", Box::new(|_| {})).unwrap().expect("an accelerator that may open a GPU later");
    for (_, predictor) in predictors::table() {
        let member = predictor.networks().next().unwrap();
        let data = predictors::rows(40);
        assert_eq!(auto.outputs(&member.network, &[&member.parameters], data.x(), data.stride()), None);
    }
}
