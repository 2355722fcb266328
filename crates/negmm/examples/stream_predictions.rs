//! Predicts a file of any size piece by piece, in memory that does not grow with it, and asks several questions of every row.

use negmm::data::CsvStream;
use negmm::method::{Mdn, Method};
use negmm::{Questions, Result, Rng, Toy, fit};

fn main() -> Result<()> {
    let mut method = Method::Mdn(Mdn::default());
    method.set("epochs", "20")?;
    let model = fit(&Toy::Bimodal.sample(300, &mut Rng::new(1, 0)), "y", &method)?;

    // Any reader will do: a file, a socket, standard input.
    let rows: String = (0..10_000).map(|row| format!("{}\n", f64::from(row % 800) / 100.0 - 4.0)).collect();
    let file = std::io::Cursor::new(format!("x\n{rows}"));
    let mut stream = CsvStream::from_reader(file, "rows", &model.encoder().schema())?;
    let questions = Questions { intervals: vec![0.9.into()], above: vec![20.0.into()], ..Questions::default() };
    println!("{}", questions.names(&model)?.join(","));
    let mut before = 0;
    while let Some(chunk) = stream.next_chunk(4096)? {
        let predictions = model.predict(&chunk.table)?;
        let answers = questions.answer(&predictions, before)?;
        let first: Vec<String> = answers.row(0).map(|number| format!("{number:.3}")).collect();
        println!("{}   (row {} of {})", first.join(","), before + 1, before as usize + answers.rows());
        before += answers.rows() as u64;
    }
    assert_eq!(before, 10_000);
    Ok(())
}
