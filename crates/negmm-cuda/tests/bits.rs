//! The kernels give the bits of the processor's engine, for every head, loss and option that they train, compiled for a processor:
//! this needs a C++ compiler and no card.

mod common;

use std::sync::{Arc, Mutex};

use common::emulated;
use common::jobs::{same, table, train, train_all};
use negmm::train::{CpuEngine, NetworkJob};
use negmm_cuda::{CudaEngine, Emulated};

#[test]
fn bits_are_those_of_the_processor() {
    for (turned_around, shared_memory) in [(false, 227 * 1024), (true, 0)] {
        let Some(mut device) = emulated(turned_around) else { return };
        device.shared_memory = shared_memory;
        // Several blocks share a network, with rows that they cannot share evenly.
        device.multiprocessors = 3;
        let mut engine = CudaEngine::emulated(device);
        engine.tell = Box::new(|text| panic!("{text}"));
        for (name, job) in table() {
            same(name, &train(&engine, &job), &train(&CpuEngine::new(1), &job));
        }
    }
}

/// What an engine with this device tells while it trains jobs, all of them with the bits of the processor.
fn told_while_training(device: Emulated, jobs: &[NetworkJob]) -> Vec<String> {
    let mut engine = CudaEngine::emulated(device);
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    engine.tell = Box::new(move |text| heard.lock().unwrap().push(text.to_string()));
    for (found, job) in train_all(&engine, jobs).iter().zip(jobs) {
        same("told", found, &train(&CpuEngine::new(1), job));
    }
    std::mem::take(&mut *told.lock().unwrap())
}

#[test]
fn a_card_that_is_taken_away_loses_nothing() {
    for launches in [0, 1, 3] {
        let Some(mut device) = emulated(false) else { return };
        device.launches_left = launches.into();
        let jobs: Vec<_> = table().into_iter().take(2).map(|(_, job)| job).collect();
        let told = told_while_training(device, &jobs);
        assert_eq!(told, ["engine cuda: the card is gone; the processor goes on"]);
    }
}

#[test]
fn networks_wait_for_memory_that_others_have() {
    let (_, job) = table().remove(0);
    let jobs: Vec<_> = (0..5).map(|seed| NetworkJob { seed, ..job.clone() }).collect();
    // Room for the rows and one or two networks; for the rows alone; for nothing.
    let no_network = "engine cuda: a network takes 0 MB of the card's memory, more than it has; the processor goes on";
    let nothing = "engine cuda: taking memory of the card failed; the processor goes on";
    for (memory, expected) in [(120_000, &[][..]), (80_000, &[]), (55_000, &[no_network]), (10_000, &[nothing])] {
        let Some(mut device) = emulated(false) else { return };
        device.memory = memory;
        assert_eq!(told_while_training(device, &jobs), expected, "{memory} bytes");
    }
}

#[test]
fn a_network_that_no_block_holds_is_trained_by_the_processor() {
    let Some(device) = emulated(false) else { return };
    let (_, mut job) = table().remove(0);
    job.network.hidden = vec![4000];
    let told = told_while_training(device, &[job]);
    assert_eq!(told, ["engine cuda: a network as wide as this is trained on the processor"]);
}
