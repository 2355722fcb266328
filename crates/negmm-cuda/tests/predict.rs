//! The kernels predict with the bits of the processor, compiled for a processor: this needs a C++ compiler and no card.

mod common;

use std::sync::{Arc, Mutex};

use common::{emulated, predictors};
use negmm::{Accelerator, Predictions};
use negmm_cuda::{Emulated, emulated_accelerator};

/// With a device whose items are done first to last or last to first.
fn accelerator(turned_around: bool) -> Option<Arc<dyn Accelerator>> {
    let mut device = emulated(turned_around)?;
    if turned_around {
        device.shared_memory = 0;
    }
    Some(emulated_accelerator(device, Box::new(|text| panic!("{text}"))))
}

#[test]
fn outputs_are_those_of_the_processor() {
    for turned_around in [false, true] {
        let Some(accelerator) = accelerator(turned_around) else { return };
        predictors::same_outputs(&accelerator, &[1, 9, 31, 33, 70]);
    }
}

#[test]
fn large_pools_go_in_portions() {
    let Some(accelerator) = accelerator(false) else { return };
    for (name, predictor, count) in predictors::large_table() {
        predictors::same(&accelerator, name, &predictor, count);
    }
}

#[test]
fn quantiles_are_those_of_the_processor() {
    for turned_around in [false, true] {
        let Some(accelerator) = accelerator(turned_around) else { return };
        predictors::same_quantiles(&accelerator);
    }
}

#[test]
fn a_model_predicts_and_answers_the_same() {
    let Some(accelerator) = accelerator(false) else { return };
    predictors::same_model(&accelerator);
}

/// What is told, and an accelerator that tells it.
fn telling(device: Emulated) -> (Arc<Mutex<Vec<String>>>, Arc<dyn Accelerator>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    let tell = Box::new(move |text: &str| heard.lock().unwrap().push(text.to_string()));
    (told, emulated_accelerator(device, tell))
}

#[test]
fn a_network_that_no_block_holds_is_left_to_the_processor() {
    let Some(device) = emulated(false) else { return };
    let (told, accelerator) = telling(device);
    let (wide, data) = (predictors::too_wide(), predictors::rows(40));
    let member = wide.networks().next().unwrap();
    assert_eq!(accelerator.outputs(&member.network, &[&member.parameters], data.x(), data.stride()), None);
    assert_eq!(*told.lock().unwrap(), ["engine cuda: a network as wide as this is predicted on the processor"]);
    // The device goes on with what it can.
    predictors::same_quantiles(&accelerator);
}

#[test]
fn a_card_that_is_taken_away_loses_nothing() {
    for launches in [0, 1, 3] {
        let Some(mut device) = emulated(false) else { return };
        device.launches_left = launches.into();
        let (told, accelerator) = telling(device);
        let predictions = Predictions::from(predictors::hostile(2));
        let accelerated = predictions.clone().accelerated(accelerator);
        for level in [0.1, 0.2, 0.3, 0.4, 0.5] {
            assert_eq!(accelerated.quantile(level).unwrap(), predictions.quantile(level).unwrap());
        }
        assert_eq!(*told.lock().unwrap(), ["engine cuda: the card is gone; the processor goes on"]);
    }
}

#[test]
fn auto_looks_for_no_card_where_there_is_little_to_do() {
    assert!(negmm_cuda::accelerator("cpu", Box::new(|_| {})).unwrap().is_none());
    assert!(negmm_cuda::accelerator("gpu", Box::new(|_| {})).is_err());
    let auto = negmm_cuda::accelerator("auto", Box::new(|_| {})).unwrap().expect("it may find a card later");
    for (_, predictor) in predictors::table() {
        let member = predictor.networks().next().unwrap();
        let data = predictors::rows(40);
        assert_eq!(auto.outputs(&member.network, &[&member.parameters], data.x(), data.stride()), None);
    }
}
