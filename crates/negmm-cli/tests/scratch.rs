//! Fits from scratch files: the bits of a fit in memory, and nothing is left behind.

use crate::common::{Folder, rows};

/// A table with every kind of column: numbers with missing cells, a rising number, few and many categories, dates, weights.
fn mixed(count: usize) -> Vec<String> {
    let line = |row: usize| {
        let x = (row as f64 * 0.618_033_988_749).fract();
        let noise = (row as f64 * 0.414_213_562_373).fract();
        let size = if row.is_multiple_of(11) { String::new() } else { format!("{}", (row * row % 97) as f64 / 3.0) };
        let shop = row * 7 % 90;
        let day = format!("2024-{:02}-{:02}", 1 + row / 28 % 12, 1 + row % 28);
        let end = format!("2025-{:02}-{:02}", 1 + row / 14 % 12, 1 + row * 3 % 28);
        let flag = ["yes", "no", ""][row % 3];
        let weight = row % 4;
        let y = 2.0 * x + noise + (shop % 5) as f64;
        format!("{x},{size},{flag},shop {shop},{day},{end},{weight},{},{y}", row / 9)
    };
    (0..count).map(line).collect()
}

const HEADER: &str = "x,size,flag,shop,day,end,w,g,y";

/// The table in one file, `whole.csv`, and in several, the folder `parts`.
fn folder(count: usize) -> Folder {
    let folder = Folder::new();
    let lines = mixed(count);
    folder.write("whole.csv", format!("{HEADER}\n{}\n", lines.join("\n")));
    std::fs::create_dir(folder.path("parts")).unwrap();
    std::fs::create_dir(folder.path("scratch")).unwrap();
    for (part, lines) in lines.chunks(count.div_ceil(3)).enumerate() {
        folder.write(&format!("parts/{part}.csv"), format!("{HEADER}\n{}\n", lines.join("\n")));
    }
    folder
}

pub fn names(folder: &Folder) -> Vec<String> {
    let files = std::fs::read_dir(folder.path("scratch")).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// Fits the data in memory and from a scratch file, and compares the models and the held-out predictions.
#[track_caller]
pub fn same(folder: &Folder, data: &str, more: &[&str]) {
    let fit = |model: &str, held_out: &str, scratch: &[&str]| {
        let first = ["fit", data, "--target", "y", "-o", model, "--held-out", held_out, "--quiet"];
        let outcome = folder.call(&[&first, scratch, more].concat());
        assert_eq!(outcome.code, Some(0), "{more:?}: {}", outcome.err);
    };
    fit("memory.negmm", "memory.csv", &[]);
    fit("disk.negmm", "disk.csv", &["--scratch", "scratch"]);
    assert!(folder.read("memory.negmm") == folder.read("disk.negmm"), "{data} {more:?}");
    assert!(folder.read("memory.csv") == folder.read("disk.csv"), "{data} {more:?}");
    assert!(names(folder).is_empty());
}

#[test]
fn a_fit_from_disk_has_the_bits_of_one_in_memory() {
    let folder = folder(330);
    let auto = ["--steps", "25", "--preset", "fast"];
    for data in ["whole.csv", "parts"] {
        same(&folder, data, &[&auto[..], &["--ignore", "w,g"]].concat());
    }
    same(&folder, "whole.csv", &[&auto[..], &["--weight", "w", "--ignore", "g"]].concat());
    same(&folder, "whole.csv", &[&auto[..], &["--group", "g", "--ignore", "w"]].concat());
    same(&folder, "parts/*", &[&auto[..], &["--time", "day", "--text", "g"]].concat());
    same(
        &folder,
        "whole.csv",
        &["--preset", "best", "--folds", "3", "--n-repeats", "1", "--steps", "9", "--lower", "0"],
    );
    let short = ["--epochs", "2", "--hidden", "6"];
    for method in ["ne-gmm", "mdn", "beta-nll", "sample-net"] {
        same(&folder, "parts", &[&short[..], &["--method", method, "--background", "5"]].concat());
    }
    same(&folder, "whole.csv", &[&short[..], &["--method", "ensemble", "--ensemble-size", "2"]].concat());
    same(&folder, "whole.csv", &["--method", "constant"]);
}

#[test]
fn targets_of_every_kind_have_the_same_bits() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("scratch")).unwrap();
    let text = |y: fn(usize) -> String| {
        let line = |row: usize| format!("{},{}\n", (row as f64 * 0.618_033_988_749).fract(), y(row));
        format!("x,y\n{}", (0..160).map(line).collect::<String>())
    };
    let short = ["--steps", "9", "--preset", "fast"];
    // Counts, a target with zeros, yes and no, missing targets, a decimal comma.
    folder.write("count.csv", text(|row| (row * row % 7).to_string()));
    folder.write("zeros.csv", text(|row| if row % 3 == 0 { "0".into() } else { format!("{}.5", row * 37 % 101) }));
    folder.write("truth.csv", text(|row| ["yes", "no"][row % 2].into()));
    folder.write("gaps.csv", text(|row| if row % 9 == 4 { String::new() } else { format!("{}.25", row % 31) }));
    // Where x and y have decimal commas, 1.234 is a thousand, though it is also a plain number.
    let comma =
        |row: usize| format!("0,{};{}.{:03};{},{}\n", row * 7919 % 997, 1 + row % 8, row * 7 % 1000, row % 31, row % 9);
    folder.write("comma.csv", format!("x;t;y\n{}", (0..160).map(comma).collect::<String>()));
    for data in ["count.csv", "zeros.csv", "truth.csv", "gaps.csv", "comma.csv"] {
        same(&folder, data, &short);
    }
    let inspected = folder.done(&["inspect", "disk.negmm", "--json"]).json();
    let thousands = inspected["inputs"].as_array().unwrap().iter().find(|input| input["name"] == "t").unwrap();
    assert!(thousands.to_string().contains("\"decimal\":\",\""), "{thousands}");
}

#[test]
fn warnings_and_summaries_are_those_of_a_fit_in_memory() {
    let folder = folder(120);
    folder.write(
        "odd.csv",
        format!("c,{HEADER}\n{}\n", mixed(120).iter().map(|line| format!("1,{line}\n")).collect::<String>()),
    );
    let fit = |scratch: &[&str]| {
        let first = ["fit", "odd.csv", "--target", "y", "-o", "m.negmm", "--method", "ne-gmm", "--epochs", "2"];
        let outcome = folder.call(&[&first, scratch].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        let text = outcome.text().lines().filter(|line| !line.starts_with("trained")).collect::<Vec<_>>().join("\n");
        (text, outcome.err)
    };
    let (memory, disk) = (fit(&[]), fit(&["--scratch", "scratch"]));
    assert_eq!(memory.0, disk.0);
    let (size, warnings) = disk.1.split_once('\n').unwrap();
    assert!(size.starts_with("note: about 0.00 GB go into scratch files in scratch"), "{size}");
    assert_eq!(memory.1, warnings);
    assert!(warnings.contains("is the same in every row"), "{warnings}");
}

#[test]
fn what_cannot_be_learnt_from_a_scratch_file_is_refused() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("scratch")).unwrap();
    let refused = |data: &str, more: &[&str], code: i32, message: &str| {
        let fit = ["fit", data, "--target", "y", "-o", "new.negmm", "--scratch", "scratch", "--quiet"];
        folder.refused(&[&fit, more].concat(), code, message);
    };
    refused("-", &[], 2, "--scratch needs files that can be read twice, not standard input");
    refused("ok.csv", &["--sample", "9"], 2, "--scratch is for all rows: leave out --sample, or --scratch");
    let message = "--scratch is for models of one target and independent rows";
    refused("ok.csv", &["--sequence", "y"], 2, message);
    let message = "several targets and forecasts are learnt in memory, not from a scratch file";
    folder.refused(
        &["fit", "ok.csv", "--targets", "x,y", "-o", "new.negmm", "--scratch", "scratch", "--quiet"],
        2,
        message,
    );
    refused(
        "ok.csv",
        &["--method", "ngboost"],
        2,
        "ngboost needs all rows in memory, not in a scratch file: learn from a sample of them, or use auto",
    );
    let message = "rows in a scratch file are trained on the CPU: leave out --engine cuda";
    refused("ok.csv", &["--engine", "cuda"], 2, message);
    let fit = ["fit", "ok.csv", "--target", "y", "-o", "new.negmm", "--scratch", "nowhere"];
    folder.refused(&fit, 1, "nowhere: the scratch folder does not exist");
    // Errors of data name the file and the row.
    folder.write("bad.csv", "x,y\n1,2\n2,inf\n3,4\n");
    refused("bad.csv", &[], 1, "bad.csv, row 2 (line 3), column \"y\": the number \"inf\" is not finite");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::process::{Child, Command, Stdio};

    use crate::common::wait_until;

    /// A fit from a scratch file that takes for ever.
    fn endless(folder: &Folder, data: &str, model: &str) -> Child {
        let fit =
            ["fit", data, "--target", "y", "-o", model, "--scratch", "scratch", "--steps", "100000000", "--quiet"];
        folder.command(&fit).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn with_scratch() -> Folder {
        let folder = Folder::with_model();
        std::fs::create_dir(folder.path("scratch")).unwrap();
        folder
    }

    /// The sizes of the scratch files that the process has open: that of the columns, and then that of the encoded rows. They have no
    /// name.
    fn scratch_files(child: &Child) -> Vec<u64> {
        let open = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
        let is_scratch = |link: std::path::PathBuf| link.to_string_lossy().contains("/scratch/");
        let scratch = open.filter(|file| std::fs::read_link(file.path()).is_ok_and(is_scratch));
        scratch.filter_map(|file| Some(std::fs::metadata(file.path()).ok()?.len())).collect()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn nothing_is_left_by_a_run_that_is_killed_or_interrupted() {
        let folder = with_scratch();
        folder.write("many.csv", rows(300_000));
        for (signal, code) in [("-KILL", None), ("-INT", Some(130)), ("-TERM", Some(143))] {
            for data in ["many.csv", "ok.csv"] {
                let mut child = endless(&folder, data, "new.negmm");
                if data == "many.csv" {
                    wait_until("columns are written", || scratch_files(&child).first().is_some_and(|size| *size > 0));
                    assert_eq!(scratch_files(&child).len(), 1, "rows are not encoded yet");
                } else {
                    let encoded = || matches!(scratch_files(&child)[..], [one, other] if one.min(other) > 0);
                    wait_until("rows are encoded", encoded);
                }
                assert!(names(&folder).is_empty(), "scratch files have no name");
                assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
                assert_eq!(child.wait().unwrap().code(), code);
                assert!(names(&folder).is_empty());
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn two_runs_share_a_folder() {
        let folder = with_scratch();
        let mut other = endless(&folder, "ok.csv", "other.negmm");
        wait_until("there is a scratch file", || !scratch_files(&other).is_empty());
        let fit = ["fit", "ok.csv", "--target", "y", "-o", "disk.negmm", "--scratch", "scratch", "--method", "ne-gmm"];
        folder.done(&[&fit[..], &["--epochs", "3", "--hidden", "4"]].concat());
        assert!(folder.read("disk.negmm") == folder.read("ok.negmm"));
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_full_disk_is_one_sentence() {
        let folder = with_scratch();
        folder.write("many.csv", rows(40_000));
        let program = env!("CARGO_BIN_EXE_negmm");
        // Files of at most 400 blocks of 512 bytes: what is written beyond fails as on a full disk.
        let script = format!(
            "trap '' XFSZ; ulimit -f 400; exec {program} fit many.csv --target y -o m.negmm --scratch scratch -q"
        );
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path(".")).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with("error: scratch: no space is left in the scratch folder for 0.00 GB"), "{message}");
        assert_eq!(message.lines().count(), 1);
        assert_eq!((names(&folder).len(), folder.path("m.negmm").exists()), (0, false));
    }
}
