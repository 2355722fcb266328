//! Responsible for what a system wants to be told when a module that an interpreter loads is linked.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
