//! Hyperparameter search: spaces, the journal and its errors, shards, and reproducible results.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use negmm::Rng;
use negmm::compare::{Metric, Split};
use negmm::data::ColumnRoles;
use negmm::train::{CpuEngine, JobGroup};
use negmm::tune::{
    Candidate, Dimension, Entry, Journal, RunOptions, Search, Shard, Space, Strategy, Trial, Values, run,
};
use negmm::{Error, Method, Table, Toy};
use serde_json::{Map, Value, json};

/// A folder that vanishes.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("negmm-tune-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn plan(seed: u64) -> Map<String, Value> {
    json!({ "seed": seed }).as_object().unwrap().clone()
}

fn entry(number: usize) -> Entry {
    Entry { trial: format!("trial {number}"), seconds: 0.5, result: json!({ "nll": 0.1 * number as f64 }) }
}

/// A journal of trials 0 … `count`, closed.
fn journal(folder: &Path, count: usize) {
    let mut journal = Journal::open(folder, &plan(1), Shard::WHOLE).unwrap();
    (0..count).for_each(|number| journal.append(entry(number)).unwrap());
}

fn refusal(folder: &Path, seed: u64) -> String {
    Journal::open(folder, &plan(seed), Shard::WHOLE).unwrap_err().to_string()
}

#[test]
fn a_journal_torn_anywhere_is_read_up_to_there() {
    let folder = Folder::new();
    journal(&folder.0, 3);
    let whole = fs::read(folder.path("trials.jsonl")).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
    for cut in 0..=whole.len() {
        fs::write(folder.path("trials.jsonl"), &whole[..cut]).unwrap();
        let mut journal = Journal::open(&folder.0, &plan(1), Shard::WHOLE).unwrap();
        let finished = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
        for number in 0..3 {
            assert_eq!(journal.get(&format!("trial {number}")).is_some(), number < finished, "{cut}");
        }
        (finished..3).for_each(|number| journal.append(entry(number)).unwrap());
        drop(journal);
        assert_eq!(fs::read(folder.path("trials.jsonl")).unwrap(), whole, "{cut}");
    }
    // A last line that is whole and no trial: what a crash of the machine may leave.
    let mut bytes = whole[..ends[1]].to_vec();
    bytes.extend(b"\0\0\0\0\n");
    fs::write(folder.path("trials.jsonl"), bytes).unwrap();
    let journal = Journal::open(&folder.0, &plan(1), Shard::WHOLE).unwrap();
    assert!(journal.get("trial 0").is_some() && journal.get("trial 1").is_none());
    drop(journal);
    assert_eq!(fs::read(folder.path("trials.jsonl")).unwrap(), whole[..ends[1]]);
}

#[test]
fn a_journal_of_something_else_is_refused_and_left_alone() {
    let folder = Folder::new();
    let path = folder.path("trials.jsonl");
    let shown = path.display();
    journal(&folder.0, 2);
    let whole = fs::read_to_string(&path).unwrap();
    assert_eq!(
        refusal(&folder.0, 2),
        format!("{shown}: this journal is of another search: its seed is 1, and here it is 2; choose another folder")
    );
    let version = env!("CARGO_PKG_VERSION");
    let cases = [
        (
            whole.replace(version, "0.0.1"),
            format!(
                "{shown}: this journal is of negmm 0.0.1 and this is negmm {version}: their numbers may differ; choose another folder"
            ),
        ),
        (
            whole.replace("\"journal\":1", "\"journal\":9"),
            format!("{shown}: expected a journal of format 1, found format 9; choose another folder"),
        ),
        ("shopping list".into(), format!("{shown}: this is no journal of negmm; choose another folder")),
        ("shopping\nlist\n".into(), format!("{shown}: this is no journal of negmm; choose another folder")),
        (
            whole.replace("{\"trial\":\"trial 0\"", "{\"trial"),
            format!("{shown}, line 2: expected a finished trial (EOF while parsing a string at line 1 column 45)"),
        ),
    ];
    for (text, message) in cases {
        fs::write(&path, &text).unwrap();
        let found = refusal(&folder.0, 1);
        let stem = message.split(" (EOF").next().unwrap();
        assert!(found.starts_with(stem), "{found}\n{message}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // The last of them comes from JSON, on a line that can be asked for.
    let error = Journal::open(&folder.0, &plan(1), Shard::WHOLE).unwrap_err();
    assert_eq!((error.location().file(), error.location().line()), (path.to_str(), Some(2)));
    assert!(std::error::Error::source(&error).is_some_and(|source| source.is::<serde_json::Error>()));
}

#[test]
fn one_run_at_a_time_writes_a_file() {
    let folder = Folder::new();
    let first = Journal::open(&folder.0, &plan(1), Shard::WHOLE).unwrap();
    assert!(refusal(&folder.0, 1).ends_with("another run is writing this journal"));
    // Another shard has a file of its own.
    Journal::open(&folder.0, &plan(1), "2/2".parse().unwrap()).unwrap();
    drop(first);
    Journal::open(&folder.0, &plan(1), Shard::WHOLE).unwrap();
}

#[test]
fn journals_join_unless_they_contradict() {
    let (one, two, three) = (Folder::new(), Folder::new(), Folder::new());
    journal(&one.0, 2);
    journal(&two.0, 4);
    let mut joined = Journal::open(&one.0, &plan(1), Shard::WHOLE).unwrap();
    joined.join(&two.0).unwrap();
    drop(joined);
    let mut read = Journal::open(&one.0, &plan(1), Shard::WHOLE).unwrap();
    assert!((0..4).all(|number| read.get(&format!("trial {number}")).unwrap().result == entry(number).result));
    let mut other = Journal::open(&three.0, &plan(1), Shard::WHOLE).unwrap();
    other.append(Entry { result: json!({ "nll": 7.0 }), ..entry(3) }).unwrap();
    drop(other);
    let message = read.join(&three.0).unwrap_err().to_string();
    assert!(message.contains("two journals do not agree about the trial \"trial 3\""), "{message}");
    let empty = Folder::new();
    assert!(read.join(&empty.0).unwrap_err().to_string().ends_with("there is no journal in this folder"));
    assert!(read.join(&empty.path("none")).unwrap_err().to_string().ends_with("there is no such file or folder"));
}

#[test]
fn trials_run_once_and_shards_divide_them() {
    let folder = Folder::new();
    let trials: Vec<Trial<usize>> =
        (0..20).map(|number| Trial { name: format!("trial {number}"), work: number }).collect();
    let runs = AtomicUsize::new(0);
    let work = |number: &usize| {
        runs.fetch_add(1, Ordering::Relaxed);
        Ok(JobGroup::done(json!({ "nll": 0.1 * *number as f64 })))
    };
    for (shard, expected, complete) in [("1/3", 7, false), ("2/3", 7, false), ("3/3", 6, true), ("3/3", 0, true)] {
        let engine = CpuEngine::new(3);
        let options = RunOptions::default().engine(&engine).shard(shard.parse().unwrap());
        let mut journal = Journal::open(&folder.0, &plan(1), options.shard).unwrap();
        assert_eq!(run(&trials, &mut journal, &options, &work).unwrap(), complete);
        assert_eq!(runs.swap(0, Ordering::Relaxed), expected);
    }
}

#[test]
fn a_failure_ends_the_run_and_keeps_what_was_done() {
    let folder = Folder::new();
    let trials: Vec<Trial<usize>> =
        (0..9).map(|number| Trial { name: format!("trial {number}"), work: number }).collect();
    let work = |number: &usize| match number {
        4 => Err(Error::data("no")),
        _ => Ok(JobGroup::done(json!(number))),
    };
    let mut journal = Journal::open(&folder.0, &plan(1), Shard::WHOLE).unwrap();
    let engine = CpuEngine::new(1);
    let options = RunOptions::default().engine(&engine);
    assert_eq!(run(&trials, &mut journal, &options, &work).unwrap_err().to_string(), "no");
    assert!(journal.get("trial 3").is_some() && journal.get("trial 5").is_none());
}

fn space(methods: &[&str], options: &[&str]) -> Result<Space, Error> {
    let methods = methods.iter().map(|name| Method::by_name(name)).collect::<Result<_, _>>()?;
    Space::new(methods, options.iter().map(|text| Dimension::parse(text)).collect::<Result<_, _>>()?)
}

#[test]
fn options_are_read_from_text() {
    let values = |text: &str| Dimension::parse(text).unwrap().values;
    let list = |items: &[&str]| Values::List(items.iter().map(|item| item.to_string()).collect());
    assert_eq!(values("eta=0, 0.5,0.5"), list(&["0", "0.5"]));
    assert_eq!(values("hidden=64/64,64"), list(&["64", "64,64"]));
    assert_eq!(values("components=2..16"), Values::Whole(2, 16));
    assert_eq!(values("eta=0..0.5"), Values::Uniform(0.0, 0.5));
    assert_eq!(values("learning-rate=1e-4..1e-2:log"), Values::Log(1e-4, 1e-2));
    for text in ["eta", "eta=", "=1", "eta=1..0", "eta=a..b", "eta=0..1:log", "eta=1..2:loud", "eta=0..inf"] {
        assert!(Dimension::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_grid_has_every_combination_once() {
    let grid = space(&["ne-gmm", "mdn"], &["eta=0,0.5", "components=5,8,10"]).unwrap().grid().unwrap();
    let names: Vec<String> = grid.iter().map(ToString::to_string).collect();
    // The MDN has no eta, so it is there once for each K.
    assert_eq!(names.len(), 9);
    assert_eq!(names[1], "ne-gmm eta=0 components=8");
    assert_eq!(names[8], "mdn components=10");
    // Settings are tried together: neither value of sigma-max goes with the usual sigma-min.
    let together = space(&["mdn"], &["sigma-max=0.0005,0.0008", "sigma-min=0.0001"]).unwrap().grid().unwrap();
    assert_eq!(together[1].to_string(), "mdn sigma-max=0.0008 sigma-min=0.0001");
    let text = |result: Result<Space, Error>| result.unwrap_err().to_string();
    assert_eq!(text(space(&["mdn"], &["eta=1"])), "eta is not an option of mdn");
    assert_eq!(text(space(&["ne-gmm"], &["eta=1", "eta=0"])), "eta is to be tried twice");
    assert_eq!(text(space(&["ne-gmm"], &["eta=0,2"])), "eta must be from 0 to 1, found 2");
    assert_eq!(text(space(&["ne-gmm"], &["components=0..4"])), "components must be from 1 to 1000, found 0");
    assert!(space(&["ne-gmm"], &["eta=0..0.5"]).unwrap().grid().is_err());
}

#[test]
fn a_journal_with_former_names_of_options_is_read() {
    let folder = Folder::new();
    let space = |option: &str| self::space(&["ngboost"], &[&format!("{option}=0.5,1")]).unwrap();
    assert_eq!(space("rows-share").grid().unwrap(), space("subsample").grid().unwrap());
    let plan = |options: Value, changed: &str, setting: &str| {
        let plan =
            json!({ "grid": options, "changed": [[changed, "2"]], "settings": { setting: "3" }, "validation": 1 });
        plan.as_object().unwrap().clone()
    };
    let mut written = Journal::open(
        &folder.0,
        &plan(json!({ "options": [["rows-share", ["0.5", "1"]]] }), "rounds", "batch"),
        Shard::WHOLE,
    )
    .unwrap();
    let trial = "ngboost rows-share=0.5 depth=3, split 1";
    written.append(Entry { trial: trial.into(), ..entry(1) }).unwrap();
    drop(written);
    let now = plan(json!({ "options": space("subsample").describe()["options"] }), "n-estimators", "batch-size");
    let read = Journal::open(&folder.0, &now, Shard::WHOLE).unwrap();
    assert!(read.get("ngboost subsample=0.5 max-depth=3, split 1").is_some());
}

#[test]
fn draws_differ_and_repeat() {
    let space =
        space(&["ne-gmm", "ngboost"], &["learning-rate=1e-4..1e-2:log", "components=2..16", "max-depth=2,3"]).unwrap();
    let draws = space.draw(50, 7).unwrap();
    assert_eq!(draws.len(), 50);
    assert_eq!(draws, space.draw(50, 7).unwrap());
    assert_ne!(draws, space.draw(50, 8).unwrap());
    assert_eq!(draws[..10], space.draw(10, 7).unwrap());
    assert!((0..50).all(|at| !draws[..at].contains(&draws[at])));
    let rates: Vec<f64> = draws
        .iter()
        .flat_map(|draw| &draw.settings)
        .filter(|(option, _)| option == "learning-rate")
        .map(|(_, value)| value.parse().unwrap())
        .collect();
    assert!(rates.iter().all(|rate| (1e-4..=1e-2).contains(rate)));
    // A range between whole numbers has what the option takes.
    let kinds = self::space(&["ne-gmm"], &["eta=0..1", "components=2..16"]).unwrap().draw(20, 1).unwrap();
    let of = |at: usize| kinds.iter().map(move |draw| draw.settings[at].1.parse::<f64>().unwrap());
    assert!(of(0).filter(|eta| (0.0..1.0).contains(eta) && eta.fract() != 0.0).count() > 15);
    assert!(of(1).all(|components| components.fract() == 0.0));
    // Of a space with six points there are six draws.
    let small = self::space(&["ngboost"], &["max-depth=2,3", "min-samples-leaf=1,2,3"]).unwrap();
    assert_eq!(small.draw(50, 1).unwrap().len(), 6);
    for method in Method::all() {
        Space::usual(vec![method]).unwrap().draw(5, 1).unwrap();
    }
}

/// A search on 120 rows of toy data.
fn searched(strategy: Strategy, threads: usize, folder: Option<&Path>, shard: Shard) -> Option<Vec<Candidate>> {
    let table: Table = Toy::Bimodal.sample(120, &mut Rng::new(1, 0));
    let inputs = ColumnRoles::default();
    let mut base = Method::by_name("ne-gmm").unwrap();
    base.set("epochs", "12").unwrap();
    base.set("hidden", "8").unwrap();
    let dimensions = ["learning-rate=1e-4,1e-2,3e-2", "components=1,2,3"].map(|text| Dimension::parse(text).unwrap());
    let space = Space::new(vec![base], dimensions.to_vec()).unwrap();
    let splits = Split::folds(120, 3, 5).unwrap();
    let search = Search::new(&table, "y", &inputs, &space, &splits).strategy(strategy).by(Metric::Crps).seed(5);
    let engine = CpuEngine::new(threads);
    let options = RunOptions::default().engine(&engine).shard(shard);
    let mut journal = match folder {
        Some(folder) => Journal::open(folder, &search.plan(), shard).unwrap(),
        None => Journal::in_memory(),
    };
    search.run(&mut journal, &options).unwrap()
}

fn listed(ranking: &[Candidate]) -> Vec<String> {
    let line = |candidate: &Candidate| {
        format!("{} {} {:?}", candidate.configuration, candidate.fraction, candidate.score(Metric::Crps).unwrap().mean)
    };
    ranking.iter().map(line).collect()
}

#[test]
fn a_search_depends_on_neither_threads_nor_shards() {
    for strategy in [Strategy::Grid, Strategy::Random { draws: 4 }, Strategy::Halving { draws: None, factor: 2 }] {
        let whole = searched(strategy, 1, None, Shard::WHOLE).unwrap();
        let means: Vec<f64> = whole.iter().map(|candidate| candidate.score(Metric::Crps).unwrap().mean).collect();
        let full = whole.iter().take_while(|candidate| candidate.fraction == 1.0).count();
        assert!(means[..full].is_sorted(), "{means:?}");
        assert_eq!(listed(&searched(strategy, 2, None, Shard::WHOLE).unwrap()), listed(&whole));
        let folder = Folder::new();
        // As often as there are rungs: what a rung tries depends on all of the one before.
        let mut last = None;
        for _ in 0..3 {
            for shard in ["1/2", "2/2"] {
                last = searched(strategy, 2, Some(&folder.0), shard.parse().unwrap());
            }
        }
        assert_eq!(listed(&last.unwrap()), listed(&whole));
    }
}

#[test]
fn halving_gives_the_best_all_rows() {
    let ranking = searched(Strategy::Halving { draws: None, factor: 2 }, 2, None, Shard::WHOLE).unwrap();
    let fractions: Vec<f64> = ranking.iter().map(|candidate| candidate.fraction).collect();
    assert_eq!(fractions, [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5]);
}
