//! Which engine trains: what there is, what was asked for, and that it changes no byte of a model.

use crate::program;

use program::{Folder, rows};

#[test]
fn engines_are_told_and_refused_by_name() {
    let folder = Folder::new();
    let engines = folder.done(&["inspect", "--engines", "--json"]).json();
    assert_eq!(engines["cpu"]["usable"], true);
    folder.write("data.csv", rows(60));
    let fit = ["fit", "data.csv", "--target", "y", "-o", "model.negmm", "--method", "ne-gmm", "--epochs", "2"];
    let with = |engine: &'static str| [&fit[..], &["--engine", engine]].concat();
    folder.refused(&with("gpu"), 2, "engine must be one of auto, cpu, cuda, found \"gpu\"");
    if engines["cuda"]["usable"] == false {
        folder.refused(&with("cuda"), 2, engines["cuda"]["reason"].as_str().unwrap());
    }
    folder.done(&with("cpu"));
    let by_processor = folder.read("model.negmm");
    folder.done(&with("auto"));
    assert_eq!(by_processor.len(), folder.read("model.negmm").len());
}
