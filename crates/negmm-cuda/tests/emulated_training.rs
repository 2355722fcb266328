//! Emulated kernels train bit-identically to the CPU engine, for every head, loss and option that they support. Needs a C++ compiler, no
//! GPU.

mod common;

use std::sync::{Arc, Mutex};

use common::emulated;
use common::jobs::{same, table, train, train_all};
use negmm::train::{CpuEngine, NetworkJob};
use negmm_cuda::{CudaEngine, EmulatedDevice};

#[test]
fn training_is_bit_identical_to_the_cpu() {
    for (reverse_items, shared_memory) in [(false, 227 * 1024), (true, 0)] {
        let Some(mut device) = emulated(reverse_items) else { return };
        device.shared_memory = shared_memory;
        // Several blocks per network, with a number of rows that they do not divide evenly.
        device.multiprocessors = 3;
        let mut engine = CudaEngine::emulated(device);
        engine.notify = Box::new(|text| panic!("{text}"));
        for (name, job) in table() {
            same(name, &train(&engine, &job), &train(&CpuEngine::new(1), &job));
        }
    }
}

/// The notices of an engine while it trains jobs, which are checked against the CPU engine.
fn notices_while_training(device: EmulatedDevice, jobs: &[NetworkJob]) -> Vec<String> {
    let mut engine = CudaEngine::emulated(device);
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = notices.clone();
    engine.notify = Box::new(move |text| sink.lock().unwrap().push(text.to_string()));
    for (found, job) in train_all(&engine, jobs).iter().zip(jobs) {
        same("fallback", found, &train(&CpuEngine::new(1), job));
    }
    std::mem::take(&mut *notices.lock().unwrap())
}

#[test]
fn jobs_of_a_lost_gpu_are_trained_on_the_cpu() {
    for launches in [0, 1, 3] {
        let Some(mut device) = emulated(false) else { return };
        device.launches_left = launches.into();
        let jobs: Vec<_> = table().into_iter().take(2).map(|(_, job)| job).collect();
        let notices = notices_while_training(device, &jobs);
        assert_eq!(notices, ["engine cuda: the GPU is gone; continuing on the CPU"]);
    }
}

#[test]
fn networks_wait_until_memory_is_free() {
    let (_, job) = table().remove(0);
    let jobs: Vec<_> = (0..5).map(|seed| NetworkJob { seed, ..job.clone() }).collect();
    // Memory for the rows and two networks, one network, no network; not even for the rows.
    let no_network = "engine cuda: a network needs 0 MB of GPU memory, more than is available; continuing on the CPU";
    let nothing = "engine cuda: allocating GPU memory failed; continuing on the CPU";
    for (memory, expected) in [(120_000, &[][..]), (80_000, &[]), (55_000, &[no_network]), (10_000, &[nothing])] {
        let Some(mut device) = emulated(false) else { return };
        device.memory = memory;
        assert_eq!(notices_while_training(device, &jobs), expected, "{memory} bytes");
    }
}

#[test]
fn a_network_too_wide_for_shared_memory_is_trained_on_the_cpu() {
    let Some(device) = emulated(false) else { return };
    let (_, mut job) = table().remove(0);
    job.network.hidden = vec![4000];
    let notices = notices_while_training(device, &[job]);
    assert_eq!(notices, ["engine cuda: networks as wide as this one are trained on the CPU"]);
}
