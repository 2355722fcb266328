//! The kernels give the bits of the processor's engine, for every head, loss and option that they train, compiled for a processor:
//! this needs a C++ compiler and no card.

mod jobs;

use std::sync::{Arc, Mutex};

use jobs::{same, table, train, train_all};
use negmm::train::CpuEngine;
use negmm_cuda::{CudaEngine, Emulated};

#[test]
fn bits_are_those_of_the_processor() {
    for (turned_around, shared_memory) in [(false, 227 * 1024), (true, 0)] {
        let Some(mut device) = Emulated::new(turned_around) else {
            return println!("skipped: there is no C++ compiler");
        };
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

#[test]
fn a_card_that_is_taken_away_loses_nothing() {
    for launches in [0, 1, 3] {
        let Some(mut device) = Emulated::new(false) else {
            return println!("skipped: there is no C++ compiler");
        };
        device.launches_left = launches.into();
        let mut engine = CudaEngine::emulated(device);
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = told.clone();
        engine.tell = Box::new(move |text| heard.lock().unwrap().push(text.to_string()));
        let jobs: Vec<_> = table().into_iter().take(2).map(|(_, job)| job).collect();
        let found = train_all(&engine, &jobs);
        for (found, job) in found.iter().zip(&jobs) {
            same("taken away", found, &train(&CpuEngine::new(1), job));
        }
        assert_eq!(*told.lock().unwrap(), ["engine cuda: the card is gone; the processor goes on"]);
    }
}
