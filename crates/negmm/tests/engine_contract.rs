//! The contract of engines, for the CPU engine with any number of threads and any instruction set.

use negmm::train::CpuEngine;
use negmm::train::Isa;

mod one_thread {
    engine_contract!(Some(negmm::train::CpuEngine::new(1)));
}

mod three_threads {
    engine_contract!(Some(negmm::train::CpuEngine::new(3)));
}

#[test]
fn instruction_sets_and_threads_change_no_bit() {
    for isa in Isa::ALL {
        for threads in [0, 1, 2] {
            let engine = CpuEngine { threads, isa };
            crate::common::engine_suite::the_bits_are_those_of_the_reference_in_any_order(&engine);
        }
    }
}
