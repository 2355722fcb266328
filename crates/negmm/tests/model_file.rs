//! Model files: saving and loading is the identity, a damaged file is an error, and fits of degenerate data.

use negmm_dist::Distribution;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::HashMap;

use negmm::Rng;
use negmm::data::{Column, ColumnRoles};
use negmm::forecast::{Forecaster, SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::train::CpuEngine;
use negmm::train::Isa;
use negmm::{ErrorKind, FitOptions, Method, Mixtures, Model, Predictions, Table, fit, fit_with};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// Counts the bytes allocated by the current thread, and their peak.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // The counters of a thread that is ending are gone.
    let _ = ALLOCATED.try_with(|allocated| {
        allocated.set(allocated.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(allocated.get())));
    });
}

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The peak of bytes allocated by `work`.
fn most_held<T>(work: impl FnOnce() -> T) -> (T, isize) {
    let before = ALLOCATED.get();
    MOST.set(before);
    let result = work();
    (result, MOST.get() - before)
}

#[test]
fn allocations_are_counted() {
    let (list, most) = most_held(|| vec![1_u8; 10_000_000]);
    assert!((10_000_000..10_001_000).contains(&most), "{most}");
    drop(list);
    assert!(most_held(|| ()).1 == 0);
}

/// Numbers, text, missing cells of both kinds, a column that never varies.
fn table(rows: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let (mut x, mut city, mut y) = (vec![], vec![], vec![]);
    for _ in 0..rows {
        let (number, town) = (10.0 * rng.uniform(), rng.below(4));
        x.push(if rng.uniform() < 0.1 { f64::NAN } else { number });
        city.push((town < 3).then(|| ["Oslo", "Łódź", "say \"hi\", \\n"][town]));
        y.push(100.0 + 3.0 * number + 10.0 * town as f64 + 5.0 * rng.uniform());
    }
    let constant = Column::Numbers(vec![3.5; rows]);
    let columns =
        vec![("x", Column::Numbers(x)), ("city", Column::text(city)), ("same", constant), ("y", Column::Numbers(y))];
    Table::new(columns).unwrap()
}

fn method(name: &str, options: &[(&str, &str)]) -> Method {
    let mut method = Method::by_name(name).unwrap();
    for (option, value) in options {
        method.set(option, value).unwrap();
    }
    method
}

const SHORT: [(&str, &str); 3] = [("epochs", "4"), ("hidden", "7"), ("components", "2")];

const SAMPLES: [(&str, &str); 3] = [("epochs", "3"), ("hidden", "7"), ("samples", "5")];

fn small_model() -> Model {
    fit(&table(60, 1), "y", &method("ne-gmm", &SHORT)).unwrap()
}

fn bits(predictions: &Predictions) -> Vec<u64> {
    let numbers = match predictions.mixtures() {
        Some(mixtures) => vec![mixtures.weights(), mixtures.means(), mixtures.sds()],
        None => vec![predictions.samples().unwrap().values()],
    };
    numbers.into_iter().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn a_model_is_saved_whole_or_not_at_all() {
    let folder = std::env::temp_dir().join(format!("negmm-save-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (model, path) = (small_model(), folder.join("m.negmm"));
    std::fs::write(&path, b"another file").unwrap();
    model.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), model.to_bytes().unwrap());
    assert_eq!(Model::load(&path).unwrap(), model);
    // A folder cannot be replaced by a file: the error names it, and nothing is left beside it.
    let taken = folder.join("taken");
    std::fs::create_dir_all(taken.join("inner")).unwrap();
    let error = model.save(&taken).unwrap_err().to_string();
    assert!(error.contains("taken"), "{error}");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["m.negmm", "taken"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_loaded_predicts_the_same_bits() {
    let (training, new) = (table(80, 1), table(70, 2));
    let bounded = [SHORT.as_slice(), &[("sigma-max", "2"), ("mean-bound", "3")]].concat();
    for method in [
        method("ne-gmm", &SHORT),
        method("ne-gmm", &bounded),
        method("mdn", &[("epochs", "3"), ("hidden", "17,5"), ("activation", "relu")]),
        method("constant", &[]),
        method("sample-net", &SAMPLES),
        method("sample-net", &[&SAMPLES[..], &[("sinkhorn", "0.1"), ("prior", "normal")]].concat()),
        method("ensemble", &[&[("member", "sample-net"), ("ensemble-size", "2")], &SAMPLES[..]].concat()),
    ] {
        let model = fit(&training, "y", &method).unwrap();
        let path = std::env::temp_dir().join(format!("negmm-{}-{}.model", std::process::id(), method.name()));
        std::fs::write(&path, model.to_bytes().unwrap()).unwrap();
        let loaded = Model::load(&path);
        std::fs::remove_file(&path).unwrap();
        let loaded = loaded.unwrap();
        assert_eq!(loaded, model);
        for rows in [&training, &new] {
            assert_eq!(bits(&loaded.predict(rows).unwrap()), bits(&model.predict(rows).unwrap()), "{method:?}");
        }
        // The same model gives the same bytes, also after a journey.
        assert_eq!(model.to_bytes().unwrap(), loaded.to_bytes().unwrap());
        assert_eq!(model.to_bytes().unwrap(), fit(&training, "y", &method).unwrap().to_bytes().unwrap());
    }
}

#[test]
fn tensors_are_where_any_framework_expects_them() {
    let model = small_model();
    let bytes = model.to_bytes().unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let features = model.encoder().features();
    let shape = |name: &str| tensors.tensor(name).unwrap().shape().to_vec();
    assert_eq!(shape("network.0.layer.0.weight"), [7, features]);
    assert_eq!(shape("network.0.layer.0.bias"), [7]);
    assert_eq!(shape("network.0.layer.1.weight"), [6, 7]);
    assert_eq!(shape("network.0.layer.1.bias"), [6]);
    // Weight times inputs plus bias, by hand, is what the model predicts without inputs: silu(bias) into the second layer.
    let numbers = |name: &str| -> Vec<f64> {
        let bytes = tensors.tensor(name).unwrap().data().chunks_exact(4);
        bytes.map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect()
    };
    let mut data = negmm::data::Dataset::new(features);
    data.push(&vec![0.0; features], 0.0);
    let silu = |z: &f64| z / (1.0 + libm::exp(-z));
    let hidden: Vec<f64> = numbers("network.0.layer.0.bias").iter().map(silu).collect();
    let (weight, bias) = (numbers("network.0.layer.1.weight"), numbers("network.0.layer.1.bias"));
    let target = model.encoder().target();
    let predicted = model.predict_encoded(&data).unwrap();
    for k in 0..2 {
        let row = &weight[(2 + k) * 7..][..7];
        let mean = bias[2 + k] + row.iter().zip(&hidden).map(|(w, x)| w * x).sum::<f64>();
        let found = (predicted.mixtures().unwrap().means()[k] - target.mean) / target.scale;
        assert!((found - mean).abs() < 1e-5, "{found} {mean}");
    }
}

/// A damaged file is refused, or, where the damage is without a meaning, predicts the same bits.
fn assert_harmless(case: &str, bytes: &[u8], rows: &Table, expected: &[u64]) -> bool {
    let (loaded, most) = most_held(|| Model::from_bytes(bytes));
    assert!(most < 4_000_000, "{case}: {most} bytes were allocated");
    match loaded {
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Model, "{case}: {error}");
            false
        }
        Ok(model) => {
            assert_eq!(bits(&model.predict(rows).unwrap()), expected, "{case}");
            true
        }
    }
}

#[test]
fn a_file_cut_short_is_refused() {
    let training = table(200, 1);
    let model = fit(&training, "y", &method("ne-gmm", &[("epochs", "30"), ("hidden", "64,64")])).unwrap();
    let bytes = model.to_bytes().unwrap();
    assert!(bytes.len() > 20_000);
    let expected = bits(&model.predict(&training).unwrap());
    let mut rng = Rng::new(1, 0);
    let random: Vec<usize> = (0..200).map(|_| rng.below(bytes.len())).collect();
    let kilobytes = (0..bytes.len()).step_by(1024);
    for length in (0..20).chain(kilobytes).chain(random).chain([bytes.len() - 1]) {
        assert!(!assert_harmless(&format!("{length} bytes"), &bytes[..length], &training, &expected));
    }
    let longer = [bytes.as_slice(), &[0; 7]].concat();
    assert!(!assert_harmless("longer", &longer, &training, &expected));
}

#[test]
fn a_changed_byte_is_refused_or_means_nothing() {
    let rows = table(5, 3);
    for model in [small_model(), fit(&table(30, 1), "y", &method("constant", &[])).unwrap()] {
        let bytes = model.to_bytes().unwrap();
        let expected = bits(&model.predict(&rows).unwrap());
        assert!(assert_harmless("whole", &bytes, &rows, &expected));
        let mut harmless = 0;
        for position in 0..bytes.len() {
            for change in [0x01, 0x02, 0x0f, 0x10, 0x20, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[position] ^= change;
                harmless +=
                    usize::from(assert_harmless(&format!("byte {position} ^ {change}"), &damaged, &rows, &expected));
            }
        }
        // Only padding of the header and the type of the checksum have no meaning.
        assert!(harmless < 60, "{harmless}");
    }
}

#[test]
fn bytes_that_are_no_model_are_refused() {
    let mut rng = Rng::new(7, 0);
    for length in [0, 1, 7, 8, 9, 16, 100, 1000, 100_000] {
        for _ in 0..50 {
            let mut bytes: Vec<u8> = (0..length).map(|_| rng.bits() as u8).collect();
            assert!(!assert_harmless("random", &bytes, &table(1, 1), &[]));
            // With a header that fits.
            if length > 9 {
                bytes[..8].copy_from_slice(&(length as u64 - 8).to_le_bytes());
                bytes[8] = b'{';
                assert!(!assert_harmless("random with a header", &bytes, &table(1, 1), &[]));
            }
        }
    }
    let model = small_model().to_bytes().unwrap();
    for length in [0, 1, 8, 1 << 20, 100_000_000, 100_000_001, 1 << 40, u64::MAX / 2, u64::MAX] {
        let mut bytes = model.clone();
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        assert!(!assert_harmless("header length", &bytes, &table(1, 1), &[]));
    }
    // Deep nesting.
    let nested = [b"{\"__metadata__\":".to_vec(), vec![b'['; 90_000]].concat();
    let bytes = [(nested.len() as u64).to_le_bytes().to_vec(), nested].concat();
    assert!(!assert_harmless("nested", &bytes, &table(1, 1), &[]));
}

#[test]
fn an_ordinary_safetensors_file_is_called_one() {
    let numbers = [0_u8; 16];
    let view = TensorView::new(Dtype::F32, vec![2, 2], &numbers).unwrap();
    for metadata in [None, Some(HashMap::from([("format".to_string(), "pt".to_string())]))] {
        let bytes = safetensors::serialize([("weight", view.clone())], metadata).unwrap();
        let error = Model::from_bytes(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model);
        assert!(error.to_string().contains("not a negmm model"), "{error}");
    }
}

/// Name, shape and bytes.
type Tensor = (String, Vec<usize>, Vec<u8>);

/// FNV-1a over the text and over name, shape and bytes of every tensor in the order of their names.
fn checksum(text: &str, tensors: &[Tensor]) -> u64 {
    let mut parts = text.as_bytes().to_vec();
    let mut sorted: Vec<_> = tensors.iter().collect();
    sorted.sort();
    for (name, shape, bytes) in sorted {
        parts.extend(name.as_bytes());
        shape.iter().for_each(|size| parts.extend((*size as u64).to_le_bytes()));
        parts.extend(bytes);
    }
    parts.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What a forger changes: the description and the tensors.
type Forgery = dyn Fn(&mut serde_json::Value, &mut Vec<Tensor>);

/// A file with a correct checksum.
fn forged(bytes: &[u8], change: &Forgery) -> Vec<u8> {
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
    let text = &header.metadata().as_ref().unwrap()["negmm"];
    let mut description: serde_json::Value = serde_json::from_str(text).unwrap();
    let types: HashMap<String, Dtype> = tensors.iter().map(|(name, view)| (name.to_string(), view.dtype())).collect();
    let others = tensors.iter().filter(|(name, _)| *name != "checksum");
    let mut list: Vec<Tensor> =
        others.map(|(name, view)| (name.to_string(), view.shape().to_vec(), view.data().to_vec())).collect();
    change(&mut description, &mut list);
    let text = description.to_string();
    let sum = checksum(&text, &list).to_le_bytes();
    let mut views: Vec<(&str, TensorView<'_>)> =
        vec![("checksum", TensorView::new(Dtype::U64, vec![1], &sum).unwrap())];
    for (name, shape, bytes) in &list {
        let dtype = types.get(name).copied().unwrap_or(Dtype::F32);
        views.push((name, TensorView::new(dtype, shape.clone(), bytes).unwrap()));
    }
    safetensors::serialize(views, Some(HashMap::from([("negmm".to_string(), text)]))).unwrap()
}

#[test]
fn a_forecaster_whose_score_was_written_as_null_is_read() {
    let values: Vec<f64> = (0..60).map(|step| 5.0 + f64::from(step).sin()).collect();
    let table = numbers(&[("y", &values)]);
    let auto = Auto::default().hidden(vec![4]).steps(5).folds(2);
    let spec = SeriesSpec::of("y").horizon(2);
    let forecaster = fit_forecaster(&table, &spec, &auto, &FitOptions::default()).unwrap().forecaster;
    assert!(forecaster.scores()[0].nll.is_some());
    // As earlier versions wrote a score that was not finite, and without what they did not know.
    let old = forged(&forecaster.to_bytes().unwrap(), &|description, _| {
        let rest = description.pointer_mut("/forecast/rest").unwrap().as_object_mut().unwrap();
        rest.remove("own-grids");
        rest["scores"][0]["nll"] = serde_json::Value::Null;
    });
    let read = Forecaster::from_bytes(&old).unwrap();
    assert_eq!(read.scores()[0].nll, None);
    assert_eq!(read.scores()[0].crps, forecaster.scores()[0].crps);
    let future = read.future(&table, &read.histories(&table).unwrap()).unwrap();
    assert!(future.predictions.mean().iter().all(|mean| mean.is_finite()));
}

#[test]
fn a_forged_file_is_refused_before_room_is_made() {
    let bytes = small_model().to_bytes().unwrap();
    assert!(Model::from_bytes(&forged(&bytes, &|_, _| {})).is_ok(), "the checksum of this test is the library's");
    let set = |path: &'static str, value: serde_json::Value| {
        move |description: &mut serde_json::Value, _: &mut Vec<Tensor>| {
            let position = description.pointer_mut(path).unwrap_or_else(|| panic!("{path} is in the description"));
            *position = value.clone();
        }
    };
    use serde_json::json;
    let huge = 1_u64 << 60;
    let changes: Vec<(&str, Box<Forgery>)> = vec![
        ("wide", Box::new(set("/predictor/networks/0/hidden", json!([huge])))),
        ("many layers", Box::new(set("/predictor/networks/0/hidden", json!(vec![7; 1000])))),
        ("narrow", Box::new(set("/predictor/networks/0/hidden", json!([5])))),
        ("many inputs", Box::new(set("/predictor/networks/0/inputs", json!(huge)))),
        ("many outputs", Box::new(set("/predictor/networks/0/outputs", json!(huge)))),
        ("many components", Box::new(set("/predictor/head/components", json!(huge)))),
        ("components that overflow", Box::new(set("/predictor/head/components", json!(u64::MAX / 3 + 3)))),
        ("no component", Box::new(set("/predictor/head/components", json!(0)))),
        ("no floor", Box::new(set("/predictor/head/sd_floor", json!(0.0)))),
        ("a negative floor", Box::new(set("/predictor/head/sd_floor", json!(-1.0)))),
        ("a ceiling below the floor", Box::new(set("/predictor/head/sd_ceiling", json!(1e-9)))),
        ("no bound", Box::new(set("/predictor/head/mean_bound", json!(0.0)))),
        ("no network", Box::new(set("/predictor/networks", json!([])))),
        ("a wrong method", Box::new(set("/method/components", json!(0)))),
        ("an unknown method", Box::new(set("/method/name", json!("oracle")))),
        ("no scale", Box::new(set("/encoder/target/scale", json!(0.0)))),
        ("an infinite sd", Box::new(set("/encoder/inputs/0/sd", json!(null)))),
        ("no encoder", Box::new(set("/encoder", json!({})))),
        ("format 0", Box::new(set("/format", json!(0)))),
        ("format 2", Box::new(set("/format", json!(2)))),
        ("format minus 1", Box::new(set("/format", json!(-1)))),
        ("text as format", Box::new(set("/format", json!("1")))),
        (
            "a weight that is not finite",
            Box::new(|_, tensors| {
                let weight = tensors.iter_mut().find(|tensor| tensor.0 == "network.0.layer.0.weight").unwrap();
                weight.2[..4].copy_from_slice(&f32::NAN.to_le_bytes());
            }),
        ),
        ("a tensor less", Box::new(|_, tensors| tensors.retain(|tensor| tensor.0 != "network.0.layer.1.bias"))),
        (
            "a tensor turned",
            Box::new(|_, tensors| {
                let weight = tensors.iter_mut().find(|tensor| tensor.0 == "network.0.layer.1.weight").unwrap();
                weight.1.reverse();
            }),
        ),
    ];
    for (case, change) in changes {
        let forged = forged(&bytes, &*change);
        assert!(!assert_harmless(case, &forged, &table(1, 1), &[]), "{case} was accepted");
    }
}

#[test]
fn a_forged_file_of_samples_is_refused() {
    use serde_json::json;
    let bytes = fit(&table(40, 1), "y", &method("sample-net", &SAMPLES)).unwrap().to_bytes().unwrap();
    assert!(Model::from_bytes(&forged(&bytes, &|_, _| {})).is_ok());
    let huge = 1_u64 << 60;
    let mixture = json!({"kind": "mixture", "components": 5, "sd_floor": 1e-3, "sd_ceiling": null, "mean_bound": null});
    for (path, value) in [
        ("/predictor/head/samples", json!(huge)),
        ("/predictor/head/samples", json!(0)),
        ("/predictor/head/samples", json!(1)),
        ("/predictor/head/samples", json!(4)),
        ("/predictor/head/samples", json!(-5)),
        ("/predictor/head/sd_floor", json!(0.0)),
        ("/predictor/head/sd_floor", json!(-1.0)),
        ("/predictor/head/sd_floor", json!(null)),
        ("/predictor/head", mixture),
        ("/predictor/kind", json!("networks")),
        ("/predictor/networks", json!([])),
        ("/predictor/networks/0/outputs", json!(huge)),
        ("/method/samples", json!(1001)),
        ("/method/sinkhorn", json!(-1.0)),
        ("/method/prior", json!("cauchy")),
        ("/method/name", json!("mdn")),
    ] {
        let forgery = value.clone();
        let change = move |description: &mut serde_json::Value, _: &mut Vec<Tensor>| {
            *description.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = forgery.clone();
        };
        let case = format!("{path} = {value}");
        assert!(!assert_harmless(&case, &forged(&bytes, &change), &table(1, 1), &[]), "{case} was accepted");
    }
}

#[test]
fn a_forged_file_of_levels_is_refused() {
    let mut rng = Rng::new(1, 0);
    let shops: Vec<String> = (0..300).map(|_| format!("shop {}", rng.below(80))).collect();
    let shop = Column::text(shops.iter().map(|shop| Some(shop.as_str())));
    let y = Column::Numbers((0..300).map(|_| rng.uniform()).collect());
    let rows = Table::new(vec![("shop", shop), ("y", y)]).unwrap();
    let bytes = fit(&rows, "y", &method("ne-gmm", &SHORT)).unwrap().to_bytes().unwrap();
    assert!(Model::from_bytes(&forged(&bytes, &|_, _| {})).is_ok());
    fn find(tensors: &[Tensor]) -> usize {
        tensors.iter().position(|(name, ..)| name == "network.0.levels.0").unwrap()
    }
    let forgeries: [(&str, &Forgery); 6] = [
        ("not a number", &|_, tensors| {
            let at = find(tensors);
            tensors[at].2[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        }),
        ("one level fewer", &|_, tensors| {
            let at = find(tensors);
            tensors[at].1[0] -= 1;
            let length = tensors[at].2.len();
            tensors[at].2.truncate(length - 12);
        }),
        ("none", &|_, tensors| {
            let at = find(tensors);
            tensors.remove(at);
        }),
        ("another order", &|description, _| {
            description["encoder"]["inputs"][0]["statistics"][0]["names"].as_array_mut().unwrap().swap(0, 1);
        }),
        ("a level more", &|description, _| {
            let names = description["encoder"]["inputs"][0]["statistics"][0]["names"].as_array_mut().unwrap();
            names.push("zzz".into());
        }),
        ("no word", &|description, _| description["encoder"]["inputs"][0]["statistics"][0]["words"] = 0.into()),
    ];
    for (case, forgery) in forgeries {
        assert!(!assert_harmless(case, &forged(&bytes, forgery), &rows, &[]), "{case} was accepted");
    }
}

#[test]
fn weights_of_any_size_predict_distributions() {
    let largest = |_: &mut serde_json::Value, tensors: &mut Vec<Tensor>| {
        // Hashes of training rows are no weights.
        let weights = tensors.iter_mut().filter(|(_, shape, bytes)| bytes.len() == 4 * shape.iter().product::<usize>());
        for (at, (_, _, bytes)) in weights.enumerate() {
            for (number, position) in bytes.chunks_exact_mut(4).enumerate() {
                let sign = if (at + number) % 3 == 0 { -1.0 } else { 1.0 };
                position.copy_from_slice(&(sign * f32::MAX).to_le_bytes());
            }
        }
    };
    let model = Model::from_bytes(&forged(&small_model().to_bytes().unwrap(), &largest)).unwrap();
    let predicted = model.predict(&table(40, 4)).unwrap();
    for mixture in predicted.mixtures().unwrap().rows() {
        assert!((mixture.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(mixture.means.iter().all(|mean| mean.is_finite()));
        assert!(mixture.sds.iter().all(|sd| sd.is_finite() && *sd > 0.0));
    }
}

#[test]
fn a_later_format_is_named() {
    let bytes = forged(&small_model().to_bytes().unwrap(), &|description, _| {
        // With unknown fields of a later format.
        *description = serde_json::json!({"format": 7, "layers": "in another way"});
    });
    let error = Model::from_bytes(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert!(error.to_string().contains("format 7") && error.to_string().contains("newer"), "{error}");
}

#[test]
fn a_missing_file_is_an_io_error() {
    let path = std::env::temp_dir().join("negmm-there-is-no-such.model");
    let error = Model::load(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("negmm-there-is-no-such.model"), "{error}");
}

#[test]
fn instruction_sets_predict_the_same_bits() {
    let model = fit(&table(100, 1), "y", &method("ne-gmm", &[("epochs", "5"), ("hidden", "33,7")])).unwrap();
    for rows in [1, 15, 32, 33, 100] {
        let (data, _) = model.encoder().encode_features(&table(rows, 5)).unwrap();
        let plain = model.predictor().predict(&data, Isa::Plain);
        for isa in Isa::ALL {
            assert_eq!(plain, model.predictor().predict(&data, isa), "{isa:?}");
        }
    }
}

#[test]
fn a_row_is_predicted_the_same_alone_and_among_others() {
    let (model, rows) = (small_model(), table(75, 6));
    let whole = model.predict(&rows).unwrap();
    for row in [0, 31, 32, 74] {
        let alone = model.predict(&rows.select_rows(&[row])).unwrap();
        let (alone, among) = (alone.mixtures().unwrap().row(0), whole.mixtures().unwrap().row(row));
        assert_eq!((alone.weights, alone.means, alone.sds), (among.weights, among.means, among.sds));
    }
    assert_eq!(model.predict(&rows.select_rows(&[])).unwrap().len(), 0);
}

fn numbers(columns: &[(&str, &[f64])]) -> Table {
    let column = |(name, values): &(&str, &[f64])| (name.to_string(), Column::Numbers(values.to_vec()));
    Table::new(columns.iter().map(column).collect()).unwrap()
}

/// Fits, checks that every prediction is a distribution, and that the model survives its file.
fn fit_anyway(rows: &Table, name: &str) -> (Model, Predictions, Vec<String>) {
    let inputs = ColumnRoles::default();
    let engine = CpuEngine::new(1);
    let options = FitOptions::default().seed(1).inputs(inputs.clone()).engine(&engine);
    let settings: &[(&str, &str)] = match name {
        "constant" => &[],
        // Samples start close together and take a while to spread.
        "sample-net" => &[("epochs", "200"), ("hidden", "8")],
        _ => &[("epochs", "20"), ("hidden", "8")],
    };
    let fitted = fit_with(rows, "y", &method(name, settings), &options).unwrap();
    let predictions = fitted.model.predict(rows).unwrap();
    assert_eq!(predictions.len(), rows.rows());
    for mixture in predictions.mixtures().into_iter().flat_map(Mixtures::rows) {
        assert!((mixture.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(mixture.means.iter().all(|mean| mean.is_finite()));
        assert!(mixture.sds.iter().all(|sd| sd.is_finite() && *sd > 0.0));
    }
    assert!(predictions.samples().is_none_or(|sets| sets.values().iter().all(|sample| sample.is_finite())));
    let loaded = Model::from_bytes(&fitted.model.to_bytes().unwrap()).unwrap();
    assert_eq!(bits(&loaded.predict(rows).unwrap()), bits(&predictions));
    let warnings = fitted.warnings.iter().map(ToString::to_string).collect();
    (fitted.model, predictions, warnings)
}

#[test]
fn one_row_is_too_few_for_a_network() {
    let one = numbers(&[("x", &[1.0]), ("y", &[2.0])]);
    for name in ["ne-gmm", "mdn", "sample-net"] {
        let error = fit(&one, "y", &method(name, &[])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains("at least 2 rows, found 1"), "{error}");
    }
    fit_anyway(&one, "constant");
    let none = numbers(&[("x", &[]), ("y", &[])]);
    for name in ["ne-gmm", "mdn", "sample-net", "constant"] {
        assert_eq!(fit(&none, "y", &method(name, &[])).unwrap_err().kind(), ErrorKind::Data);
    }
}

#[test]
fn identical_rows_and_a_constant_target_are_answered_narrowly() {
    let identical = numbers(&[("x", &[1.0, 1.0]), ("y", &[2.0, 2.0])]);
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let constant = numbers(&[("x", &x), ("y", &[-1234.5; 50])]);
    for name in ["ne-gmm", "mdn", "sample-net", "constant"] {
        for (rows, y) in [(&identical, 2.0), (&constant, -1234.5)] {
            let (_, predictions, warnings) = fit_anyway(rows, name);
            assert!(warnings.iter().any(|warning| warning.contains("in every row")), "{warnings:?}");
            for row in predictions.rows() {
                let scale = f64::abs(y).max(1.0);
                assert!((row.mean() - y).abs() < 1e-5 * scale, "{name}: {}", row.mean());
                assert!(row.sd() < 1e-5 * scale, "{name}: {}", row.sd());
            }
        }
    }
}

#[test]
fn outliers_of_1e30_are_survived() {
    let mut rng = Rng::new(3, 0);
    let mut x: Vec<f64> = (0..60).map(|_| rng.uniform()).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 2.0 * x + 0.1 * rng.uniform()).collect();
    for name in ["ne-gmm", "mdn", "sample-net", "constant"] {
        x[7] = 1e30;
        fit_anyway(&numbers(&[("x", &x), ("y", &y)]), name);
        // And in prediction alone, where it is a 1e30 sds away.
        x[7] = 0.5;
        let (model, ..) = fit_anyway(&numbers(&[("x", &x), ("y", &y)]), name);
        let far = model.predict(&numbers(&[("x", &[1e30, -1e30, f64::MAX])])).unwrap();
        assert!(far.mean().iter().all(|mean| mean.is_finite()));
        for outlier in [1e30, -1e100] {
            let ordinary = y[9];
            y[9] = outlier;
            fit_anyway(&numbers(&[("x", &x), ("y", &y)]), name);
            y[9] = ordinary;
        }
    }
}

#[test]
fn targets_too_large_to_score_are_refused() {
    // Squared errors of a target of this size are infinite.
    let y: Vec<f64> = (0..40).map(|row| f64::from(row % 5) * 1e200).collect();
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let error = fit(&numbers(&[("x", &x), ("y", &y)]), "y", &Method::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains("row 2, column \"y\""), "{error}");
}

#[test]
fn columns_without_a_number_and_tables_without_an_input() {
    let y: Vec<f64> = (0..40).map(|row| f64::from(row % 7)).collect();
    let missing = vec![f64::NAN; 40];
    for name in ["ne-gmm", "mdn", "sample-net", "constant"] {
        let x: Vec<f64> = (0..40).map(|row| f64::from(row % 7) * 2.0).collect();
        let (model, ..) = fit_anyway(&numbers(&[("x", &x), ("empty", &missing), ("y", &y)]), name);
        assert_eq!(model.encoder().features(), 1);
        // No usable input: one distribution for all rows, about that of the target.
        for rows in [numbers(&[("empty", &missing), ("y", &y)]), numbers(&[("x", &[5.0; 40]), ("y", &y)])] {
            let (model, predictions, warnings) = fit_anyway(&rows, name);
            assert_eq!(model.encoder().features(), 0);
            assert!(warnings.iter().any(|warning| warning.contains("no input column varies")), "{warnings:?}");
            let row = predictions.row(0);
            assert!((row.mean() - 2.9).abs() < 1.0 && row.sd() > 1.0, "{name}: {}", row.mean());
            let (means, sds) = (predictions.mean(), predictions.sd());
            assert!(means.iter().all(|mean| *mean == means[0]) && sds.iter().all(|sd| *sd == sds[0]), "{name}");
        }
    }
}

#[test]
fn a_forged_sequence_is_refused_before_room_is_made() {
    use serde_json::json;
    let inputs = negmm::data::ColumnRoles::default().sequence(negmm::data::Sequence { column: "y".into(), window: 6 });
    let engine = negmm::train::CpuEngine::new(1);
    let options = negmm::FitOptions::default().seed(1).inputs(inputs.clone()).engine(&engine);
    for name in ["mdn", "sample-net"] {
        let method = method(name, &[("epochs", "2"), ("lstm-hidden", "5"), ("hidden", "none")]);
        let bytes = negmm::fit_with(&table(40, 1), "y", &method, &options).unwrap().model.to_bytes().unwrap();
        assert!(Model::from_bytes(&forged(&bytes, &|_, _| {})).is_ok());
        let stem = "/predictor/networks/0/stem";
        let huge = 1_u64 << 60;
        for (path, value) in [
            (format!("{stem}/hidden"), json!(huge)),
            (format!("{stem}/hidden"), json!(4)),
            (format!("{stem}/hidden"), json!(0)),
            (format!("{stem}/layers"), json!(huge)),
            (format!("{stem}/layers"), json!(3)),
            (format!("{stem}/window"), json!(huge)),
            (format!("{stem}/window"), json!(3)),
            (format!("{stem}/channels"), json!(2)),
            (format!("{stem}/channels"), json!(u64::MAX)),
            (stem.to_string(), json!(null)),
            ("/encoder/sequence/window".into(), json!(huge)),
            ("/encoder/sequence/window".into(), json!(0)),
            ("/encoder/sequence/window".into(), json!(3)),
            ("/encoder/sequence/column".into(), json!("z")),
            ("/encoder/sequence".into(), json!(null)),
        ] {
            let case = format!("{path} {value}");
            let change = move |description: &mut serde_json::Value, _: &mut Vec<Tensor>| {
                *description.pointer_mut(&path).unwrap_or_else(|| panic!("{path}")) = value.clone();
            };
            assert!(Model::from_bytes(&forged(&bytes, &change)).is_err(), "{case}");
        }
        // Fewer layers than there are tensors for is a smaller network, and other steps of the same product are not its windows.
        let swapped = |description: &mut serde_json::Value, _: &mut Vec<Tensor>| {
            *description.pointer_mut(stem).unwrap() = json!({"channels": 2, "window": 3, "hidden": 5, "layers": 2});
        };
        assert!(Model::from_bytes(&forged(&bytes, &swapped)).is_err());
    }
}

/// Numbers that tables have by accident: missing, tiny, huge, repeated.
fn hostile_number() -> impl proptest::strategy::Strategy<Value = f64> {
    use proptest::prelude::*;
    prop_oneof![
        Just(0.0),
        Just(-1.0),
        Just(f64::NAN),
        Just(1e149),
        Just(-1e149),
        Just(1e-300),
        -5.0..5.0_f64,
        0.0..1e9_f64,
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]

    #[test]
    fn models_of_hostile_tables_are_read_back(
        numbers in proptest::collection::vec((hostile_number(), hostile_number(), 0_usize..4), 1..60),
        which in 0_usize..4,
    ) {
        let words = [None, Some(""), Some("a"), Some("a word, \"quoted\"\nin two lines")];
        let table = Table::new(vec![
            ("x", Column::Numbers(numbers.iter().map(|(x, ..)| *x).collect())),
            ("word", Column::text(numbers.iter().map(|(.., word)| words[*word]))),
            ("y", Column::Numbers(numbers.iter().map(|(_, y, _)| *y).collect())),
        ]).unwrap();
        let method = match which {
            0 => Method::Auto(Auto::default().hidden(vec![4]).steps(5).folds(2)),
            1 => method("ne-gmm", &SHORT),
            2 => method("ngboost", &[("n-estimators", "3")]),
            _ => method("sample-net", &SAMPLES),
        };
        match fit(&table, "y", &method) {
            Ok(model) => {
                let bytes = model.to_bytes().unwrap();
                let read = Model::from_bytes(&bytes).unwrap();
                proptest::prop_assert!(read.to_bytes().unwrap() == bytes, "the same model, another file");
                proptest::prop_assert_eq!(read.predict(&table).unwrap().len(), numbers.len());
            }
            // What cannot be learnt from is said in a sentence.
            Err(error) => proptest::prop_assert!(matches!(error.kind(), ErrorKind::Data), "{}", error),
        }
    }
}
