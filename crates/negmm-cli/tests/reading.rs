//! Files as they occur in practice: what the program infers, reports and keeps for the next file.

use crate::common;

use common::Folder;

/// Amounts in dollars, a yes or no, codes with leading zeros, a few words among numbers, a target with blanks in its name.
fn shop(rows: usize) -> String {
    let row = |at: usize| {
        let words = if at == 7 { "unknown".to_string() } else { format!("{}", at % 9) };
        let target = if at == 3 { String::new() } else { format!("{}", (at * 13 % 17) as f64 / 2.0) };
        format!(
            "\"${},{:03}.50\",{},00{},{words},{target}\n",
            1 + at % 4,
            at * 37 % 1000,
            ["yes", "no"][at % 2],
            at % 3
        )
    };
    format!("amount,member,shop, visits , sold \n{}", (0..rows).map(row).collect::<String>())
}

const FIT: [&str; 9] = ["--target", "sold ", "-o", "m", "--method", "ne-gmm", "--epochs", "2", "--hidden=4"];

#[test]
fn fit_prints_column_types_and_predict_uses_them() {
    let folder = Folder::new();
    folder.write("shop.csv", shop(60));
    let fit = folder.done(&[&["fit", "shop.csv"][..], &FIT].concat());
    let warnings = "warning: 1 row has no target \"sold \" and is left out\n\
         warning: column \"visits\": 1 cell is no number and counts as missing: \"unknown\" (1)\n";
    assert!(fit.err.starts_with(warnings), "{}", fit.err);
    let expected = "columns\n  \
        amount  number (, between thousands, $), such as \"$1,000.50\"\n  \
        member  boolean (1 or 0), such as \"yes\"\n  \
        shop    text, 3 categories, leading zeros\n  \
        visits  number, 1 missing, 1 of them not numeric\n  \
        and 1 plain number\n";
    assert!(fit.text().contains(expected), "{}", fit.text());
    assert!(folder.done(&["inspect", "m"]).text().contains("\n  amount  number (, between thousands, $), mean "));

    let numbers: String = (0..60).map(|row| format!("{row},{}\n", row * row % 61)).collect();
    folder.write("target.csv", format!("x,y\n{numbers}3,lost\n"));
    let fit = folder.done(&["fit", "target.csv", "--target", "y", "--method", "constant", "-o", "t"]);
    assert!(fit.text().contains("\n  y  number, 1 left out as not numeric\n"), "{}", fit.text());

    folder.write("new.csv", "amount,member,shop,visits\n\"$1,500\",yes,001,4\n$20,no,000,?\n");
    folder.write("plain.csv", "visits;amount;shop;member\n4;1500;001;True\nNA;20;000;FALSE\n");
    let [a, b] = ["new.csv", "plain.csv"].map(|file| folder.done(&["predict", "m", file]));
    assert_eq!(a.text(), b.text());
    folder.write("odd.csv", "amount,member,shop,visits\n1500,no,000,lost\n");
    let odd = folder.done(&["predict", "m", "odd.csv"]);
    assert_eq!(odd.err, "warning: column \"visits\": 1 cell is no number and counts as missing\n");
    folder.write("comma.csv", "amount;member;shop;visits\n1.500,0;yes;001;4\n20,0;no;000;?\n");
    // Decimal commas are recognised, whatever training had.
    assert_eq!(folder.done(&["predict", "m", "comma.csv"]).text(), a.text());
    assert_eq!(folder.done(&["predict", "m", "comma.csv", "--decimal", ","]).text(), a.text());
    folder.refused(
        &["predict", "m", "comma.csv", "--decimal", "."],
        1,
        "comma.csv, row 1 (line 2), column \"amount\": expected a number, found \"1.500,0\"",
    );
}

#[test]
fn rows_without_a_target_are_left_out_and_counted() {
    let folder = Folder::new();
    folder.write("shop.csv", shop(60));
    folder.done(&[&["fit", "shop.csv", "--held-out", "held_out.csv", "--quiet"][..], &FIT].concat());
    let held_out = String::from_utf8(folder.read("held_out.csv")).unwrap();
    assert!(!held_out.contains("\n4,"), "row 4 has no target: {held_out}");
    let evaluate = folder.done(&["evaluate", "m", "shop.csv"]);
    assert!(evaluate.text().starts_with("59 rows"), "{}", evaluate.text());
    assert!(evaluate.err.contains("warning: 1 row has no target \"sold\" and is left out\n"), "{}", evaluate.err);
    let report = folder.done(&["report", "m", "shop.csv", "-o", "report.html"]);
    assert!(report.err.contains("1 row has no target"), "{}", report.err);
    let compare = ["compare", "shop.csv", "--target", "sold", "--methods", "constant", "--folds", "2"];
    assert!(folder.done(&compare).err.contains("1 row has no target"));
    folder.write("none.csv", "amount,member,shop,visits,sold\n1,yes,001,4,\n2,no,001,4,NA\n");
    folder.refused(&["evaluate", "m", "none.csv"], 1, "none.csv, row 1, column \"sold\": the target is missing");
}

#[test]
fn options_and_config_files_override_inference() {
    let folder = Folder::new();
    folder.write("odd.csv", "a|b|y\n1|-9|2\n2|5|3\n-9|6|4\n4|7|5\n");
    folder.write("fit.toml", "missing = [-9]\ntext = \"a\"\nseparator = \"|\"\n");
    let fit = folder.fit("odd.csv", "m", &["--config", "fit.toml", "--json"]).json();
    let columns = &fit["columns"];
    assert_eq!((&columns[0]["type"], &columns[0]["missing"]), (&"text".into(), &1.into()));
    assert_eq!((&columns[1]["type"], &columns[1]["missing"]), (&"number".into(), &1.into()));
    let fit = |more: [&'static str; 2]| [&["fit", "odd.csv", "--target", "y", "-o", "m"][..], &more].concat();
    folder.refused(&fit(["--decimal", ";"]), 2, "decimal must be . or , found ';'");
    folder.refused(&fit(["--separator", "ab"]), 2, "separator must be one character, found \"ab\"");
    folder.refused(
        &fit(["--number", "z"]),
        2,
        "odd.csv: there is no column \"z\"; the columns are \"a\", \"b\", \"y\"",
    );
}

#[test]
fn utf_16_is_read_and_latin_1_is_named_with_the_remedy() {
    let folder = Folder::new();
    let text = format!("größe,y\n{}", (0..40).map(|at| format!("{},{}\n", at % 7, at * 3 % 11)).collect::<String>());
    folder.write("plain.csv", &text);
    let wide: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    folder.write("wide.csv", wide);
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    folder.fit("plain.csv", "m", &[]);
    folder.fit("wide.csv", "w", &[]);
    assert_eq!(folder.read("m"), folder.read("w"));
    assert_eq!(folder.done(&["predict", "m", "wide.csv"]).text(), folder.done(&["predict", "m", "plain.csv"]).text());
    let remedy = "convert it (of Latin-1: iconv -f LATIN1 -t UTF-8)";
    folder.data_refused(
        latin,
        &format!("data.csv, header (line 1), column 1: expected text in UTF-8, found other bytes: {remedy}"),
    );
}
