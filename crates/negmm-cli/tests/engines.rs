//! Engines: those available, those requested, and models and predictions with the same bytes from each.

use crate::common;

use common::{Folder, rows};

#[test]
fn engines_are_listed_and_unknown_ones_refused() {
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

#[test]
fn every_engine_predicts_the_same() {
    let folder = Folder::new();
    let engines = folder.done(&["inspect", "--engines", "--json"]).json();
    folder.write("data.csv", rows(60));
    folder.done(&["fit", "data.csv", "--target", "y", "-o", "model.negmm", "--method", "ne-gmm", "--epochs", "2"]);
    let predict = ["predict", "model.negmm", "data.csv", "--quantiles", "0.1,0.9", "--interval", "0.5"];
    let evaluate = ["evaluate", "model.negmm", "data.csv"];
    for command in [&predict[..], &evaluate] {
        let with = |engine: &'static str| [command, &["--engine", engine]].concat();
        folder.refused(&with("gpu"), 2, "engine must be one of auto, cpu, cuda, found \"gpu\"");
        let by_processor = folder.done(&with("cpu")).out;
        assert_eq!(folder.done(&with("auto")).out, by_processor);
        match engines["cuda"]["usable"] == true {
            true => assert_eq!(folder.done(&with("cuda")).out, by_processor),
            false => folder.refused(&with("cuda"), 2, engines["cuda"]["reason"].as_str().unwrap()),
        }
    }
}
