//! Errors of the program: one sentence, the right exit code, no files left behind.

use crate::common;

use common::{Folder, gzip, rows};
use negmm::Method;

#[test]
fn data_that_cannot_be_read() {
    let folder = Folder::new();
    folder.data_refused("", "data.csv: the file is empty");
    folder.data_refused("x,y\n", "data.csv: there is a header but no row of data");
    folder.data_refused("x,y\n1,2\n", "data.csv: method ne-gmm needs at least 2 rows, found 1");
    folder.data_refused("x,y\n1,2\n3,4,5\n", "data.csv, row 2 (line 3): expected 2 cells, found 3");
    folder.data_refused("x,y\n1,2\n3\n", "data.csv, row 2 (line 3): expected 2 cells, found 1");
    folder.data_refused("x,y\n1,\"2\n3,4\n", "data.csv, row 1 (line 2): a quote is opened and never closed");
    folder.data_refused(
        b"x,c,y\n1,\xff,2\n",
        "data.csv, row 1 (line 2), column \"c\": expected text in UTF-8, found other bytes: convert it (of Latin-1: iconv -f LATIN1 -t UTF-8)",
    );
    folder.data_refused(
        b"x,\xff,y\n1,1,2\n",
        "data.csv, header (line 1), column 2: expected text in UTF-8, found other bytes: convert it (of Latin-1: iconv -f LATIN1 -t UTF-8)",
    );
    folder.data_refused("x,x,y\n1,1,2\n", "data.csv: the column name \"x\" occurs twice (columns 1 and 2)");
    folder.data_refused("y\n1\n2\n", "data.csv: there is no input column beside the target \"y\"");
    let whole = gzip(rows(60).as_bytes());
    folder.data_refused(&whole[..whole.len() / 2], "data.csv: the gzip stream is truncated");
    folder.data_refused(b"\x1f\x8bhello, this is not gzip", "data.csv: the gzip stream is corrupt");
    folder.data_refused([&whole[..], b"x,y"].concat(), "data.csv: the gzip stream is followed by bytes that are none");
    folder.data_refused("\n\r\n\n", "data.csv: the file has only blank lines");
    // Seventy million blank lines in seventy thousand bytes.
    folder.data_refused(gzip(&vec![b'\n'; 70 << 20]), "data.csv: the file has only blank lines");
}

#[test]
fn numbers_that_are_not_finite() {
    let folder = Folder::new();
    for cell in ["inf", "-Infinity", "1e400"] {
        let location = "data.csv, row 2 (line 3), column";
        folder.data_refused(
            format!("x,y\n1,2\n{cell},4\n"),
            &format!("{location} \"x\": the number \"{cell}\" is not finite"),
        );
        folder.data_refused(
            format!("x,y\n1,2\n4,{cell}\n"),
            &format!("{location} \"y\": the number \"{cell}\" is not finite"),
        );
    }
    folder.data_refused("x,y\n1,2\n2,high\n", "data.csv, row 2, column \"y\": expected a number, found \"high\"");
    folder.data_refused("x,y\n1,2\n2,\n", "data.csv: method ne-gmm needs at least 2 rows, found 1");
    folder.data_refused("x,y\n1,NA\n2,NA\n", "data.csv, row 1, column \"y\": the target is missing");
    folder.data_refused(
        "x,y\n1,2\n2,1e308\n",
        "data.csv, row 2, column \"y\": the target must lie between -1e100 and 1e100, found 1e308",
    );
}

#[test]
fn missing_files() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("folder")).unwrap();
    let fit = |data, output| ["fit", data, "--target", "y", "-o", output];
    folder.refused(&fit("none.csv", "m"), 1, "none.csv: there is no such file or folder");
    folder.refused(&fit("folder", "m"), 1, "folder: there is no CSV or Parquet file in this folder");
    folder.refused(&fit("ok.csv", "folder"), 1, "folder: expected a file, found a directory");
    folder.refused(&fit("ok.csv", "none/m"), 1, "none/m: the folder none does not exist");
    folder.refused(&["predict", "none", "ok.csv"], 1, "none: there is no such file or folder");
    folder.refused(&["predict", "folder", "ok.csv"], 1, "folder: expected a file, found a directory");
    folder.refused(&["predict", "ok.negmm", "none.csv"], 1, "none.csv: there is no such file or folder");
    folder.refused(
        &["predict", "ok.negmm", "ok.csv", "-o", "none/p.csv"],
        1,
        "none/p.csv: the folder none does not exist",
    );
    if cfg!(target_os = "linux") {
        folder.refused(&fit("ok.csv", "/proc/m"), 1, "/proc/m: cannot create files in the folder /proc");
    }
    folder.refused(&["demo", "--save", "ok.csv"], 1, "ok.csv: a file of that name is already there");
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let folder = Folder::with_model();
    folder.write("mine", "precious");
    let mut permissions = folder.path("mine").metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(folder.path("mine"), permissions).unwrap();
    folder.refused(&["predict", "ok.negmm", "ok.csv", "-o", "mine"], 1, "mine: permission denied");
    assert_eq!(folder.read("mine"), b"precious");
}

#[test]
fn an_output_does_not_replace_an_input() {
    let folder = Folder::with_model();
    let before = (folder.read("ok.csv"), folder.read("ok.negmm"));
    folder.refused(
        &["fit", "ok.csv", "--target", "y", "-o", "./ok.csv"],
        2,
        "the model would replace the data in ./ok.csv: use another -o MODEL",
    );
    folder.refused(
        &["predict", "ok.negmm", "ok.csv", "-o", "ok.csv"],
        2,
        "the predictions would replace the data in ok.csv: use another -o FILE",
    );
    folder.refused(
        &["predict", "ok.negmm", "ok.csv", "-o", "ok.negmm"],
        2,
        "the predictions would replace the model in ok.negmm: use another -o FILE",
    );
    assert_eq!((folder.read("ok.csv"), folder.read("ok.negmm")), before);
}

#[test]
fn options_out_of_range() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    for (option, value, message) in [
        ("components", "0", "components must be from 1 to 1000, found 0"),
        ("components", "-1", "components must be a whole number, at least 0, found \"-1\""),
        ("components", "two", "components must be a number, found \"two\""),
        ("eta", "1.5", "eta must be from 0 to 1, found 1.5"),
        ("eta", "-0.1", "eta must be from 0 to 1, found -0.1"),
        ("eta", "nan", "eta must be from 0 to 1, found NaN"),
        ("learning-rate", "-1", "learning-rate must be above 0 and at most 1000, found -1"),
        ("weight-decay", "-1", "weight-decay must be at least 0, found -1"),
        ("validation-fraction", "1", "validation-fraction must be from 0 to 0.9, found 1"),
        ("validation-fraction", "-0.5", "validation-fraction must be from 0 to 0.9, found -0.5"),
        ("dropout", "1", "dropout must be at least 0 and below 1, found 1"),
        ("hidden", "0", "hidden must be from 1 to 16384 units, found 0"),
        ("hidden", "100000000", "hidden must be from 1 to 16384 units, found 100000000"),
        ("epochs", "0", "epochs must be from 1 to 10000000, found 0"),
        ("batch-size", "0", "batch-size must be at least 1, found 0"),
        ("seed", "-3", "seed must be a whole number, at least 0, found \"-3\""),
        ("threads", "x", "threads must be a whole number, at least 0, found \"x\""),
        ("threads", "100000", "threads must be at most 1024, found 100000"),
        ("features", "x,y", "ok.csv: the target \"y\" cannot be an input too"),
        ("features", "x,z", "ok.csv: there is no column \"z\"; the columns are \"x\", \"c\", \"y\""),
        ("ignore", "z", "ok.csv: there is no column \"z\"; the columns are \"x\", \"c\", \"y\""),
    ] {
        let fit = ["fit", "ok.csv", "--target", "y", "-o", "m", "--method", "ne-gmm", &format!("--{option}"), value];
        folder.refused(&fit, 2, message);
    }
    folder.refused(
        &[
            "fit",
            "ok.csv",
            "--target",
            "y",
            "-o",
            "m",
            "--method",
            "mdn",
            "--components",
            "5",
            "--hidden",
            "16384,16384",
        ],
        2,
        "a network may have 100000000 parameters at most, and this one would have 268763151: use fewer hidden units",
    );
    folder.refused(
        &["fit", "ok.csv", "--target", "z", "-o", "m"],
        2,
        "ok.csv: there is no column \"z\"; the columns are \"x\", \"c\", \"y\"",
    );
}

#[test]
fn methods_and_their_options() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    let fit = |more: &[&'static str]| [&["fit", "ok.csv", "--target", "y", "-o", "m"], more].concat();
    let having = |option: &str| {
        let methods = Method::all().into_iter().filter(|method| option.is_empty() || method.has(option));
        methods.map(|method| method.name()).collect::<Vec<_>>().join(", ")
    };
    folder.refused(
        &fit(&["--method", "magic"]),
        2,
        &format!("there is no method \"magic\"; the methods are {}", having("")),
    );
    for (method, flag, value) in [("mdn", "--eta", "0.5"), ("constant", "--epochs", "5"), ("auto", "--epochs", "5")] {
        let option = flag.trim_start_matches('-');
        folder.refused(
            &fit(&["--method", method, flag, value]),
            2,
            &format!("{option} is not an option of {method}; methods that have it: {}", having(option)),
        );
    }
}

#[test]
fn invalid_command_lines() {
    let folder = Folder::with_model();
    let refused = |arguments: &[&str], message: &str| {
        folder.refused(arguments, 2, &format!("{message}; see --help"));
    };
    refused(&["fit", "ok.csv", "--target", "y"], "missing required argument --output <MODEL>");
    refused(&["fit", "--target", "y", "-o", "m"], "missing required argument <DATA>");
    refused(
        &["fit", "ok.csv", "-o", "m", "--component", "3"],
        "there is no option --component (did you mean --components?)",
    );
    refused(&["fit", "ok.csv", "-o", "m", "--nonsense", "3"], "there is no option --nonsense");
    refused(&["fit", "ok.csv", "-o", "m", "--target", "y", "--target", "x"], "--target is given more than once");
    let compare = ["compare", "ok.csv", "--target", "y", "--folds", "3", "--repeats", "2"];
    refused(&compare, "--folds cannot be used with --repeats");
    refused(&["inspect", "ok.negmm", "--engines"], "[MODEL] cannot be used with --engines");
    refused(&["predict"], "missing required arguments <MODEL>, <DATA>");
    refused(&["fit", "ok.csv", "--target", "y", "-o", ""], "--output <MODEL> needs a value");
    refused(&["fit", "ok.csv", "-o"], "--output <MODEL> needs a value");
    refused(&["inspect", "ok.negmm", "again"], "unexpected argument \"again\"");
    refused(&["predit", "ok.negmm", "ok.csv"], "there is no command \"predit\" (did you mean predict?)");
    refused(&["frobnicate"], "there is no command \"frobnicate\"");
    folder.refused(&["fit", "ok.csv", "-o", "m"], 2, "which column should be predicted? Use --target COL");
    folder.refused(&["demo", "toy3"], 2, "there is no toy problem \"toy3\"; there are toy1 and toy2");
    refused(&["fti"], "there is no command \"fti\" (did you mean fit?)");
    folder.refused(
        &["fit", "ok.csv", "--target", "y", "-o", "m", "--method", "nge-gmm"],
        2,
        "there is no method \"nge-gmm\" (did you mean ne-gmm?); the methods are auto, ne-gmm, mdn, beta-nll, sample-net, ensemble, \
         ngboost, constant",
    );
}

#[test]
fn config_files() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    let fit = ["fit", "ok.csv", "--target", "y", "-o", "m", "--config", "c.toml", "--method", "ne-gmm"];
    folder.refused(&fit, 2, "c.toml: there is no such file or folder");
    for (text, message) in [
        ("epochs = 3\nbogus = 3\n", "line 2: bogus is not an option"),
        ("epochs = 3\n\nhidden = = 4\n", "line 3: this is not valid TOML (extra `=`, expected nothing)"),
        ("epochs = 3\nepochs = 4\n", "line 2: this is not valid TOML (duplicate key)"),
        ("epochs = \"many\"\n", "line 1: epochs must be a number, found \"many\""),
        ("# long\nepochs = true\n", "line 2: epochs must be a number, found \"true\""),
        ("epochs = 3\nepoks = 3\n", "line 2: epoks is not an option (did you mean epochs?)"),
        ("\"seed=1\" = 3\n", "line 1: seed=1 is not an option (did you mean seed?)"),
        ("continuous = 3\n", "line 1: continuous must be true or false, found \"3\""),
        ("seed = 1\nmemory = 0.5\n", "line 2: memory must be a whole number, at least 0, found \"0.5\""),
        ("window = 0\n", "line 1: window must be from 1 to 10000, found 0"),
        (
            "method = \"mean\"\n",
            "line 1: there is no method \"mean\"; the methods are auto, ne-gmm, mdn, beta-nll, sample-net, \
          ensemble, ngboost, constant",
        ),
        ("[training]\nepochs = 1\n", "line 1: \"training\" must be text, a number, true, false, or a list of these"),
        ("eta = 2\n", "line 1: eta must be from 0 to 1, found 2"),
        ("seed = -1\n", "line 1: seed must be a whole number, at least 0, found \"-1\""),
        (
            "sigma-min = 0.5\nepochs = 3\nsigma-max = 0.25\n",
            "line 3: sigma-max must be larger than 0.5, found 0.25 (see sigma-min)",
        ),
    ] {
        folder.write("c.toml", text);
        folder.refused(&fit, 2, &format!("c.toml, {message}"));
    }
    folder.write("c.toml", b"\xff");
    folder.refused(&fit, 2, "c.toml: expected text in UTF-8, found other bytes");
}

#[test]
fn model_files() {
    let folder = Folder::with_model();
    let model = folder.read("ok.negmm");
    let foreign = "bad: this is not a negmm model file, or it is damaged";
    for bytes in [&b""[..], b"hello", &model[..4], &model[..1000], &model[..model.len() - 1], &folder.read("ok.csv")] {
        folder.write("bad", bytes);
        folder.refused(&["predict", "bad", "ok.csv", "-o", "p.csv"], 1, foreign);
        folder.refused(&["inspect", "bad"], 1, foreign);
    }
    // One bit, anywhere: refused in one sentence.
    for at in (0..model.len()).step_by(97) {
        let mut flipped = model.clone();
        flipped[at] ^= 1;
        folder.write("bad", &flipped);
        let outcome = folder.call(&["evaluate", "bad", "ok.csv"]);
        assert_eq!(outcome.code, Some(1), "byte {at}");
        assert!(outcome.out.is_empty() && outcome.err.starts_with("error: bad: "), "byte {at}: {}", outcome.err);
        assert_eq!(outcome.err.matches('\n').count(), 1, "byte {at}: {}", outcome.err);
    }
}

#[test]
fn rows_and_queries_that_a_model_cannot_answer() {
    let folder = Folder::with_model();
    folder.write("text.csv", "x,c\n1,a\nhello,b\n");
    folder.write("narrow.csv", "x\n1\n");
    let columns = "the columns are \"x\", \"c\", \"y\"";
    let predict = |data, more: &[&'static str]| [&["predict", "ok.negmm", data], more].concat();
    let message = "text.csv, row 2 (line 3), column \"x\": expected a number, found \"hello\"";
    folder.refused(&predict("text.csv", &[]), 1, message);
    folder.refused(&predict("text.csv", &["-o", "p.csv"]), 1, message);
    let message = "narrow.csv: there is no column \"c\"; the columns are \"x\"";
    folder.refused(&predict("narrow.csv", &["-o", "p.csv"]), 1, message);
    let message = "text.csv: there is no column \"y\"; the columns are \"x\", \"c\"";
    folder.refused(&["evaluate", "ok.negmm", "text.csv"], 1, message);
    folder.write("far.csv", "x,c,y\n1,a,1\n1,a,-1e200\n");
    let message = "far.csv, row 2, column \"y\": the target must lie between -1e100 and 1e100, found -1e200";
    folder.refused(&["evaluate", "ok.negmm", "far.csv"], 1, message);
    for (flag, value, message) in [
        ("--quantiles", "0", "quantiles must lie strictly between 0 and 1, found 0"),
        ("--quantiles", "0.5,1", "quantiles must lie strictly between 0 and 1, found 1"),
        ("--quantiles", "nan", "quantiles must be numbers with commas between them, found \"nan\""),
        ("--interval", "-0.1", "interval must lie strictly between 0 and 1, found -0.1"),
        ("--shortfall", "1", "shortfall must lie strictly between 0 and 1, found 1"),
        ("--above", "inf", "above must be numbers with commas between them, found \"inf\""),
        ("--draws", "100001", "draws must be at most 100000, found 100001"),
        ("--draws", "-1", "draws must be a whole number, at least 0, found \"-1\""),
        ("--quantiles", "0.5,0.5", "two columns of the output would be called \"q0.5\": quantile 0.5 and quantile 0.5"),
    ] {
        folder.refused(&predict("ok.csv", &[flag, value, "-o", "p.csv"]), 2, message);
    }
    folder.refused(&predict("ok.csv", &["--keep", "id"]), 2, &format!("ok.csv: there is no column \"id\"; {columns}"));
}
