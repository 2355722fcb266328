//! The kernels give the bits of the processor's engine, for every head, loss and option that they train, compiled for a processor:
//! this needs a C++ compiler and no card.

mod jobs;

use jobs::{same, table, train};
use negmm::train::CpuEngine;
use negmm_cuda::{CudaEngine, Emulated};

#[test]
fn bits_are_those_of_the_processor() {
    for turned_around in [false, true] {
        for shared_memory in [227 * 1024, 0] {
            let Some(mut device) = Emulated::new(turned_around) else {
                return println!("skipped: there is no C++ compiler");
            };
            device.shared_memory = shared_memory;
            let mut engine = CudaEngine::emulated(device);
            engine.tell = Box::new(|text| panic!("{text}"));
            for (name, job) in table() {
                let start = std::time::Instant::now();
                let found = train(&engine, &job);
                println!("{name}: {:?}", start.elapsed());
                same(name, &found, &train(&CpuEngine::new(1), &job));
            }
        }
    }
}
