//! Predicts a file of any size piece by piece, in memory that does not grow with it, and queries several columns of every row.

use negmm::data::CsvStream;
use negmm::method::{Mdn, Method};
use negmm::{Query, Result, Rng, Toy, fit};

fn main() -> Result<()> {
    let mut method = Method::Mdn(Mdn::default());
    method.set("epochs", "20")?;
    let model = fit(&Toy::Bimodal.sample(300, &mut Rng::new(1, 0)), "y", &method)?;

    // Any reader will do: a file, a socket, standard input.
    let rows: String = (0..10_000).map(|row| format!("{}\n", f64::from(row % 800) / 100.0 - 4.0)).collect();
    let file = std::io::Cursor::new(format!("x\n{rows}"));
    let mut stream = CsvStream::from_reader(file, "rows", &model.encoder().schema())?;
    let query = Query::default().interval([0.9]).above([20.0]);
    let mut before = 0;
    while let Some(chunk) = stream.next_chunk(4096)? {
        let predictions = model.predict(&chunk.table)?;
        let columns = query.columns(&predictions, before)?;
        let csv = String::from_utf8_lossy(&columns.to_csv()?).into_owned();
        // The header and the first row; a file would have all rows, and the header once.
        csv.lines().take(2).for_each(|line| println!("{line}"));
        before += columns.rows() as u64;
    }
    assert_eq!(before, 10_000);
    Ok(())
}
